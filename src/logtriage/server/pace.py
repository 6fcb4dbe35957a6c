"""How fast, and who comes next: token buckets, and turns that are fair by client.

All clients share one event loop. The work for one message or request is a *turn*, and the client is
charged for its CPU seconds. A client that has lately used no more than a fair share takes a turn at
once. All others wait in one lane, which takes one turn at a time, that of the client with the least
use first. After each turn the lane rests. Meanwhile others pass: clients within their share, and
clients whose turns are far shorter than the turn that the lane rests for.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import exp, inf
from time import monotonic, thread_time
from typing import Final

#: Use fades with this time constant, in seconds.
MEMORY: Final = 4.0
#: After this many seconds without a turn, a part is forgotten.
_FORGET: Final = 4 * MEMORY
#: More than this multiple of a fair share sends a client to the lane.
AHEAD: Final = 1.25
#: The lane rests for this multiple of a turn, so it has a third of the time.
REST: Final = 2.0
#: A turn shorter by this factor does not wait while the lane rests.
SHORTER: Final = 8.0
#: It rests no longer than this multiple of what others have used since its last turn, so that
#: clients with little use do not hold it up.
BESIDE: Final = 4.0
#: Seconds that the lane rests at least and at most.
SHORTEST_REST, LONGEST_REST = 0.001, 0.5
#: Seconds charged for each byte that is read.
BYTE: Final = 2e-8
#: Seconds charged for a request on top of its turn, for receiving it and sending the answer.
REQUEST: Final = 5e-4
#: Seconds charged for a new session, whose environment is made on another thread.
SESSION: Final = 3e-3

#: With at most this many parts, a part below this multiple of a fair share does not count.
_FEW, _LITTLE = 16, 0.1
#: The memory of a long turn shrinks by this factor with each shorter turn after it.
_FADE: Final = 0.9
#: The part with the use of closed connections.
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
    """Seconds that a connection has cost and that are not yet charged."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        """Add to the cost of the connection."""
        self._seconds += seconds

    def collect(self) -> float:
        """The seconds since the last call."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds


class Share:
    """Seconds used lately, in total and by each part."""

    __slots__ = ("_at", "_dear", "_parts", "_seconds")

    def __init__(self) -> None:
        self._at = self._seconds = self._dear = 0.0
        # In the order of use: the longest unused part comes first.
        self._parts: OrderedDict[Hashable, Share] = OrderedDict()

    def lately(self, now: float) -> float:
        """The seconds used; older use counts less."""
        if now > self._at:
            self._seconds *= exp((self._at - now) / MEMORY)
            self._at = now
        return self._seconds

    def charge(self, path: Path, seconds: float, now: float) -> None:
        """Charge a part for this many seconds."""
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
        """About the longest of the last charges to a part; infinite for an unknown part."""
        part: Share | None = self
        for name in path:
            part = None if part is None else part._parts.get(name)
        return inf if part is None else part._dear

    def rename(self, path: Path, name: Hashable, now: float) -> None:
        """Move the use of a part to the part ``name``, which adds it to its own."""
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
        """The use of a part divided by its fair share: 1 if all parts used the same.

        The largest ratio along the path counts. A part without other parts beside it has 0.
        """
        part = self._parts.get(path[0]) if path else None
        if part is None:
            return 0.0
        within = part.ratio(path[1:], now)
        count, whole = len(self._parts), self.lately(now)
        if count <= _FEW:
            # If there are few parts, idle ones take no share from the others.
            least = _LITTLE * whole / count
            count = sum(share.lately(now) >= least for share in self._parts.values())
        if count <= 1 or whole <= 0:
            return within
        return max(within, part.lately(now) * count / whole)


class Turns:
    """Who comes next: short messages and slow work, each with shares of its own.

    Slow work (requests, resets, long messages, new sessions) has its own shares, so that a client
    with many short messages does not wait longer for a reset. Guests have shown no token and always
    wait in the lane.
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
        # Seconds that others used since the lane's last turn, and seconds of rest still due.
        self._beside = self._owed = 0.0
        # While the lane rests, clients with shorter turns than this do not wait.
        self._resting = 0.0
        # By address, the uncharged cost of closed connections.
        self._unpaid: OrderedDict[str, float] = OrderedDict()
        self._waiting: list[tuple[Share, Path, asyncio.Future[None]]] = []

    async def take(
        self, path: Path, *, slow: bool, guest: bool = False, cost: float = 0.0
    ) -> Callable[[], None]:
        """Wait for a turn; the returned function ends it, and may be called twice.

        ``cost`` is in seconds that the client has used already.
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
        """A new connection takes over the use of the closed ones; the cost that they left unpaid.

        So a client that reconnects does not count as new.
        """
        for share in (self._short, self._slow):
            share.rename((address, _LEFT), connection, self._clock())
        return self._unpaid.pop(address, 0.0)

    def depart(self, address: str, connection: Hashable, cost: float) -> None:
        """A connection is closed: keep its use for its address; ``cost`` is not yet charged."""
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
            # Other turns may have run while this turn awaited something.
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
        self._waiting = [waiting for waiting in self._waiting if not waiting[2].done()]
        self._taken = bool(self._waiting)
        if self._waiting:
            now = self._clock()
            first = min(self._waiting, key=lambda waiting: waiting[0].ratio(waiting[1], now))
            self._waiting.remove(first)
            first[2].set_result(None)
