"""Drawn incidents: canonical ids, and topologies of your own."""

from collections import Counter
from math import sqrt

import attrs
import pytest

import logtriage as lt
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import SPLITS, IncidentId
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER, draw_from
from logtriage.tasks import TaskSpec
from logtriage.topology import Service
from logtriage.world.topologies import random_topology
from tests.builders import SEVEN_SERVICES, SMALL_TASKS, own_topology


@pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)
@pytest.mark.parametrize("split", SPLITS)
def test_each_answer_is_a_real_possibility_and_none_is_the_rule(task: TaskSpec, split: str) -> None:
    drawn = [lt.make_incident(one).truth for one in lt.incident_ids(task.id, split, 400)]
    real = [one for one in drawn if not one.benign]
    assert 0.09 <= 1 - len(real) / len(drawn) <= 0.21
    for of, most, choices in (
        ([one.severity for one in real], 0.45, 3),
        ([team for one in real for team in one.teams], 0.45, 5),
    ):
        counts = Counter(of)
        assert len(counts) == choices
        assert max(counts.values()) <= most * len(real)


def test_worths_of_hand_over_are_equally_likely_whatever_the_truth() -> None:
    drawn = [lt.make_incident(f"cascading_failure-v4/train/{index}") for index in range(3_000)]
    for benign in (False, True):
        worths = [one.worth_of_hand_over for one in drawn if one.truth.benign is benign]
        counts = Counter(worths)
        assert counts.keys() == set(WORTHS_OF_HAND_OVER)
        fair, spread = len(worths) / 5, sqrt(len(worths) * 0.2 * 0.8)
        assert all(abs(count - fair) < 4 * spread for count in counts.values())


@pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)
def test_random_topologies_are_in_split_ood_only(task: TaskSpec) -> None:
    for split in SPLITS:
        own = [
            lt.make_incident(one).topology is not task.topology
            for one in lt.incident_ids(task.id, split, 200)
        ]
        assert 70 <= sum(own) <= 130 if split == "ood" else not any(own)


@pytest.mark.parametrize("size", [5, 40, 200])
def test_incidents_can_be_drawn_on_a_topology_of_ones_own(size: int) -> None:
    graph = random_topology(8, size)
    for task in SMALL_TASKS:
        for index in range(30):
            incident = draw_incident(task, IncidentId(task, "test", index), graph)
            assert incident.topology is graph
            assert incident.truth.root_causes <= set(graph.names)


def test_a_topology_without_a_place_for_the_fault_is_refused() -> None:
    gate = Service("gate", "edge", "sre-team")
    alone = own_topology("alone", ("sre-team", "security-team"), (gate,))
    task = lt.get_task("cascading_failure-v4")
    with pytest.raises(lt.InvalidInput, match="it needs a service that another one calls"):
        draw_incident(task, IncidentId(task, "train", 0), alone)


def test_a_topology_with_fewer_places_than_faults_is_refused() -> None:
    gate = Service("gate", "edge", "sre-team")
    alone = own_topology("alone", ("sre-team", "security-team"), (gate,))
    task = lt.get_task("compound_failure-v4")
    two_at_least = attrs.evolve(task.setting, counts=(0, 1))
    with pytest.raises(lt.InvalidInput, match="'alone' has too few places for faults"):
        draw_from(task, two_at_least, IncidentId(task, "train", 0), alone)


def test_nothing_is_drawn_on_a_topology_whose_name_breaks_ids() -> None:
    recorded = attrs.evolve(SEVEN_SERVICES, name="mine/1")
    task = lt.get_task("cascading_failure-v4")
    with pytest.raises(
        lt.InvalidInput, match=r"topology 'mine/1': its name must have no '/' to draw"
    ):
        draw_incident(task, IncidentId(task, "train", 0), recorded)


def test_a_wrong_page_that_ends_nothing_brings_no_note() -> None:
    incident = attrs.evolve(
        lt.make_incident("cascading_failure-v4/test/0"), wrong_page_closes=False
    )
    (right,) = incident.truth.teams
    wrong = next(team for team in incident.topology.teams if team != right)
    for team, notes in ((wrong, 0), (right, 1)):
        state = lt.transition(lt.initial_state(incident), lt.Escalate(team))
        state = lt.transition(state, lt.RequestMoreLogs(None))
        assert len(lt.observe(state).notes) == notes
