"""What the connections of a server share: their turns, and the places at the door."""

import asyncio
import logging
from typing import Any, Final

import uvicorn

from logtriage.server.turns import Turns

#: Seconds that the other side has to take note of the end of a session.
FAREWELL: Final = 2.0
_logger = logging.getLogger("uvicorn.error")


class Door:
    """Connections that are no session (yet, or any more): at most so many, for so long.

    A newcomer beyond ``most`` takes the place of the connection that has stood there longest.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._standing: dict[Any, asyncio.TimerHandle] = {}
        self._is_full = False

    def enter(self, connection: Any, seconds: float | None = None) -> None:
        """Let a connection stand for a while, after which it is cut."""
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
        """Forget a connection that is gone, or a session."""
        timer = self._standing.pop(connection, None)
        if timer is not None:
            timer.cancel()


class FairConfig(uvicorn.Config):
    """uvicorn's settings, with what connections share."""

    def __init__(self, *args: Any, max_waiting: int, request_seconds: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self.turns = Turns()
        self.door = Door(max_waiting, request_seconds)
