"""How fast, and who comes next: a token bucket, and a lane that one at a time walks."""

import asyncio
from collections.abc import Callable
from time import monotonic


class Bucket:
    """A token bucket: ``rate`` a second, one second's worth saved up, or ``size``."""

    def __init__(self, rate: float, size: float | None = None) -> None:
        self._rate = rate
        self._size = max(1.0, rate) if size is None else size
        self._left = self._size
        self._at = monotonic()

    def take(self, now: float, count: int = 1) -> float:
        """Take ``count``; the seconds to wait until there are as many, 0 if they were taken."""
        self._left = min(self._size, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < count:
            return (count - self._left) / self._rate
        self._left -= count
        return 0.0


class Lane:
    """Where what takes longer than a step goes one at a time, first come first served.

    All clients share one event loop, which handles a message of each that has sent one.
    Were there many costly ones among them, short messages would wait for all of those;
    so they wait for one.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def enter(self) -> Callable[[], None]:
        """Wait for one's turn; what is returned ends it, and may be called twice."""
        await self._lock.acquire()
        inside = True

        def leave() -> None:
            nonlocal inside
            if inside:
                inside = False
                self._lock.release()

        return leave
