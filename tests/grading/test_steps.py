"""Steps by hand, and of arrays."""

from typing import Any

import numpy as np
import pytest

from logtriage.grading import steps
from logtriage.grading.tables import HANDED_OVER, IGNORED, MISROUTED, OPEN, RESOLVED

LETTERS = steps.Letters(*map(np.uint8, (3, 3, 10, 10, 15, 15, 50, 72, 73, 74, 255)))
RULES = steps.Rules(1, 1)


def step(facts: Any, action: int, tick: int, *, right: int = 0, rules: Any = RULES) -> Any:
    move = steps.move_of(np.int64(action), np.int64(right), rules, LETTERS)
    counted = steps.counts(facts, move, True, True, np.int64(1))
    return steps.facts_step(facts, move, True, counted, np.int64(tick))


def test_steps_by_hand() -> None:
    facts = steps.untouched(255)
    assert facts == (3, 0, 0, 255, 0, 0, 0, 0, OPEN)
    facts = step(facts, 1, 0)
    assert step(facts, 2, 1).severity == facts.severity == 1
    facts = step(facts, 4, 1, right=1)
    assert (facts.seen, facts.rightly) == (1, 1)
    assert step(facts, 5, 2).rightly == 1
    facts = step(facts, 20, 2)
    assert (facts.remedies, facts.wrong, facts.early) == (1, 1, 1)
    facts = step(facts, 12, 3, right=1)
    assert facts.paged == 3
    assert step(facts, 20, 3).early == 2  # a page counts from the next tick on
    assert step(facts, 20, 4).early == 1
    assert step(facts, 20, 4, right=1).wrong == 1


@pytest.mark.parametrize(
    ("action", "rules", "closing"),
    [
        (72, (0, 0), RESOLVED), (73, (0, 0), IGNORED), (74, (0, 1), HANDED_OVER),
        (74, (1, 0), OPEN), (12, (1, 0), MISROUTED), (12, (0, 1), OPEN), (254, (1, 1), OPEN),
    ],
)  # fmt: skip
def test_what_closes_goes_by_the_rules(action: int, rules: tuple[int, int], closing: int) -> None:
    assert step(steps.untouched(255), action, 0, rules=steps.Rules(*rules)).closing == closing


def test_arrays_take_the_steps_of_their_rows() -> None:
    """Each action of a list is right in some rows and wrong in others."""
    draws = np.random.default_rng(5)
    acts, right = draws.integers(15, 72, 30), draws.integers(0, 2, (30, 16))
    acts[:10] = draws.permutation(10)  # severities and services
    acts[12], acts[-1] = 11, 73  # a page closes some, the end the others
    together: Any = steps.untouched(255)
    alone: list[Any] = [together] * 16
    for tick, (action, flags) in enumerate(zip(acts.tolist(), right, strict=True)):
        move = steps.move_of(np.int64(action), flags, RULES, LETTERS)
        live = together.closing == OPEN
        counted = steps.counts(together, move, live, True, np.int64(1))
        together = steps.facts_step(together, move, live, counted, tick)
        for row, flag in enumerate(flags):
            if alone[row].closing == OPEN:
                alone[row] = step(alone[row], action, tick, right=flag)
    for name, column in together._asdict().items():
        found = np.broadcast_to(column, 16).astype(int).tolist()
        assert found == [getattr(facts, name) for facts in alone], name
    assert len({facts.closing for facts in alone}) > 1
