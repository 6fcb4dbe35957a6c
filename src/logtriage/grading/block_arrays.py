"""``grade_batch`` by kernels: makes their arguments. Needs the extra ``fast`` (numba)."""

from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from logtriage.grading.action_lists import Ints
from logtriage.grading.block_grades import Out, Room, grade_lists
from logtriage.grading.blocks import BLOCK, FAULT_ROWS, ROWS, Answers
from logtriage.grading.rubric import Rubric
from logtriage.grading.steps import Letters, letters_of
from logtriage.grading.tables import (
    LEVELS,
    Span,
    fix_begin,
    share_begin,
    tables_of,
)
from logtriage.grading.truths import Bools, Truths

#: Fills up the list of a fault's accepted actions; equal to no action.
NONE_ACCEPTED: Final = -3


def grade_compiled(
    truths: Truths, by_time: Ints, rubric: Rubric, span: Span, dtype: Any
) -> tuple[Out, int]:
    """Grade lists of actions ``by_time`` (T, N) of the unsigned type ``dtype``.

    Returns the grades, and the first incident whose list goes on after its padding, or -1.
    """
    count = len(truths)
    by = tables_of(rubric, span)
    answers = _answers(truths, span, dtype)
    out = Out(
        np.empty(count),
        np.empty(count, np.int8),
        np.empty(count, np.int8),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
    )
    room = Room(
        np.empty((ROWS + FAULT_ROWS * len(answers.accepted)) * BLOCK, dtype),
        np.empty(len(LEVELS) * BLOCK, answers.clock.dtype),
        np.empty(2 * BLOCK, np.uint16 if len(by.points) <= 1 << 16 else np.uint32),
        np.empty(BLOCK),
    )
    broken = grade_lists(
        by_time,
        np.arange(len(by_time)).astype(dtype),
        Letters(*map(dtype, letters_of(truths.topology, np.iinfo(dtype).max))),
        answers,
        np.nan_to_num(truths.worth_of_hand_over),
        by,
        room,
        out,
    )
    return out, int(broken)


#: The answers of truths that are still in use, by width of the span and by type.
_KNOWN: Final[WeakKeyDictionary[Truths, dict[tuple[Any, ...], Answers]]] = WeakKeyDictionary()


def _answers(truths: Truths, span: Span, dtype: Any) -> Answers:
    """The answers of truths as arrays for kernels; they are made once."""
    known = _KNOWN.setdefault(truths, {})
    key = span.width, dtype
    if key not in known:
        known[key] = _made_answers(truths, span, dtype)
    return known[key]


def _made_answers(truths: Truths, span: Span, dtype: Any) -> Answers:
    first = letters_of(truths.topology).root
    accepted = [_listed(allowed, first) for allowed in _allowed(truths)]
    table = np.full((len(accepted), max(map(len, accepted)), len(truths)), NONE_ACCEPTED)
    for rows, fault in zip(table, accepted, strict=True):
        rows[: len(fault)] = fault
    faults = truths.fault_count
    clocks = np.arange(len(span.clocks)) * span.width
    counts = np.arange(span.faults + 1)
    levels = len(span.clocks) * span.width
    level = np.uint16 if levels <= np.iinfo(np.uint16).max else np.uint32
    return Answers(
        table.astype(dtype),
        # Copies, since kernels are compiled anew for arrays that are read-only.
        truths.wrong_page.astype(np.uint8),
        truths.takes_hand_over.astype(np.uint8),
        np.minimum(truths.horizon, np.iinfo(dtype).max).astype(dtype),
        truths.severity.astype(np.uint8),  # 255 if unknown: far from every rank
        truths.benign.astype(np.uint8),
        faults.astype(np.uint8),
        share_begin(counts).astype(np.uint16).take(faults),
        fix_begin(counts).astype(np.uint16).take(faults),
        *(clocks.astype(level).take(slots) for slots in truths.clock_slots),
    )


def _allowed(truths: Truths) -> list[Bools]:
    """For each fault, the actions that it accepts (N, A): services, then teams, then remedies."""
    whole = np.concatenate([truths.root_causes, truths.teams, truths.remedies], axis=1)
    faults = truths.faults
    if faults is None:
        return [whole]
    parts = np.concatenate([faults.root_causes, faults.teams, faults.remedies], axis=2)
    # An incident that lists no faults has one, which accepts all that the incident accepts.
    parts[faults.count == 0, 0] = whole[faults.count == 0]
    return [parts[:, number] for number in range(max(1, truths.most_faults))]


def _listed(allowed: Bools, first: int) -> Ints:
    """The allowed actions of N rows as lists (M, N), M the longest list's length.

    ``allowed`` (N, A) has action ``first`` in column 0.
    """
    rows, columns = np.divmod(np.flatnonzero(allowed), allowed.shape[1])
    counts = np.bincount(rows, minlength=len(allowed))
    table = np.full((max(1, int(counts.max(initial=0))), len(allowed)), NONE_ACCEPTED)
    table[np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts), rows] = (
        columns + first
    )
    return table
