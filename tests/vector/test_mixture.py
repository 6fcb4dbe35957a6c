"""Several tasks in one batch: refusals, and rubrics that only the batch of a task grades."""

from importlib.util import find_spec
from typing import Any

import attrs
import numpy as np
import pytest

from logtriage import InvalidInput, random_topology
from logtriage.grading import TRIAGE_3
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

FOGS = ("cascading_failure-v3-fog0", "cascading_failure-v3")


def test_tasks_that_share_nothing_are_refused() -> None:
    with pytest.raises(InvalidInput, match="task: expected at least one"):
        BatchedTriage([])
    with pytest.raises(InvalidInput, match="'cascading_failure-v3' is named twice"):
        BatchedTriage(["cascading_failure-v3", "cascading_failure-v3"])
    with pytest.raises(InvalidInput, match="'fleet_outage-v3' has another topology than 'casc"):
        BatchedTriage(["cascading_failure-v3", "fleet_outage-v3"])
    other = attrs.evolve(get_task("single_crash-v3"), rubric="recorded/1")
    with pytest.raises(InvalidInput, match=r"graded by recorded/1, 'casc.* by logtriage/3"):
        BatchedTriage(["cascading_failure-v3", other])


def test_every_row_names_its_task() -> None:
    batch = BatchedTriage(FOGS)
    wrong: Any
    for wrong, message in (
        (None, "task must be 2 whole numbers"),
        ([0], "task must be 2 whole numbers"),
        ([0.0, 1.0], "task must be 2 whole numbers, got float64"),
        ([0, 2], r"every number of a task must lie in \[0, 2\)"),
    ):
        with pytest.raises(InvalidInput, match=message):
            batch.reset("train", [1, 2], wrong)
    batch.reset("train", [1, 2], [1, 0])
    batch.restart([0], [5], [0])
    assert batch.task_of.tolist() == [0, 0]
    assert batch.index.tolist() == [5, 2]


@pytest.mark.parametrize("digits", [None, 2])
def test_rows_earn_what_their_tasks_pay_alone(digits: int | None) -> None:
    """On a topology with other hypotheses for each task, by a rubric that rounds."""
    tasks = ("single_crash-v3", "fleet_outage-v3-fog1")
    rubric = attrs.evolve(TRIAGE_3, id="mine/1", digits=digits)
    given: Any = {"topology": random_topology(4, 12), "rubric": rubric}
    mixed, alone = BatchedTriage(tasks, **given), [BatchedTriage(one, **given) for one in tasks]
    index = np.arange(40)
    mixed.reset("train", index, index % 2)
    for number, batch in enumerate(alone):
        batch.reset("train", index[number::2])
    rng = np.random.default_rng(0)
    for _ in range(14):
        actions = rng.integers(0, mixed.action_count - 2, 40)
        screen = mixed.step(actions)
        for number, batch in enumerate(alone):
            wanted = batch.step(actions[number::2])
            assert np.array_equal(screen.reward[number::2], wanted.reward)
            assert np.array_equal(screen.closing[number::2], wanted.closing)
            assert np.array_equal(screen.tick[number::2], wanted.tick)
