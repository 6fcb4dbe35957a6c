"""Tasks, canonical incident ids, and seeds that never meet."""

import re
from typing import Any

import attrs
import pytest

from logtriage import InvalidInput, get_task, incident_ids, make_incident
from logtriage.drawing.ids import MAX_INDEX, parse_incident_id
from logtriage.errors import UnknownName
from logtriage.tasks import DRAWN_TASKS, TASKS, benchmark_of, tasks_of, world_of_tasks
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"services": (5, 9)}, "task 'single_crash': expected either topology or services"),
        ({"name": ""}, "task '': name: expected letters, digits"),
        ({"name": "a/b"}, "task 'a/b': name: expected letters, digits"),
        ({"version": -1}, "task 'single_crash': version: expected a whole number from 0, got -1"),
        ({"horizon": 0}, "horizon: expected a whole number from 1, got 0"),
        ({"horizon": 9.5}, "horizon: expected a whole number from 1, got 9.5"),
        ({"horizon": "9"}, "horizon: expected a whole number from 1, got '9'"),
        ({"horizon": True}, "horizon: expected a whole number from 1, got True"),
    ],
)
def test_a_sheet_that_makes_no_sense_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        attrs.evolve(get_task("single_crash-v4"), **changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fog": 4}, "setting: fog: expected a whole number from 0 to 3, got 4"),
        ({"par": 0}, "setting: par: expected a whole number from 1, got 0"),
        ({"onset": -1}, "setting: onset: expected a whole number from 0, got -1"),
        ({"root_silent": 1.5}, "setting: root_silent: expected a whole number from 0, got 1.5"),
        ({"severities": (1, 1, -1)}, "setting: severities: expected 3 whole numbers from 0, not"),
        ({"counts": ()}, "setting: counts: expected a tuple of whole numbers from 0, not all of"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        attrs.evolve(get_task("single_crash-v4").setting, **changes)


@pytest.mark.parametrize("given", [None, 5, b"single_crash-v4/test/0"])
def test_what_is_no_id_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="expected the id of an incident, a text; got "):
        make_incident(given)


@pytest.mark.parametrize(
    ("name", "horizon"),
    [
        ("single_crash", 15), ("cascading_failure", 17), ("silent_degradation", 19),
        ("fleet_outage", 18), ("compound_failure", 22), ("compound_fleet", 23),
    ],
)  # fmt: skip
@pytest.mark.parametrize("fog", [0, 1, 2, 3])
def test_drawn_tasks_stand_at_four_levels_of_fog(name: str, horizon: int, fog: int) -> None:
    task = get_task(f"{name}-v4" if fog == 2 else f"{name}-v4-fog{fog}")
    assert (task.horizon, task.fog, task.rubric) == (horizon, fog, "logtriage/3")
    assert task.setting is not None
    assert task.setting.benign == 150
    fleet = name in ("fleet_outage", "compound_fleet")
    assert task.topology == (None if fleet else FIVE_TEAMS)
    assert task.services == ((20, 60) if fleet else None)


def test_tasks_of_another_world_are_named_by_it_and_have_no_version() -> None:
    tasks = tasks_of(load_world("tiny"))
    assert list(tasks) == ["tiny:outage", *(f"tiny:outage-fog{fog}" for fog in (0, 1, 3))]
    assert {task.version for task in tasks.values()} == {None}
    assert benchmark_of(load_world("tiny")) == ("tiny:outage",)
    assert get_task("tiny:outage") == get_task("outage", "tiny") == tasks["tiny:outage"]


def test_tasks_of_several_worlds_are_not_mixed() -> None:
    tiny, oncall = load_world("tiny"), load_world("oncall")
    assert world_of_tasks(["tiny:outage", "tiny:outage-fog0"]) is tiny
    assert world_of_tasks([]) is oncall
    assert world_of_tasks([], "tiny") is tiny
    with pytest.raises(InvalidInput, match=r"'tiny' .tiny:outage. and 'oncall' .single_crash-v4."):
        world_of_tasks(["tiny:outage", "single_crash-v4"])


def test_all_means_the_benchmark() -> None:
    assert (
        tuple(
            f"{name}-v4"
            for name in ("single_crash", "cascading_failure", "silent_degradation", "fleet_outage")
        )
        == DRAWN_TASKS
    )
    assert [task.id for task in TASKS[:4]] == list(DRAWN_TASKS)


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"'single_crash' \(did you mean 'single_crash-v4'\?\)"):
        get_task("single_crash")


@pytest.mark.parametrize(
    "text",
    [
        "", "single_crash-v4", "single_crash-v4/test", "single_crash-v4/test/1/2",
        "single_crash-v4/test/", "single_crash-v4/test/-1", "single_crash-v4/test/+1",
        "single_crash-v4/test/01", "single_crash-v4/test/00", "single_crash-v4/test/ 1",
        "single_crash-v4/test/1 ", "single_crash-v4/test/1\n", "single_crash-v4/test/1.0",
        "single_crash-v4/test/1e3", "single_crash-v4/test/1_000",
        "single_crash-v4/test/\u0661",  # Arabic-Indic one
        "single_crash-v4/test/\u00b2",  # superscript two
        f"single_crash-v4/test/{MAX_INDEX}",
        f"single_crash-v4/test/{'9' * 5000}",
        "/single_crash-v4/test/1",
    ],
)  # fmt: skip
def test_an_id_in_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_incident_id(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch-v3/test/1", "unknown task 'nosuch-v3'; known: single_crash-v4"),
        ("Single_crash-v3/test/1", "unknown task"),
        ("single_crash-v4/dev/1", "unknown split 'dev'; known: train, val, test, ood"),
        ("single_crash-v4/Test/1", "unknown split"),
        ("single_crash-v4//1", "unknown split ''"),
    ],
)
def test_unknown_parts_of_an_id_are_named(text: str, message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        parse_incident_id(text)


def test_ids_are_listed_from_a_start() -> None:
    assert incident_ids("single_crash-v4", "ood", 3, start=7) == (
        "single_crash-v4/ood/7",
        "single_crash-v4/ood/8",
        "single_crash-v4/ood/9",
    )
    assert incident_ids("single_crash-v4", "test", 0) == ()
    with pytest.raises(UnknownName, match="unknown split"):
        incident_ids("single_crash-v4", "dev", 1)
    with pytest.raises(UnknownName, match="unknown task"):
        incident_ids("x", "test", 1)


@pytest.mark.parametrize(("count", "start"), [(3, -1), (-1, 0), (1, MAX_INDEX)])
def test_ids_out_of_range_are_refused(count: int, start: int) -> None:
    with pytest.raises(InvalidInput, match=r"indices lie in|count: expected 0 or more, got -1"):
        incident_ids("single_crash-v4", "test", count, start)
