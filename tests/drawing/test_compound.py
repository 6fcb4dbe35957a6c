"""Several faults at once, seen from outside: ids, screens, truths, and what refuses them."""

from pathlib import Path

import attrs
import pytest

import logtriage as lt
from logtriage.beliefs.beliefs import belief_of
from logtriage.beliefs.explain import explain, why_unexplained
from logtriage.beliefs.plans import Planner
from logtriage.beliefs.questions import Asked
from logtriage.codec import truth_to_json
from logtriage.dynamics import play, transition_jointly
from logtriage.evaluation import Incidents, RunSpec, evaluate, explain_run
from logtriage.evaluation.explaining import check_explainable
from logtriage.evidence import evidence
from logtriage.joint import known_facts, observe_role
from logtriage.policies import perfect_actions
from logtriage.policies.observer import ObserverPolicy
from logtriage.roles.splits import TRIO
from logtriage.state import declared_in
from logtriage.vector import action_mask, encode_tokens, role_token_mask, token_layout_of
from logtriage.world.channels import Channel, Evidence

TASK = "compound_failure-v4"
FLEET = "compound_fleet-v4"
TWO: list[lt.Action] = [lt.IdentifyRootCause("user-db"), lt.IdentifyRootCause("email-queue")]


def incident_with(faults: int) -> lt.Incident:
    """The first test incident with so many faults."""
    found = (lt.make_incident(f"{TASK}/test/{number}") for number in range(100))
    return next(one for one in found if len(one.truth.parts) == faults)


def test_a_truth_lists_its_faults_and_one_fault_reads_as_ever() -> None:
    several, one = truth_to_json(incident_with(3)), truth_to_json(incident_with(1))
    assert [sorted(row) for row in several["faults"]] == 3 * [
        ["kind", "remedies", "root_causes", "secondary", "teams"]
    ]
    assert several["root_causes"] == sorted(
        name for row in several["faults"] for name in row["root_causes"]
    )
    assert "faults" not in one
    assert one["fault"]["service"] == one["root_causes"][0]


def test_the_screen_lists_every_service_declared() -> None:
    incident = incident_with(2)
    state, _ = play(incident, TWO)
    assert lt.observe(state).root_causes == ("user-db", "email-queue")
    screen = lt.render_observation(lt.observe(state))
    assert "root causes user-db, email-queue" in screen
    assert "no effect" not in screen
    single, _ = play(lt.make_incident("cascading_failure-v4/test/0"), TWO)
    assert lt.observe(single).root_causes is None
    assert "no effect, user-db stands" in lt.render_observation(lt.observe(single))


def test_only_services_that_were_declared_are_settled() -> None:
    incident = incident_with(2)
    state, _ = play(incident, TWO)
    names, actions = ("user-db", "email-queue"), lt.all_actions(incident.topology, hand_over=True)
    settled = [
        one.service
        for one, open_ in zip(actions, action_mask(lt.observe(state)), strict=True)
        if isinstance(one, lt.IdentifyRootCause) and not open_
    ]
    assert sorted(settled) == sorted(names)
    layout = token_layout_of(incident.setting, incident.topology, incident.horizon)
    declared = encode_tokens(state)[layout["declared"]]
    assert [bool(one) for one in declared] == [name in names for name in incident.topology.names]
    single, _ = play(lt.make_incident("cascading_failure-v4/test/0"), list(state.actions))
    assert not any(
        open_
        for one, open_ in zip(actions, action_mask(lt.observe(single)), strict=True)
        if isinstance(one, lt.IdentifyRootCause)
    )


def test_a_role_that_hears_late_hears_of_every_service_in_its_time() -> None:
    split = attrs.evolve(
        TRIO, name="late", roles=tuple(attrs.evolve(one, delay=2) for one in TRIO.roles)
    )
    late = next(one for one in split.roles if "identify_root_cause" not in one.may)
    state = lt.initial_state(incident_with(2))
    heard = []
    for action in (*TWO, lt.Wait(), lt.Wait()):
        acts = [action if "identify_root_cause" in one.may else lt.Wait() for one in split.roles]
        state = transition_jointly(state, acts)
        heard.append(declared_in(state, known_facts(state, late)))
    assert heard == [(), (), ("user-db",), ("user-db", "email-queue")]
    assert observe_role(state, split, late).root_causes in (None, heard[-1])
    mask = role_token_mask(state, split, split.roles[0])
    assert mask.any()


def test_what_knows_single_faults_alone_refuses_in_words() -> None:
    held = lt.belief(lt.initial_state(incident_with(3)))
    with pytest.raises(lt.InvalidInput, match="several faults are planned for by"):
        Planner(held.posterior, held.standing)


def test_on_a_fleet_sets_are_searched_and_what_is_not_exact_is_refused() -> None:
    incident = lt.make_incident(f"{FLEET}/test/0")
    assert lt.get_task(FLEET).several
    assert lt.get_task(FLEET).topology is None
    assert 20 <= len(incident.topology) <= 60
    start = lt.initial_state(incident)
    held = lt.belief(start)
    assert not held.exact
    service = next(iter(held.root_causes))
    (found,) = Asked.of(held, (lt.RequestMetrics(service),)).worths()
    assert found.bits > 0.0
    why = r"[\d,]+ sets of faults are possible on topology .*, which are searched"
    closed, _ = play(incident, [lt.Resolve()])
    with pytest.raises(lt.InvalidInput, match=why):
        explain(closed)
    default, fleet = RunSpec(["oracle"], [TASK], "test", 2), RunSpec(["oracle"], [FLEET], "test", 2)
    assert check_explainable(default, Incidents()) == ()
    both = RunSpec(["oracle"], [TASK, FLEET], "test", 2)
    assert check_explainable(both, Incidents()) == (FLEET,)
    with pytest.raises(lt.InvalidInput, match=f"nothing to explain: {FLEET}: {why}"):
        check_explainable(fleet, Incidents())


def test_what_acts_revealed_leads_the_search_where_what_looks_likely_fits_nothing() -> None:
    """Two remedies have worked, and only a third fault explains the rest.

    Nothing on the first screen speaks for the third; what is asked of its service does.
    """
    incident = lt.make_incident(f"{FLEET}-fog3/test/59")
    third, *others = incident.truth.parts
    two = [min(part.remedies) for part in others]
    state, _ = play(incident, [lt.Remediate(remedy, service) for remedy, service in two])
    held = lt.belief(state)
    assert not held.exact
    assert [held.remedies[remedy] for remedy in two] == [1.0, 1.0]
    for service in third.root_causes:
        before = held.root_causes.get(service, 0.0)
        state = lt.transition(state, lt.RequestMetrics(service))
        state = lt.transition(state, lt.RequestMoreLogs(service))
        assert lt.belief(state).root_causes[service] > before


def test_what_pages_and_remedies_revealed_together_fits_some_set_at_every_tick() -> None:
    """No fault of the three looks likely, so sets with a fault for each page must be looked for."""
    incident = lt.make_incident(f"{FLEET}-fog3/test/16")
    state, roots = lt.initial_state(incident), incident.truth.root_causes
    for action in perfect_actions(incident):
        state = lt.transition(state, action)
        held = lt.belief(state)
        assert all(held.root_causes[service] > 0.0 for service in roots), action


def test_evidence_of_another_incident_fits_nothing_and_is_refused() -> None:
    incident = lt.make_incident("cascading_failure-v4/test/0")
    state, _ = play(incident, [lt.Escalate(next(iter(incident.truth.teams))), lt.Wait(), lt.Wait()])
    foreign = Evidence(Channel.NOTE, -1, 0, 3, "0:no such line")
    with pytest.raises(lt.InvalidInput, match="no hypothesis fits the evidence"):
        belief_of(state, (*evidence(state), foreign))


def test_a_run_on_topologies_of_both_kinds_explains_what_it_can(tmp_path: Path) -> None:
    """Half of ``ood`` lies on the default topology."""
    ids = [f"{TASK}/ood/{number}" for number in range(12)]
    exact = [why_unexplained(lt.make_incident(one)) is None for one in ids]
    first = next(at for at in range(11) if exact[at] != exact[at + 1])
    spec = RunSpec(["constant:ignore"], [TASK], "ood", 2, first)
    evaluate(spec, tmp_path)
    (row,) = explain_run(tmp_path, 2)
    assert row.losses is not None
    assert row.losses.episodes == 1


def test_the_observer_responds_to_several_faults_and_what_it_earned_adds_up() -> None:
    incident = incident_with(2)
    state, memory = lt.initial_state(incident), None
    policy = ObserverPolicy(incident, questions=2)
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        state = lt.transition(state, action)
    told = explain(state, samples=1)
    assert told.grade == lt.grade(state).score
    assert abs(told.without_luck + told.luck - told.grade) < 1e-9
