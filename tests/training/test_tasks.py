"""Trainers on batches take tasks of one's own."""

import attrs
import pytest

from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput, LogTriageError, UnknownName
from logtriage.tasks import get_task
from training.common.tasks import file_name, ids_of, incident_of, sheet_of

TASK = "single_crash-v2-fog1"
MINE = attrs.evolve(get_task(TASK), name="mine", horizon=12)
CLASHING = attrs.evolve(MINE, name="single_crash")
FLEET = attrs.evolve(get_task("fleet_outage-v2"), version=9)
OWN = f"{__name__}:MINE"


def test_a_registered_task_is_as_ever() -> None:
    assert sheet_of(TASK) is get_task(TASK)
    assert ids_of(TASK, "val", 3) == incident_ids(TASK, "val", 3)
    assert incident_of(TASK, f"{TASK}/ood/2") == make_incident(f"{TASK}/ood/2")


def test_a_sheet_of_one_s_own_draws_incidents_of_its_own() -> None:
    assert sheet_of(OWN) is MINE
    (name,) = ids_of(OWN, "test", 1)
    assert name == "mine-v2-fog1/test/0"
    incident = incident_of(OWN, name)
    assert (incident.id, incident.horizon) == (name, 12)
    assert file_name(OWN) == f"{__name__}.MINE"


@pytest.mark.parametrize(
    ("task", "error", "said"),
    [
        ("crash", UnknownName, "task 'crash'; known: single_crash-v2"),
        (f"{__name__}:GONE", InvalidInput, "has no 'GONE'"),
        ("no_such_module:MINE", InvalidInput, "no module named 'no_such_module'"),
        (f"{__name__}:TASK", InvalidInput, "expected a task sheet .* got str"),
        (f"{__name__}:CLASHING", InvalidInput, "a name or version of its own: 'single_crash-v2-f"),
        (f"{__name__}:FLEET", InvalidInput, "'fleet_outage-v9': expected a task that draws"),
        ("single_crash-v0", InvalidInput, "expected a task that draws incidents of one fault"),
    ],
)
def test_what_no_batch_plays_is_refused(task: str, error: type[LogTriageError], said: str) -> None:
    with pytest.raises(error, match=said):
        sheet_of(task)
