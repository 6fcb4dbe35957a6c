"""Fair turns at the server's one thread.

Whatever a connection makes the server do waits for a turn here: to be accepted, to have its bytes
read, to have a message answered. A turn costs the processor's seconds that it took. Whoever has
had least goes first, and nobody gets far ahead of an equal share.

Sessions that play have equal shares. Beside them, newcomers (sessions before their first step, and
sessions that only reset or send what is refused) have a tenth of the time between them, and so
have strangers (connections that are no session). What nobody wants, others have.
"""

import asyncio
import itertools
from collections.abc import Callable
from heapq import heappop, heappush
from time import thread_time
from typing import Final

#: Where the guard finds the share of a session, among a scope's extensions.
SHARE: Final = "logtriage.share"
#: Newcomers have one share for this many players, and strangers have one.
PLAYERS_FOR_OTHERS: Final = 8
#: Messages that led nowhere, since the last step, with which a session still counts as a player.
PATIENCE: Final = 2
#: Turns of a new session that go before those of other newcomers: enough for a first step.
FIRST: Final = 4
#: Turns that are taken between two looks at the network.
AT_ONCE: Final = 8
#: Who had a turn within this many seconds has a share.
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
    """A connection's claim to turns, with the seconds of the processor that it has had."""

    __slots__ = ("asked", "fruitless", "group", "had", "has_played", "holds", "is_session")

    def __init__(self, *, is_session: bool) -> None:
        self.is_session = is_session
        self.had = 0.0
        self.has_played = self.holds = False
        self.fruitless = self.asked = 0
        #: Where it last asked for a turn.
        self.group: _Group | None = None

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
        #: What all have had together, as one share among the players; and when the last.
        self.spent = 0.0
        self.heard = float("-inf")
        self._recent: dict[Share, float] = {}

    def count(self, share: Share, seconds: float, now: float) -> None:
        """Count a turn of a share."""
        self.heard = now
        share.had += seconds
        self._recent.pop(share, None)
        self._recent[share] = now

    def forget(self, now: float) -> None:
        """Forget some of the shares that had no turn lately."""
        for old, heard in tuple(itertools.islice(self._recent.items(), 2)):
            if heard < now - _RECENT:
                del self._recent[old]

    @property
    def shares(self) -> int:
        """How many shares had a turn lately, or wait for one."""
        return max(len(self._recent), len(self.waiting))


class Turns:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._players, self._newcomers, self._strangers = _Group(), _Group(), _Group()
        self._others = self._newcomers, self._strangers
        self._number = itertools.count()
        self._held = 0
        self._planned = False
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, share: Share, work: Work) -> None:
        """Do ``work`` when it is the turn of ``share``, which has asked for no other."""
        group = self._strangers if not share.is_session else self._newcomers
        if share.plays:
            group = self._players
        if group is not share.group:
            share.group, share.had = group, group.level
        share.had = max(share.had, group.level - _SAVED)
        share.asked += 1
        # Strangers are served as they come, and before other newcomers whoever just came.
        is_new = group is self._newcomers and share.asked <= FIRST
        place = 0.0 if is_new or not share.is_session else share.had
        heappush(group.waiting, (place, next(self._number), share, work))
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

    def leave(self, share: Share) -> None:
        """Let the newcomers pay what a player that has gone was ahead of an equal share.

        Else a client could come for a costly turn, leave, and come again.
        """
        ahead = share.had - self._players.level
        if share.group is self._players and ahead > 0:
            self._newcomers.spent += ahead / self._weight_of_others
            share.had = self._players.level

    @property
    def _weight_of_others(self) -> float:
        return self._players.shares / PLAYERS_FOR_OTHERS or 1.0

    def charge(self, share: Share, seconds: float) -> None:
        """Count what was done for a share."""
        now = asyncio.get_running_loop().time()
        group = share.group or self._strangers
        group.count(share, seconds, now)
        for each in (self._players, *self._others):
            each.forget(now)
        weight = self._weight_of_others
        if group is not self._players:
            group.level += seconds / group.shares
            group.spent += seconds / weight
        crowds = sum(other.heard >= now - _RECENT for other in self._others)
        self._players.level += seconds / (self._players.shares + weight * crowds)

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
        if not self._held and self._timer is None and self._count_waiting():
            self._timer = asyncio.get_running_loop().call_later(_IDLE, self._forgive)

    def _next(self) -> _Group | None:
        """The group whose first may go now."""
        players, best = self._players, None
        least = players.level + _AHEAD if players.shares else float("inf")
        if players.waiting and players.waiting[0][0] <= least:
            best, least = players, players.waiting[0][0]
        for group in self._others:
            group.spent = max(group.spent, players.level - 2 * _SAVED)
            if group.waiting and group.spent <= least:
                best, least = group, group.spent
        return best

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
        if waiting := self._count_waiting():
            self._players.level += _FORGIVEN * _IDLE / waiting
            self._plan()

    def _count_waiting(self) -> int:
        """How many wait: players one by one, the others as one each."""
        return len(self._players.waiting) + sum(bool(group.waiting) for group in self._others)
