"""A seat as a server of tools: each session of a client has a seat of its own."""

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as McpTool

from logtriage import __version__
from logtriage.adapters.desk import INSTRUCTIONS
from logtriage.conversations.tools import Tool
from logtriage.evaluation.usage import Usage

#: The key of a call's ``_meta`` under which a client may say what it has spent since its last
#: call: ``prompt_tokens`` and ``completion_tokens``, and ``requests`` (1 if missing).
USAGE: Final = "logtriage/usage"
#: What an agent reads if the server fails; its cause is for the operator alone.
_FAILED: Final = "The server failed, and the call had no effect. Tell your operator."
_LOG: Final = logging.getLogger(__name__)


class Place(Protocol):
    """The seat of a session."""

    async def call(self, tool: str, arguments: object, usage: Usage | None = None) -> str:
        """Play a tool call; returns what the agent reads next."""

    def leave(self) -> None:
        """Give the place up."""


#: Makes the seat of a new session.
SeatOf = Callable[[], Place]


def tool_server(tools: Iterable[Tool], seat_of: SeatOf) -> Server[Place, Any]:
    """A server of tools. Calls are played as they come; none is refused for its arguments."""

    @asynccontextmanager
    async def session(_: Server[Place, Any]) -> AsyncIterator[Place]:
        seat = seat_of()
        try:
            yield seat
        finally:
            seat.leave()

    server: Server[Place, Any] = Server("logtriage", __version__, INSTRUCTIONS, lifespan=session)
    offered = [
        McpTool(name=tool.name, description=tool.description, inputSchema=tool.json_schema())
        for tool in tools
    ]

    @server.list_tools()
    async def list_tools() -> list[McpTool]:
        return offered

    # A call that does not fit its schema costs its tick, so it must reach the seat.
    @server.call_tool(validate_input=False)
    async def call_tool(name: str, arguments: dict[str, Any]) -> CallToolResult:
        context = server.request_context
        try:
            text = await context.lifespan_context.call(name, arguments, _usage_of(context.meta))
        except Exception:  # its text may name files, which are not for the agent
            _LOG.exception("%s failed", name)
            return _result(_FAILED, failed=True)
        return _result(text)

    return server


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=failed)


def _usage_of(meta: Any) -> Usage | None:
    """What a client says that it has spent; None if it says nothing, or no counts."""
    said = None if meta is None else (meta.model_extra or {}).get(USAGE)
    if not isinstance(said, dict):
        return None
    counts = {"requests": 1, **said}
    kept = {
        name: counts.get(name, 0) for name in ("requests", "prompt_tokens", "completion_tokens")
    }
    if not all(type(count) is int and count >= 0 for count in kept.values()):
        return None
    return Usage(**kept)
