"""Steps of kernels are one rule in plain Python and compiled, to the limits of their types."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from logtriage.grading import steps
from logtriage.grading.tables import HANDED_OVER, IGNORED, MISROUTED, OPEN, RESOLVED

LETTERS = steps.Letters(*map(np.uint8, (3, 3, 10, 10, 15, 15, 50, 72, 73, 74, 255)))
RULES = steps.Rules(1, 1)


def step(facts: Any, action: int, tick: int, *, right: int = 0, rules: Any = RULES) -> Any:
    move = steps.move_of(np.int64(action), np.int64(right), rules, LETTERS)
    counted = steps.counts(facts, move, True, True, np.int64(1))
    return steps.facts_step(facts, move, True, counted, np.int64(tick), np.int64(255))


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
        (72, (0, 0), RESOLVED),
        (73, (0, 0), IGNORED),
        (74, (0, 1), HANDED_OVER),
        (74, (1, 0), OPEN),
        (12, (1, 0), MISROUTED),
        (12, (0, 1), OPEN),
        (254, (1, 1), OPEN),
    ],
)
def test_what_closes_goes_by_the_rules(action: int, rules: tuple[int, int], closing: int) -> None:
    assert step(steps.untouched(255), action, 0, rules=steps.Rules(*rules)).closing == closing


SCRIPT = """
import sys, zlib
import numpy as np
from logtriage import make_incident
from logtriage.grading import grade_batch, truths_of
from logtriage.grading import batch
from tests.builders import with_hand_over
from tests.grading.test_steps import long_lists
import numba
assert bool(numba.config.DISABLE_JIT) == (sys.argv[1] == "plain")
batch.WORTH_A_KERNEL = 0
found = []
for task in ("single_crash-v3", "compound_failure-v3"):
    incidents = [make_incident(f"{task}/val/{number}") for number in range(12)]
    for priced in (False, True):
        some = [with_hand_over(one) if priced else one for one in incidents]
        for given in long_lists(len(some)):
            grades = grade_batch(truths_of(some), given)
            found += [grades.scores, grades.closing, grades.ticks]
print(zlib.crc32(b"".join(one.tobytes() for one in found)), len(found))
"""


def long_lists(count: int) -> list[Any]:
    """Lists as short and as long as bytes and pairs of bytes count, most of them remedies."""
    draws = np.random.default_rng(5)
    found = []
    for length in (1, 12, 63, 64, 200):
        lists = draws.integers(0, 72, (count, length))
        remedies = draws.integers(15, 50, (count, length))
        lists = np.where(draws.random((count, length)) < 0.6, remedies, lists)
        lists[:, length - length // 4 :][draws.random((count, length // 4)) < 0.1] = 72
        found.append(lists)
    return found


def test_plain_python_and_kernels_agree() -> None:
    """In plain Python, a number that a row of bytes cannot hold raises an error."""
    told = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, how],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1" if how == "plain" else "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        for how in ("plain", "compiled")
    ]
    assert [one.returncode for one in told] == [0, 0], told
    assert told[0].stdout == told[1].stdout
