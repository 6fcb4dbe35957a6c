"""Offer the seats of a desk as MCP tools: each session of a client has a seat of its own."""

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as McpTool

from logtriage import __version__
from logtriage.adapters.desk import INSTRUCTIONS, Seat
from logtriage.adapters.team_desk import TeamSeat
from logtriage.errors import InvalidInput
from logtriage.evaluation.usage import TOKENS, Usage
from logtriage.parsing.tools import Tool

#: The key of a call's ``_meta`` under which a client may say what it has spent since its last
#: call: ``prompt_tokens`` and ``completion_tokens``, and ``requests`` (1 if missing).
USAGE: Final = "logtriage/usage"
#: What an agent reads if the server fails; its cause is for the operator alone.
_FAILED: Final = "The server failed, and the call had no effect. Tell your operator."
_LOG: Final = logging.getLogger(__name__)

#: A seat of either kind.
Place = Seat | TeamSeat
#: Makes the seat of a new session.
SeatOf = Callable[[], Place]
#: The parameter of a URL that names a seat. Such a seat outlives its sessions, for clients that
#: open a session for each call.
SEAT: Final = "seat"


class Seats:
    """The seats of a server: one for each session that calls a tool, and ``most`` with names."""

    def __init__(self, seat_of: SeatOf, most: int = 1) -> None:
        self._seat_of, self._most = seat_of, most
        self._named: dict[str, Place] = {}

    @asynccontextmanager
    async def session(self, _: object) -> AsyncIterator[Callable[[Any], Place]]:
        """Yield a function from a request to its seat; leave the session's own seat at the end."""
        own: list[Place] = []  # at most one

        def seat_for(request: Any) -> Place:
            name = None if request is None else request.query_params.get(SEAT)
            if name is not None:
                return self._seat_named(name)
            if not own:
                own.append(self._seat_of())
            return own[0]

        try:
            yield seat_for
        finally:
            for seat in own:
                seat.leave()

    def close(self) -> None:
        """Leave the seats with a name."""
        for seat in self._named.values():
            seat.leave()

    def _seat_named(self, name: str) -> Place:
        if name not in self._named:
            if len(self._named) == self._most:
                raise InvalidInput(f"there are {self._most} seats with a name already")
            self._named[name] = self._seat_of()
        return self._named[name]


def tool_server(tools: Iterable[Tool], seats: Seats) -> Server[Any, Any]:
    """An MCP server of ``tools``. Calls are played as they come, whatever their arguments."""
    server: Server[Any, Any] = Server(
        "logtriage", __version__, INSTRUCTIONS, lifespan=seats.session
    )
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
            seat = context.lifespan_context(context.request)
        except InvalidInput as error:
            return _result(str(error), failed=True)
        try:
            text = await seat.call(name, arguments, _usage_of(context.meta))
        except Exception:  # its text may name files, which are not for the agent
            _LOG.exception("%s failed", name)
            return _result(_FAILED, failed=True)
        return _result(text)

    return server


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=failed)


def _usage_of(meta: Any) -> Usage | None:
    """The usage that a call's ``_meta`` states; None if there is none that makes sense."""
    usage = None if meta is None else (meta.model_extra or {}).get(USAGE)
    if not isinstance(usage, dict):
        return None
    counts = {"requests": 1, **usage}
    kept = {name: counts.get(name, 0) for name in ("requests", *TOKENS)}
    if not all(type(count) is int and count >= 0 for count in kept.values()):
        return None
    return Usage(**kept)
