"""The expert proves that incidents can be solved from what they show."""

from statistics import mean

import attrs
import pytest

from logtriage import (
    SEVEN_SERVICES,
    ClassifySeverity,
    Ignore,
    RequestMoreLogs,
    Severity,
    TaskSpec,
    Truth,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.grading import grade
from logtriage.incident import Fault
from logtriage.policies import ExpertPolicy
from logtriage.registry import make_policy
from tests.builders import V1_TASKS, final_state

every_v1_task = pytest.mark.parametrize("task", V1_TASKS, ids=lambda task: task.id)


@every_v1_task
@pytest.mark.parametrize(("split", "count"), [("test", 1_000), ("ood", 200)])
def test_the_expert_is_good_and_pages_the_right_team(
    task: TaskSpec, split: str, count: int
) -> None:
    grades = [
        grade(final_state(make_incident(one), make_policy("expert")))
        for one in incident_ids(task.id, split, count)
    ]
    assert mean(one.score or 0.0 for one in grades) >= 0.93
    mispaged = sum(one.gate == "wrong_escalation" for one in grades)
    assert mispaged / count <= 0.01
    ignored = sum(one.gate == "ignored_incident" for one in grades)
    assert ignored / count <= 0.01
    assert all(one.closing != "out_of_time" for one in grades)


@every_v1_task
def test_the_expert_sees_observations_only(task: TaskSpec) -> None:
    nonsense = Truth(
        Fault("saturation", "email-queue"),
        Severity.P3,
        frozenset({"email-queue"}),
        frozenset(SEVEN_SERVICES.teams),  # any page is right, so that nothing closes early
        frozenset(),
    )
    for one in incident_ids(task.id, "test", 40):
        incident = make_incident(one)
        liar = attrs.evolve(incident, truth=nonsense, id="x", task="y")
        one_plays = final_state(incident, make_policy("expert")).actions
        other_plays = final_state(liar, make_policy("expert")).actions
        # The fix is the one act whose effect may differ, and nothing but closing follows it.
        assert one_plays[:-1] == other_plays[: len(one_plays) - 1]


@every_v1_task
def test_the_same_screen_and_notes_give_the_same_step(task: TaskSpec) -> None:
    policy = ExpertPolicy()
    for one in incident_ids(task.id, "val", 20):
        screen = observe(initial_state(make_incident(one)))
        first = policy.act(screen, None)
        assert first == policy.act(screen, None)
        assert hash(first[1]) == hash(policy.act(screen, None)[1])


def test_the_expert_classifies_first_by_the_panel() -> None:
    for task in V1_TASKS:
        for one in incident_ids(task.id, "test", 100):
            incident = make_incident(one)
            action, _ = ExpertPolicy().act(observe(initial_state(incident)), None)
            assert action == ClassifySeverity(incident.truth.severity or Severity.P1)


def test_the_expert_inspects_before_it_dismisses() -> None:
    dismissed = 0
    for one in incident_ids("silent_degradation-v1", "test", 200):
        state = final_state(make_incident(one), make_policy("expert"))
        if state.actions[-1] == Ignore():
            dismissed += 1
            assert any(
                isinstance(action, RequestMoreLogs) and action.service is not None
                for action in state.actions
            )
    assert dismissed >= 35
