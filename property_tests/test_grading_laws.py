"""Laws of the grade that hang on no weight: above all, a mis-page anywhere gives exactly 0.

The order that ``logtriage/3`` asks for is in ``test_triage_laws.py``.
"""

from itertools import pairwise

import attrs
from hypothesis import assume, given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import SEVERITIES, HandOver
from logtriage.dynamics import play
from logtriage.grading import TRIAGE_3, Criterion, grade_actions, score
from logtriage.policies import perfect_actions
from logtriage.state import Closing
from property_tests.strategies import episodes, incidents, plans, triage_incidents
from tests.builders import SEVEN_SERVICES


@given(st.data(), incidents())
def test_a_claim_earns_nothing(data: st.DataObject, incident: lt.Incident) -> None:
    """Whatever an agent writes: what cannot be read as an action is a lost tick."""
    *steps, _ = perfect_actions(incident)
    text = data.draw(st.sampled_from(["resolved", "P1, score 1.0", '{"score": 1}']) | st.text())
    claimed = grade_actions(incident, [*steps, lt.Malformed(text, "no action")])
    assert [one.score for one in claimed.criteria] == [
        one.score for one in grade_actions(incident, steps).criteria
    ]


@given(st.data(), incidents())
def test_a_wrong_escalation_anywhere_in_a_list_gives_zero(
    data: st.DataObject, incident: lt.Incident
) -> None:
    wrong = sorted(set(incident.topology.teams) - incident.truth.teams)
    assume(wrong)
    plan = list(perfect_actions(incident))
    at = data.draw(st.integers(0, len(plan) - 1))
    plan.insert(at, lt.Escalate(data.draw(st.sampled_from(wrong))))
    graded = grade_actions(incident, plan)
    assert graded.score == 0.0
    assert graded.gate == "wrong_escalation"
    assert graded.unplayed == len(plan) - at - 1


@given(incidents(), st.data())
def test_ignoring_a_real_fault_gives_zero(incident: lt.Incident, data: st.DataObject) -> None:
    assume(not incident.truth.benign)
    steps = [
        one
        for one in data.draw(plans(incident, max_size=incident.horizon - 1))
        if not isinstance(one, lt.Resolve | lt.Ignore | HandOver)
        and not (isinstance(one, lt.Escalate) and one.team not in incident.truth.teams)
    ]
    graded = grade_actions(incident, [*steps, lt.Ignore()])
    assert graded.unplayed == 0
    assert (graded.score, graded.gate) == (0.0, "ignored_incident")


@given(st.data(), incidents())
def test_enumerating_answers_never_beats_one_correct_answer(
    data: st.DataObject, incident: lt.Incident
) -> None:
    """Asking every service, every severity, every remedy in some order gains nothing."""
    topology = incident.topology
    order = data.draw(st.permutations(topology.names[:10]))
    guesses: list[lt.Action] = [
        lt.ClassifySeverity(s) for s in data.draw(st.permutations(SEVERITIES))
    ]
    guesses += [lt.IdentifyRootCause(name) for name in order]
    guesses += [lt.Remediate(topology.remedies[0], name) for name in order]
    guesses = data.draw(st.permutations(guesses))
    right = grade_actions(incident, perfect_actions(incident))
    for closing in ([], [lt.Resolve()], [lt.Ignore()]):
        enumerated = grade_actions(incident, [*guesses[: incident.horizon - 1], *closing])
        assert enumerated.score <= right.score


@given(st.data(), incidents())
def test_later_declarations_change_nothing_but_time(
    data: st.DataObject, incident: lt.Incident
) -> None:
    service = data.draw(st.sampled_from(incident.topology.names))
    first: list[lt.Action] = [
        lt.ClassifySeverity(data.draw(st.sampled_from(SEVERITIES))),
        lt.IdentifyRootCause(service),
    ]
    later = data.draw(
        st.lists(
            st.one_of(
                st.builds(lt.ClassifySeverity, st.sampled_from(SEVERITIES)),
                st.builds(lt.IdentifyRootCause, st.sampled_from(incident.topology.names)),
            ),
            max_size=3,
        )
    )
    short, long = grade_actions(incident, first), grade_actions(incident, [*first, *later])
    assert [c.score for c in short.criteria] == [c.score for c in long.criteria]


@given(st.data(), incidents())
def test_renaming_services_and_teams_changes_no_score(
    data: st.DataObject, incident: lt.Incident
) -> None:
    """A grade hangs on who is who, never on what they are called."""
    topology = incident.topology
    assume(topology != SEVEN_SERVICES or topology.name == "seven-services")
    rename = {name: f"x{i}" for i, name in enumerate((*topology.names, *topology.teams))}
    renamed_topology = attrs.evolve(
        topology, teams=tuple(rename[t] for t in topology.teams),
        services=tuple(
            attrs.evolve(
                one, name=rename[one.name], owner=rename.get(one.owner or ""),
                calls=tuple(rename[c] for c in one.calls),
            )
            for one in topology.services
        ),
        paged={name: rename[team] for name, team in topology.paged},
    )  # fmt: skip
    truth = incident.truth
    renamed = attrs.evolve(
        incident, topology=renamed_topology,
        directory=tuple(rename[owner] for owner in incident.directory),
        truth=attrs.evolve(
            truth, fault=None, root_causes=frozenset(rename[s] for s in truth.root_causes),
            teams=frozenset(rename[t] for t in truth.teams),
            remedies=frozenset((r, rename[s]) for r, s in truth.remedies),
        ),
    )  # fmt: skip

    def translate(action: lt.Action) -> lt.Action:
        match action:
            case lt.IdentifyRootCause(service, confidence):
                return lt.IdentifyRootCause(rename[service], confidence)
            case lt.Escalate(team):
                return lt.Escalate(rename[team])
            case lt.Remediate(remedy, service):
                return lt.Remediate(remedy, rename[service])
            case lt.RequestMoreLogs(str() as service):
                return lt.RequestMoreLogs(rename[service])
            case lt.RequestMetrics(service):
                return lt.RequestMetrics(rename[service])
            case lt.RequestTraces(service):
                return lt.RequestTraces(rename[service])
            case _:
                return action

    plan = data.draw(plans(incident))
    before = grade_actions(incident, plan)
    after = grade_actions(renamed, [translate(action) for action in plan])
    assert (before.score, before.gate, before.closing) == (after.score, after.gate, after.closing)


@given(
    st.lists(st.integers(0, 1000), min_size=5, max_size=5).filter(any),
    episodes(source=triage_incidents()),
)
def test_any_weights_that_sum_to_one_make_a_rubric(
    shares: list[int], states: tuple[lt.State, ...]
) -> None:
    total = sum(shares)
    rubric = attrs.evolve(
        TRIAGE_3,
        id="mine/1",
        criteria=tuple(
            Criterion(row.name, share / total, row.measure)
            for row, share in zip(TRIAGE_3.criteria, shares, strict=True)
        ),
    )
    steps = pairwise(states)
    assert sum(lt.reward(a, b, rubric) for a, b in steps) == score(states[-1], rubric)
    assert 0.0 <= score(states[-1], rubric) <= 1.0


@given(st.data(), incidents())
def test_a_symptom_earns_nothing(data: st.DataObject, incident: lt.Incident) -> None:
    """Nor does any other service that is not the root cause."""
    topology, roots = incident.topology, incident.truth.root_causes
    callers = {name for root in roots for name in callers_of(incident, root)}
    wrong = sorted(callers - roots) or [one for one in topology.names if one not in roots]
    blamed = lt.IdentifyRootCause(data.draw(st.sampled_from(wrong)), 1.0)
    assert grade_actions(incident, [blamed]).score == 0.0


def callers_of(incident: lt.Incident, service: str) -> set[str]:
    topology = incident.topology
    return {topology.names[caller] for caller in topology.callers[topology.index(service)]}


@given(st.data(), incidents())
def test_a_confidence_changes_no_score(data: st.DataObject, incident: lt.Incident) -> None:
    cause = lt.IdentifyRootCause(data.draw(st.sampled_from(incident.topology.names)))
    plan = [cause, *data.draw(plans(incident))]
    sure = attrs.evolve(cause, confidence=data.draw(st.sampled_from([0.0, 0.9, 1.0])))
    assert grade_actions(incident, plan).score == grade_actions(incident, [sure, *plan[1:]]).score


@given(incidents())
def test_running_out_of_time_closes_nothing(incident: lt.Incident) -> None:
    *steps, _ = perfect_actions(incident)
    waits = [lt.RequestMoreLogs(None)] * (incident.horizon - len(steps))
    graded = grade_actions(incident, [*steps, *waits])
    assert graded.closing is Closing.OUT_OF_TIME
    assert graded.criterion("closure").score == 0.0


def test_a_real_zero_is_reachable_without_a_gate() -> None:
    incident = lt.make_incident("cascading_failure-v4/test/0")
    graded = lt.grade(play(incident, [lt.Resolve()])[0])
    assert (graded.score, graded.gate) == (0.0, None)
    assert score(lt.initial_state(incident)) == 0.0
