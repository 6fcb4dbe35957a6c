"""A world says who is paged: another rule in it is known to all at once."""

from functools import cache

import attrs
import pytest

from logtriage import Escalate, Incident, State, get_task, initial_state, transition
from logtriage.beliefs import belief
from logtriage.beliefs.model import model_of
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.rendering.rulebook import rulebook
from logtriage.tasks import TaskSpec
from logtriage.vector import belief_batch
from logtriage.vector.marginals import Marginals
from logtriage.vector.tokens.tables import OWNER, tables_of
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS

#: The team that faults of data are paged to by the planted rule, whoever owns the service.
NETWORK = "dba-team"


def planted() -> TaskSpec:
    """A task of a world in which faults of data, else paged to their owner, go to a team.

    That team owns nothing there.
    """
    task, world = get_task("single_crash-v4-fog3"), load_world("oncall")
    classes = tuple(
        attrs.evolve(row, pages=NETWORK) if row.name == "data" else row
        for row in world.rules.classes
    )
    owners = tuple(team for team in world.rules.owners if team != NETWORK)
    rules = attrs.evolve(world.rules, classes=classes, owners=owners)
    other = attrs.evolve(world, rules=rules)
    assert task.setting is not None
    return attrs.evolve(task, setting=attrs.evolve(task.setting, world=other))


TASK = planted()
TOPOLOGY = TASK.world.topologies[FIVE_TEAMS.name]


@cache
def incidents() -> tuple[Incident, ...]:
    drawn = (
        draw_incident(TASK, IncidentId(TASK, "test", number), TOPOLOGY) for number in range(24)
    )
    return tuple(incident for incident in drawn if incident.truth.fault is not None)


def class_of(kind: str) -> str:
    return load_world("oncall").kind(kind).fault_class


def is_data(incident: Incident) -> bool:
    fault = incident.truth.fault
    return fault is not None and class_of(fault.kind) == "data"


def test_the_truth_pages_by_the_planted_rule_and_the_team_owns_nothing() -> None:
    of_data = [one for one in incidents() if is_data(one)]
    assert len(of_data) > 3
    for one in of_data:
        assert one.truth.teams == {NETWORK}
        assert NETWORK not in one.directory


def test_scalar_and_batched_posteriors_agree_on_the_planted_rule() -> None:
    states: list[State] = []
    for incident in incidents():
        (team,) = incident.truth.teams
        state = initial_state(incident)
        states.append(state)
        for action in (Escalate(team), *2 * (Escalate(team),)):
            state = transition(state, action)
        states.append(state)
    held = [belief(state) for state in states]
    assert any(one.teams[NETWORK] > 0.1 for one in held[::2])
    assert any(one.teams == {NETWORK: 1.0} for one in held[1::2])
    batch = belief_batch(states)
    assert batch.logs().tolist() == [list(one.posterior.logs) for one in held]
    teams = batch.teams()
    for row, now in enumerate(held):
        for place, team in enumerate(TOPOLOGY.teams):
            assert teams[row, place] == pytest.approx(now.teams.get(team, 0.0), abs=1e-5)


def test_the_engine_the_networks_and_the_runbook_know_the_planted_rule() -> None:
    incident = incidents()[0]
    assert incident.setting is not None
    model = model_of(incident.setting, TOPOLOGY, None)
    tables = tables_of((model,))
    number = TOPOLOGY.teams.index(NETWORK)
    marginals = Marginals(model)
    for row, one in enumerate(belief(initial_state(incident)).hypotheses):
        if one.faults and class_of(one.faults[0][0]) == "data":
            assert tables.team[0, row] == number
            assert marginals._elsewhere[0, row, number] == 1
        elif one.faults and class_of(one.faults[0][0]) == "code":
            assert tables.team[0, row] == OWNER
    text = "\n".join(rulebook(TOPOLOGY, incident.horizon, incident.setting, incident.rubric))
    assert f"data (page {NETWORK}):" in text
    assert "code (page the owner):" in text
