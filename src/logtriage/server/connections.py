"""Connections of clients that may be hostile: none can take the server's time from the others.

uvicorn reads at once whatever arrives. Here a connection's bytes wait for its turn
(:mod:`logtriage.server.turns`), and meanwhile no more are read from the network. The work of a
client that has gone is dropped. A connection that is not an open session holds one of the few
places at the door (:mod:`logtriage.server.door`), for a limited time.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import thread_time
from typing import Any, Final, cast

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from logtriage.server.door import FAREWELL, FairConfig
from logtriage.server.turns import SHARE, Share

#: Bytes that are read in a turn, and the most that a session may send after its end.
CHUNK: Final = 4096
#: The most bytes of a request over HTTP, body included.
MAX_REQUEST: Final = 64 * 1024
#: The most frames of a message.
MAX_FRAMES: Final = 64
#: The most pings and pongs that a client may send at once, and how many more each second allows.
CONTROL_FRAMES: Final = 20
CONTROL_FRAMES_A_SECOND: Final = 1.0
#: Processor seconds charged for beginning and ending a session, which happen outside of turns.
SESSION_COST: Final = 0.0015
_POLICY_VIOLATION: Final = 1008


class HttpConnection(H11Protocol):
    """One request over HTTP, or the handshake of a session."""

    def __init__(self, config: FairConfig, *args: Any, **more: Any) -> None:
        super().__init__(config, *args, **more)
        self._turns, self._door = config.turns, config.door
        self._share = Share(is_session=False)
        self._unread, self._received_bytes = b"", 0
        inner: Callable[..., Awaitable[None]] = config.loaded_app

        async def counted(*asgi: Any) -> None:
            began = thread_time()
            try:
                await inner(*asgi)
            finally:
                self._turns.charge(self._share, thread_time() - began)

        self.app = counted

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place at the door."""
        super().connection_made(transport)
        self._door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._door.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Keep the bytes until the connection's turn."""
        self._door.move_to_back(self)
        self._unread += data
        self._received_bytes += len(data)
        if self._received_bytes > MAX_REQUEST:
            self.transport.abort()
            return
        self.transport.pause_reading()
        self._turns.ask(self._share, self._read)

    def _read(self) -> bool:
        """Read a chunk, and ask for another turn if more is left; this turn ends here."""
        chunk, self._unread = self._unread[:CHUNK], self._unread[CHUNK:]
        if not self.transport.is_closing():
            _read_guarded(super().data_received, chunk, self.transport)
        if self.transport.get_protocol() is not self:  # the chunk made it a session
            self._turns.charge(self._share, SESSION_COST)
            self.transport.resume_reading()
        elif self._unread:
            self._turns.ask(self._share, self._read)
        elif not self.flow.read_paused:
            self.transport.resume_reading()
        return False

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Become a session."""
        self._door.leave(self)
        super().handle_websocket_upgrade(event)


class _Inbox:
    """Stands in for uvicorn's queue of events to the application; ``put`` gets each event."""

    def __init__(self, put: Callable[[Any], None]) -> None:
        self.put_nowait = put


class SessionConnection(WebSocketsSansIOProtocol):
    """A session's connection: each message is read and answered in a turn of its own.

    The connection ends if the client answers no ping, takes no answers, or sends too many control
    frames or fragments.
    """

    def __init__(self, config: FairConfig, *args: Any, **more: Any) -> None:
        super().__init__(config, *args, **more)
        self._turns, self._door, self._share = config.turns, config.door, Share(is_session=True)
        self.queue = cast(Any, _Inbox(self._put))
        self._events: deque[Any] = deque()
        self._unread = bytearray()
        #: The application's wait for its next event; None while it works.
        self._wanted: asyncio.Future[Any] | None = None
        self._asked = False  # whether a turn was asked for and has not come
        self._began = 0.0  # the thread's processor time when the application got its last event
        self._fragments = self._farewell_bytes = 0
        self._control_left, self._control_at = float(CONTROL_FRAMES), self.loop.time()

    # From the network.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place at the door until the application asks for the first message."""
        super().connection_made(transport)
        self._door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the door and the turns."""
        self._door.leave(self)
        self._turns.leave(self._share)
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        """Put the session's :class:`Share` into the scope, where the application finds it."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions = cast(dict[str, Any], self.scope["extensions"])
            extensions[SHARE] = self._share

    def data_received(self, data: bytes) -> None:
        """Keep the bytes until the session's turn."""
        if not self.handshake_initiated:
            super().data_received(data)
        elif self.close_sent:
            self._farewell_bytes += len(data)
            if self._farewell_bytes > CHUNK:
                self.transport.abort()
            else:
                super().data_received(data)
        else:
            self._unread += data
            self.read_paused = True
            self.transport.pause_reading()
            self._ask()

    def resume_writing(self) -> None:
        """Go on: the client takes answers again."""
        super().resume_writing()
        self._ask()

    def keepalive_timeout(self) -> None:
        """End the connection at once: a client that answers no ping takes no farewell."""
        if self._unread and self.writable.is_set():
            # The client's pong may be among the bytes that wait for a turn.
            self.pong_timer = self.pending_ping_payload = None
            self.schedule_ping()
            return
        super().keepalive_timeout()
        self.transport.abort()

    def handle_ping(self) -> None:
        """Answer a ping, unless there are too many control frames."""
        if self._spend_control():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Note a pong, unless there are too many control frames."""
        if self._spend_control():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """Add to the message, unless it is in too many pieces."""
        self._fragments += 1
        if self._fragments >= MAX_FRAMES:
            self._refuse(f"a message of more than {MAX_FRAMES} frames")
        elif not self.close_sent:
            super().handle_cont(event)
            if event.fin:
                self._fragments = 0

    def _spend_control(self) -> bool:
        """Count a control frame; returns whether it is to be handled."""
        now = self.loop.time()
        regained = (now - self._control_at) * CONTROL_FRAMES_A_SECOND
        self._control_left = min(self._control_left + regained, CONTROL_FRAMES) - 1
        self._control_at = now
        if self._control_left < 0:
            self._refuse("too many pings and pongs")
        return not self.close_sent

    def _refuse(self, reason: str) -> None:
        if not self.close_sent:
            self.conn.fail(_POLICY_VIOLATION, reason)
            self.handle_parser_exception()
            self._door.enter(self, FAREWELL)

    # To the application.

    async def receive(self) -> Any:
        """Return the next event. The application's work until its next call is one turn."""
        self._end_turn()
        if self.handshake_complete and not self.close_sent:
            self._door.leave(self)
        self._wanted = self.loop.create_future()
        self._ask()
        try:
            return await self._wanted
        finally:
            self._wanted = None
            self._began = thread_time()

    async def send(self, message: Any) -> None:
        """Send, unless the client has gone; after a close, leave it a short time to note that."""
        if self.close_sent:
            return
        with suppress(ClientDisconnected):
            await super().send(message)
        if self.close_sent and not self.disconnected:
            self._door.enter(self, FAREWELL)

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """End the last turn."""
        self._end_turn()
        super().on_task_complete(task)

    def _end_turn(self) -> None:
        self._turns.end(self._share, thread_time() - self._began)

    def _put(self, event: Any) -> None:
        """Queue an event; one that is no message goes to the application without a turn."""
        if event["type"] == "websocket.disconnect":
            self._events.clear()
            self._unread.clear()
        self._events.append(event)
        self._deliver(at_turn=False)

    def _ask(self) -> None:
        """Deliver the next event, or ask for a turn to deliver it or to read more bytes."""
        self._deliver(at_turn=False)
        if self._wanted is None or self._wanted.done() or self._asked:
            return
        if not (self._events or self._unread):
            if not self.close_sent:
                self.read_paused = False
                self.transport.resume_reading()
        elif self.writable.is_set():
            self._asked = True
            self._turns.ask(self._share, self._turn)

    def _turn(self) -> bool:
        """Read more if no event waits, and deliver one; True if the turn goes on in a task."""
        self._asked = False
        if not self._events and self._unread:
            chunk = bytes(self._unread[:CHUNK])
            del self._unread[:CHUNK]
            _read_guarded(super().data_received, chunk, self.transport)
        if self._deliver(at_turn=True):
            return True
        self._ask()
        return False

    def _deliver(self, *, at_turn: bool) -> bool:
        """Deliver the next event if the application waits for it (a message only ``at_turn``)."""
        if not self._events or self._wanted is None or self._wanted.done():
            return False
        if not at_turn and self._events[0]["type"] == "websocket.receive":
            return False
        self._wanted.set_result(self._events.popleft())
        return True


def _read_guarded(read: Callable[[bytes], None], data: bytes, transport: asyncio.Transport) -> None:
    """Read ``data``; an error ends this connection, as in asyncio, not the turns of all others."""
    try:
        read(data)
    except Exception:
        logging.getLogger("uvicorn.error").exception("a connection could not be read")
        transport.abort()
