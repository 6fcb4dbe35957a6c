"""``lt.play``: whatever can play an incident, by its name or as it is."""

from typing import Any

import pytest

import logtriage as lt
from logtriage.errors import UnknownName
from logtriage.policies import ExpertPolicy
from logtriage.registry import make_policy

INCIDENT = lt.make_incident("cascading_failure-v4/test/27")


@pytest.mark.parametrize("name", ["observer", "expert", "random:7", "oracle"])
def test_a_policy_plays_by_its_name(name: str) -> None:
    policy, memory, state = make_policy(name)(INCIDENT), None, lt.initial_state(INCIDENT)
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        state = lt.transition(state, action)
    assert lt.play(INCIDENT, name) == state


def test_a_policy_and_what_makes_one_play_alike() -> None:
    made = lt.play(INCIDENT, ExpertPolicy())
    assert made == lt.play(INCIDENT, lambda _: ExpertPolicy()) == lt.play(INCIDENT, "expert")


def test_a_list_of_actions_is_played_as_far_as_it_goes() -> None:
    assert lt.play(INCIDENT, []) == lt.initial_state(INCIDENT)
    assert not lt.play(INCIDENT, [lt.RequestMoreLogs()]).is_closed
    given: list[lt.Action] = [lt.Resolve(), lt.RequestMoreLogs()]
    closed = lt.play(INCIDENT, iter(given))
    assert closed.actions == (lt.Resolve(),)


@pytest.mark.parametrize("name", ["observr", "resolve", ""])
def test_an_unknown_name_lists_the_policies(name: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown policy '{name}'.*; known: oracle, observer"):
        lt.play(INCIDENT, name)


@pytest.mark.parametrize("given", [None, "cascading_failure-v4/test/27", 3])
def test_what_is_no_incident_is_refused_first(given: Any) -> None:
    with pytest.raises(lt.InvalidInput, match="incident"):
        lt.play(given, "expert")
