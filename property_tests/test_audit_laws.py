"""Laws behind the exact search: equal situations stay equal, and nothing beats what it finds."""

from functools import lru_cache

import attrs
from hypothesis import given
from hypothesis import strategies as st

from logtriage import Action, Incident, State, make_incident, transition
from logtriage.audit.action_lists import Scorer
from logtriage.audit.situations import Searched, Situations
from logtriage.dynamics import play
from logtriage.grading import RECORDED, rubric_of, score
from logtriage.policies.constant import fitted
from property_tests.strategies import (
    DRAWN,
    incident_ids,
    incidents,
    plans,
    triage_incidents,
    triage_plays,
)
from tests.builders import with_hand_over

#: Incidents of every rubric that the search knows.
ANY = incidents(DRAWN) | triage_incidents() | incidents(DRAWN).map(with_hand_over)
#: One incident of each kind that is searched apart.
SEARCHED = (
    *(make_incident(f"single_crash-v4/test/{number}") for number in range(3)),
    *(with_hand_over(make_incident(f"single_crash-v4/test/{number}")) for number in range(2)),
    attrs.evolve(make_incident("single_crash-v4/test/1"), par=6),
)


@given(st.data(), ANY)
def test_a_class_stands_for_all_its_actions(data: st.DataObject, incident: Incident) -> None:
    """Any list, with each action replaced by the one that stands for its class, earns the same."""
    situations = Situations(incident, rubric_of(incident))
    assert not situations.unknown
    plan = data.draw(plans(incident))
    one = two = play(incident, ())[0]
    for action in plan:
        if one.is_closed:
            break
        one = transition(one, action)
        two = transition(two, situations.classes[situations.class_of(action)])
        assert situations.of(one) == situations.of(two)
        assert score(one) == score(two)


@given(st.data(), ANY)
def test_equal_situations_have_equal_scores_now_and_later(
    data: st.DataObject, incident: Incident
) -> None:
    situations = Situations(incident, rubric_of(incident))
    ticks = data.draw(st.integers(1, min(5, incident.horizon)))

    def drawn() -> State:
        plan = data.draw(plans(incident, max_size=ticks))
        return play(incident, [*plan, *[idle(situations)] * ticks][:ticks])[0]

    one, two = drawn(), drawn()
    if situations.of(one) != situations.of(two) or one.tick != two.tick:
        return
    assert score(one) == score(two)
    for action in data.draw(plans(incident)):
        if one.is_closed:
            break
        one, two = transition(one, action), transition(two, action)
        assert situations.of(one) == situations.of(two)
        assert score(one) == score(two)


@given(st.data(), ANY)
def test_a_tick_changes_no_situation_and_never_pays(
    data: st.DataObject, incident: Incident
) -> None:
    """So the search meets a situation once, at its earliest tick."""
    incident = attrs.evolve(incident, horizon=incident.horizon + 4)
    situations = Situations(incident, rubric_of(incident))
    plan = data.draw(plans(incident, max_size=8))
    later = [idle(situations)] * data.draw(st.integers(1, 3))
    one, two = (play(incident, before)[0] for before in (plan, [*later, *plan]))
    for action in data.draw(plans(incident, max_size=4)):
        if one.is_closed or two.is_closed:
            break
        assert situations.of(one) == situations.of(two)
        assert score(one) == score(two)
        one, two = transition(one, action), transition(two, action)
    if max(one.tick, two.tick) < incident.horizon:
        assert situations.of(one) == situations.of(two)
        assert score(one) >= score(two)


@given(st.data(), ANY)
def test_running_out_of_time_changes_no_score(data: st.DataObject, incident: Incident) -> None:
    """So the search need not wait in each situation until the time is over."""
    wait = [idle(Situations(incident, rubric_of(incident)))] * incident.horizon
    state, _ = play(incident, data.draw(plans(incident, max_size=incident.horizon - 1)))
    if not state.is_closed:
        assert score(play(incident, [*state.actions, *wait])[0]) == score(state)


@given(st.data(), triage_incidents())
def test_equal_situations_of_one_plan_in_two_orders(
    data: st.DataObject, incident: Incident
) -> None:
    """Order is what ``logtriage/3`` reads: of two orders that look alike, neither earns more."""
    situations = Situations(incident, rubric_of(incident))
    plan = [action for _, action in data.draw(triage_plays(incident))]
    one, two = (play(incident, order)[0] for order in (plan, data.draw(st.permutations(plan))))
    if situations.of(one) != situations.of(two) or one.tick != two.tick:
        return
    assert score(one) == score(two)
    for _, action in data.draw(triage_plays(incident)):
        if one.is_closed:
            break
        one, two = transition(one, action), transition(two, action)
        assert situations.of(one) == situations.of(two)
        assert score(one) == score(two)


def idle(situations: Situations) -> Action:
    return next(iter(situations.classes.values()))


@lru_cache
def searched(incident: Incident) -> Searched:
    return Situations(incident, rubric_of(incident)).search()


@given(st.data(), st.sampled_from(SEARCHED))
def test_no_list_beats_what_the_search_found(data: st.DataObject, incident: Incident) -> None:
    found = searched(incident)
    state, _ = play(incident, data.draw(plans(incident)))
    assert score(state) <= found.best.score == score(found.best.state)
    assert found.misrouted is not None
    if state.facts.wrong_pages:
        assert score(state) <= found.misrouted.score
    assert found.misrouted.state.facts.wrong_pages
    assert score(found.misrouted.state) == found.misrouted.score


@given(st.data(), st.lists(incident_ids(DRAWN), min_size=1, max_size=5))
def test_the_scorer_agrees_with_the_grader(data: st.DataObject, ids: list[str]) -> None:
    drawn = [make_incident(one) for one in ids]
    own = {rubric_of(one) for one in drawn}
    rubric = data.draw(st.sampled_from([RECORDED, *own] if len(own) == 1 else [RECORDED]))
    chosen = [data.draw(plans(one)) for one in drawn]
    scorer = Scorer(drawn, rubric)
    for row, plan in zip(scorer.by_kind(chosen), chosen, strict=True):
        for value, one in zip(row.tolist(), scorer.kinds, strict=True):
            fits = [fitted(action, one.topology) for action in plan]
            assert value == score(play(one, fits)[0], rubric)
