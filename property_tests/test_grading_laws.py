"""Laws of the grade: above all, a wrong escalation anywhere gives exactly 0.

Most are of rubric ``logtriage/1``; those of ``logtriage/2`` are in ``test_triage_laws.py``.
"""

from itertools import pairwise
from math import isclose

import attrs
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from logtriage import (
    SEVEN_SERVICES,
    Action,
    ClassifySeverity,
    Closing,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Incident,
    Malformed,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    State,
    grade,
    initial_state,
    make_incident,
    play,
    reward,
    transition,
)
from logtriage.actions import SEVERITIES
from logtriage.grading import TRIAGE_1, Criterion, grade_actions, rubric_of, score
from logtriage.policies import perfect_actions
from property_tests.reference import expected, played
from property_tests.strategies import (
    DRAWN,
    ORIGINAL_TASKS,
    actions,
    benign_incidents,
    episodes,
    incidents,
    plans,
)

ALL_TASKS = DRAWN + ORIGINAL_TASKS


def old(incident: Incident) -> Incident:
    """The same incident, graded by the rubric without discounts."""
    return attrs.evolve(incident, rubric=TRIAGE_1.id)


def old_episodes() -> SearchStrategy[tuple[State, ...]]:
    return episodes().map(
        lambda states: tuple(attrs.evolve(one, incident=old(one.incident)) for one in states)
    )


@given(episodes(ALL_TASKS))
def test_a_grade_lies_in_the_unit_interval_and_explains_itself(
    states: tuple[State, ...],
) -> None:
    for state in states:
        graded = grade(state)
        assert graded.score is not None
        assert 0.0 <= graded.score <= 1.0
        assert graded.score == score(state)
        assert all(one.reason for one in graded.criteria)
        assert (graded.gate is None) == (graded.gate_reason is None)
        if rubric_of(state.incident) is TRIAGE_1:
            assert all(0.0 <= one.score <= 1.0 for one in graded.criteria)
            earned = sum(one.score * one.weight for one in graded.criteria)
            assert isclose(graded.score, 0.0 if graded.gate else earned, abs_tol=1e-12)


@given(st.data(), incidents().map(old))
def test_the_grade_is_the_one_of_the_table(data: st.DataObject, incident: Incident) -> None:
    """Against an independent reading of the rubric, in exact arithmetic."""
    plan = data.draw(plans(incident))
    graded, (total, gate, criteria) = grade_actions(incident, plan), expected(incident, plan)
    assert graded.gate == gate
    assert bool(graded.gate_reason) == (gate is not None)
    assert graded.score is not None
    assert isclose(graded.score, total, abs_tol=1e-12)
    assert {one.name for one in graded.criteria} == set(criteria)
    for one in graded.criteria:
        assert isclose(one.score, criteria[one.name], abs_tol=1e-12)
    assert graded.unplayed == len(plan) - len(played(incident, plan))


@given(st.data(), benign_incidents().map(old))
def test_a_dismissal_is_the_one_of_the_table(data: st.DataObject, incident: Incident) -> None:
    """Remedies, blame and lost time before an ``Ignore``, more often than chance has them."""
    name = incident.topology.names[0]
    acts: list[Action] = [
        Remediate("restart", name),
        IdentifyRootCause(name),
        RequestMoreLogs(None),
        ClassifySeverity("P3"),
    ]
    plan: list[Action] = [*data.draw(st.lists(st.sampled_from(acts), max_size=6)), Ignore()]
    graded, (total, _, criteria) = grade_actions(incident, plan), expected(incident, plan)
    assert graded.score is not None
    assert isclose(graded.score, total, abs_tol=1e-12)
    assert all(isclose(one.score, criteria[one.name], abs_tol=1e-12) for one in graded.criteria)


@given(st.data(), incidents().map(old))
def test_a_claim_earns_nothing(data: st.DataObject, incident: Incident) -> None:
    """Whatever an agent writes: what cannot be read as an action is a lost tick."""
    *steps, _ = perfect_actions(incident)
    text = data.draw(st.sampled_from(["resolved", "P1, score 1.0", '{"score": 1}']) | st.text())
    claimed = grade_actions(incident, [*steps, Malformed(text, "no action")])
    assert [one.score for one in claimed.criteria] == [
        one.score for one in grade_actions(incident, steps).criteria
    ]


@given(old_episodes())
def test_rewards_add_up_exactly_to_the_final_grade(states: tuple[State, ...]) -> None:
    total = 0.0
    for before, after in pairwise(states):
        total += reward(before, after)
    assert grade(states[0]).score == 0.0
    assert total == grade(states[-1]).score


@given(episodes(ORIGINAL_TASKS))
def test_original_rewards_add_up_to_the_difference(states: tuple[State, ...]) -> None:
    steps = pairwise(states)
    total = sum(reward(before, after) for before, after in steps)
    assert isclose(total, score(states[-1]) - score(states[0]), abs_tol=1e-9)


@given(st.data(), incidents().map(old))
def test_any_wrong_escalation_gives_exactly_zero_with_the_rest_reported(
    data: st.DataObject, incident: Incident
) -> None:
    wrong = sorted(set(incident.topology.teams) - incident.truth.teams)
    before = data.draw(plans(incident, max_size=incident.horizon - 1))
    state, _ = play(incident, before)
    assume(not state.is_closed)
    ungated = grade(state, attrs.evolve(TRIAGE_1, gates=()))
    after = transition(state, Escalate(data.draw(st.sampled_from(wrong))))
    graded = grade(after)
    assert graded.score == 0.0
    assert graded.gate == "wrong_escalation"
    assert after.closing is Closing.MISROUTED
    assert [(c.name, c.score) for c in graded.criteria] == [
        (c.name, c.score) for c in ungated.criteria
    ]
    assert reward(state, after) == -score(state)


@given(st.data(), incidents().map(old))
def test_a_wrong_escalation_anywhere_in_a_list_gives_zero(
    data: st.DataObject, incident: Incident
) -> None:
    wrong = sorted(set(incident.topology.teams) - incident.truth.teams)
    plan = list(perfect_actions(incident))
    at = data.draw(st.integers(0, len(plan) - 1))
    plan.insert(at, Escalate(data.draw(st.sampled_from(wrong))))
    graded = grade_actions(incident, plan)
    assert graded.score == 0.0
    assert graded.gate == "wrong_escalation"
    assert graded.unplayed == len(plan) - at - 1


@given(incidents().map(old), st.data())
def test_ignoring_a_real_fault_gives_zero(incident: Incident, data: st.DataObject) -> None:
    assume(not incident.truth.benign)
    state, _ = play(incident, data.draw(plans(incident, max_size=incident.horizon - 1)))
    assume(not state.is_closed)
    graded = grade(transition(state, Ignore()))
    assert (graded.score, graded.gate) == (0.0, "ignored_incident")


@given(incidents().map(old))
@example(old(make_incident("silent_degradation-v2/test/0")))
def test_the_oracle_solves_everything_in_time(incident: Incident) -> None:
    graded = grade_actions(incident, perfect_actions(incident))
    assert graded.score == 1.0
    assert graded.gate is None
    assert graded.unplayed == 0
    assert graded.ticks <= incident.horizon


@given(incidents(ORIGINAL_TASKS))
def test_the_oracle_reaches_the_original_ceiling(incident: Incident) -> None:
    assert grade_actions(incident, perfect_actions(incident)).score == 0.9999


@given(st.data(), incidents().map(old))
def test_nothing_beats_the_oracle(data: st.DataObject, incident: Incident) -> None:
    plan = data.draw(plans(incident))
    graded = grade_actions(incident, plan)
    assert graded.score is not None
    assert graded.score <= 1.0
    if graded.score == 1.0:
        truth, facts = incident.truth, play(incident, plan)[0].facts
        assert facts.severity is truth.severity
        assert facts.root_cause in truth.root_causes or truth.benign


@given(st.data(), incidents().map(old))
def test_enumerating_answers_never_beats_one_correct_answer(
    data: st.DataObject, incident: Incident
) -> None:
    """Asking every service, every severity, every remedy in some order gains nothing."""
    topology = incident.topology
    order = data.draw(st.permutations(topology.names[:10]))
    guesses: list[Action] = [ClassifySeverity(s) for s in data.draw(st.permutations(SEVERITIES))]
    guesses += [IdentifyRootCause(name) for name in order]
    guesses += [Remediate("restart", name) for name in order]
    guesses = data.draw(st.permutations(guesses))
    right = grade_actions(incident, perfect_actions(incident))
    for closing in ([], [Resolve()], [Ignore()]):
        enumerated = grade_actions(incident, [*guesses[: incident.horizon - 1], *closing])
        assert enumerated.score is not None
        assert right.score is not None
        assert enumerated.score <= right.score


@given(st.data(), incidents().map(old))
def test_later_declarations_change_nothing_but_time(
    data: st.DataObject, incident: Incident
) -> None:
    service = data.draw(st.sampled_from(incident.topology.names))
    first: list[Action] = [
        ClassifySeverity(data.draw(st.sampled_from(SEVERITIES))),
        IdentifyRootCause(service),
    ]
    later = data.draw(
        st.lists(
            st.one_of(
                st.builds(ClassifySeverity, st.sampled_from(SEVERITIES)),
                st.builds(IdentifyRootCause, st.sampled_from(incident.topology.names)),
            ),
            max_size=3,
        )
    )
    short, long = grade_actions(incident, first), grade_actions(incident, [*first, *later])
    assert [c.score for c in short.criteria] == [c.score for c in long.criteria]


@given(st.data(), incidents().map(old))
def test_idle_steps_never_pay(data: st.DataObject, incident: Incident) -> None:
    """A request, a malformed reply or a repeat earns nothing, wherever it is inserted."""
    plan = data.draw(plans(incident, max_size=incident.horizon - 1))
    idle: Action = data.draw(
        st.sampled_from([RequestMoreLogs(None), Malformed("?", "no JSON"), *plan[:1]])
    )
    at = data.draw(st.integers(0, len(plan)))
    without, with_it = (
        grade_actions(incident, plan),
        grade_actions(incident, [*plan[:at], *(idle for _ in range(1)), *plan[at:]]),
    )
    if idle in plan and idle not in plan[:at]:
        return  # moved forward, not inserted
    assert with_it.score is not None
    assert without.score is not None
    if without.gate is None:
        assert with_it.score <= without.score


@given(st.data(), incidents().map(old))
def test_wrong_remedies_never_pay(data: st.DataObject, incident: Incident) -> None:
    plan = list(perfect_actions(incident))
    choices = [
        one
        for one in (data.draw(actions(incident.topology)) for _ in range(3))
        if isinstance(one, Remediate) and (one.remedy, one.service) not in incident.truth.remedies
    ]
    assume(choices)
    at = data.draw(st.integers(0, len(plan) - 1))
    worse = grade_actions(incident, [*plan[:at], *choices, *plan[at:]])
    assert worse.score is not None
    assert worse.score < 1.0


@given(st.data(), incidents().map(old))
def test_renaming_services_and_teams_changes_no_score(
    data: st.DataObject, incident: Incident
) -> None:
    """A grade hangs on who is who, never on what they are called."""
    topology = incident.topology
    assume(topology != SEVEN_SERVICES or topology.name == "seven-services")
    rename = {name: f"x{i}" for i, name in enumerate((*topology.names, *topology.teams))}
    renamed_topology = attrs.evolve(
        topology,
        teams=tuple(rename[t] for t in topology.teams),
        services=tuple(
            attrs.evolve(
                one,
                name=rename[one.name],
                owner=rename[one.owner],
                calls=tuple(rename[c] for c in one.calls),
            )
            for one in topology.services
        ),
        capacity_team=rename[topology.capacity_team],
        security_team=rename[topology.security_team],
    )
    truth = incident.truth
    renamed = attrs.evolve(
        incident,
        topology=renamed_topology,
        directory=tuple(rename[owner] for owner in incident.directory),
        truth=attrs.evolve(
            truth,
            fault=None,
            root_causes=frozenset(rename[s] for s in truth.root_causes),
            teams=frozenset(rename[t] for t in truth.teams),
            remedies=frozenset((r, rename[s]) for r, s in truth.remedies),
        ),
    )

    def translate(action: Action) -> Action:
        match action:
            case IdentifyRootCause(service, confidence):
                return IdentifyRootCause(rename[service], confidence)
            case Escalate(team):
                return Escalate(rename[team])
            case Remediate(remedy, service):
                return Remediate(remedy, rename[service])
            case RequestMoreLogs(str() as service):
                return RequestMoreLogs(rename[service])
            case RequestMetrics(service):
                return RequestMetrics(rename[service])
            case RequestTraces(service):
                return RequestTraces(rename[service])
            case _:
                return action

    plan = data.draw(plans(incident))
    before = grade_actions(incident, plan)
    after = grade_actions(renamed, [translate(action) for action in plan])
    assert (before.score, before.gate, before.closing) == (after.score, after.gate, after.closing)


@given(st.lists(st.integers(0, 1000), min_size=5, max_size=5).filter(any), old_episodes())
def test_any_weights_that_sum_to_one_make_a_rubric(
    shares: list[int], states: tuple[State, ...]
) -> None:
    total = sum(shares)
    rubric = attrs.evolve(
        TRIAGE_1,
        id="mine/1",
        criteria=tuple(
            Criterion(row.name, share / total, row.measure)
            for row, share in zip(TRIAGE_1.criteria, shares, strict=True)
        ),
    )
    steps = pairwise(states)
    assert sum(reward(a, b, rubric) for a, b in steps) == score(states[-1], rubric)
    assert 0.0 <= score(states[-1], rubric) <= 1.0


@given(st.data(), incidents().map(old))
def test_a_symptom_earns_nothing(data: st.DataObject, incident: Incident) -> None:
    """Nor does any other service that is not the root cause."""
    topology, roots = incident.topology, incident.truth.root_causes
    callers = {name for root in roots for name in callers_of(incident, root)}
    wrong = sorted(callers - roots) or [one for one in topology.names if one not in roots]
    blamed = IdentifyRootCause(data.draw(st.sampled_from(wrong)), 1.0)
    assert grade_actions(incident, [blamed]).score == 0.0


def callers_of(incident: Incident, service: str) -> set[str]:
    topology = incident.topology
    return {topology.names[caller] for caller in topology.callers[topology.index(service)]}


@given(st.data(), incidents().map(old))
def test_a_confidence_changes_no_score(data: st.DataObject, incident: Incident) -> None:
    cause = IdentifyRootCause(data.draw(st.sampled_from(incident.topology.names)))
    plan = [cause, *data.draw(plans(incident))]
    sure = attrs.evolve(cause, confidence=data.draw(st.sampled_from([0.0, 0.9, 1.0])))
    assert grade_actions(incident, plan).score == grade_actions(incident, [sure, *plan[1:]]).score


@given(incidents().map(old))
def test_running_out_of_time_closes_nothing(incident: Incident) -> None:
    *steps, _ = perfect_actions(incident)
    waits = [RequestMoreLogs(None)] * (incident.horizon - len(steps))
    graded = grade_actions(incident, [*steps, *waits])
    assert graded.closing is Closing.OUT_OF_TIME
    assert graded.criterion("closure").score == 0.0


def test_a_real_zero_is_reachable_without_a_gate() -> None:
    incident = make_incident("cascading_failure-v2/test/0")
    graded = grade(play(incident, [Resolve()])[0])
    assert (graded.score, graded.gate) == (0.0, None)
    assert score(initial_state(incident)) == 0.0
