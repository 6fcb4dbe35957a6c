"""The observer and those that ask otherwise: where a hand-over has a worth, and in pairs."""

from functools import cache

import attrs

import logtriage as lt
from logtriage.beliefs.questions import Asked, Worth
from logtriage.policies.observer import best_of, best_question, requests_in_doubt
from logtriage.registry import make_policy
from tests.builders import with_hand_over

TASK = "cascading_failure-v4"


@cache
def with_worth(number: int, worth: float = 0.9) -> lt.Incident:
    incident = with_hand_over(lt.make_incident(f"{TASK}/train/{number}"))
    return attrs.evolve(incident, worth_of_hand_over=worth)


def asked(state: lt.State) -> list[object]:
    looks = lt.RequestMetrics | lt.RequestMoreLogs | lt.RequestTraces
    return [one for one in state.actions if isinstance(one, looks)]


def test_a_worth_above_what_any_one_answer_promises_does_not_end_the_questions() -> None:
    """Several answers may together be worth more than the hand-over."""
    hidden = 0
    for number in range(8):
        held = lt.belief(lt.initial_state(with_worth(number, 0.97)))
        rows = Asked.of(held, requests_in_doubt(held)).worths()
        if max(one.grade for one in rows) <= 0 < held.entropy:
            hidden += 1
            assert best_question(held) is not None
    assert hidden > 2


def test_bits_without_a_grade_are_not_worth_a_tick() -> None:
    incident = attrs.evolve(with_worth(0), worth_of_hand_over=None)
    held, request = lt.belief(lt.initial_state(incident)), lt.RequestMetrics("user-db")
    assert best_of(held, [Worth(request, 0.0, 1.0)], Asked.of(held, [request])) is None


def test_it_hands_over_what_stays_in_doubt_and_nothing_for_too_little() -> None:
    ends = {
        worth: [str(lt.play(with_worth(number, worth), "observer").closing) for number in range(6)]
        for worth in (0.02, 0.999)
    }
    assert "handed_over" not in ends[0.02]
    assert "handed_over" in ends[0.999]


def test_the_top_suspect_is_asked_until_par_leaves_no_time() -> None:
    incident = with_worth(0)
    setting = incident.setting
    assert setting is not None
    state = lt.play(incident, "top_suspect")
    assert len(asked(state)) == setting.par - len(("page", "severity", "root", "remedy", "resolve"))
    assert len(asked(lt.play(incident, "top_suspect:2"))) == 2


def test_each_question_goes_to_the_likeliest_root_cause() -> None:
    state = lt.initial_state(with_worth(3))
    for action in lt.play(with_worth(3), "top_suspect:3").actions[:3]:
        assert isinstance(action, lt.RequestMetrics | lt.RequestMoreLogs | lt.RequestTraces)
        assert action.service == next(iter(lt.belief(state).root_causes))
        state = lt.transition(state, action)


def test_questions_are_valued_while_only_some_faults_are_repaired() -> None:
    """Under some hypotheses a remedy began a new history at a service, under others not."""
    incident = lt.make_incident("compound_failure-v4/val/2")
    state, after = lt.initial_state(incident), 0
    policy, memory = make_policy("observer")(incident), None
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        after += bool(state.facts.doings.remedies)
        state = lt.transition(state, action)
    assert after
