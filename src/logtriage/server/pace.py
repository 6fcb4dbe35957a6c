"""How fast, and who comes next: token buckets, and turns that are fair by client.

All clients share one event loop. What one message or request makes the loop do is a
*turn*, and its CPU seconds are charged to the client. Whoever has used no more than a fair
share lately takes a turn at once. All others queue in one lane, one at a time; whoever
used least goes first, and the lane rests after each turn while others pass beside it: those
within their share, and those whose turns are far shorter than the one that it rests for.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import exp, inf
from time import monotonic, thread_time
from typing import Final

#: Use is remembered for about so many seconds.
MEMORY: Final = 4.0
#: After so many seconds without a turn, nothing of it is left.
_FORGET: Final = 4 * MEMORY
#: More than this multiple of a fair share sends a client to the lane.
AHEAD: Final = 1.25
#: The lane rests for this multiple of a turn, so it has a third of the time.
REST: Final = 2.0
#: A turn shorter by this factor does not wait while the lane rests.
SHORTER: Final = 8.0
#: It rests no longer than this multiple of what others used beside it meanwhile, so that
#: whoever uses little does not keep it from working.
BESIDE: Final = 4.0
#: Seconds that the lane rests at least and at most.
SHORTEST_REST, LONGEST_REST = 0.001, 0.5
#: Seconds charged for each byte that is read.
BYTE: Final = 2e-8
#: Seconds charged for a request beside its turn: it is taken in, and its answer sent.
REQUEST: Final = 5e-4
#: Seconds charged for a new session, whose environment is made on another thread.
SESSION: Final = 3e-3

#: Among so few parts, a part that used less than this much of a fair share does not count.
_FEW, _LITTLE = 16, 0.1
#: A long turn counts this much less with each shorter one after it.
_FADE: Final = 0.9
#: What connections used that are gone.
_LEFT: Final = "left behind"
#: Addresses whose unpaid costs are remembered.
_DEBTORS: Final = 4_096
#: A client, and which of its connections: ``(address, connection)``.
Path = tuple[Hashable, ...]


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


class Toll:
    """Seconds that a connection cost before it asked for anything."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        """The connection has cost more."""
        self._seconds += seconds

    def collect(self) -> float:
        """The seconds since the last time."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds


class Share:
    """Seconds that were used lately, by all together and by each part."""

    __slots__ = ("_at", "_dear", "_parts", "_seconds")

    def __init__(self) -> None:
        self._at = self._seconds = self._dear = 0.0
        # In the order of use: the part that was quiet for longest comes first.
        self._parts: OrderedDict[Hashable, Share] = OrderedDict()

    def lately(self, now: float) -> float:
        """The seconds, those of a while ago counted less."""
        if now > self._at:
            self._seconds *= exp((self._at - now) / MEMORY)
            self._at = now
        return self._seconds

    def charge(self, path: Path, seconds: float, now: float) -> None:
        """A part has used so many."""
        self._seconds = self.lately(now) + seconds
        if not path:
            self._dear = max(seconds, _FADE * self._dear)
            return
        part = self._parts.pop(path[0], None) or Share()
        self._parts[path[0]] = part
        part.charge(path[1:], seconds, now)
        while next(iter(self._parts.values()))._at < now - _FORGET:
            self._parts.popitem(last=False)

    def dear(self, path: Path) -> float:
        """About the longest of the last charges to a part; that of an unknown one is infinite."""
        part: Share | None = self
        for name in path:
            part = None if part is None else part._parts.get(name)
        return inf if part is None else part._dear

    def rename(self, path: Path, name: Hashable, now: float) -> None:
        """What a part used is now another's, beside what that has used itself."""
        part = self._parts.get(path[0])
        if part is None:
            return
        if len(path) > 1:
            part.rename(path[1:], name, now)
            return
        del self._parts[path[0]]
        seconds, other = part.lately(now), self._parts.pop(name, part)
        if other is not part:
            other._seconds = other.lately(now) + seconds
            other._dear = max(other._dear, part._dear)
        self._parts[name] = other

    def ratio(self, path: Path, now: float) -> float:
        """What a part used by its fair share: 1 if all parts used the same.

        The largest ratio along the path counts. A part that has nobody beside it has 0.
        """
        part = self._parts.get(path[0]) if path else None
        if part is None:
            return 0.0
        within = part.ratio(path[1:], now)
        count, whole = len(self._parts), self.lately(now)
        if count <= _FEW:
            # Of few parts, those that hardly use anything take no share from the others.
            least = _LITTLE * whole / count
            count = sum(one.lately(now) >= least for one in self._parts.values())
        if count <= 1 or whole <= 0:
            return within
        return max(within, part.lately(now) * count / whole)


class Turns:
    """Who comes next: short messages and slow work, each with shares of its own.

    Slow work (requests, resets, long messages, new sessions) has its own shares: whoever
    plays fast in short messages is not late with a reset for it. ``guests`` have shown no
    token and always queue in the lane.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        meter: Callable[[], float] = thread_time,
    ) -> None:
        self._clock, self._meter = clock, meter
        self._short, self._slow, self._guests = Share(), Share(), Share()
        self._spent = 0.0
        self._taken = False
        # Seconds that others used beside the lane since its last turn, and of rest that it owes.
        self._beside = self._owed = 0.0
        # While the lane rests: whoever takes shorter turns than this does not wait for it.
        self._resting = 0.0
        # By address, what connections cost that are gone and asked for nothing more.
        self._unpaid: OrderedDict[str, float] = OrderedDict()
        self._waiting: list[tuple[Share, Path, asyncio.Future[None]]] = []

    async def take(
        self, path: Path, *, slow: bool, guest: bool = False, cost: float = 0.0
    ) -> Callable[[], None]:
        """Wait for a turn; what is returned ends it, and may be called twice.

        ``cost`` are seconds that the client has used already.
        """
        share = self._guests if guest else self._slow if slow else self._short
        now = self._clock()
        share.charge(path, cost, now)
        if not guest and (share.ratio(path, now) <= AHEAD or share.dear(path) < self._resting):
            return self._turn(share, path, self._pass)
        if self._taken:
            ready = asyncio.get_running_loop().create_future()
            self._waiting.append((share, path, ready))
            try:
                await ready
            except asyncio.CancelledError:
                if not ready.cancelled():
                    self._next()
                raise
        self._taken = True
        return self._turn(share, path, lambda seconds: self._release(cost + seconds))

    def arrive(self, address: str, connection: Hashable) -> float:
        """A connection takes over what others of its address left behind, and what they owe.

        Whoever goes and comes again is not new.
        """
        for share in (self._short, self._slow):
            share.rename((address, _LEFT), connection, self._clock())
        return self._unpaid.pop(address, 0.0)

    def depart(self, address: str, connection: Hashable, cost: float) -> None:
        """A connection is gone, and leaves what it used behind; ``cost`` is still to be paid."""
        self._unpaid[address] = self._unpaid.pop(address, 0.0) + cost
        if len(self._unpaid) > _DEBTORS:
            self._unpaid.popitem(last=False)
        for share in (self._short, self._slow):
            share.rename((address, connection), _LEFT, self._clock())

    def _turn(self, share: Share, path: Path, ended: Callable[[float], None]) -> Callable[[], None]:
        begin, used, before, inside = self._clock(), self._meter(), self._spent, True

        def leave() -> None:
            nonlocal inside
            if not inside:
                return
            inside = False
            now = self._clock()
            # Turns of others may have passed while this one waited for something.
            seconds = max(0.0, self._meter() - used - (self._spent - before))
            self._spent += seconds
            share.charge(path, seconds, now)
            ended(now - begin)

        return leave

    def _pass(self, seconds: float) -> None:
        self._beside += seconds

    def _release(self, seconds: float) -> None:
        self._owed += min(REST * seconds, BESIDE * self._beside)
        self._beside = 0.0
        if self._owed >= SHORTEST_REST:
            rest, self._owed = min(self._owed, LONGEST_REST), 0.0
            self._resting = seconds / SHORTER
            asyncio.get_running_loop().call_later(rest, self._next)
        else:
            self._next()

    def _next(self) -> None:
        self._resting = 0.0
        self._waiting = [one for one in self._waiting if not one[2].done()]
        self._taken = bool(self._waiting)
        if self._waiting:
            now = self._clock()
            one = min(self._waiting, key=lambda one: one[0].ratio(one[1], now))
            self._waiting.remove(one)
            one[2].set_result(None)
