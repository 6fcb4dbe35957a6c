"""The batched engine refuses what it cannot do, and says why. What it computes is in the laws."""

import subprocess
import sys
from importlib.util import find_spec

import attrs
import numpy as np
import pytest

from logtriage import InvalidInput, State
from logtriage.errors import RubricError
from logtriage.grading import TRIAGE_3
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage
from tests.builders import FIVE_TEAMS

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

from logtriage.vector.tokens.compiled.screens import most_cells


def begun(count: int = 3) -> BatchedTriage:
    batch = BatchedTriage("single_crash-v4")
    batch.reset("train", np.arange(count))
    return batch


def test_a_task_with_a_topology_for_each_incident_needs_one_of_ones_own() -> None:
    with pytest.raises(InvalidInput, match="each incident has a topology of its own"):
        BatchedTriage("fleet_outage-v4")
    assert BatchedTriage("fleet_outage-v4", topology=FIVE_TEAMS).topology == FIVE_TEAMS


def test_what_no_byte_counts_is_refused_and_cells_have_room() -> None:
    task = attrs.evolve(get_task("single_crash-v4"), horizon=126)
    assert BatchedTriage(attrs.evolve(task, horizon=250)).task.horizon == 250
    with pytest.raises(InvalidInput, match="horizon 251 of task 'single_crash-v4'"):
        BatchedTriage(attrs.evolve(task, horizon=251))
    with pytest.raises(InvalidInput, match="with 2 who act in each tick: expected at most 125"):
        BatchedTriage(task, lanes=2)
    with pytest.raises(InvalidInput, match="lanes: 0 is not in 1 to 250"):
        BatchedTriage(task, lanes=0)
    # 250 services with 132 kinds of faults have more hypotheses than 16 bits count.
    assert np.can_cast(np.uint16, begun().incidents.hypothesis.dtype)
    # A look at a history has 3 cells, and 2 more for each remedy.
    assert most_cells(3, 24, 2, 1, 0, 40) > 24 * (3 + 2 * 40)
    batch = begun()
    cells = batch._kernels.cells(batch.incidents, batch.episodes, np.arange(3))
    assert cells.base is not None
    assert cells.base.nbytes == cells.nbytes  # no more memory than the screens need


def mine(state: State) -> tuple[float, str]:
    return (float(state.tick > 3), "")


def test_a_rubric_with_a_rule_of_ones_own_is_refused() -> None:
    first = attrs.evolve(TRIAGE_3.criteria[0], measure=mine)
    rubric = attrs.evolve(TRIAGE_3, id="mine/1", criteria=(first, *TRIAGE_3.criteria[1:]))
    with pytest.raises(RubricError, match=r"mine \('severity'\) has no kernel; those that"):
        BatchedTriage("single_crash-v4", rubric=rubric)


def test_tasks_that_no_batch_holds_are_refused() -> None:
    with pytest.raises(InvalidInput, match="incidents with several faults are not played or bel"):
        BatchedTriage("compound_failure-v4")


@pytest.mark.parametrize(
    ("split", "index", "message"),
    [
        ("training", [0], "unknown split 'training'"),
        ("train", [-1], r"index\[0\]: -1 is not in 0 to"),
        ("train", [0, 1 << 48], r"index\[1\]: 281474976710656 is not in 0 to"),
        ("train", [0.5], "index: expected integers, got an array of float64"),
        ("train", [[1]], r"index: shape \(1, 1\), expected \(1,\)"),
        ("train", np.zeros(0, int), "at least one"),
    ],
)
def test_bad_indices_are_refused(split: str, index: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        BatchedTriage("single_crash-v4").reset(split, index)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actions", "active", "message"),
    [
        ([0, 0], None, r"actions: shape \(2,\), expected \(3,\)"),
        ([0, 0, 75], None, r"actions\[2\]: 75 is not in 0 to"),
        ([0, -1, 0], None, r"actions\[1\]: -1 is not in 0 to"),
        ([0, 0, 0], [1, 0, 1], "active: expected booleans, got an array of int64"),
        ([0, 0, 0], [False], r"active: shape \(1,\), expected \(3,\)"),
    ],
)
def test_bad_actions_are_refused_and_change_nothing(
    actions: list[int], active: list[bool] | None, message: str
) -> None:
    batch = begun()
    before = batch.look()
    with pytest.raises(InvalidInput, match=message):
        batch.step(actions, active)
    assert np.array_equal(batch.look().observation, before.observation)


@pytest.mark.parametrize(
    ("rows", "index", "message"),
    [
        ([0, 0], [5, 6], "rows: each row may be named once"),
        ([0], [5, 6], "rows: 1 of them for 2 incidents"),
        ([3], [5], r"rows\[0\]: 3 is not in 0 to 2"),
        ([-1], [5], r"rows\[0\]: -1 is not in 0 to 2"),
        ([0.5], [5], "rows: expected integers, got an array of float64"),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(
    rows: list[int], index: list[int], message: str
) -> None:
    batch = begun()
    with pytest.raises(InvalidInput, match=message):
        batch.restart(rows, index)
    assert batch.index.tolist() == [0, 1, 2]


def test_numba_is_imported_when_it_is_first_needed() -> None:
    probe = """
import sys
from logtriage.vector import BatchedTriage
assert "numba" not in sys.modules
BatchedTriage("single_crash-v4")
assert "numba" in sys.modules
"""
    subprocess.run([sys.executable, "-c", probe], check=True)


def test_observations_are_the_callers_own() -> None:
    batch = begun()
    first, second = batch.step([0, 1, 2]).observation, batch.look().observation
    assert not np.shares_memory(first, second)
    assert np.array_equal(first, second)
