"""The Model Context Protocol: seats of a desk as tools, over stdio or HTTP.

Needs the extra ``mcp``. ``logtriage mcp`` runs it; ``docs/agents.md`` shows the clients.
"""

from logtriage._lib.extras import imports_of

with imports_of("mcp", "logtriage.adapters.mcp", "mcp"):
    import mcp  # noqa: F401

from logtriage.adapters.mcp.http import Places, serve_http
from logtriage.adapters.mcp.stdio import serve_stdio
from logtriage.adapters.mcp.tools import SEAT, USAGE

__all__ = ["SEAT", "USAGE", "Places", "serve_http", "serve_stdio"]
