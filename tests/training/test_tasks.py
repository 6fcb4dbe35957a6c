"""Trainers on batches take tasks of one's own."""

import os
from pathlib import Path

import attrs
import pytest

from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput, LogTriageError, UnknownName, WorldError
from logtriage.tasks import get_task
from logtriage.world.copies import copy_world
from logtriage.world.loading import WORLDS_VARIABLE, load_world
from tests.worlds.folders import edit
from training.common.tasks import ids_of, incident_of, sheet_of, task_in

TASK = "single_crash-v4-fog1"
MINE = attrs.evolve(get_task(TASK), name="mine", horizon=12)
CLASHING = attrs.evolve(MINE, name="single_crash")
FLEET = attrs.evolve(get_task("fleet_outage-v4"), version=9)
OWN = f"{__name__}:MINE"


def test_a_registered_task_is_as_ever() -> None:
    assert sheet_of(TASK) is get_task(TASK)
    assert ids_of(TASK, "val", 3) == incident_ids(TASK, "val", 3)
    assert incident_of(TASK, f"{TASK}/ood/2") == make_incident(f"{TASK}/ood/2")


def test_a_sheet_of_one_s_own_draws_incidents_of_its_own() -> None:
    assert sheet_of(OWN) is MINE
    (name,) = ids_of(OWN, "test", 1)
    assert name == "mine-v4-fog1/test/0"
    incident = incident_of(OWN, name)
    assert (incident.id, incident.horizon) == (name, 12)


@pytest.mark.parametrize(
    ("task", "error", "said"),
    [
        ("crash", UnknownName, "task 'crash'; known: single_crash-v4"),
        (f"{__name__}:GONE", InvalidInput, "has no 'GONE'"),
        ("no_such_module:MINE", InvalidInput, "no module named 'no_such_module'"),
        (f"{__name__}:TASK", InvalidInput, "expected a task sheet .* got str"),
        (f"{__name__}:CLASHING", InvalidInput, "a name or version of its own: 'single_crash-v4-f"),
        (f"{__name__}:FLEET", InvalidInput, "'fleet_outage-v9': expected a task that draws"),
    ],
)
def test_what_no_batch_plays_is_refused(task: str, error: type[LogTriageError], said: str) -> None:
    with pytest.raises(error, match=said):
        sheet_of(task)


@pytest.fixture(name="shop")
def shop_of_one_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(WORLDS_VARIABLE, str(tmp_path / "others"))
    copy_world("tiny", tmp_path / "train-shop")
    return tmp_path / "train-shop"


def test_a_task_of_a_folder_is_found_by_its_name(shop: Path) -> None:
    with pytest.raises(InvalidInput, match="no module named 'train-shop'"):
        sheet_of("train-shop:outage")
    assert task_in(None, "outage") == "outage"
    assert task_in(str(shop), "outage") == "train-shop:outage"
    assert os.environ[WORLDS_VARIABLE].split(os.pathsep) == [
        str(shop.parent),
        str(shop.parent / "others"),
    ]
    assert sheet_of("train-shop:outage").world == load_world(shop)
    (one,) = ids_of("train-shop:outage", "val", 1)
    assert incident_of("train-shop:outage", one).world == load_world(shop)


def test_all_are_the_tasks_of_the_folder_s_world(shop: Path) -> None:
    text = (shop / "world.toml").read_text()
    rules, _, task = text.partition("[[tasks]]")
    more = task.replace('name = "outage"', 'name = "another"')
    (shop / "world.toml").write_text(f"{rules}[[tasks]]{task}[[tasks]]{more}")
    both = task_in(str(shop), "all")
    assert both == "train-shop:outage train-shop:another"


def test_a_folder_that_workers_could_not_find_is_refused(shop: Path) -> None:
    renamed = shop.rename(shop.with_name("elsewhere"))
    with pytest.raises(WorldError, match="called as its world, 'train-shop'"):
        task_in(str(renamed), "outage")
    with pytest.raises(WorldError, match="nowhere: No such file"):
        task_in(str(shop.with_name("nowhere")), "outage")
    edit(renamed / "world.toml", 'name = "train-shop"', 'name = "elsewhere"')
    with pytest.raises(UnknownName, match="unknown task 'outages'"):
        task_in(str(renamed), "outages")
    assert os.environ[WORLDS_VARIABLE] == str(shop.parent / "others")
