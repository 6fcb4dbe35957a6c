"""Fair turns at the server's one thread.

A connection waits here for a turn to be accepted, to have its bytes read, or to have a message
answered. A turn is charged with the processor seconds that it took. The connection that has had
the least time goes first, and none gets far ahead of an equal share.

Players (sessions that play) have equal shares. Newcomers (sessions before their first step, or
that only reset or send refused messages) share a tenth of the time, and so do strangers
(connections that are no session). Time that a group does not use goes to the others.
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
#: After more than this many messages without a step, a session no longer counts as a player.
PATIENCE: Final = 2
#: The first turns of a new session, which go before other newcomers: enough for a first step.
FIRST: Final = 4
#: The most turns that are taken before the event loop looks at the network again.
AT_ONCE: Final = 8
#: A connection that had a turn within this many seconds counts as having a share.
_RECENT: Final = 1.0
#: Seconds that a share may be ahead of the others, and that it can save up.
_AHEAD: Final = 0.02
_SAVED: Final = 0.05
#: If only shares that are ahead wait for _IDLE seconds, _FORGIVEN times as much is forgiven them.
_IDLE: Final = 0.002
_FORGIVEN: Final = 4

#: The work of a turn; returns True if it goes on in a task until :meth:`Turns.end`.
Work = Callable[[], bool]


class Share:
    """A connection's claim to turns. ``had`` are its processor seconds, on its group's scale."""

    __slots__ = ("asked", "fruitless", "group", "had", "has_played", "holds", "is_session")

    def __init__(self, *, is_session: bool) -> None:
        self.is_session = is_session
        self.had = 0.0
        self.has_played = False
        self.holds = False  # whether its turn goes on in a task
        self.fruitless = self.asked = 0  # answers since its last step; turns asked for so far
        #: The group in which it last asked for a turn.
        self.group: _Group | None = None

    @property
    def plays(self) -> bool:
        """Whether it is a player: it played a step, and few other answers came since."""
        return self.has_played and self.fruitless <= PATIENCE

    def answered(self, *, step: bool) -> None:
        """Note an answer: to a ``step`` that was played, or to anything else."""
        self.has_played = self.has_played or step
        self.fruitless = 0 if step else self.fruitless + 1


class _Group:
    """Connections with equal shares, and those of them that wait for a turn."""

    def __init__(self) -> None:
        #: A heap of (place, number of the request, share, work).
        self.waiting: list[tuple[float, int, Share, Work]] = []
        #: The processor seconds that an equal share has had by now.
        self.level = 0.0
        #: The seconds of the whole group, on the scale of one player; the time of its last turn.
        self.spent = 0.0
        self.last_turn = float("-inf")
        self._recent: dict[Share, float] = {}  # the time of each one's last turn, in their order

    def count(self, share: Share, seconds: float, now: float) -> None:
        """Count a turn of a share."""
        self.last_turn = now
        share.had += seconds
        self._recent.pop(share, None)
        self._recent[share] = now

    def forget(self, now: float) -> None:
        """Forget some of the shares that had no turn lately: two suffice, as a turn adds one."""
        for old, last_turn in tuple(itertools.islice(self._recent.items(), 2)):
            if last_turn < now - _RECENT:
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
        self._held = 0  # turns that go on in a task
        self._planned = False
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, share: Share, work: Work) -> None:
        """Do ``work`` at the next turn of ``share``, which may wait for only one turn."""
        if share.plays:
            group = self._players
        else:
            group = self._newcomers if share.is_session else self._strangers
        if group is not share.group:
            share.group, share.had = group, group.level
        share.had = max(share.had, group.level - _SAVED)
        share.asked += 1
        # Strangers are served in the order they come. A newcomer's first turns go first.
        is_new = group is self._newcomers and share.asked <= FIRST
        place = 0.0 if is_new or not share.is_session else share.had
        heappush(group.waiting, (place, next(self._number), share, work))
        self._plan()

    async def wait(self, share: Share) -> None:
        """Wait for a turn; the caller charges its cost afterwards."""
        turn = asyncio.get_running_loop().create_future()

        def granted() -> bool:
            if not turn.done():
                turn.set_result(None)
            return False

        self.ask(share, granted)
        await turn

    def end(self, share: Share, seconds: float) -> None:
        """End a turn that went on in a task, and charge its ``seconds``."""
        if share.holds:
            share.holds = False
            self._held -= 1
            self.charge(share, seconds)
            self._plan()

    def leave(self, share: Share) -> None:
        """Charge the newcomers for the time that a leaving player was ahead of its equal share.

        Otherwise a client could come for a costly turn, leave, and come again.
        """
        ahead = share.had - self._players.level
        if share.group is self._players and ahead > 0:
            self._newcomers.spent += ahead / self._weight_of_others
            share.had = self._players.level

    @property
    def _weight_of_others(self) -> float:
        """The share of newcomers together, and of strangers, in shares of a player; never 0."""
        return self._players.shares / PLAYERS_FOR_OTHERS or 1.0

    def charge(self, share: Share, seconds: float) -> None:
        """Count processor ``seconds`` of work for a share, and raise the levels."""
        now = asyncio.get_running_loop().time()
        group = share.group or self._strangers
        group.count(share, seconds, now)
        for each in (self._players, *self._others):
            each.forget(now)
        weight = self._weight_of_others
        if group is not self._players:
            group.level += seconds / group.shares
            group.spent += seconds / weight
        busy_others = sum(other.last_turn >= now - _RECENT for other in self._others)
        self._players.level += seconds / (self._players.shares + weight * busy_others)

    def _plan(self) -> None:
        if not self._planned and self._held < AT_ONCE:
            self._planned = True
            asyncio.get_running_loop().call_soon(self._grant)

    def _grant(self) -> None:
        """Take the next turns; if nobody who waits may go, set a timer."""
        self._planned = False
        for _ in range(AT_ONCE - self._held):
            group = self._next()
            if group is None:
                break
            try:
                self._serve(group)
            except BaseException:
                self._plan()  # the others go on
                raise
        else:  # more may wait
            self._plan()
            return
        if not self._held and self._timer is None and self._count_waiting():
            self._timer = asyncio.get_running_loop().call_later(_IDLE, self._forgive)

    def _next(self) -> _Group | None:
        """The group that has the next turn; None if nobody waits who may go."""
        players, best = self._players, None
        # Nobody goes who is further ahead than this; from then on, the least time of any group.
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
        """Raise the players' level if only shares ahead of it wait, lest the server is idle."""
        self._timer = None
        if waiting := self._count_waiting():
            self._players.level += _FORGIVEN * _IDLE / waiting
            self._plan()

    def _count_waiting(self) -> int:
        """The number of waiting players, plus one for each other group in which anyone waits."""
        return len(self._players.waiting) + sum(bool(group.waiting) for group in self._others)
