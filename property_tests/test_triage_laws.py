"""Laws of ``logtriage/2``: its table, what a page is worth, and what must come before the fix.

What holds of any sound rubric is in ``test_grading_laws.py``.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isclose, prod

import attrs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from logtriage import (
    Action,
    Escalate,
    Grade,
    IdentifyRootCause,
    Ignore,
    Incident,
    Malformed,
    Remediate,
    RequestMoreLogs,
    grade,
    initial_state,
    make_incident,
    reward,
    transition,
)
from logtriage.errors import RubricError
from logtriage.grading import TRIAGE_2, grade_actions, rubric_of, score
from logtriage.grading.grade import finish
from logtriage.policies import perfect_actions
from logtriage.state import Closing, State
from logtriage.transition import play, play_jointly
from property_tests.reference import Expected, Plays, expected, played
from property_tests.strategies import plans, triage_incidents, triage_plays, wrong_remedies

WAIT = RequestMoreLogs(None)
faults = triage_incidents(benign=False)
dismissible = triage_incidents(benign=True)


def close(one: float | None, other: object) -> bool:
    return one is not None and isclose(one, float(other), abs_tol=1e-12)  # type: ignore[arg-type]


def earned(incident: Incident, plan: Sequence[Action]) -> float:
    return score(play(incident, plan)[0])


def agrees(state: State, wanted: Expected) -> None:
    agree(grade(state), wanted)


def agree(graded: Grade, wanted: Expected) -> None:
    assert graded.gate == wanted.gate
    assert bool(graded.gate_reason) == (wanted.gate is not None)
    assert close(graded.score, wanted.total)
    assert {one.name for one in graded.criteria} == wanted.criteria.keys()
    assert all(close(one.score, wanted.criteria[one.name]) for one in graded.criteria)
    assert {one.name for one in graded.discounts} == wanted.discounts.keys()
    assert all(close(one.factor, wanted.discounts[one.name]) for one in graded.discounts)


# -- the table, read twice ------------------------------------------------------------------


@given(st.data(), triage_incidents())
def test_the_grade_is_the_one_of_the_table(data: st.DataObject, incident: Incident) -> None:
    """Against an independent reading of the rubric, in exact arithmetic; joint play included."""
    plays: Plays = data.draw(triage_plays(incident))
    agrees(play_jointly(incident, plays)[0], expected(incident, plays))


@given(st.data(), triage_incidents())
def test_the_grade_on_the_way_is_the_one_of_the_table(
    data: st.DataObject, incident: Incident
) -> None:
    plan = [action for _, action in data.draw(triage_plays(incident))]
    state = initial_state(incident)
    for count, action in enumerate(plan, 1):
        if state.is_closed:
            break
        state = transition(state, action)
        agrees(state, expected(incident, list(enumerate(plan[:count]))))


@given(st.data(), triage_incidents())
def test_the_grade_of_a_list_is_the_one_of_the_table(
    data: st.DataObject, incident: Incident
) -> None:
    """Up to the end of the episode, and what comes after it is counted."""
    waits = data.draw(st.sampled_from((0, 0, incident.horizon - 1)))
    plan = [*[WAIT] * waits, *data.draw(plans(incident))]
    plays = list(enumerate(plan))
    graded = grade_actions(incident, plan)
    agree(graded, expected(incident, plays))
    assert graded.unplayed == len(plan) - len(played(incident, plays))


@given(st.data(), dismissible)
def test_a_dismissal_is_the_one_of_the_table(data: st.DataObject, incident: Incident) -> None:
    """Remedies, blame and lost time before an ``Ignore``, more often than chance has them."""
    blame = IdentifyRootCause(incident.topology.names[0])
    idle: st.SearchStrategy[Action] = st.sampled_from((WAIT, WAIT, blame))
    acts = st.one_of(idle, wrong_remedies(incident))
    severity, *_ = perfect_actions(incident)
    said = [severity] * data.draw(st.sampled_from((0, 1, 1)))
    plan: list[Action] = [*said, *data.draw(st.lists(acts, max_size=6)), Ignore()]
    agrees(play(incident, plan)[0], expected(incident, list(enumerate(plan))))


@given(st.data(), triage_incidents())
def test_a_grade_lies_in_the_unit_interval_and_explains_itself(
    data: st.DataObject, incident: Incident
) -> None:
    state, _ = play_jointly(incident, data.draw(triage_plays(incident)))
    graded = grade(state)
    assert rubric_of(incident).id == graded.rubric
    assert graded.score is not None
    assert 0.0 <= graded.score <= 1.0
    assert graded.score == score(state)
    assert all(one.reason for one in graded.criteria)
    assert all(one.reason for one in graded.discounts)
    assert all(0.0 <= one.score <= 1.0 for one in graded.criteria)
    assert all(0.0 <= one.factor <= 1.0 for one in graded.discounts)
    points = sum(one.score * one.weight for one in graded.criteria)
    left = 0.0 if graded.gate else prod(one.factor for one in graded.discounts)
    assert close(graded.score, points * left)


@given(st.data(), triage_incidents())
def test_rewards_add_up_exactly_to_the_final_grade(data: st.DataObject, incident: Incident) -> None:
    states = [initial_state(incident)]
    for _, action in data.draw(triage_plays(incident)):
        if states[-1].is_closed:
            break
        states.append(transition(states[-1], action))
    assert score(states[0]) == 0.0
    assert sum(reward(before, after) for before, after in pairwise(states)) == score(states[-1])


# -- what a page is worth -------------------------------------------------------------------


@given(triage_incidents())
@example(make_incident("silent_degradation-v3/test/0"))
def test_the_oracle_solves_everything_in_time(incident: Incident) -> None:
    graded = grade_actions(incident, perfect_actions(incident))
    assert (graded.score, graded.gate, graded.discounts) == (1.0, None, ())
    assert graded.unplayed == 0
    assert graded.ticks <= incident.par


@given(st.data(), faults)
def test_the_right_page_none_and_a_wrong_one_are_worth_one_c_and_nothing(
    data: st.DataObject, incident: Incident
) -> None:
    price = incident.price_of_silence
    assert price is not None
    perfect = perfect_actions(incident)
    teams = sorted(set(incident.topology.teams) - incident.truth.teams)
    assume(teams)
    wrong = Escalate(data.draw(st.sampled_from(teams)))
    silent = [one for one in perfect if not isinstance(one, Escalate)]
    misled = [wrong if isinstance(one, Escalate) else one for one in perfect]
    assert earned(incident, perfect) == 1.0
    assert earned(incident, silent) == finish(TRIAGE_2, price)
    assert earned(incident, misled) == 0.0


@given(st.data(), triage_incidents())
def test_a_wrong_page_is_exactly_nothing_with_the_rest_reported(
    data: st.DataObject, incident: Incident
) -> None:
    state, _ = play_jointly(incident, data.draw(triage_plays(incident)))
    assume(not state.is_closed)
    if data.draw(st.booleans(), label="after the right page") and incident.truth.teams:
        state = transition(state, Escalate(min(incident.truth.teams)))
        assume(not state.is_closed)
    before = grade(state)
    wrong = sorted(set(incident.topology.teams) - incident.truth.teams)
    assume(wrong)
    after = transition(state, Escalate(data.draw(st.sampled_from(wrong))))
    graded = grade(after)
    assert (graded.score, graded.gate) == (0.0, "wrong_escalation")
    assert after.closing is Closing.MISROUTED
    assert [one.score for one in graded.criteria] == [one.score for one in before.criteria]
    assert graded.discounts == before.discounts
    assert reward(state, after) == -score(state)


@given(st.data(), faults)
def test_the_price_counts_only_while_nobody_right_was_paged(
    data: st.DataObject, incident: Incident
) -> None:
    plays: Plays = data.draw(triage_plays(incident))
    cheap, dear = (
        grade(play_jointly(attrs.evolve(incident, price_of_silence=price), plays)[0])
        for price in (0.2, 0.6)
    )
    assert cheap.score is not None
    assert dear.score is not None
    if cheap.criterion("escalation").score:
        assert cheap.score == dear.score
    else:
        assert isclose(3 * cheap.score, dear.score, abs_tol=1e-12)


@given(faults, st.sampled_from((None, -0.1, 0.626, 1.0, float("nan"))))
def test_a_fault_needs_a_price_that_silence_can_have(
    incident: Incident, price: float | None
) -> None:
    odd = attrs.evolve(incident, price_of_silence=price)
    for plan in ((), perfect_actions(incident)):
        with pytest.raises(RubricError, match=r"price_of_silence must be .* from 0 to 0\.625"):
            grade_actions(odd, plan)


# -- what must come before the fix ------------------------------------------------------------


def moved(incident: Incident, kind: type[Action]) -> list[Action]:
    """The perfect plan with one answer given after the fix."""
    *steps, end = perfect_actions(incident)
    late = [one for one in steps if isinstance(one, kind)]
    return [*(one for one in steps if not isinstance(one, kind)), *late, end]


@given(faults)
def test_a_root_cause_after_the_fix_earns_nothing(incident: Incident) -> None:
    graded = grade_actions(incident, moved(incident, IdentifyRootCause))
    assert graded.criterion("root_cause").score == 0.0
    assert close(graded.score, 0.75)


@given(faults)
def test_a_fix_before_the_page_is_worth_half(incident: Incident) -> None:
    late = moved(incident, Escalate)
    graded = grade_actions(incident, late)
    assert graded.criterion("remediation").score == 0.5
    assert graded.discounts == ()
    assert close(graded.score, 0.875)
    again = [*late[:-1], next(one for one in late if isinstance(one, Remediate)), late[-1]]
    assume(len(again) <= incident.par)
    assert close(earned(incident, again), 0.875)  # repeating it restores nothing


@given(st.data(), faults)
def test_in_joint_play_the_tick_decides(data: st.DataObject, incident: Incident) -> None:
    """Declaring in the tick of the fix is in time; paging in the tick of a remedy is not."""
    severity, cause, page, fix, end = perfect_actions(incident)
    probe = data.draw(wrong_remedies(incident))
    for together, discounts in (((cause, page, fix), []), ((page, probe), ["unapproved"])):
        acts = data.draw(st.permutations(together))
        plays = [(0, severity), *((1, one) for one in acts), (2, cause), (3, fix), (4, end)]
        graded = grade(play_jointly(incident, plays)[0])
        assert graded.criterion("root_cause").score == 1.0
        assert [one.name for one in graded.discounts] == discounts
        wanted = 0.6 if probe in acts else 0.5
        assert close(graded.criterion("remediation").score, wanted)


@given(st.data(), faults, st.integers(1, 3))
def test_each_wrong_remedy_before_the_page_multiplies_the_total(
    data: st.DataObject, incident: Incident, count: int
) -> None:
    probes = [data.draw(wrong_remedies(incident)) for _ in range(count)]
    severity, cause, page, fix, end = perfect_actions(incident)
    assume(incident.horizon >= 5 + count)
    before, after = (
        grade_actions(incident, plan)
        for plan in (
            [severity, cause, *probes, page, fix, end],
            [severity, cause, page, *probes, fix, end],
        )
    )
    assert close(after.criterion("remediation").score, max(0.0, 1 - 0.4 * count))
    assert after.discounts == ()
    assert [one.name for one in before.discounts] == ["unapproved"]
    assert after.score is not None
    assert close(before.score, 0.7**count * after.score)


@given(st.data(), faults, st.integers(1, 3))
def test_a_wrong_remedy_is_unapproved_after_the_fix_too(
    data: st.DataObject, incident: Incident, count: int
) -> None:
    """As long as nobody right has been paged."""
    assert incident.price_of_silence is not None
    probes = [data.draw(wrong_remedies(incident)) for _ in range(count)]
    severity, cause, page, fix, end = perfect_actions(incident)
    assume(incident.horizon >= 5 + count)
    silent = grade_actions(incident, [severity, cause, fix, *probes, end])
    paged = grade_actions(incident, [severity, cause, fix, *probes, page, end])
    factors = {"unescalated": incident.price_of_silence / 0.625, "unapproved": 0.7**count}
    for graded, names in ((silent, ["unescalated", "unapproved"]), (paged, ["unapproved"])):
        assert [one.name for one in graded.discounts] == names
        assert all(close(one.factor, factors[one.name]) for one in graded.discounts)


# -- nothing to gain --------------------------------------------------------------------------


@given(st.data(), faults)
def test_wrong_remedies_repeats_and_lost_time_never_pay(
    data: st.DataObject, incident: Incident
) -> None:
    plan = [action for _, action in data.draw(triage_plays(incident))]
    at = data.draw(st.integers(0, len(plan)))
    idle: list[Action] = [WAIT, Malformed("?", "no JSON"), *plan[:at]]
    extra = data.draw(st.one_of(st.sampled_from(idle), wrong_remedies(incident)))
    worse = grade_actions(incident, [*plan[:at], extra, *plan[at:]])
    assume(worse.gate is None and grade_actions(incident, plan).gate is None)
    assert worse.score is not None
    assert worse.score <= earned(incident, plan)


@given(st.data(), triage_incidents())
def test_full_marks_need_every_answer(data: st.DataObject, incident: Incident) -> None:
    plays: Plays = data.draw(triage_plays(incident))
    state, _ = play_jointly(incident, plays)
    if score(state) == 1.0:
        truth, facts = incident.truth, state.facts
        assert facts.severity is truth.severity
        assert truth.benign or facts.root_cause in truth.root_causes
        assert truth.benign or (facts.paged_at is not None and facts.fixed_at is not None)


@given(st.data(), triage_incidents(), st.integers(0, 3))
def test_time_up_to_par_is_free(data: st.DataObject, incident: Incident, spare: int) -> None:
    """Whatever is asked meanwhile; one tick beyond par costs a little."""
    *steps, end = perfect_actions(incident)
    spare = min(spare, incident.par - len(steps) - 1)
    at = data.draw(st.integers(0, len(steps)))
    waited: list[Action] = [*steps[:at], *[WAIT] * spare, *steps[at:], end]
    assert earned(incident, waited) == 1.0
    late = [*[WAIT] * (incident.par + 1 - len(waited)), *waited]
    if incident.par < incident.horizon:
        assert earned(incident, late) < 1.0
