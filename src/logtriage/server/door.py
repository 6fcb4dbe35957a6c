"""The door, which limits connections that are not sessions, and uvicorn's settings with it."""

import asyncio
import logging
from typing import Any, Final

import uvicorn

from logtriage.server.turns import Turns

#: Seconds that a client has to note the end of its session.
FAREWELL: Final = 2.0
_logger = logging.getLogger("uvicorn.error")


class Door:
    """The connections that are not sessions (yet, or any more): at most ``most``.

    Each is cut after ``seconds``. A newcomer beyond ``most`` replaces the longest silent one.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        #: The timer of each connection; the longest silent comes first.
        self._standing: dict[Any, asyncio.TimerHandle] = {}
        self._is_full = False  # it was full, and has not been half empty since

    def enter(self, connection: Any, seconds: float | None = None) -> None:
        """Give a connection a place for ``seconds`` (default: the door's), then cut it."""
        self.leave(connection)
        if len(self._standing) >= self._most:
            if not self._is_full:
                _logger.warning(
                    "%d connections wait to become sessions; newer ones take the place of older",
                    self._most,
                )
            self._is_full = True
            oldest = next(iter(self._standing))
            self.leave(oldest)
            oldest.transport.abort()
        elif len(self._standing) < self._most // 2:
            self._is_full = False
        self._standing[connection] = asyncio.get_running_loop().call_later(
            self._seconds if seconds is None else seconds, connection.transport.abort
        )

    def move_to_back(self, connection: Any) -> None:
        """Move a connection that just spoke behind all others in the order of silence."""
        if connection in self._standing:
            self._standing[connection] = self._standing.pop(connection)

    def leave(self, connection: Any) -> None:
        """Free the place of a connection that has gone or become a session."""
        timer = self._standing.pop(connection, None)
        if timer is not None:
            timer.cancel()


class FairConfig(uvicorn.Config):
    """uvicorn's settings, with the turns and the door that all connections share."""

    def __init__(self, *args: Any, max_waiting: int, request_seconds: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self.turns = Turns()
        self.door = Door(max_waiting, request_seconds)
