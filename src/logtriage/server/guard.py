"""Access and limits in front of the application: clients, shapes of messages, idle sessions.

A plain ASGI middleware. A refused WebSocket message is answered with an error message of the
protocol, and the session goes on.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from logtriage.errors import InvalidInput
from logtriage.server.access import Access, refuse
from logtriage.server.messages import Kinds, Misshapen, check_message, read_object
from logtriage.server.settings import Settings

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

#: Reachable without a token, for health checks.
OPEN_PATHS: Final = ("/health",)
_GOING_AWAY: Final = 1001


class Guard:
    """Wraps the application; see :class:`Settings` for the limits.

    ``kinds`` are the WebSocket messages that it reads, with the fields of their data.
    """

    def __init__(self, app: Asgi, settings: Settings, kinds: Kinds) -> None:
        self._app, self._idle_seconds, self._kinds = app, settings.idle_seconds, kinds
        self._access = Access(settings.token, local=settings.token is None)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a connection or a request."""
        kind = scope["type"]
        checked = kind in ("http", "websocket") and scope["path"] not in OPEN_PATHS
        refusal = self._access.refusal(scope["headers"]) if checked else None
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        elif kind == "websocket":
            await self._session(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _session(self, scope: Message, receive: Receive, send: Send) -> None:
        heard = monotonic()

        async def guarded() -> Message:
            nonlocal heard
            while True:
                message = await receive()
                heard = monotonic()
                if message["type"] != "websocket.receive":
                    return message
                try:
                    self._check(message.get("text"))
                except InvalidInput as error:
                    code = error.code if isinstance(error, Misshapen) else "INVALID_JSON"
                    await send(error_frame(str(error), code))
                else:
                    return message

        async def watch() -> None:
            # One task for each connection: a timer for each message would cost more.
            idle = self._idle_seconds
            while (left := heard + idle - monotonic()) > 0:
                await asyncio.sleep(left)
            # A client that has gone gets no message.
            with suppress(OSError):
                text = f"no message for {idle:g} s; session closed"
                await send(error_frame(text, "IDLE_TIMEOUT"))
                await send({"type": "websocket.close", "code": _GOING_AWAY, "reason": "idle"})

        watcher = asyncio.create_task(watch())
        try:
            await self._app(scope, guarded, send)
        finally:
            watcher.cancel()

    def _check(self, text: str | None) -> None:
        """Refuse a message that may not reach the application."""
        if text is None:
            raise InvalidInput("binary message; expected JSON text")
        check_message(read_object(text), self._kinds)


def error_frame(text: str, code: str) -> Message:
    """An error message of the WebSocket protocol."""
    data = {"type": "error", "data": {"message": text, "code": code}}
    return {"type": "websocket.send", "text": json.dumps(data)}
