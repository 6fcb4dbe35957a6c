"""The batched engine refuses what it cannot do, and says why. What it computes is in the laws."""

import numpy as np
import pytest

from logtriage import InvalidInput, UnknownName, random_topology
from logtriage.vector import BatchedTriage


def begun(count: int = 3) -> BatchedTriage:
    batch = BatchedTriage("single_crash-v1")
    batch.reset("train", np.arange(count))
    return batch


def test_unknown_and_fixed_tasks_are_refused() -> None:
    with pytest.raises(UnknownName, match="known: single_crash-v1"):
        BatchedTriage("crash")
    with pytest.raises(InvalidInput, match="fixed incident"):
        BatchedTriage("single_crash-v0")


def test_ood_needs_a_topology_of_ones_own() -> None:
    with pytest.raises(InvalidInput, match="give a topology"):
        BatchedTriage("single_crash-v1").reset("ood", [0])
    graph = random_topology(1, 9)
    screen = BatchedTriage("single_crash-v1", topology=graph).reset("ood", [0, 1])
    assert len(screen.observation) == 2


@pytest.mark.parametrize(
    ("split", "index", "message"),
    [
        ("training", [0], "unknown split 'training'"),
        ("train", [-1], "must lie in"),
        ("train", [1 << 48], "must lie in"),
        ("train", [0.5], "whole numbers"),
        ("train", [[1]], "whole numbers"),
        ("train", np.zeros(0, int), "at least one"),
    ],
)
def test_bad_indices_are_refused(split: str, index: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        BatchedTriage("single_crash-v1").reset(split, index)  # type: ignore[arg-type]


def test_nothing_goes_before_a_reset() -> None:
    batch = BatchedTriage("single_crash-v1")
    with pytest.raises(InvalidInput, match="call reset"):
        batch.step([0])
    with pytest.raises(InvalidInput, match="call reset"):
        batch.restart([0], [0])
    with pytest.raises(InvalidInput, match="call reset"):
        batch.look()


@pytest.mark.parametrize(
    ("actions", "message"),
    [([0, 0], "must be 3 integers"), ([0, 0, 59], "must lie in"), ([0, -1, 0], "must lie in")],
)
def test_bad_actions_are_refused_and_change_nothing(actions: list[int], message: str) -> None:
    batch = begun()
    before = batch.look()
    with pytest.raises(InvalidInput, match=message):
        batch.step(actions)
    assert np.array_equal(batch.look().observation, before.observation)


@pytest.mark.parametrize(
    ("rows", "index", "message"),
    [
        ([0, 0], [5, 6], "different ones"),
        ([0], [5, 6], "different ones"),
        ([3], [5], "must lie in"),
        ([-1], [5], "must lie in"),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(
    rows: list[int], index: list[int], message: str
) -> None:
    batch = begun()
    with pytest.raises(InvalidInput, match=message):
        batch.restart(rows, index)
    assert batch.index.tolist() == [0, 1, 2]
