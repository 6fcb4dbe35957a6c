"""The incidents of PetShop that come with the package."""

from importlib.resources import files

import pytest

from logtriage.errors import UnknownName
from logtriage.evaluation import Incidents
from logtriage.incident import Fault
from logtriage.playing import play
from logtriage.recorded import shipped_incidents


def test_the_licence_lies_beside_the_shipped_ones() -> None:
    notice = files("logtriage").joinpath("data", "recorded", "petshop.LICENSE.txt").read_text()
    assert "CC-BY-4.0" in notice
    assert "Amazon" in notice


@pytest.mark.parametrize("number", [0, 1])
def test_the_shipped_ones_are_found_by_id_and_can_be_played(number: int) -> None:
    incident = shipped_incidents("petshop")[number]
    assert Incidents()(incident.id) == incident
    assert incident.task == "recorded_petshop-v5"
    assert incident.truth.fault == Fault(
        ("latency", "availability")[number], "PetSearch_AWS-ECS-Fargate"
    )
    assert len(incident.topology) == (44, 42)[number]
    state = play(incident, "combined")
    assert state.is_closed
    assert state.facts.root_cause is not None
    with pytest.raises(UnknownName, match="source of recorded incidents"):
        shipped_incidents("nobody")
