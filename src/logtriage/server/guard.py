"""What stands before the application: who may enter, how much, how fast, for how long.

A plain ASGI middleware. A refused WebSocket message is answered with an error message of
the protocol, and the session goes on.
"""

import asyncio
import hmac
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from time import monotonic
from typing import Any, Final

from logtriage.errors import InvalidInput
from logtriage.server.episode import Gate
from logtriage.server.messages import TooLarge, read_object
from logtriage.server.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

#: Reachable without a token, for health checks.
OPEN_PATHS: Final = ("/health",)
#: Addresses whose rate of HTTP requests is remembered.
_ADDRESSES: Final = 4_096
#: A request's body must be there after so long.
_BODY_SECONDS: Final = 30
_POLICY_VIOLATION: Final = 1008
_GOING_AWAY: Final = 1001


class Bucket:
    """A token bucket: ``rate`` a second, one second's worth saved up."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._size = max(1.0, rate)
        self._left = self._size
        self._at = monotonic()

    def take(self, now: float) -> float:
        """Take one; the seconds to wait until there is one, 0 if it was taken."""
        self._left = min(self._size, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1.0:
            return (1.0 - self._left) / self._rate
        self._left -= 1.0
        return 0.0


class Guard:
    """Wraps the application; see :class:`Settings` for the limits."""

    def __init__(self, app: Asgi, settings: Settings, gate: Gate) -> None:
        self._app, self._settings, self._gate = app, settings, gate
        token = settings.token
        self._credentials = None if token is None else f"Bearer {token}".encode()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One connection or request."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _may_enter(self, scope: Message) -> bool:
        if self._credentials is None or scope["path"] in OPEN_PATHS:
            return True
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        return hmac.compare_digest(given, self._credentials)

    # -- HTTP --------------------------------------------------------------------

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        if not self._may_enter(scope):
            headers = [(b"www-authenticate", b"Bearer")]
            await _answer(send, 401, "this server needs a bearer token", headers)
            return
        wait = self._bucket(scope).take(monotonic())
        if wait:
            headers = [(b"retry-after", b"%d" % (int(wait) + 1))]
            text = f"more than {self._settings.rate:g} requests a second from one address"
            await _answer(send, 429, text, headers)
            return
        limit, body, more = self._settings.max_message, bytearray(), True
        deadline = monotonic() + _BODY_SECONDS
        while more:
            try:
                async with asyncio.timeout(deadline - monotonic()):
                    message = await receive()
            except TimeoutError:
                await _answer(send, 408, f"no whole body within {_BODY_SECONDS} s")
                return
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > limit:
                await _answer(send, 413, f"body of more than {limit} bytes")
                return
        whole: Message | None = {"type": "http.request", "body": bytes(body), "more_body": False}

        async def once() -> Message:
            nonlocal whole
            if whole is None:
                return await receive()
            message, whole = whole, None
            return message

        await self._app(scope, once, send)

    def _bucket(self, scope: Message) -> Bucket:
        address = (scope.get("client") or ("",))[0]
        bucket = self._buckets.pop(address, None) or Bucket(self._settings.rate)
        self._buckets[address] = bucket
        if len(self._buckets) > _ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket

    # -- WebSockets --------------------------------------------------------------

    async def _websocket(self, scope: Message, receive: Receive, send: Send) -> None:
        if not self._may_enter(scope):
            await _refuse(scope, send, 401, "this server needs a bearer token")
            return
        if self._gate.draining:
            await _refuse(scope, send, 503, "the server is shutting down")
            return
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
            # One sleeper a connection: a timer for each message would cost more than the rest.
            idle = self._settings.idle_seconds
            while (left := heard + idle - monotonic()) > 0:
                await asyncio.sleep(left)
            await send(_error_frame(f"no message for {idle:g} s; session closed", "IDLE_TIMEOUT"))
            await send({"type": "websocket.close", "code": _GOING_AWAY, "reason": "idle"})

        watcher = asyncio.create_task(watch())
        try:
            await self._app(scope, guarded, send)
        finally:
            watcher.cancel()

    def _refusal(self, message: Message) -> Message | None:
        """The answer to a message that must not reach the application, or None."""
        text = message.get("text")
        if text is None:
            return _error_frame("binary message; expected JSON text", "INVALID_JSON")
        try:
            value = read_object(text, self._settings.max_message)
        except TooLarge as error:
            return _error_frame(str(error), "MESSAGE_TOO_LARGE")
        except InvalidInput as error:
            return _error_frame(str(error), "INVALID_JSON")
        if not isinstance(value.get("type", ""), str):
            return _error_frame("type: expected a string, such as reset or step", "UNKNOWN_TYPE")
        return None


def _error_frame(text: str, code: str) -> Message:
    data = {"type": "error", "data": {"message": text, "code": code}}
    return {"type": "websocket.send", "text": json.dumps(data)}


async def _answer(
    send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = json.dumps({"error": text}).encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                *(headers or []),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def _refuse(scope: Message, send: Send, status: int, text: str) -> None:
    """Refuse a WebSocket before it is one, by an HTTP answer where the server can."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": text})
        return
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
