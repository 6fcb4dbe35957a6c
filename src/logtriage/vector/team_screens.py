"""The screens of N teams as arrays: each role's columns, without what it may not see.

Each row equals what :mod:`logtriage.vector.team_tokens` makes for one team.
"""

from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import Report, Wait, action_id
from logtriage.joint import LOSS_STREAM, loss_key
from logtriage.roles import Role, RoleSplit, is_request, role_actions, role_words
from logtriage.topology import Topology
from logtriage.vector.arrays import Bits, Bools, Ints
from logtriage.vector.engine import NOTHING, BatchedTriage, Step
from logtriage.vector.layout import Floats, laid_out
from logtriage.vector.team_tokens import (
    RoleTokens,
    can_ask,
    role_tokens_of,
    sees_asking,
    team_tokens_of,
)
from logtriage.world.model import World

#: Later than any tick, delays included.
NEVER: Final = np.iinfo(np.uint16).max
Ticks = NDArray[np.uint16]
#: The blocks of declarations, side by side on a board, and the kind of action behind each.
_DECLARED: Final = {
    "declared": "identify_root_cause",
    "severity": "classify_severity",
    "paged": "escalate",
}


class Boards:
    """The boards and budgets of N teams of R roles, with W words and B declarations.

    ``said`` (N, W) marks reported words, role by role in blocks of :attr:`words`; ``heard_at`` (N,
    R, W) is the tick from which each listener knows them; ``declared_at`` (N, B) is the tick from
    which listeners without delay know of a declaration; ``made`` (N, R) counts requests.
    """

    def __init__(
        self, split: RoleSplit, topology: Topology, world: World, declarations: int
    ) -> None:
        self.split = split
        counts = {role.name: len(role_words(role, topology, world)) for role in split.roles}
        words, width = laid_out(counts)
        self.words = tuple(words.values())
        self._widths = width, declarations
        # The arrays for late news and for budgets are empty if no role needs them.
        self.late = any(role.hears_late for role in split.roles)
        self.budgets = any(role.budget is not None for role in split.roles)
        self.begin(0)

    def begin(self, count: int) -> None:
        """Fresh boards for ``count`` teams."""
        words, declarations = self._widths
        late, roles = (count if self.late else 0), len(self.split)
        self.said: Bools = np.zeros((count, words), bool)
        self.heard_at: Ticks = np.full((late, roles, words), NEVER, np.uint16)
        self.declared_at: Ticks = np.full((late, declarations), NEVER, np.uint16)
        self.made = np.zeros((count if self.budgets else 0, roles), np.uint8)

    def begin_anew(self, rows: Any) -> None:
        """Fresh boards in some rows."""
        self.said[rows] = False
        if self.late:
            self.heard_at[rows] = NEVER
            self.declared_at[rows] = NEVER
        if self.budgets:
            self.made[rows] = 0

    def left(self, lane: int) -> Ints | None:
        """The number of requests (N,) that a role has left; None if it has no budget."""
        budget = self.split.roles[lane].budget
        if budget is None:
            return None
        left: Ints = np.maximum(0, budget - self.made[:, lane].astype(np.int64))
        return left

    def tell(self, lane: int, rows: Ints, word: Ints, tick: Ints, seeds: Bits) -> None:
        """Record that role ``lane`` reports a ``word`` (R,) of its own words in rows (R,).

        ``tick`` (R,) is when; the incidents' ``seeds`` (R,) decide which listeners miss it.
        """
        from logtriage.vector.compiled.draws import chances  # loads Numba

        column = self.words[lane].start + word
        self.said[rows, column] = True
        if not self.late:
            return
        speaker = self.split.names[lane]
        for listener, role in enumerate(self.split.roles):
            if listener == lane:
                arrives = tick + 1
            else:
                lost = chances(seeds, (LOSS_STREAM, loss_key(speaker, role.name)), tick, role.loss)
                arrives = np.where(lost, NEVER, tick + 1 + role.delay)
            before = self.heard_at[rows, listener, column]
            self.heard_at[rows, listener, column] = np.minimum(before, arrives)

    def declare(self, flags: NDArray[Any], tick: Ints) -> None:
        """Record which declarations ``flags`` (N, B) stand on the screens at ticks (N,)."""
        if self.late:
            new = (flags != 0) & (self.declared_at == NEVER)
            self.declared_at[new] = np.broadcast_to(tick[:, None], new.shape)[new]

    def heard(self, listener: int, speaker: int, tick: Ints) -> Bools:
        """Whether each of a speaker's words (N, W_s) has reached a listener by ticks (N,)."""
        words = self.words[speaker]
        if not self.split.roles[listener].hears_late:
            return self.said[:, words]
        known: Bools = self.heard_at[:, listener, words] <= tick[:, None]
        return known

    def known(self, listener: int, part: slice, tick: Ints) -> Bools:
        """Whether declarations of a ``part`` (N, b) have reached a listener that hears late."""
        delay = self.split.roles[listener].delay
        known: Bools = self.declared_at[:, part].astype(np.int64) + delay <= tick[:, None]
        return known


def runs_of(columns: NDArray[np.intp]) -> tuple[tuple[slice, slice], ...]:
    """Ascending columns as runs (source slice, target slice); slices are copied far faster."""
    breaks = np.flatnonzero(np.diff(columns) != 1) + 1
    starts, ends = [0, *breaks.tolist()], [*breaks.tolist(), len(columns)]
    sources = columns.tolist()
    return tuple(
        (slice(sources[at], sources[at] + end - at), slice(at, end))
        for at, end in zip(starts, ends, strict=True)
    )


@attrs.frozen(eq=False)
class TokenSeat:
    """The A actions and the columns of a role on a topology, as arrays.

    ``canonical`` (A,) are the actions as canonical integers, negative where an action does nothing;
    ``word`` (A,) is the number of a report's word, -1 for other actions; ``request`` (A,) is true
    for actions that ask for evidence. ``runs`` of :func:`runs_of` copy its columns from the team's.
    ``lanes`` are the numbers of roles some of whose requests it must not see.
    """

    role: Role
    layout: RoleTokens
    canonical: Ints
    word: Ints
    request: Bools
    runs: tuple[tuple[slice, slice], ...]
    lanes: tuple[int, ...]

    @classmethod
    def of(cls, role: Role, layout: RoleTokens) -> "TokenSeat":
        """The actions and columns of a role with this layout."""
        topology, split = layout.topology, layout.team.split
        world = layout.team.base.world
        actions = role_actions(role, topology, world, hand_over=True)
        words = role_words(role, topology, world)
        canonical, word = np.full(len(actions), NOTHING), np.full(len(actions), -1)
        for number, action in enumerate(actions):
            if isinstance(action, Report):
                word[number] = words.index(action.message)
            elif not isinstance(action, Wait):
                canonical[number] = action_id(action, topology, hand_over=True)
        lanes = []
        for lane, asker in enumerate(split.roles):
            hidden = can_ask(asker) & ~sees_asking(role)
            if f"asked:{asker.name}" in layout.blocks and hidden.any():
                lanes.append(lane)
        return cls(
            role=role,
            layout=layout,
            canonical=canonical,
            word=word,
            request=np.array([is_request(action) for action in actions]),
            runs=runs_of(layout.columns),
            lanes=tuple(lanes),
        )


class TokenScreens:
    """The observations and masks of N teams, made from the screens of the engine."""

    def __init__(self, batch: BatchedTriage, split: RoleSplit) -> None:
        setting = batch.setting.public
        where = setting, batch.topology, batch.task.horizon
        self._whole = team_tokens_of(split, *where)
        self.layout = role_tokens_of(split, None, *where)
        self.layouts = tuple(role_tokens_of(split, role, *where) for role in split.roles)
        self.seats = tuple(map(TokenSeat.of, split.roles, self.layouts))
        self._batch, self._split = batch, split
        self._runs = runs_of(self.layout.columns)
        widths = {name: self._whole[name].stop - self._whole[name].start for name in _DECLARED}
        self._parts, declarations = laid_out(widths)
        self._boards = Boards(split, batch.topology, setting.world, declarations)

    def begin(self) -> None:
        """Begin new episodes in all rows."""
        self._boards.begin(len(self._batch))

    def begin_anew(self, rows: Any) -> None:
        """Begin new episodes in some rows."""
        self._boards.begin_anew(rows)

    def allowed(self, chosen: list[Ints]) -> list[Ints]:
        """The canonical integers (N,) of each role's choices; nothing for requests over budget."""
        acts = []
        for lane, (seat, choice) in enumerate(zip(self.seats, chosen, strict=True)):
            act, left = seat.canonical[choice], self._boards.left(lane)
            if left is not None:
                act[seat.request[choice] & (left == 0)] = NOTHING
            acts.append(act)
        return acts

    def enter(self, chosen: list[Ints], acts: list[Ints], acted: tuple[Ints, ...]) -> None:
        """Record the reports, requests and declarations of a tick.

        For each role, ``chosen`` (N,) are its own actions, ``acts`` (N,) their canonical integers,
        and ``acted`` the rows in which it had a turn.
        """
        batch, boards = self._batch, self._boards
        tick = batch.ticks - 1  # the tick of these actions, in rows that were played
        for lane, (seat, turns) in enumerate(zip(self.seats, acted, strict=True)):
            own = chosen[lane][turns]
            word = seat.word[own]
            rows, words = turns[word >= 0], word[word >= 0]
            if len(rows):
                boards.tell(lane, rows, words, tick[rows], batch.incidents.seed[rows])
            if seat.role.budget is not None:
                # A request over budget is no canonical action.
                boards.made[turns, lane] += seat.request[own] & (acts[lane][turns] >= 0)
        if boards.late:
            flags = [batch.episodes.columns[:, self._whole[name]] for name in _DECLARED]
            boards.declare(np.concatenate(flags, axis=1), batch.ticks)

    def look(self, seen: Step) -> tuple[Floats, tuple[Floats, ...], tuple[NDArray[np.int8], ...]]:
        """What the roles see together (N, D), and each role's observation with its mask."""
        whole = self._columns(seen.observation)
        observations = tuple(
            self._slice(whole, lane, seat, seen.tick) for lane, seat in enumerate(self.seats)
        )
        state = np.concatenate([whole[:, run] for run, _ in self._runs], axis=1)
        masks = tuple(self._mask(seen.mask, lane, seat) for lane, seat in enumerate(self.seats))
        return state, observations, masks

    def _columns(self, base: Floats) -> Floats:
        """All columns of the team (N, D), from the engine's, which are the first of them."""
        layout, boards, numbers = self._whole, self._boards, self._batch.episodes.columns
        # All blocks behind the engine's are written below.
        state: Floats = np.empty((len(self._batch), layout.size), np.float32)
        state[:, : base.shape[1]] = base
        declared, owners = numbers[:, layout["declared"]], layout["declared_owner"]
        state[:, owners] = 0
        team = self._batch.owners(np.arange(len(self._batch)))
        row, service = np.nonzero(declared)
        state[row, owners.start + team[row, service]] = 1
        for lane, role in enumerate(self._split.roles):
            if f"report:{role.name}" in layout.blocks:
                state[:, layout[f"report:{role.name}"]] = boards.said[:, boards.words[lane]]
            left = boards.left(lane)
            if left is not None:
                place = layout[f"left:{role.name}"]
                state[:, place] = left[:, None].astype(np.float32) * layout.units[place]
        return state

    def _slice(self, state: Floats, lane: int, seat: TokenSeat, tick: Ints) -> Floats:
        """What the role ``lane`` sees of the team's columns at ticks (N,)."""
        screen: Floats = np.empty((len(state), seat.layout.size), np.float32)
        for whole, part in seat.runs:
            screen[:, part] = state[:, whole]
        for asker in seat.lanes:
            self._hide_asking(screen, seat, asker)
        if seat.role.hears_late:
            self._hide_news(screen, lane, seat, tick)
        return screen

    def _hide_asking(self, screen: Floats, seat: TokenSeat, asker: int) -> None:
        """Hide the last request of role ``asker`` in the rows in which the seat must not see it."""
        kind = self._batch.episodes.columns[:, self._whole.base.asked(asker).start]
        hidden = ~sees_asking(seat.role)[kind] & (kind > 0)
        for name in ("asked", "asked_service"):
            screen[hidden, seat.layout.blocks[f"{name}:{self._split.names[asker]}"]] = 0

    def _hide_news(self, screen: Floats, lane: int, seat: TokenSeat, tick: Ints) -> None:
        """Hide declarations and reports that have not reached a role yet."""
        boards, blocks = self._boards, seat.layout.blocks
        for name, kind in _DECLARED.items():
            if kind in seat.role.may:
                continue  # it knows these declarations at once
            known = boards.known(lane, self._parts[name], tick)
            if name in blocks:
                screen[:, blocks[name]] *= known
            if name == "declared" and "declared_owner" in blocks:
                screen[~known.any(axis=1), blocks["declared_owner"]] = 0
        for speaker, name in enumerate(self._split.names):
            if f"report:{name}" in blocks:
                screen[:, blocks[f"report:{name}"]] = boards.heard(lane, speaker, tick)

    def _mask(self, mask: NDArray[np.int8], lane: int, seat: TokenSeat) -> NDArray[np.int8]:
        sensible: NDArray[np.int8] = mask[:, np.maximum(seat.canonical, 0)]
        sensible[:, seat.canonical < 0] = 1
        left = self._boards.left(lane)
        if left is not None:
            sensible[np.ix_(left == 0, seat.request)] = 0
        sensible[~sensible.any(axis=1)] = 1  # a mask is never empty
        return sensible
