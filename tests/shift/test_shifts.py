from typing import Any

import pytest

from logtriage import InvalidInput
from logtriage.errors import UnknownName
from logtriage.shift.shifts import SHIFT_TASKS, SPLITS, is_shift, make_shift, shift_ids
from logtriage.tasks import get_task
from tests.shift.shifts import small_shift


def test_an_id_is_one_shift() -> None:
    assert make_shift("busy_shift-v1/test/3") == make_shift("busy_shift-v1/test/3")
    ids = [*shift_ids("busy_shift-v1", "test", 5), *shift_ids("busy_shift-v1", "val", 5)]
    assert len({make_shift(one).arrivals for one in ids}) == 10


def test_incidents_arrive_at_the_rate_of_the_task_each_on_a_system_of_its_own() -> None:
    for task in SHIFT_TASKS.values():
        shifts = [make_shift(one) for one in shift_ids(task.id, "train", 60)]
        per_shift = sum(len(one.arrivals) - 1 for one in shifts) / 60
        assert per_shift == pytest.approx(task.rate / 1000 * task.last_arrival, rel=0.15)
        for one in shifts:
            assert one.arrivals[0].tick == 0
            assert one.arrivals[-1].tick <= task.last_arrival
            assert len({row.system for row in one.arrivals}) == len(one.arrivals)


def test_incidents_are_those_of_the_split_with_a_worth_and_otherwise_as_they_were() -> None:
    for split in SPLITS:
        shift = make_shift(f"quiet_shift-v1/{split}/1")
        for arrival in shift.arrivals:
            incident = arrival.incident
            assert incident.rubric == "logtriage/3"
            assert 0.3 <= (incident.worth_of_hand_over or 0.0) <= 0.9
            assert incident.horizon == 2 * get_task("cascading_failure-v4").horizon
            assert shift.incident(arrival.system) is incident


@pytest.mark.parametrize(
    ("shift_id", "error", "words"),
    [
        ("noisy_shift-v1/test/0", UnknownName, "quiet_shift-v1"),
        ("busy_shift-v1/ood/0", UnknownName, "train, val, test"),
        ("busy_shift-v1", InvalidInput, "busy_shift-v1/test/0"),
        ("busy_shift-v1/test/x", InvalidInput, "index must be a whole number"),
        (3, InvalidInput, "a text"),
    ],
)
def test_a_wrong_id_says_what_is_right(shift_id: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make_shift(shift_id)


def test_ids_of_a_wrong_split_or_system_list_the_choices() -> None:
    with pytest.raises(UnknownName, match="train, val, test"):
        shift_ids("busy_shift-v1", "ood", 1)
    shift = make_shift("quiet_shift-v1/test/0")
    with pytest.raises(UnknownName, match=shift.arrivals[0].system):
        shift.incident("nowhere")


def test_ids_of_shifts_are_told_from_others() -> None:
    names = ("quiet_shift-v1", "busy_shift-v1/test/3", "single_crash-v4/test/3")
    assert [*map(is_shift, names)] == [True, True, False]
    assert [one.tick for one in small_shift(0, 4).arrivals] == [0, 4]
