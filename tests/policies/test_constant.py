"""Constant answers, and the best of them that a search can find: guessing must not pay."""

from statistics import fmean

import attrs
import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    Ignore,
    Incident,
    Malformed,
    Remediate,
    Resolve,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.actions import HandOver
from logtriage.audit.scoring import Scorer, alike
from logtriage.audit.search import best_blind_policy, best_constant_list
from logtriage.dynamics import play
from logtriage.grading import DEFAULT, grade, score
from logtriage.policies import ConstantPolicy
from logtriage.tasks import TaskSpec
from logtriage.world.topologies import random_topology
from tests.builders import (
    FIVE_TEAMS,
    FIX,
    P1,
    P3,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    SMALL_TASKS,
    final_state,
    real_incident,
)

every_small_task = pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)


def drawn(task: TaskSpec, split: str, count: int) -> list[Incident]:
    return [make_incident(one) for one in incident_ids(task.id, split, count)]


def scorer(incidents: list[Incident]) -> Scorer:
    return Scorer(incidents, DEFAULT)


def test_the_list_is_played_in_order_and_then_resolved() -> None:
    policy = ConstantPolicy((ClassifySeverity(P1), RIGHT_CAUSE, RIGHT_PAGE, FIX))
    state = final_state(real_incident(), lambda _: policy)
    assert state.actions == (*policy.actions, Resolve())
    assert grade(state).score == 1.0


def test_an_empty_list_resolves_at_once() -> None:
    assert final_state(real_incident(), lambda _: ConstantPolicy(())).actions == (Resolve(),)


def test_the_same_observation_and_memory_give_the_same_answer() -> None:
    policy = ConstantPolicy((RIGHT_CAUSE, FIX))
    screen = observe(initial_state(real_incident()))
    assert policy.act(screen, None) == policy.act(screen, None) == (RIGHT_CAUSE, 1)
    assert policy.act(screen, 1) == (FIX, 2)
    assert policy.act(screen, 2)[0] == Resolve()


def test_a_name_that_the_topology_lacks_is_malformed_there() -> None:
    graph = random_topology(1, 5)
    screen = attrs.evolve(observe(initial_state(real_incident())), topology=graph)
    for action in (RIGHT_CAUSE, FIX, Escalate("x-team")):
        answer, memory = ConstantPolicy((action,)).act(screen, None)
        assert isinstance(answer, Malformed)
        assert "unknown" in answer.reason
        assert memory == 1


@every_small_task
def test_nothing_said_by_heart_is_worth_more_than_handing_over(task: TaskSpec) -> None:
    test = drawn(task, "test", 400)
    found = best_constant_list(scorer(drawn(task, "train", 400)))
    assert found.actions[0] == HandOver()
    prices = [one.price_of_hand_over or 0.0 for one in test]
    assert scorer(test).means([found.actions])[0] == pytest.approx(fmean(prices))


# -- the search itself ----------------------------------------------------------------


@every_small_task
def test_grouping_incidents_changes_no_mean(task: TaskSpec) -> None:
    incidents = drawn(task, "train", 150)
    lists: tuple[tuple[Action, ...], ...] = (
        (Resolve(),),
        (ClassifySeverity(P3), Ignore()),
        (RIGHT_CAUSE, FIX, Remediate("restart", "auth-service"), Resolve()),
        (RIGHT_PAGE, RIGHT_CAUSE),
    )
    groups = alike(incidents)
    assert len(groups) < 150
    assert sum(count for _, count in groups) == 150
    for actions in lists:
        each = [score(play(one, actions)[0]) for one in incidents]
        assert scorer(incidents).means([actions])[0] == pytest.approx(sum(each) / 150, abs=1e-12)


def test_what_the_greedy_search_misses_the_local_one_finds() -> None:
    """The greedy one adds to the end, where a root cause comes after the fix."""
    where = scorer([real_incident()] * 20)
    greedy = best_constant_list(where)
    assert greedy.mean == pytest.approx(0.75)
    assert set(greedy.actions) == {ClassifySeverity(P1), RIGHT_PAGE, FIX, Resolve()}
    local = best_blind_policy(where, [greedy.actions])
    assert local.mean == 1.0
    assert set(local.actions) == {*greedy.actions, RIGHT_CAUSE}
    assert local.actions[-1] == Resolve()


def test_the_search_does_no_worse_than_any_single_action() -> None:
    incidents = drawn(SMALL_TASKS[2], "train", 100)
    found = best_constant_list(scorer(incidents))
    for severity in ("P1", "P2", "P3"):
        declared = ClassifySeverity(severity)
        for closer in (Resolve(), Ignore()):
            assert found.mean >= scorer(incidents).means([(declared, closer)])[0]
    assert all(one.topology == FIVE_TEAMS for one in incidents)


def test_the_local_search_improves_on_what_it_starts_from() -> None:
    incidents = drawn(SMALL_TASKS[0], "train", 200)
    start = (Remediate("restart", "user-db"), Resolve())
    found = best_blind_policy(scorer(incidents), [start])
    assert found.mean > scorer(incidents).means([start])[0] + 0.05
    assert found.mean == pytest.approx(scorer(incidents).means([found.actions])[0])


def test_the_local_search_finds_the_answer_where_there_is_but_one() -> None:
    found = best_blind_policy(scorer([real_incident()]), [(Resolve(),)])
    assert found.mean == 1.0
