"""uvicorn's connections, with limits that an application behind them cannot set.

An application sees requests and messages. Half a request, a ping, an empty fragment and an
answer that nobody takes never reach it, and each of them costs the server something.
"""

import asyncio
from asyncio import BaseTransport, Transport
from functools import partial
from time import monotonic, thread_time
from typing import Any, Final, cast

from h11 import Request
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode

from logtriage.server.doors import Doors, Visit
from logtriage.server.guard import TOLL
from logtriage.server.pace import Bucket, Toll

#: Frames that bring no message (pings, pongs, fragments), a second and at once.
SMALL_FRAMES: Final = 50
SMALL_FRAMES_AT_ONCE: Final = 500
#: So many bytes are read at a time, so that nobody's thousand frames are read in one go.
_PIECE: Final = 2_048
_POLICY_VIOLATION: Final = 1008


class HttpConnection(H11Protocol):
    """A connection that is counted, and watched while it has no request."""

    def __init__(self, doors: Doors, **config: Any) -> None:
        super().__init__(**config)
        self._doors = doors
        self._visit: Visit
        self._toll = Toll()

    def connection_made(self, transport: BaseTransport) -> None:  # type: ignore[override]
        """Count it; one too many is cut."""
        transport = cast(Transport, transport)
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._visit = self._doors.enter(transport, address, monotonic())

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._doors.leave(self._visit)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read it, and charge the cost to the request that it becomes."""
        begin = thread_time()
        super().data_received(data)
        self._toll.add(thread_time() - begin)

    def handle_events(self) -> None:
        """Read what came; a whole request ends the waiting for one."""
        super().handle_events()
        if self.scope is not None:
            self.scope["state"][TOLL] = self._toll
        if self.cycle is not None and not self.cycle.response_complete:
            self._visit.waiting = None

    def on_response_complete(self) -> None:
        """Wait for the next request, whatever of it is there already."""
        self._visit.waiting = monotonic()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: Request) -> None:
        """Hand over to a WebSocket, which goes on with the count."""
        self._visit.waiting = None
        self.ws_protocol_class = cast(
            Any, partial(WebSocketConnection, doors=self._doors, visit=self._visit)
        )
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        """The client takes nothing just now."""
        self._visit.stuck = monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client takes its answers again."""
        self._visit.stuck = None
        super().resume_writing()


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A session's connection, whose small frames are counted, too."""

    def __init__(self, doors: Doors, visit: Visit, **config: Any) -> None:
        super().__init__(**config)
        self._doors, self._visit = doors, visit
        self._small = Bucket(SMALL_FRAMES, SMALL_FRAMES_AT_ONCE)
        self._unread = bytearray()
        self._toll = Toll()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._doors.leave(self._visit)
        super().connection_lost(exc)

    def handle_connect(self, event: Any) -> None:
        """A handshake; the cost of the connection is charged to its session."""
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["state"][TOLL] = self._toll

    def data_received(self, data: bytes) -> None:
        """Read it piece by piece, until there is a message for the application."""
        begin = thread_time()
        self._read(data)
        self._toll.add(thread_time() - begin)

    def _read(self, data: bytes) -> None:
        if len(data) <= _PIECE and not self._unread and not self.read_paused:
            super().data_received(data)
        else:
            self._unread += data
            self._read_on()

    async def receive(self) -> Any:
        """The next message; what is unread after it is read now."""
        if not self.queue.empty():
            # Neither to get what is there nor to answer it gives way to others. A client that
            # sends without waiting for answers would have the loop for itself.
            await asyncio.sleep(0)
        message = await super().receive()
        if self._unread:
            self._read_on()
        return message

    def _read_on(self) -> None:
        while self._unread and not self.read_paused:
            piece = bytes(self._unread[:_PIECE])
            del self._unread[:_PIECE]
            super().data_received(piece)

    def handle_events(self) -> None:
        """Pass frames on; too many without a message end the connection."""
        small = sum(
            isinstance(one, Frame)
            and (one.opcode in (Opcode.PING, Opcode.PONG, Opcode.CONT) or not one.fin)
            for one in self.conn.events
        )
        super().handle_events()
        if small and self._small.take(monotonic(), small) and not self.close_sent:
            self.conn.fail(_POLICY_VIOLATION, "too many frames without a message")
            self.handle_parser_exception()
            self._unread.clear()

    def keepalive_timeout(self) -> None:
        """Whoever answers no ping will not take a farewell either."""
        super().keepalive_timeout()
        self.transport.abort()

    def pause_writing(self) -> None:
        """The client takes nothing just now."""
        self._visit.stuck = monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client takes its answers again."""
        self._visit.stuck = None
        super().resume_writing()
