"""``grade_batch`` by kernels: their arguments. Needs the extra ``fast`` (numba)."""

from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from logtriage.actions import SEVERITIES
from logtriage.errors import RubricError
from logtriage.grading.action_lists import ActionRanges, Ints
from logtriage.grading.row_kernels import grade_rows
from logtriage.grading.row_layout import (
    BLOCK,
    FAULT_ROWS,
    ROWS,
    TRIPLE,
    Answers,
    Out,
    Room,
)
from logtriage.grading.rubric import Rubric
from logtriage.grading.steps import Letters
from logtriage.grading.tables import (
    LEVELS,
    Floats,
    ScoreTables,
    Span,
    fix_begin,
    share_begin,
    tables_of,
)
from logtriage.grading.truths import NONE_ACCEPTED, Truths

#: Read-only as the prices of truths are: kernels are compiled anew for arrays that differ in it.
_NO_FLOATS: Final = np.empty(0)
_NO_FLOATS.setflags(write=False)


def grade_compiled(
    truths: Truths,
    by_time: Ints,
    rubric: Rubric,
    span: Span,
    dtype: Any,
) -> tuple[Out, int]:
    """Grade lists of actions (T, N) of type ``dtype``, unsigned.

    The integer is the first incident whose list goes on after its padding, or -1.

    Raises:
        RubricError: for a price that the rubric asks for and an incident does not have.
    """
    count = len(truths)
    by = tables_of(rubric, span)
    answers = _answers(truths, span, dtype)
    most = max(len(answers.of_faults), 1)
    rows = ROWS + FAULT_ROWS * most + len(answers.accepted) * (1 + len(answers.of_faults))
    level = answers.clock.dtype
    out = Out(
        np.empty(count),
        np.empty(count, np.int8),
        np.empty(count, np.int8),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
    )
    room = Room(
        np.empty(rows * BLOCK, dtype),
        np.empty(len(LEVELS) * BLOCK, level),
        np.empty(2 * BLOCK, np.uint16 if len(by.points) <= 1 << 16 else np.uint32),
        np.empty(BLOCK),
    )
    broken = grade_rows(
        by_time,
        np.arange(len(by_time)).astype(dtype),
        Letters(*map(dtype, letters_of(truths.ranges, np.iinfo(dtype).max))),
        answers,
        _prices(truths, by),
        by,
        room,
        out,
    )
    return out, int(broken)


def _prices(truths: Truths, by: ScoreTables) -> Floats:
    """The prices of hand-overs (N,), if the rubric reads them.

    Raises:
        RubricError: for a price outside [0, 1].
    """
    if by.handed_weight < 0.0:
        return _NO_FLOATS
    price = truths.price_of_hand_over
    bad = (price < 0.0) | (price > 1.0)
    if bad.any():
        row = int(bad.argmax())
        raise RubricError(
            f"price_of_hand_over[{row}] must be a number from 0 to 1, got {price[row]}"
        )
    return price


def letters_of(ranges: ActionRanges, none: int) -> Letters:
    """The ranges of actions as kernels take them; ``none`` as :class:`Letters` has it."""
    return Letters(
        len(SEVERITIES),
        ranges.root,
        ranges.root + ranges.roots,
        ranges.page,
        ranges.page + ranges.pages,
        ranges.remedy,
        ranges.remedy + ranges.remedies,
        ranges.resolve,
        ranges.ignore,
        ranges.hand_over,
        none,
    )


#: The answers of truths that are still at hand, by span and type.
_KNOWN: Final[WeakKeyDictionary[Truths, dict[tuple[Any, ...], Answers]]] = WeakKeyDictionary()


def _answers(truths: Truths, span: Span, dtype: Any) -> Answers:
    """The answers of truths, made once."""
    known = _KNOWN.setdefault(truths, {})
    key = span.width, dtype
    if key not in known:
        known[key] = _made_answers(truths, span, dtype)
    return known[key]


def _made_answers(truths: Truths, span: Span, dtype: Any) -> Answers:
    highest = np.iinfo(dtype).max
    # A fault accepts nothing that its incident does not.
    most = max(1, *map(len, truths.accepts))
    of_faults = [_in_triples(accepted, most, dtype) for accepted in truths.faults_accept]
    faults = truths.fault_count
    clocks = np.arange(len(span.clocks)) * span.width
    counts = np.arange(span.faults + 1)
    levels = len(span.clocks) * span.width
    level = np.uint16 if levels <= np.iinfo(np.uint16).max else np.uint32
    return Answers(
        _in_triples(truths.accepts, most, dtype),
        np.stack(of_faults) if of_faults else np.empty((0, 0, len(truths)), dtype),
        # Copies, since kernels are compiled anew for arrays that are read-only.
        truths.wrong_page.astype(np.uint8),
        truths.takes_hand_over.astype(np.uint8),
        np.minimum(truths.horizon, highest).astype(dtype),
        truths.severity_or_far,
        truths.benign.view(np.uint8),
        faults.astype(np.uint8),
        share_begin(counts).astype(np.uint16).take(faults),
        fix_begin(counts).astype(np.uint16).take(faults),
        *(clocks.astype(level).take(slots) for slots in truths.clock_slots),
    )


def _in_triples(accepted: tuple[Ints, Ints, Ints], most: int, dtype: Any) -> Ints:
    """Accepted services, teams and remedies (K, N) each, in turn: (3 M, N), M the most of any."""
    count = accepted[0].shape[1]
    triples = np.full((most, TRIPLE, count), NONE_ACCEPTED, accepted[0].dtype)
    for place, rows in enumerate(accepted):
        triples[: len(rows), place] = rows
    return triples.reshape(most * TRIPLE, count).astype(dtype, casting="unsafe")
