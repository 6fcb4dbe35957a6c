"""Constant answers, and the best of them that a search can find: guessing must not pay."""

import attrs
import pytest

import logtriage as lt
from logtriage.audit.action_lists import Scorer, best_blind_policy, best_constant_list
from logtriage.grading import DEFAULT, grade
from logtriage.playing import play
from logtriage.policies import ConstantPolicy
from logtriage.world.topologies import random_topology
from tests.builders import FIX, P1, RIGHT_CAUSE, RIGHT_PAGE, real_incident


def scorer(incidents: list[lt.Incident]) -> Scorer:
    return Scorer(incidents, DEFAULT)


def test_the_list_is_played_in_order_and_then_resolved() -> None:
    policy = ConstantPolicy((lt.ClassifySeverity(P1), RIGHT_CAUSE, RIGHT_PAGE, FIX))
    state = play(real_incident(), lambda _: policy)
    assert state.actions == (*policy.actions, lt.Resolve())
    assert grade(state).score == 1.0


def test_a_name_that_the_topology_lacks_is_malformed_there() -> None:
    graph = random_topology(1, 5)
    screen = attrs.evolve(lt.observe(lt.initial_state(real_incident())), topology=graph)
    for action in (RIGHT_CAUSE, FIX, lt.Escalate("x-team")):
        answer, memory = ConstantPolicy((action,)).act(screen, None)
        assert isinstance(answer, lt.Malformed)
        assert "unknown" in answer.reason
        assert memory == 1


def test_what_the_greedy_search_misses_the_local_one_finds() -> None:
    """The greedy one adds to the end, where a root cause comes after the fix."""
    where = scorer([real_incident()] * 20)
    greedy = best_constant_list(where)
    assert greedy.mean == pytest.approx(0.75)
    assert set(greedy.actions) == {lt.ClassifySeverity(P1), RIGHT_PAGE, FIX, lt.Resolve()}
    local = best_blind_policy(where, [greedy.actions])
    assert local.mean == 1.0
    assert set(local.actions) == {*greedy.actions, RIGHT_CAUSE}
    assert local.actions[-1] == lt.Resolve()


def test_the_local_search_finds_the_answer_where_there_is_but_one() -> None:
    found = best_blind_policy(scorer([real_incident()]), [(lt.Resolve(),)])
    assert found.mean == 1.0
