"""Who is connected: how many, for how long without a request, and who takes no answers.

Pure bookkeeping: sockets are asyncio transports, the time is an argument.
"""

from asyncio import Transport
from collections import Counter
from math import inf
from typing import Final

import attrs

#: A connection that was closed may have so many seconds to take the last of its answers.
LINGER_SECONDS: Final = 5.0


@attrs.define(eq=False)
class Visit:
    """One connection.

    Attributes:
        waiting: since when it has been without a whole request; None while it has one.
        stuck: since when it takes nothing of what it is sent; None while it does.
        closing: since when it has been closed on this side; None before.
    """

    transport: Transport
    address: str
    waiting: float | None = None
    stuck: float | None = None
    closing: float | None = None


class Doors:
    """The connections of a server.

    Args:
        total: connections at a time; fewer than the process may open files.
        per_address: those of one address.
        exempt: addresses that speak for many clients.
        head_seconds: how long a connection may wait for its first or next request.
        write_seconds: how long it may take nothing of what it is sent.
    """

    def __init__(
        self,
        total: int,
        per_address: int,
        head_seconds: float,
        write_seconds: float,
        exempt: tuple[str, ...] = (),
    ) -> None:
        self._total, self._per_address, self._exempt = total, per_address, exempt
        self._head_seconds, self._write_seconds = head_seconds, write_seconds
        self._visits: set[Visit] = set()
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._visits)

    def enter(self, transport: Transport, address: str, now: float) -> Visit:
        """A new connection, which waits for its first request.

        Where there are too many, the one that has waited for longest is cut, of the same
        address if that has too many: half a request is no reason to keep others out. If
        all are at work, it is the new one.
        """
        visit = Visit(transport, address, waiting=now)
        crowd = self._counts[address] >= self._per_address and address not in self._exempt
        if crowd or len(self._visits) >= self._total:
            idle = min(
                (one for one in (*self._visits, visit) if not crowd or one.address == address),
                key=lambda one: inf if one.waiting is None else one.waiting,
            )
            idle.transport.abort()
            self.leave(idle)
            if idle is visit:
                return visit
        self._visits.add(visit)
        self._counts[address] += 1
        return visit

    def leave(self, visit: Visit) -> None:
        """A connection is gone; safe to call twice."""
        if visit in self._visits:
            self._visits.remove(visit)
            self._counts[visit.address] -= 1
            if not self._counts[visit.address]:
                del self._counts[visit.address]

    def sweep(self, now: float) -> None:
        """Cut the connections that have had their time."""
        for visit in tuple(self._visits):
            if visit.closing is None and visit.transport.is_closing():
                visit.closing = now
            for since, seconds in (
                (visit.waiting, self._head_seconds),
                (visit.stuck, self._write_seconds),
                (visit.closing, LINGER_SECONDS),
            ):
                if since is not None and now - since >= seconds:
                    visit.transport.abort()
                    self.leave(visit)
                    break
