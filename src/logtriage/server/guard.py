"""Access and limits in front of the application: clients, sizes, rates, time limits.

A plain ASGI middleware. It checks the client, the size and the turn before it reads a body or a
message. A refused WebSocket message is answered with an error message of the protocol, and the
session goes on.
"""

import asyncio
import hmac
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from logtriage.errors import InvalidInput
from logtriage.server.episode import OWNER, Gate
from logtriage.server.messages import Kinds, Misshapen, TooLarge, check_message, read_object
from logtriage.server.origins import refusal_of
from logtriage.server.pace import BYTE, REQUEST, SESSION, Bucket, Path, Toll, Turns
from logtriage.server.refusals import Message, Send, answer_error, error_frame, refuse
from logtriage.server.settings import Settings

Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

#: Reachable without a token, for health checks. They take no body.
OPEN_PATHS: Final = ("/health",)
#: Under this name the state of a request holds the JSON object of its body.
BODY: Final = "body"
#: Under this name the state of a scope holds what its connection has cost so far.
TOLL: Final = "toll"
#: A WebSocket message of more characters than this is slow work, as is any reset.
SHORT: Final = 1_024
#: What belongs to the library's web interface is not ours to read.
_WEB: Final = "/web"
_MCP: Final = "/mcp"
MCP_OFF: Final = "MCP is off on this server; start the server with --mcp to turn it on"
#: Addresses whose rate of HTTP requests is remembered.
_ADDRESSES: Final = 4_096
#: A request's body must be there after so long.
_BODY_SECONDS: Final = 30
_GOING_AWAY: Final = 1001


class Guard:
    """Wraps the application; see :class:`Settings` for the limits.

    ``kinds`` are the WebSocket messages that it reads, with the fields of their data.
    """

    def __init__(self, app: Asgi, settings: Settings, gate: Gate, kinds: Kinds) -> None:
        self._app, self._settings, self._gate = app, settings, gate
        self._kinds = {
            name: fields for name, fields in kinds.items() if name != "mcp" or settings.mcp
        }
        token = settings.token
        self._credentials = None if token is None else f"Bearer {token}".encode()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._turns = Turns()
        self._sessions: Counter[str] = Counter()

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

    def _turned_away(self, scope: Message) -> tuple[int, str] | None:
        """Status and reason if a request or a connection may not enter."""
        if not self._may_enter(scope):
            return 401, "this server needs a bearer token"
        if self._credentials is None and scope["path"] not in OPEN_PATHS:
            refusal = refusal_of(scope["headers"])
            if refusal is not None:
                return 403, refusal
        return None

    # -- HTTP --------------------------------------------------------------------

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        address, toll = _address(scope), _toll(scope)
        is_open = scope["path"] in OPEN_PATHS
        turned_away = self._turned_away(scope)
        wait = 0.0 if is_open or turned_away else self._bucket(address).take(monotonic())
        if wait:
            text = f"more than {self._settings.rate:g} requests a second from one address"
            turned_away = 429, text
        if is_open or turned_away is not None:
            cost = REQUEST + toll.collect()
            leave = await self._turns.take((address,), slow=True, guest=True, cost=cost)
            answer = _leaving(leave, send)
            try:
                if turned_away is not None:
                    status, text = turned_away
                    headers = {
                        401: [(b"www-authenticate", b"Bearer")],
                        429: [(b"retry-after", b"%d" % (int(wait) + 1))],
                    }
                    await answer_error(answer, status, text, headers.get(status))
                elif _has_body(scope):
                    text = f"{scope['path']} takes no body"
                    await answer_error(answer, 413, text, [(b"connection", b"close")])
                else:
                    await self._app(scope, receive, answer)
            finally:
                leave()
            return
        body = await self._body(receive, send)
        if body is None:
            return
        cost = REQUEST + toll.collect() + BYTE * len(body)
        leave = await self._turns.take((address, "requests"), slow=True, cost=cost)
        try:
            OWNER.set(address)
            await self._answered(scope, body, receive, _leaving(leave, send))
        finally:
            leave()

    async def _answered(self, scope: Message, body: bytes, receive: Receive, send: Send) -> None:
        """Read the body of a request in its turn, and let the application answer it."""
        if body and not (self._settings.web and scope["path"].startswith(_WEB)):
            try:
                value = read_object(body, self._settings.max_message)
            except InvalidInput as error:
                await answer_error(send, 400, str(error))
                return
            if scope["path"] == _MCP and not _is_plain(value):
                await answer_error(send, 400, "params.session_id: expected a string")
                return
            scope.setdefault("state", {})[BODY] = value
        whole: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def once() -> Message:
            nonlocal whole
            if whole is None:
                return await receive()
            message, whole = whole, None
            return message

        await self._app(scope, once, send)

    async def _body(self, receive: Receive, send: Send) -> bytes | None:
        """A request's body; None if it was refused, or if the client has gone."""
        limit, body, more = self._settings.max_message, bytearray(), True
        deadline = monotonic() + _BODY_SECONDS
        while more:
            try:
                async with asyncio.timeout(deadline - monotonic()):
                    message = await receive()
            except TimeoutError:
                await answer_error(send, 408, f"no whole body within {_BODY_SECONDS} s")
                return None
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > limit:
                await answer_error(send, 413, f"body of more than {limit} bytes")
                return None
        return bytes(body)

    def _bucket(self, name: str) -> Bucket:
        bucket = self._buckets.pop(name, None) or Bucket(self._settings.rate)
        self._buckets[name] = bucket
        if len(self._buckets) > _ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket

    # -- WebSockets --------------------------------------------------------------

    async def _websocket(self, scope: Message, receive: Receive, send: Send) -> None:
        address, toll = _address(scope), _toll(scope)
        turned_away = self._turned_away(scope)
        limit = self._settings.per_address
        if turned_away is not None:
            pass
        elif self._gate.draining:
            turned_away = 503, "the server is shutting down"
        elif scope["path"] == _MCP and not self._settings.mcp:
            turned_away = 403, MCP_OFF
        elif self._bucket(f"sessions of {address}").take(monotonic()):
            turned_away = 429, "too many new sessions from one address"
        elif self._sessions[address] >= limit:
            turned_away = 503, f"this address has {limit} sessions already, as many as it may have"
        if turned_away is not None:
            cost = REQUEST + toll.collect()
            leave = await self._turns.take((address,), slow=True, guest=True, cost=cost)
            leave()
            await refuse(scope, send, *turned_away)
            return
        self._sessions[address] += 1
        try:
            OWNER.set(address)
            await self._session(scope, receive, send, address, toll)
        finally:
            self._sessions[address] -= 1
            if not self._sessions[address]:
                del self._sessions[address]

    async def _session(
        self, scope: Message, receive: Receive, send: Send, address: str, toll: Toll
    ) -> None:
        bucket = Bucket(self._settings.rate)
        heard = monotonic()
        connection = object()
        path: Path = (address, connection)

        async def turn(*, slow: bool, size: int = 0) -> Callable[[], None]:
            cost = toll.collect() + BYTE * size
            return await self._turns.take(path, slow=slow, cost=cost)

        cost = SESSION + toll.collect() + self._turns.arrive(address, connection)
        leave = await self._turns.take(path, slow=True, cost=cost)
        leave()

        async def guarded() -> Message:
            nonlocal heard, leave
            leave()
            while True:
                message = await receive()
                heard = monotonic()
                if message["type"] != "websocket.receive":
                    return message
                while wait := bucket.take(heard):
                    await asyncio.sleep(wait)
                    heard = monotonic()
                size = len(message.get("text") or message.get("bytes") or "")
                leave = await turn(slow=size > SHORT, size=size)
                kind, refusal = self._judged(message)
                if refusal is None:
                    if kind == "reset" and size <= SHORT:
                        leave()
                        leave = await turn(slow=True)
                    return message
                leave()
                await send(refusal)

        async def answer(message: Message) -> None:
            leave()  # not to wait for a client that takes no answer
            await send(message)

        async def watch() -> None:
            # One sleeper a connection: a timer for each message would cost more than the rest.
            idle = self._settings.idle_seconds
            while (left := heard + idle - monotonic()) > 0:
                await asyncio.sleep(left)
            # Whoever went away meanwhile is not told.
            with suppress(OSError):
                text = f"no message for {idle:g} s; session closed"
                await send(error_frame(text, "IDLE_TIMEOUT"))
                await send({"type": "websocket.close", "code": _GOING_AWAY, "reason": "idle"})

        watcher = asyncio.create_task(watch())
        try:
            await self._app(scope, guarded, answer)
        finally:
            leave()
            self._turns.depart(address, connection, toll.collect())
            watcher.cancel()

    def _judged(self, message: Message) -> tuple[str, Message | None]:
        """The kind of a message, and the answer to one that must not reach the application."""
        text = message.get("text")
        if text is None:
            return "", error_frame("binary message; expected JSON text", "INVALID_JSON")
        try:
            value = read_object(text, self._settings.max_message)
        except TooLarge as error:
            return "", error_frame(str(error), "MESSAGE_TOO_LARGE")
        except InvalidInput as error:
            return "", error_frame(str(error), "INVALID_JSON")
        if value.get("type") == "mcp" and not self._settings.mcp:
            return "", error_frame(MCP_OFF, "UNKNOWN_TYPE")
        try:
            return check_message(value, self._kinds), None
        except Misshapen as error:
            return "", error_frame(str(error), error.code)


def _leaving(leave: Callable[[], None], send: Send) -> Send:
    """Send, but end the turn first, so that no turn waits for a slow reader."""

    async def answer(message: Message) -> None:
        leave()
        await send(message)

    return answer


def _address(scope: Message) -> str:
    address: str = (scope.get("client") or ("",))[0]
    return address


def _toll(scope: Message) -> Toll:
    toll: Toll = scope.get("state", {}).get(TOLL) or Toll()
    return toll


def _has_body(scope: Message) -> bool:
    """Whether a request says that it has a body."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 ") != b"")
        for name, value in scope["headers"]
    )


def _is_plain(request: dict[str, Any]) -> bool:
    """Whether the library can look up the session that an MCP request names."""
    params = request.get("params")
    return not isinstance(params, dict) or isinstance(params.get("session_id", ""), str)
