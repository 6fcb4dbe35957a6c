"""How fast, and who comes next: a token bucket, and a lane that one at a time walks."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

#: Seconds that a lane rests at most.
LONGEST_REST: Final = 0.1


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
    so they wait for one. And a ``fair`` lane rests after each turn for as long as that
    took, if anything went beside it meanwhile: costly messages take half of the time at
    most.
    """

    def __init__(self, *, fair: bool = False) -> None:
        self._lock = asyncio.Lock()
        self._fair = fair
        self._beside = False

    def passed(self) -> None:
        """Something went beside this lane."""
        self._beside = True

    async def enter(self) -> Callable[[], None]:
        """Wait for one's turn; what is returned ends it, and may be called twice."""
        await self._lock.acquire()
        begin, inside = monotonic(), True

        def leave() -> None:
            nonlocal inside
            if not inside:
                return
            inside = False
            if self._fair and self._beside:
                self._beside = False
                rest = min(monotonic() - begin, LONGEST_REST)
                asyncio.get_running_loop().call_later(rest, self._lock.release)
            else:
                self._lock.release()

        return leave
