"""Tasks, canonical incident ids, and seeds that never meet."""

import pytest

from logtriage import TASKS, InvalidInput, UnknownName, get_task, incident_ids
from logtriage.propagation import Mode
from logtriage.tasks import (
    DRAWN_TASKS,
    FIRST_WORLD,
    MAX_INDEX,
    SPLITS,
    IncidentId,
    parse_incident_id,
    stratum,
)
from logtriage.topology import FIVE_TEAMS, SEVEN_SERVICES


@pytest.mark.parametrize(
    ("name", "horizon", "noise", "mode"),
    [
        ("single_crash", 8, 200, Mode.LOUD),
        ("cascading_failure", 12, 300, Mode.CASCADE),
        ("silent_degradation", 15, 600, Mode.DRIFT),
    ],
)
@pytest.mark.parametrize("version", [0, 1])
def test_the_spec_sheets_of_the_design(
    name: str, horizon: int, noise: int, mode: Mode, version: int
) -> None:
    task = get_task(f"{name}-v{version}")
    assert (task.horizon, task.noise, task.mode) == (horizon, noise, mode)
    assert task.original == (version == 0)
    assert task.rubric == ("logtriage/1" if version else f"logtriage-env/0/{name}")


@pytest.mark.parametrize(
    ("name", "horizon"),
    [
        ("single_crash", 10),
        ("cascading_failure", 14),
        ("silent_degradation", 16),
        ("fleet_outage", 14),
        ("compound_failure", 20),
    ],
)
@pytest.mark.parametrize("fog", [0, 1, 2, 3])
def test_the_second_world_stands_at_four_levels_of_fog(name: str, horizon: int, fog: int) -> None:
    task = get_task(f"{name}-v2" if fog == 2 else f"{name}-v2-fog{fog}")
    assert (task.horizon, task.fog, task.rubric, task.mode) == (horizon, fog, "logtriage/2", None)
    assert task.setting is not None
    assert (task.noise, task.benign) == (task.setting.noise, 150)
    assert task.topology is (None if name == "fleet_outage" else FIVE_TEAMS)


def test_one_name_for_one_thing() -> None:
    with pytest.raises(UnknownName, match="unknown task 'single_crash-v2-fog2'"):
        get_task("single_crash-v2-fog2")


def test_all_means_the_benchmark() -> None:
    assert (
        tuple(
            f"{name}-v2"
            for name in ("single_crash", "cascading_failure", "silent_degradation", "fleet_outage")
        )
        == DRAWN_TASKS
    )
    assert [task.id for task in TASKS[:4]] == list(DRAWN_TASKS)


def test_the_first_world_stands_beside_it() -> None:
    assert (
        tuple(f"{name}-v1" for name in ("single_crash", "cascading_failure", "silent_degradation"))
        == FIRST_WORLD
    )
    for task in map(get_task, FIRST_WORLD):
        assert (task.fog, task.topology) == (None, SEVEN_SERVICES)


def test_every_task_has_a_reasoned_history() -> None:
    assert len({task.id for task in TASKS}) == len(TASKS) == 5 * 4 + 3 + 3
    for task in TASKS:
        assert task.history[-1].startswith(f"v{task.version}: ")
        assert task.title
        assert task.hard


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"'single_crash' \(did you mean 'single_crash-v2'\?\)"):
        get_task("single_crash")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("index", [0, 1, 42, MAX_INDEX - 1])
def test_an_id_is_read_and_written_alike(split: str, index: int) -> None:
    text = f"cascading_failure-v1/{split}/{index}"
    parsed = parse_incident_id(text)
    assert parsed == IncidentId(get_task("cascading_failure-v1"), split, index)
    assert str(parsed) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "single_crash-v1",
        "single_crash-v1/test",
        "single_crash-v1/test/1/2",
        "single_crash-v1/test/",
        "single_crash-v1/test/-1",
        "single_crash-v1/test/+1",
        "single_crash-v1/test/01",
        "single_crash-v1/test/00",
        "single_crash-v1/test/ 1",
        "single_crash-v1/test/1 ",
        "single_crash-v1/test/1\n",
        "single_crash-v1/test/1.0",
        "single_crash-v1/test/1e3",
        "single_crash-v1/test/1_000",
        "single_crash-v1/test/\u0661",  # Arabic-Indic one
        "single_crash-v1/test/\u00b2",  # superscript two
        f"single_crash-v1/test/{MAX_INDEX}",
        f"single_crash-v1/test/{'9' * 5000}",
        "/single_crash-v1/test/1",
    ],
)
def test_an_id_in_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_incident_id(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch-v1/test/1", "unknown task 'nosuch-v1'; known: single_crash-v2"),
        ("Single_crash-v1/test/1", "unknown task"),
        ("single_crash-v1/dev/1", "unknown split 'dev'; known: train, val, test, ood"),
        ("single_crash-v1/Test/1", "unknown split"),
        ("single_crash-v1//1", "unknown split ''"),
    ],
)
def test_unknown_parts_of_an_id_are_named(text: str, message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        parse_incident_id(text)


def test_ids_are_listed_from_a_start() -> None:
    assert incident_ids("single_crash-v1", "ood", 3, start=7) == (
        "single_crash-v1/ood/7",
        "single_crash-v1/ood/8",
        "single_crash-v1/ood/9",
    )
    assert incident_ids("single_crash-v1", "test", 0) == ()
    with pytest.raises(UnknownName, match="unknown split"):
        incident_ids("single_crash-v1", "dev", 1)
    with pytest.raises(UnknownName, match="unknown task"):
        incident_ids("x", "test", 1)


def test_seeds_of_all_tasks_and_splits_are_distinct() -> None:
    seeds = [
        IncidentId(task, split, index).seed
        for task in TASKS
        for split in SPLITS
        for index in (*range(2_000), MAX_INDEX - 1)
    ]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 1 << 64 for seed in seeds)


def test_the_split_stands_in_the_top_two_bits() -> None:
    task = get_task("single_crash-v1")
    for number, split in enumerate(SPLITS):
        assert {IncidentId(task, split, index).seed >> 62 for index in range(500)} == {number}


def test_neighbouring_seeds_differ_in_about_half_of_their_bits() -> None:
    task = get_task("single_crash-v1")
    flips = [
        (
            IncidentId(task, "test", index).seed ^ IncidentId(task, "test", index + 1).seed
        ).bit_count()
        for index in range(1_000)
    ]
    assert 29 <= sum(flips) / len(flips) <= 33  # 31 of 62
    assert min(flips) >= 12


def test_a_block_of_neighbours_holds_each_place_once() -> None:
    task = get_task("silent_degradation-v1")
    places = [stratum(IncidentId(task, "test", index), 5, key=9) for index in range(500)]
    assert all(sorted(places[n : n + 5]) == [0, 1, 2, 3, 4] for n in range(0, 500, 5))
    # ... but not in the same order every time
    assert len({tuple(places[n : n + 5]) for n in range(0, 500, 5)}) > 1


@pytest.mark.parametrize(("count", "start"), [(3, -1), (-1, 0), (1, MAX_INDEX)])
def test_ids_out_of_range_are_refused(count: int, start: int) -> None:
    with pytest.raises(InvalidInput, match="indices lie in"):
        incident_ids("single_crash-v1", "test", count, start)
