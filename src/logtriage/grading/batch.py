"""``grade_batch``: the grades of many action lists at once, equal to ``grade``'s.

Incidents of one topology are :class:`Truths`, action lists an array of canonical
integers. Scores are looked up in tables that the scalar grader's own functions fill.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.actions import action_name, all_actions
from logtriage.backend import BackendName, chosen_backend
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading.action_lists import MALFORMED, PADDING, Ints, action_array, narrowest
from logtriage.grading.criteria import Measure
from logtriage.grading.grade import get_rubric
from logtriage.grading.kernels import MEASURES, Span
from logtriage.grading.plan import Floats, Plan, plan_of, signed, total_of
from logtriage.grading.played import CLOSINGS, Block
from logtriage.grading.rubric import DEFAULT, Criterion, Rubric, check_rubric
from logtriage.grading.shares import share_levels
from logtriage.grading.truths import Truths, truths_of
from logtriage.roles import RoleSplit
from logtriage.topology import Topology

__all__ = [
    "CLOSINGS",
    "MALFORMED",
    "PADDING",
    "BatchGrades",
    "Layout",
    "Truths",
    "action_array",
    "grade_batch",
    "truths_of",
]

#: ``batch_major`` is (N, T), one list a row; ``time_major`` (T, N), one tick a row.
Layout = Literal["batch_major", "time_major"]
LAYOUTS: Final = ("batch_major", "time_major")


#: From so many lists on, backend ``auto`` takes kernels, whose first call compiles them.
WORTH_COMPILING: Final = 16_384
#: Actions graded at a time: enough to pay for the calls into NumPy, and so few that the
#: working arrays stay below the 128 KiB from which allocators commonly map fresh pages.
BLOCK_BYTES: Final = 96 * 1024


@attrs.frozen(eq=False, repr=False)
class BatchGrades:
    """The grades of a batch, row by row what :class:`Grade` says of one.

    ``scores`` (N,) float64. ``gate`` (N,) is the index into ``gate_names`` of the gate
    that holds, ``closing`` (N,) that into :data:`CLOSINGS`; -1 stands for none.
    ``ticks`` (N,) are those used, ``unplayed`` (N,) the actions left out. ``levels`` is
    what the criteria were read from: (N,) small integers for each measure.
    """

    rubric: Rubric
    truths: Truths
    span: Span
    scores: Floats
    gate: NDArray[np.int8]
    closing: NDArray[np.int8]
    ticks: NDArray[np.int32]
    unplayed: NDArray[np.int32]
    levels: Mapping[Measure, Ints]

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<{len(self)} grades by {self.rubric.id}>"

    @property
    def gate_names(self) -> tuple[str, ...]:
        """The gates of the rubric, in order."""
        return tuple(gate.name for gate in self.rubric.gates)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of ``criteria``: those of the rubric, of benign incidents, penalties."""
        rubric = self.rubric
        rows = (*rubric.criteria, *rubric.benign, *rubric.penalties)
        return tuple(dict.fromkeys(row.name for row in rows))

    @cached_property
    def criteria(self) -> Floats:
        """Every criterion's score (N, C), in the order of ``names``; made when asked for.

        NaN where the incident is not graded by that criterion: those of benign incidents
        on real ones, and the other way round.
        """
        found = np.empty((len(self), len(self.names)))
        for column, name in enumerate(self.names):
            found[:, column] = self.criterion(name)
        return found

    def criterion(self, name: str) -> Floats:
        """The scores of one criterion (N,); NaN where an incident is not graded by it.

        Raises:
            UnknownName: if the rubric has none of that name.
        """
        if name not in self.names:
            raise UnknownName("criterion", name, self.names)
        rubric = self.rubric
        real = self._scores_of(name, rubric.criteria)
        if not rubric.benign or not self.truths.any_benign:
            return real
        return np.where(self.truths.benign, self._scores_of(name, rubric.benign), real)

    def _scores_of(self, name: str, rows: tuple[Criterion, ...]) -> Floats:
        for sign, row in signed(self.rubric, rows):
            if row.name == name:
                table = sign * np.array(MEASURES[row.measure].scores(self.span))
                return table.take(self.levels[row.measure])
        return np.full(len(self), np.nan)


def grade_batch(
    truths: Truths,
    actions: ArrayLike,
    rubric: Rubric | None = None,
    *,
    layout: Layout = "batch_major",
    role_split: RoleSplit | None = None,
    backend: BackendName = "auto",
) -> BatchGrades:
    """Play N lists of actions on N incidents, and grade what was played.

    ``actions`` are canonical integers (:func:`logtriage.all_actions`), (N, T) or with
    ``layout="time_major"`` (T, N), which is faster. :data:`MALFORMED` stands for a
    malformed action (or a role that waits), :data:`PADDING` follows the last one. Without a
    ``rubric`` it is that of the incidents, or :data:`DEFAULT` for truths of your own. In
    joint play the roles of ``role_split`` share a tick, one action each in their order. Int8
    serves up to 128 actions (16 services) and 63 ticks; more cost more. Every number equals, to
    the last bit, what :func:`grade` says of the state that :func:`play` leads to, whatever the
    ``backend``: ``numpy``, ``numba`` (extra ``fast``), or ``auto``, Numba where it is installed
    and there are lists enough (:data:`WORTH_COMPILING`) for what compiling takes.

    Raises:
        RubricError: if a measure, gate or discount of the rubric has no kernel, or under
            ``logtriage/2`` for a real fault without a price of silence.
        InvalidInput: if ``actions`` has another shape or type, an integer that is no
            action, an action after padding, or one that its role may not take; for what is
            no rubric, saying what to pass; for incidents of several rubrics, if none is given.
        UnknownName: for an unknown layout or backend.
        MissingExtra: for backend ``numba`` where it is not installed.
    """
    rubric = _rubric_for(truths) if rubric is None else rubric
    check_rubric(rubric)
    chosen = chosen_backend(backend, "grade_batch")
    by_time = _by_time(truths, actions, layout)
    per_tick = 1
    if role_split is not None:
        per_tick = len(role_split)
        _check_roles(by_time, role_split, truths.topology)
    ticks = max(1, -(-len(by_time) // per_tick))
    longest = max(1, min((ticks, *truths.horizons[-1:])))
    span = Span(longest, truths.clocks, truths.most_faults)
    plan = plan_of(rubric, span)
    length = ticks * per_tick
    # Twice the ticks and one: kernels number the ticks by fours, in the unsigned twin.
    dtype = narrowest(max(truths.ranges.count - 1, 2 * length + 1))
    worth = backend == "numba" or len(truths) >= WORTH_COMPILING
    if chosen == "numba" and worth and dtype.itemsize <= 2:
        from logtriage.grading import compiled

        if compiled.takes(plan, rubric) or truths.asked is not None:
            return _grade_compiled(truths, by_time, rubric, span, plan, per_tick, dtype)
    size = max(1, BLOCK_BYTES // (length * dtype.itemsize))

    count = len(truths)
    grades = BatchGrades(
        rubric,
        truths,
        span,
        np.empty(count),
        np.empty(count, np.int8),
        np.empty(count, np.int8),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        {one: np.empty(count, plan.level_types[one]) for one in plan.wanted(truths.any_benign)},
    )
    for start in range(0, count, size):
        rows = slice(start, start + size)
        given = by_time[:, rows]
        listed = np.full((length, given.shape[1]), PADDING, dtype)
        listed[: len(given)] = given
        _grade_block(grades, plan, rows, listed, per_tick)
    return grades


def _rubric_for(truths: Truths) -> Rubric:
    """The rubric that the incidents themselves are graded by."""
    if len(truths.rubrics) > 1:
        raise InvalidInput(
            f"these incidents are graded by several rubrics ({', '.join(truths.rubrics)}): grade "
            "them apart, or pass the rubric"
        )
    return get_rubric(truths.rubrics[0]) if truths.rubrics else DEFAULT


def _grade_compiled(
    truths: Truths,
    by_time: Ints,
    rubric: Rubric,
    span: Span,
    plan: Plan,
    per_tick: int,
    dtype: np.dtype[Any],
) -> BatchGrades:
    """:func:`grade_batch` by kernels that Numba compiles."""
    from logtriage.grading.compiled import grade_compiled

    unsigned = np.uint8 if dtype.itemsize == 1 else np.uint16
    listed = by_time.astype(dtype, copy=False).view(unsigned)
    scores, facts, broken = grade_compiled(
        truths, listed, plan, rubric, span.ticks + 1, per_tick, unsigned
    )
    if broken >= 0:
        column = listed[:, broken : broken + 1].view(dtype)
        raise _after_padding(column != PADDING, broken)
    levels = dict(zip(plan.wanted(truths.any_benign), facts.levels, strict=True))
    return BatchGrades(
        rubric,
        truths,
        span,
        scores,
        facts.gates,
        facts.closing,
        facts.ticks,
        facts.unplayed,
        levels,
    )


def _grade_block(grades: BatchGrades, plan: Plan, rows: slice, listed: Ints, per_tick: int) -> None:
    """Grade the rows of a block: ``listed`` is theirs, (T, B), of a type that fits."""
    present = listed != PADDING
    if (present[1:] > present[:-1]).any():
        raise _after_padding(present, rows.start)
    block = Block(grades.truths, rows, listed[: grades.span.ticks * per_tick], per_tick)

    levels = {}
    for measure, kept in grades.levels.items():
        levels[measure] = kept[rows]
        levels[measure][...] = MEASURES[measure].levels(block)
    if block.shares is not None:
        share_levels(block.shares, levels)
    any_benign = grades.truths.any_benign
    scores, grades.gate[rows] = total_of(
        plan, grades.rubric, block, levels, any_benign, block.shares
    )
    grades.scores[rows] = scores
    grades.closing[rows] = block.closing
    grades.ticks[rows] = block.ticks
    grades.unplayed[rows] = block.tally(present) - block.count


def _by_time(truths: Truths, given: ArrayLike, layout: str) -> Ints:
    """The actions as (T, N), checked; a view where the given array allows it."""
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    actions = np.asarray(given)
    if actions.dtype.kind not in ("i", "u"):
        raise InvalidInput(f"actions: expected integers, got an array of {actions.dtype}")
    count = len(truths)
    by_time = actions.T if layout == "batch_major" else actions
    if actions.ndim != 2 or by_time.shape[1] != count:
        wanted = f"({count}, T)" if layout == "batch_major" else f"(T, {count})"
        raise InvalidInput(
            f"actions: shape {actions.shape}, expected {wanted} for {count} incidents in "
            f"layout {layout!r}; layouts: {', '.join(LAYOUTS)}"
        )
    highest = truths.ranges.count - 1
    if actions.size and (actions.min() < MALFORMED or actions.max() > highest):
        tick, row = map(int, np.argwhere((by_time < MALFORMED) | (by_time > highest))[0])
        raise InvalidInput(
            f"actions: tick {tick} of incident {row} is {by_time[tick, row]}; topology "
            f"{truths.topology.name!r} has actions 0 to {highest}, {PADDING} is padding and "
            f"{MALFORMED} a malformed action"
        )
    return by_time


def _check_roles(by_time: Ints, split: RoleSplit, topology: Topology) -> None:
    """Refuse actions (T, N) that are not those of the role whose turn it is."""
    known = all_actions(topology)
    for place, role in enumerate(split.roles):
        may = np.array([action_name(one) in role.may for one in known])
        own = by_time[place :: len(split)]
        wrong = (own >= 0) & ~may[own]
        if wrong.any():
            tick, row = map(int, np.argwhere(wrong)[0])
            raise InvalidInput(
                f"actions: tick {tick} of incident {row}: role {role.name!r} of {split.name!r} may "
                f"not {action_name(known[own[tick, row]])}; it may: {', '.join(sorted(role.may))}"
            )


def _after_padding(present: NDArray[np.bool_], start: int) -> InvalidInput:
    tick, row = map(int, np.argwhere(present[1:] > present[:-1])[0])
    return InvalidInput(
        f"actions: tick {tick} of incident {start + row} is padding ({PADDING}), but an action "
        f"follows it; padding comes last, {MALFORMED} is a malformed action"
    )
