"""Fair turns at the server's one thread.

Whatever a connection makes the server do waits for a turn here: to be accepted, to have its bytes
read, to have a message answered. A turn costs the processor's seconds that it took. Whoever has
had least goes first, and nobody gets far ahead of an equal share.

Sessions that play count one by one. All others are newcomers (requests over HTTP, sessions
before their first step, sessions that only reset or send what is refused), and share a fifth of
the time between them.
"""

import asyncio
import itertools
from collections.abc import Callable
from heapq import heappop, heappush
from time import thread_time
from typing import Final

#: Where the guard finds the share of a session, among a scope's extensions.
SHARE: Final = "logtriage.share"
#: Newcomers have one share for so many players, but never less than one for a single player's four.
PLAYERS_FOR_NEWCOMERS: Final = 4
#: Messages that led nowhere, since the last step, with which a session still counts as a player.
PATIENCE: Final = 2
#: Turns that are taken between two looks at the network.
AT_ONCE: Final = 8
#: Who had a turn within so many seconds has a share.
_RECENT: Final = 1.0
#: Seconds that a share may be ahead of the others, and that it can save up.
_AHEAD: Final = 0.02
_SAVED: Final = 0.05
#: If only shares that are ahead wait for so many seconds, they are let off this many times as much.
_IDLE: Final = 0.002
_FORGIVEN: Final = 4

#: Done at the turn. True: it goes on in a task, until :meth:`Turns.end`.
Work = Callable[[], bool]


class Share:
    """A connection's claim to turns, with the seconds of the processor that it has had.

    Connections that come and go have a claim on what their ``payer`` has.
    """

    __slots__ = ("fruitless", "had", "has_played", "holds", "payer", "plays_now")

    def __init__(self, payer: "Share | None" = None) -> None:
        self.payer = self if payer is None else payer
        self.had = 0.0
        self.has_played = self.plays_now = self.holds = False
        self.fruitless = 0

    @property
    def plays(self) -> bool:
        """Whether it counts as a player: it played a step, and does not idle since."""
        return self.has_played and self.fruitless <= PATIENCE

    def answered(self, *, step: bool) -> None:
        """Note an answer: to a ``step`` that was played, or to anything else."""
        self.has_played = self.has_played or step
        self.fruitless = 0 if step else self.fruitless + 1


class _Group:
    """Shares that are equal, and who of them waits."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, int, Share, Work]] = []
        #: What an equal share has had by now.
        self.level = 0.0
        self.heard = float("-inf")
        self._recent: dict[Share, float] = {}

    def count(self, share: Share, seconds: float, now: float) -> int:
        """Count a turn of a share; return how many shares had one lately."""
        self.heard = now
        share.had += seconds
        self._recent.pop(share, None)
        self._recent[share] = now
        for old, heard in tuple(itertools.islice(self._recent.items(), 2)):
            if heard < now - _RECENT:
                del self._recent[old]
        return len(self._recent)

    @property
    def shares(self) -> int:
        """How many shares had a turn lately."""
        return len(self._recent)


class Turns:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._players, self._newcomers = _Group(), _Group()
        #: What the newcomers have had, as one share among the players.
        self._crowd = 0.0
        self._number = itertools.count()
        self._held = 0
        self._planned = False
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, share: Share, work: Work) -> None:
        """Do ``work`` when it is the turn of ``share``, which has asked for no other."""
        plays, payer = share.plays, share.payer
        group = self._players if plays else self._newcomers
        if plays != share.plays_now:
            share.plays_now, share.had = plays, group.level
        payer.had = max(payer.had, group.level - _SAVED)
        heappush(group.waiting, (payer.had, next(self._number), share, work))
        self._plan()

    async def wait(self, share: Share) -> None:
        """Wait for a turn, which costs what is charged for it afterwards."""
        turn = asyncio.get_running_loop().create_future()

        def granted() -> bool:
            if not turn.done():
                turn.set_result(None)
            return False

        self.ask(share, granted)
        await turn

    def end(self, share: Share, seconds: float) -> None:
        """End a turn that went on, and took so long."""
        if share.holds:
            share.holds = False
            self._held -= 1
            self.charge(share, seconds)
            self._plan()

    def charge(self, share: Share, seconds: float) -> None:
        """Count what was done for a share."""
        now = asyncio.get_running_loop().time()
        if share.plays_now:
            self._players.count(share, seconds, now)
        else:
            self._newcomers.level += seconds / self._newcomers.count(share.payer, seconds, now)
        players = self._players.shares
        weight = players / PLAYERS_FOR_NEWCOMERS or 1.0
        if not share.plays_now:
            self._crowd += seconds / weight
        is_crowded = self._newcomers.heard >= now - _RECENT
        self._players.level += seconds / (players + (weight if is_crowded else 0.0))

    def _plan(self) -> None:
        if not self._planned and self._held < AT_ONCE:
            self._planned = True
            asyncio.get_running_loop().call_soon(self._grant)

    def _grant(self) -> None:
        self._planned = False
        for _ in range(AT_ONCE - self._held):
            group = self._next()
            if group is None:
                break
            try:
                self._serve(group)
            except BaseException:
                self._plan()
                raise
        else:
            self._plan()
            return
        if not self._held and self._timer is None and self._all():
            self._timer = asyncio.get_running_loop().call_later(_IDLE, self._forgive)

    def _next(self) -> _Group | None:
        """The group whose first may go now."""
        players, level = self._players.waiting, self._players.level
        self._crowd = max(self._crowd, level - _SAVED)
        limit = level + _AHEAD
        first = players[0][0] if players else float("inf")
        if self._newcomers.waiting and self._crowd <= min(first, limit):
            return self._newcomers
        return self._players if first <= limit else None

    def _serve(self, group: _Group) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        _, _, share, work = heappop(group.waiting)
        began = thread_time()
        share.holds = work()
        self._held += share.holds
        self.charge(share, thread_time() - began)

    def _forgive(self) -> None:
        """Nobody waited but those who are ahead: the server would stand idle."""
        self._timer = None
        if waiting := self._all():
            self._players.level += _FORGIVEN * _IDLE / waiting
            self._plan()

    def _all(self) -> int:
        return len(self._players.waiting) + len(self._newcomers.waiting)
