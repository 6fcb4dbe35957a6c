"""``grade_batch``: the grades of many action lists at once, equal to ``grade``'s.

It takes incidents of one topology as :class:`Truths`, and action lists as an array of canonical
integers. Kernels look scores up in tables that the scalar grader's own functions fill.
"""

from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final
from warnings import warn

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.actions import Action, Malformed, all_actions
from logtriage.dynamics import play_parsed
from logtriage.errors import InvalidInput, MissingExtra
from logtriage.grading.action_lists import MALFORMED, PADDING, Ints, action_array, narrowest
from logtriage.grading.grade import get_rubric, grade
from logtriage.grading.rubric import Rubric, check_rubric
from logtriage.grading.tables import CLOSINGS, Floats, Span, has_kernels
from logtriage.grading.truths import Truths, truths_of
from logtriage.incident import Incident

__all__ = [
    "CLOSINGS",
    "MALFORMED",
    "PADDING",
    "BatchGrades",
    "Truths",
    "action_array",
    "grade_batch",
    "truths_of",
]

#: Kernels grade batches from this size on. Smaller batches take less time than loading Numba.
WORTH_A_KERNEL: Final = 64


@attrs.frozen(eq=False, repr=False)
class BatchGrades:
    """The grades of a batch; each row agrees with the :class:`Grade` of its list.

    ``scores`` (N,) float64. ``gate`` (N,) is the index into ``gate_names`` of the gate
    that holds, ``closing`` (N,) that into :data:`CLOSINGS`; -1 stands for none.
    ``ticks`` (N,) are those used, ``unplayed`` (N,) the actions left out.
    """

    rubric: Rubric
    scores: Floats
    gate: NDArray[np.int8]
    closing: NDArray[np.int8]
    ticks: NDArray[np.int32]
    unplayed: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<{len(self)} grades by {self.rubric.id}>"

    @property
    def gate_names(self) -> tuple[str, ...]:
        """The gates of the rubric, in order."""
        return tuple(gate.name for gate in self.rubric.gates)


def grade_batch(truths: Truths, actions: ArrayLike, rubric: Rubric | None = None) -> BatchGrades:
    """Play N lists of actions on N incidents, and grade what was played.

    ``actions`` are canonical integers (:func:`logtriage.all_actions`), (N, T). It is faster if
    they lie tick by tick in memory (``by_tick.T``). :data:`MALFORMED` stands for a malformed
    action, :data:`PADDING` follows the last action. ``rubric`` defaults to that of the incidents.
    Up to 128 actions (12 services) and lists of up to 63 ticks are graded as int8; more take
    longer. Every number equals, to the last bit, the :func:`grade` of the state that :func:`play`
    leads to.

    Kernels grade batches of :data:`WORTH_A_KERNEL` lists and more (extra ``fast``). :func:`grade`
    itself grades smaller batches, lists that int16 cannot count, and all batches by a rubric with a
    rule that has no kernel or with a worth of a hand-over outside [0, 1]. Without Numba it grades
    everything, and a warning says so once.

    Raises:
        InvalidInput: if ``truths`` is no :class:`Truths`; if ``actions`` has another shape or type,
            an integer that is not an action, or an action after padding; if ``rubric`` is not a
            rubric; for incidents of several rubrics, if none is named.
        RubricError: as :func:`grade`.
    """
    if not isinstance(truths, Truths):
        raise InvalidInput(f"truths: expected truths_of(incidents), got {type(truths).__name__}")
    rubric = _rubric_for(truths) if rubric is None else rubric
    check_rubric(rubric)
    by_time = _by_time(truths, actions)
    # Counts in kernels must stay far below the highest number, which stands for none.
    dtype = narrowest(max(truths.action_count - 1, 2 * max(1, len(by_time)) + 1))
    worth = truths.worth_of_hand_over
    odd_worth = ((worth < 0) | (worth > 1)).any()  # NaN, for no hand-over, is not odd
    kernels = dtype.itemsize <= 2 and has_kernels(rubric) and not odd_worth
    if kernels and len(truths) >= WORTH_A_KERNEL:
        if find_spec("numba") is not None:
            return _grade_compiled(truths, by_time, rubric, dtype)
        _advise()
    return _grade_one_by_one(truths.incidents.tolist(), by_time, rubric)


@lru_cache(maxsize=1)
def _advise() -> None:
    """Warn that Numba is missing; the cache makes every later call do nothing."""
    missing = MissingExtra("to grade them at once", "fast")
    warn(f"grade_batch grades lists of actions one by one; {missing}", stacklevel=3)


def _rubric_for(truths: Truths) -> Rubric:
    if len(truths.rubrics) > 1:
        raise InvalidInput(
            f"these incidents are graded by several rubrics ({', '.join(truths.rubrics)}): grade "
            "them apart, or pass the rubric"
        )
    return get_rubric(truths.rubrics[0])


def _grade_compiled(
    truths: Truths, by_time: Ints, rubric: Rubric, dtype: np.dtype[Any]
) -> BatchGrades:
    from logtriage.grading.block_grades import grade_compiled  # loads Numba

    longest = max(1, min(len(by_time), int(truths.horizon.max(initial=0))))
    faults = max(1, truths.most_faults)
    span = Span(longest, truths.clocks, faults=faults, actions=len(by_time))
    unsigned = np.uint8 if dtype.itemsize == 1 else np.uint16
    listed = by_time.astype(dtype, copy=False).view(unsigned)
    out, broken = grade_compiled(truths, listed, rubric, span, unsigned)
    if broken >= 0:
        column = listed[:, broken : broken + 1].view(dtype)
        raise _after_padding(column != PADDING, start=broken)
    return BatchGrades(rubric, out.scores, out.gates, out.closing, out.ticks, out.unplayed)


def _grade_one_by_one(incidents: list[Incident], by_time: Ints, rubric: Rubric) -> BatchGrades:
    present = by_time != PADDING
    if (present[1:] > present[:-1]).any():
        raise _after_padding(present)
    action_of: dict[int, Action] = {MALFORMED: Malformed("", "no canonical integer")}
    if incidents:
        action_of |= enumerate(all_actions(incidents[0].topology, hand_over=True))
    lengths = present.sum(axis=0).tolist()
    rows = []
    for incident, listed, length in zip(incidents, by_time.T.tolist(), lengths, strict=True):
        state, unplayed = play_parsed(incident, [action_of[act] for act in listed[:length]])
        rows.append(grade(state, rubric, unplayed=unplayed))
    gates = [gate.name for gate in rubric.gates]
    return BatchGrades(
        rubric=rubric,
        scores=np.array([row.score for row in rows], np.float64),
        gate=np.array([-1 if row.gate is None else gates.index(row.gate) for row in rows], np.int8),
        closing=np.array(
            [-1 if row.closing is None else CLOSINGS.index(row.closing) for row in rows], np.int8
        ),
        ticks=np.array([row.ticks for row in rows], np.int32),
        unplayed=np.array([row.unplayed for row in rows], np.int32),
    )


def _by_time(truths: Truths, lists: ArrayLike) -> Ints:
    """The checked actions as (T, N), without a copy if ``lists`` is an array."""
    actions = np.asarray(lists)
    if not actions.size:
        actions = actions.astype(np.int8)  # NumPy takes an empty list for floats
    if actions.dtype.kind not in ("i", "u"):
        raise InvalidInput(f"actions: expected integers, got an array of {actions.dtype}")
    count = len(truths)
    if actions.ndim != 2 or len(actions) != count:
        raise InvalidInput(
            f"actions: shape {actions.shape}, expected ({count}, T) for {count} incidents"
        )
    by_time = actions.T
    highest = truths.action_count - 1
    if actions.size and (actions.min() < MALFORMED or actions.max() > highest):
        tick, row = map(int, np.argwhere((by_time < MALFORMED) | (by_time > highest))[0])
        raise InvalidInput(
            f"actions: tick {tick} of incident {row} is {by_time[tick, row]}; topology "
            f"{truths.topology.name!r} has actions 0 to {highest}, {PADDING} is padding and "
            f"{MALFORMED} a malformed action"
        )
    return by_time


def _after_padding(present: NDArray[np.bool_], start: int = 0) -> InvalidInput:
    """The error for an action after padding; ``present`` (T, n) begins at incident ``start``."""
    tick, row = map(int, np.argwhere(present[1:] > present[:-1])[0])
    return InvalidInput(
        f"actions: tick {tick} of incident {start + row} is padding ({PADDING}), but an action "
        f"follows it; padding comes last, {MALFORMED} is a malformed action"
    )
