"""The facts of a block: their types, and what is asked of the block itself."""

from typing import Any

import attrs
import numpy as np
import pytest

from logtriage import SEVEN_SERVICES, Action, Escalate, Resolve
from logtriage.grading import action_array, truths_of
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.played import Block
from tests.builders import (
    FIX,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    WAIT,
    WRONG_REMEDY,
    real_incident,
)

LISTS: list[list[Action]] = [
    [RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, WRONG_REMEDY, FIX, Resolve()],
    [WAIT, Escalate("sre-team")],
]


def block(dtype: Any = np.int8, horizons: tuple[int, ...] = (12, 12), per_tick: int = 1) -> Block:
    """Both lists, on an incident each."""
    truths = truths_of(real_incident(horizon=one) for one in horizons)
    actions = action_array(SEVEN_SERVICES, LISTS).T.astype(dtype)
    return Block(truths, slice(0, len(horizons)), actions, per_tick)


def test_facts_by_hand() -> None:
    found = block()
    assert [CLOSINGS[one] for one in found.closing] == ["resolved", "misrouted"]
    for fact, wanted in {
        "ticks": [6, 2],
        "severity_off": [0, 2],
        "blamed": [True, False],
        "rightly_blamed": [True, False],
        "paged": [True, False],
        "wrongly_paged": [False, True],
        "remedies": [2, 0],
        "wrong_remedies": [1, 0],
        "fixed": [True, False],
        "resolved": [True, False],
        "ignored": [False, False],
        "benign": [False, False],
    }.items():
        assert getattr(found, fact).tolist() == wanted, fact


@pytest.mark.parametrize(("dtype", "unsigned"), [(np.int8, np.uint8), (np.int16, np.uint16)])
@pytest.mark.parametrize("per_tick", [1, 2])
def test_numbers_are_as_narrow_as_the_actions(dtype: Any, unsigned: Any, per_tick: int) -> None:
    """A wider array over time would cost as much more time."""
    found = block(dtype, per_tick=per_tick)
    assert found.played.dtype == dtype
    for counts in (found.times, found.count, found.ticks, found.remedies, found.wrong_remedies):
        assert counts.dtype == unsigned
    assert found.closing.dtype == np.int8
    assert found.severity_off.dtype == np.uint8


def test_a_slot_is_told_only_where_horizons_or_pars_differ() -> None:
    assert block().clock_slot is None
    found = block(horizons=(12, 8))
    assert found.clock_slot is not None
    assert found.clock_slot.tolist() == [1, 0]
    pars = truths_of(attrs.evolve(real_incident(), par=one) for one in (7, 5, 7))
    slots = Block(pars, slice(0, 2), action_array(SEVEN_SERVICES, LISTS).T, 1).clock_slot
    assert slots is not None
    assert slots.tolist() == [1, 0]


@pytest.mark.parametrize(("per_tick", "width"), [(1, 7), (2, 4), (3, 3)])
def test_the_width_is_one_more_than_the_ticks_there_are(per_tick: int, width: int) -> None:
    found = block(per_tick=per_tick).width
    assert (found, type(found)) == (width, int)


def test_rows_of_a_batch_are_those_of_its_truths() -> None:
    """The second row of three, and its own truth."""
    other = real_incident(teams=("sre-team",))
    truths = truths_of([real_incident(), other, attrs.evolve(other, horizon=3)])
    actions = action_array(SEVEN_SERVICES, LISTS[1:]).T
    assert Block(truths, slice(1, 2), actions, 1).paged.tolist() == [True]
    assert Block(truths, slice(0, 1), actions, 1).paged.tolist() == [False]
