"""Access and limits in front of the application: clients, sizes, rates, time limits.

A plain ASGI middleware. It checks the client and the size before it reads a body or a message.
A refused WebSocket message is answered with an error message of the protocol, and the session
goes on.
"""

import asyncio
import hmac
import json
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from starlette.responses import JSONResponse

from logtriage.errors import InvalidInput
from logtriage.server.episode import Gate
from logtriage.server.messages import Kinds, Misshapen, TooLarge, check_message, read_object
from logtriage.server.origins import refusal_of
from logtriage.server.settings import Settings

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

#: Reachable without a token, for health checks.
OPEN_PATHS: Final = ("/health",)
#: Addresses whose rate of HTTP requests is remembered.
_ADDRESSES: Final = 4_096
#: Seconds within which a request's body must arrive.
_BODY_SECONDS: Final = 30
_GOING_AWAY: Final = 1001


class Bucket:
    """A token bucket: ``rate`` a second, one second's worth saved up."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._size = self._left = max(1.0, rate)
        self._at = monotonic()

    def take(self, now: float) -> float:
        """Take a token; the seconds to wait until there is one, 0 if it was taken."""
        self._left = min(self._size, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._rate
        self._left -= 1
        return 0.0


class Guard:
    """Wraps the application; see :class:`Settings` for the limits.

    ``kinds`` are the WebSocket messages that it reads, with the fields of their data.
    """

    def __init__(self, app: Asgi, settings: Settings, gate: Gate, kinds: Kinds) -> None:
        self._app, self._settings, self._gate, self._kinds = app, settings, gate, kinds
        token = settings.token
        self._credentials = None if token is None else f"Bearer {token}".encode()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._sessions: Counter[str] = Counter()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a connection or a request."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _turned_away(self, scope: Message) -> tuple[int, str] | None:
        """(status, reason) if a request or a connection is refused; else None."""
        if scope["path"] in OPEN_PATHS:
            return None
        if self._credentials is None:
            refusal = refusal_of(scope["headers"])
            return None if refusal is None else (403, refusal)
        credentials = next(
            (value for name, value in scope["headers"] if name == b"authorization"), b""
        )
        if hmac.compare_digest(credentials, self._credentials):
            return None
        return 401, "this server needs a bearer token"

    # -- HTTP --------------------------------------------------------------------

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:

        async def refuse(status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
            await JSONResponse({"error": text}, status, headers)(scope, receive, send)

        turned_away = self._turned_away(scope)
        if turned_away is not None:
            headers = {"www-authenticate": "Bearer"} if turned_away[0] == 401 else None
            await refuse(*turned_away, headers)
            return
        address = _address(scope)
        if scope["path"] not in OPEN_PATHS and (wait := self._bucket(address).take(monotonic())):
            text = f"more than {self._settings.rate:g} requests a second from one address"
            await refuse(429, text, {"retry-after": str(int(wait) + 1)})
            return
        try:
            body = await self._body(receive)
            if body:
                read_object(body, self._settings.max_message)
        except TooLarge as error:
            await refuse(413, str(error))
            return
        except TimeoutError:
            await refuse(408, f"no whole body within {_BODY_SECONDS} s")
            return
        except InvalidInput as error:
            await refuse(400, str(error))
            return
        if body is None:
            return
        whole: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def once() -> Message:
            nonlocal whole
            if whole is None:
                return await receive()
            message, whole = whole, None
            return message

        await self._app(scope, once, send)

    async def _body(self, receive: Receive) -> bytes | None:
        """A request's body; None if the client has gone.

        Raises:
            TooLarge: if it is longer than a message may be.
            TimeoutError: if it does not come in time.
        """
        limit, body, more = self._settings.max_message, bytearray(), True
        async with asyncio.timeout(_BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > limit:
                    raise TooLarge(f"body of more than {limit} bytes")
        return bytes(body)

    def _bucket(self, name: str) -> Bucket:
        bucket = self._buckets.pop(name, None) or Bucket(self._settings.rate)
        self._buckets[name] = bucket
        if len(self._buckets) > _ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket

    # -- WebSockets --------------------------------------------------------------

    async def _websocket(self, scope: Message, receive: Receive, send: Send) -> None:
        address = _address(scope)
        turned_away = self._turned_away(scope)
        limit = self._settings.per_address
        if turned_away is not None:
            pass
        elif self._gate.draining:
            turned_away = 503, "the server is shutting down"
        elif self._bucket(f"sessions of {address}").take(monotonic()):
            turned_away = 429, "too many new sessions from one address"
        elif self._sessions[address] >= limit:
            turned_away = 503, f"this address has {limit} sessions already, as many as it may have"
        if turned_away is not None:
            status, text = turned_away
            # Before the handshake, Starlette sends this as an HTTP answer.
            await JSONResponse({"error": text}, status)(scope, receive, send)
            return
        self._sessions[address] += 1
        try:
            await self._session(scope, receive, send)
        finally:
            self._sessions[address] -= 1
            if not self._sessions[address]:
                del self._sessions[address]

    async def _session(self, scope: Message, receive: Receive, send: Send) -> None:
        bucket = Bucket(self._settings.rate)
        heard = monotonic()

        async def guarded() -> Message:
            nonlocal heard
            while True:
                message = await receive()
                heard = monotonic()
                if message["type"] != "websocket.receive":
                    return message
                while wait := bucket.take(heard):
                    await asyncio.sleep(wait)
                    heard = monotonic()
                refusal = self._refusal(message)
                if refusal is None:
                    return message
                await send(refusal)

        async def watch() -> None:
            # One task for each connection: a timer for each message would cost more.
            idle = self._settings.idle_seconds
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

    def _refusal(self, message: Message) -> Message | None:
        """The answer to a message that must not reach the application."""
        text = message.get("text")
        if text is None:
            return error_frame("binary message; expected JSON text", "INVALID_JSON")
        try:
            check_message(read_object(text, self._settings.max_message), self._kinds)
        except TooLarge as error:
            return error_frame(str(error), "MESSAGE_TOO_LARGE")
        except Misshapen as error:
            return error_frame(str(error), error.code)
        except InvalidInput as error:
            return error_frame(str(error), "INVALID_JSON")
        return None


def error_frame(text: str, code: str) -> Message:
    """An error message of the WebSocket protocol."""
    data = {"type": "error", "data": {"message": text, "code": code}}
    return {"type": "websocket.send", "text": json.dumps(data)}


def _address(scope: Message) -> str:
    address: str = (scope.get("client") or ("",))[0]
    return address
