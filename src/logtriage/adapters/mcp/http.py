"""Serve seats of a desk over streamable HTTP, on loopback: each session has a seat of its own."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from logtriage.adapters.mcp.tools import SeatOf, Seats, tool_server
from logtriage.errors import InvalidInput
from logtriage.parsing.tools import Tool
from logtriage.server.access import Access, refuse
from logtriage.server.settings import Settings

#: A request of more bytes is refused unread.
MAX_BODY: Final = 1 << 20
#: Seconds that open answers have when the server ends.
_LAST_ANSWERS: Final = 2

#: The tools at each path, such as ``/mcp``, and a function that makes a seat there.
Places = Mapping[str, tuple[tuple[Tool, ...], SeatOf]]


def serve_http(places: Places, settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes, on loopback alone; InvalidInput if the port cannot be bound.

    It uses only ``host``, ``port``, ``token``, ``max_sessions`` (of each path), ``idle_seconds``.
    """
    try:
        listening = socket.create_server((settings.host, settings.port))
    except OSError as error:
        raise InvalidInput(f"cannot listen on port {settings.port}: {error.strerror}") from None
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_news)
    with listening:
        port = listening.getsockname()[1]
        for path in places:
            announce(f"serving on http://{settings.host}:{port}{path}")
        config = uvicorn.Config(
            http_app(places, settings),
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_LAST_ANSWERS,
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


def _is_news(record: logging.LogRecord) -> bool:
    """False for the error that mcp 1 logs whenever a client leaves, which closes its stream."""
    closed = record.exc_info is not None and record.exc_info[0] is anyio.ClosedResourceError
    return not (closed and record.msg == "Error in standalone SSE writer")


def http_app(places: Places, settings: Settings) -> "Guard":
    """The guarded ASGI application of :func:`serve_http`."""
    seats = {path: Seats(seat_of, settings.max_sessions) for path, (_, seat_of) in places.items()}
    managers = {
        path: StreamableHTTPSessionManager(
            tool_server(tools, seats[path]),
            json_response=True,
            session_idle_timeout=settings.idle_seconds,
            max_request_body_size=MAX_BODY,
            max_sessions=settings.max_sessions,
        )
        for path, (tools, _) in places.items()
    }

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for seats_of_path in seats.values():  # entered first, so left after the sessions end
                stack.callback(seats_of_path.close)
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            yield

    routes = [Route(path, _Endpoint(manager)) for path, manager in managers.items()]
    return Guard(Starlette(routes=routes, lifespan=running), settings.token)


class _Endpoint:
    """An ASGI application: Starlette would take a function for a handler of requests."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._manager.handle_request(scope, receive, send)


class Guard:
    """Refuses requests of other hosts or origins, or without the token (None: none is needed)."""

    def __init__(self, app: Any, token: str | None) -> None:
        self._app, self._access = app, Access(token, local=True)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle a request."""
        refusal = self._access.refusal(scope["headers"]) if scope["type"] == "http" else None
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        else:
            await self._app(scope, receive, send)
