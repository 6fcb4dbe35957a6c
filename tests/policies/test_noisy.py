"""A policy that slips: as often as it is told, within the kind of action."""

import attrs
import pytest

from logtriage import InvalidInput, incident_ids, initial_state, make_incident, observe, transition
from logtriage.actions import ACTION_TYPES, HandOver
from logtriage.grading.grade import score
from logtriage.policies import ExpertPolicy, FirstErrorPolicy, NoisyPolicy, masked_actions
from tests.builders import final_state

IDS = incident_ids("cascading_failure-v3", "test", 200)


def test_without_slips_it_is_the_policy_and_with_slips_alone_it_keeps_the_kinds() -> None:
    for one in IDS[:8]:
        incident = make_incident(one)
        plain = final_state(incident, lambda _: ExpertPolicy())
        assert final_state(incident, lambda _: NoisyPolicy(ExpertPolicy(), 0)) == plain
        state, memory = initial_state(incident), None
        while not state.is_closed:
            seen = observe(state)
            wanted, _ = ExpertPolicy().act(seen, memory)
            action, memory = NoisyPolicy(ExpertPolicy(), 1000, seed=3).act(seen, memory)
            assert type(action) is type(wanted)
            state = transition(state, action)


def test_it_slips_as_often_as_it_is_told() -> None:
    differs = total = 0
    for number, one in enumerate(IDS):
        seen = observe(initial_state(make_incident(one)))
        wanted, _ = FirstErrorPolicy().act(seen, None)  # a severity: one of three
        action, _ = NoisyPolicy(FirstErrorPolicy(), 600, seed=number).act(seen, None)
        differs += action != wanted
        total += 1
    assert total * 0.6 * 2 / 3 == pytest.approx(differs, abs=4 * (total * 0.24) ** 0.5)


def mean_grade(slips: int) -> float:
    grades = []
    for number, one in enumerate(incident_ids("cascading_failure-v3-fog0", "test", 24)):
        # At this price the expert never hands over, and so its slips show in the grade.
        incident = attrs.evolve(make_incident(one), price_of_hand_over=0.3)
        policy = NoisyPolicy(ExpertPolicy(), slips, seed=number)
        grades.append(score(final_state(incident, lambda _, policy=policy: policy)))  # type: ignore[misc]
    return sum(grades) / len(grades)


def test_the_more_it_slips_the_less_it_earns() -> None:
    never, seldom, often = (mean_grade(slips) for slips in (0, 200, 500))
    assert never > 0.7
    assert never - 0.05 > seldom > often + 0.05


def test_unlike_slips_are_drawn_among_all_actions() -> None:
    kinds = set()
    for number, one in enumerate(IDS):
        seen = observe(initial_state(make_incident(one)))
        action, _ = NoisyPolicy(ExpertPolicy(), 1000, number, alike=False).act(seen, None)
        assert action in masked_actions(seen)
        kinds.add(type(action))
    assert kinds == {HandOver, *ACTION_TYPES.values()}


def test_it_is_pure_and_checks_its_share() -> None:
    seen = observe(initial_state(make_incident(IDS[0])))
    policy = NoisyPolicy(ExpertPolicy(), 500, seed=9)
    assert policy.act(seen, None) == policy.act(seen, None)
    with pytest.raises(InvalidInput, match=r"slips must lie in \[0, 1000\], got 1001"):
        NoisyPolicy(ExpertPolicy(), 1001)
