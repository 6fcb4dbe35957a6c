"""ASGI middleware that checks access, the size of messages and idle sessions.

A refused WebSocket message is answered with an error message of the protocol, and the session
goes on. A connection serves one request over HTTP.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from logtriage.errors import InvalidInput
from logtriage.server.access import Access, refuse
from logtriage.server.messages import MAX_MESSAGE, Kinds, Misshapen, check_message, read_object
from logtriage.server.settings import Settings
from logtriage.server.turns import SHARE, Share

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

#: Reachable without a token, for health checks.
OPEN_PATHS: Final = ("/health",)
_GOING_AWAY: Final = 1001
#: The library's answer to a step that was played begins with this.
_PLAYED: Final = '{"type":"observation"'


class Pages:
    """Middleware that computes each page once. ``pages`` are (method, path) pairs.

    The answers do not depend on who asks, on the request's body, or on the time.
    """

    def __init__(self, app: Asgi, pages: frozenset[tuple[str, str]]) -> None:
        self._app, self._pages = app, pages
        self._answers: dict[tuple[str, str], list[Message]] = {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request for a page; leave all else to the application."""
        page = scope.get("method", ""), scope.get("path", "")
        if scope["type"] != "http" or page not in self._pages:
            await self._app(scope, receive, send)
            return
        if page not in self._answers:
            answer: list[Message] = []

            async def keep(message: Message) -> None:
                answer.append(message)

            await self._app(scope, receive, keep)
            self._answers[page] = answer
        for message in self._answers[page]:
            await send(message)


async def _empty_body() -> Message:
    """The message that the application gets instead of a request's body."""
    return {"type": "http.request", "body": b"", "more_body": False}


def _closing(send: Send) -> Send:
    """A ``send`` whose answers say that the connection closes."""

    async def last(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return last


class Guard:
    """Middleware that checks access and messages; :class:`Settings` has the limits.

    ``kinds`` are the WebSocket messages that may pass, with the fields of their data.
    """

    def __init__(self, app: Asgi, settings: Settings, kinds: Kinds) -> None:
        self._app, self._idle_seconds, self._kinds = app, settings.idle_seconds, kinds
        self._access = Access(settings.token, local=settings.token is None)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a connection or a request."""
        kind = scope["type"]
        if kind == "http":
            # Closing a connection with unread bytes could lose the answer.
            while (await receive()).get("more_body"):
                pass
            receive, send = _empty_body, _closing(send)
        checked = kind in ("http", "websocket") and scope["path"] not in OPEN_PATHS
        refusal = self._access.refusal(scope["headers"]) if checked else None
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        elif kind == "websocket":
            await self._session(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _session(self, scope: Message, receive: Receive, send: Send) -> None:
        heard_at, last_kind = monotonic(), ""
        # On a server without turns, the share has no effect.
        share: Share = scope.get("extensions", {}).get(SHARE) or Share(is_session=True)

        async def guarded() -> Message:
            nonlocal heard_at, last_kind
            while True:
                message = await receive()
                heard_at = monotonic()
                if message["type"] != "websocket.receive":
                    return message
                try:
                    last_kind = self._kind(message.get("text"))
                except InvalidInput as error:
                    code = error.code if isinstance(error, Misshapen) else "INVALID_JSON"
                    share.answered(step=False)
                    await send(error_frame(str(error), code))
                else:
                    return message

        async def answer(message: Message) -> None:
            if message["type"] == "websocket.send":
                played = last_kind == "step" and message.get("text", "").startswith(_PLAYED)
                share.answered(step=played)
            await send(message)

        async def watch() -> None:
            # One task for each connection: a timer for each message would cost more.
            idle = self._idle_seconds
            while (left := heard_at + idle - monotonic()) > 0:
                await asyncio.sleep(left)
            # A client that has gone gets no message.
            with suppress(OSError):
                text = f"no message for {idle:g} s; session closed"
                await send(error_frame(text, "IDLE_TIMEOUT"))
                await send({"type": "websocket.close", "code": _GOING_AWAY, "reason": "idle"})

        watcher = asyncio.create_task(watch())
        try:
            await self._app(scope, guarded, answer)
        finally:
            watcher.cancel()

    def _kind(self, text: str | None) -> str:
        """The kind of a message; InvalidInput if it may not reach the application."""
        if text is None:
            raise InvalidInput("binary message; expected JSON text")
        return check_message(read_object(text, MAX_MESSAGE), self._kinds)


def error_frame(text: str, code: str) -> Message:
    """An error message of the WebSocket protocol."""
    data = {"type": "error", "data": {"message": text, "code": code}}
    return {"type": "websocket.send", "text": json.dumps(data)}
