"""The posterior from a part of the evidence, as roles hold it."""

import pytest

import logtriage as lt
from logtriage.beliefs.beliefs import belief_of
from logtriage.evidence import evidence
from logtriage.world.channels import Channel


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_late_panels_alone_show_an_incident_that_no_remedy_fixed(kept: int) -> None:
    """A role may be told fewer panels of the edge than there were remedies."""
    state = lt.initial_state(lt.make_incident("cascading_failure-v4/test/246"))
    for remedy in ("restart", "rollback", "scale"):
        state = lt.transition(state, lt.Remediate(remedy, state.incident.topology.names[0]))
    panels = [cell for cell in evidence(state) if cell.channel is Channel.EDGE][-kept:]
    assert len(panels) == kept
    assert panels[-1].token == "P1/P1"
    held = belief_of(state, panels)
    assert held.severities["P1"] == pytest.approx(1.0)
    assert not held.fixed
