"""Several tasks in one batch: refusals, and rubrics that only the batch of a task grades."""

from importlib.util import find_spec
from typing import Any

import attrs
import numpy as np
import pytest

from logtriage import (
    InvalidInput,
    RequestMoreLogs,
    action_id,
    initial_state,
    make_incident,
    random_topology,
    transition,
)
from logtriage.grading import TRIAGE_3
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage, encode_tokens
from logtriage.vector.shaping import BatchedShaping
from logtriage.world.channels import LINES

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
        (None, "task: expected the number of each incident's task, of 2"),
        ([0], r"task: shape \(1,\), expected \(2,\)"),
        ([0.0, 1.0], "task: expected integers, got an array of float64"),
        ([0, 2], r"task\[1\]: 2 is not in 0 to 1"),
    ):
        with pytest.raises(InvalidInput, match=message):
            batch.reset("train", [1, 2], wrong)
    batch.reset("train", [1, 2], [1, 0])
    batch.restart([0], [5], [0])
    assert batch.task_of.tolist() == [0, 0]
    assert batch.index.tolist() == [5, 2]


def test_what_was_not_read_has_a_number_of_its_own_in_a_batch_of_several_fogs() -> None:
    """At fog 0 more is read than at fog 2, where its number once meant that nothing was."""
    mixed, alone = BatchedTriage(FOGS), BatchedTriage(FOGS[1])
    index, ask = np.arange(300), action_id(RequestMoreLogs(mixed.topology.names[0]), mixed.topology)
    mixed.reset("train", index, np.ones(300, int))
    alone.reset("train", index)
    for batch in (mixed, alone):
        batch.step(np.full(300, ask))
    shown, wanted = (
        batch.episodes.columns[:, batch.layout["answer"]][:, :LINES].astype(int)
        for batch in (mixed, alone)
    )
    log = mixed.layout.world.cell_sorts.index("log")
    whole, own = mixed.layout.sizes[log, 0], alone.layout.sizes[log, 0]
    assert whole > own
    unread = wanted > own
    assert unread.any()
    assert np.array_equal(shown, np.where(unread, wanted + whole - own, wanted))
    states = [
        transition(initial_state(make_incident(f"{FOGS[1]}/train/{one}")), RequestMoreLogs(name))
        for one in index[:40]
        for name in mixed.topology.names[:1]
    ]
    for row, state in enumerate(states):
        seen = encode_tokens(state, layout=mixed.layout) / mixed.layout.units
        assert np.array_equal(np.rint(seen), mixed.episodes.columns[row])


def test_beliefs_of_a_batch_of_several_fogs_read_each_by_its_own_alphabet() -> None:
    mixed, alone = BatchedTriage(FOGS), BatchedTriage(FOGS[1])
    shaped = []
    for batch in (mixed, alone):
        batch.reset("train", np.arange(60), np.full(60, len(batch.tasks) - 1))
        shaping = BatchedShaping(batch)
        shaping.begin()
        for ask in range(3):
            actions = np.full(
                60, action_id(RequestMoreLogs(batch.topology.names[ask]), batch.topology)
            )
            shaping.shaped(batch.step(actions).reward, actions, np.ones(60, bool))
        shaped.append(shaping.potential)
    assert np.array_equal(shaped[0], shaped[1])


def test_rows_earn_what_their_tasks_pay_alone() -> None:
    """On a topology with other hypotheses for each task, by a rubric that rounds."""
    tasks = ("single_crash-v3", "fleet_outage-v3-fog1")
    rubric = attrs.evolve(TRIAGE_3, id="mine/1")
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
