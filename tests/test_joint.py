"""Joint play: what reaches a role, when, and what it may still ask for."""

from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.actions import Action
from logtriage.dynamics import transition_jointly
from logtriage.evaluation import play_joint_episode
from logtriage.evidence import evidence
from logtriage.joint import is_lost, observe_role, observe_roles, requests_left
from logtriage.observation import slice_for
from logtriage.policies import as_taken
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_team
from logtriage.roles import RoleSplit, as_allowed, watched
from logtriage.roles.splits import BY_TIER, NORTH_SOUTH, TRIO, TRIO_WITHOUT_BOARD

INCIDENT = lt.make_incident("cascading_failure-v4/test/42")
RECORDING = shipped_incidents()[0]
TRIAGE, ESCALATION, REMEDIATION = TRIO.roles
WAITING = (lt.Wait(), lt.Wait(), lt.Wait())


def with_settings(**settings: Any) -> RoleSplit:
    """The trio that talks, with the same settings for each role."""
    roles = (attrs.evolve(role, **settings) for role in TRIO.roles)
    return RoleSplit("set", tuple(roles))


def after(*ticks: tuple[Action, ...]) -> lt.State:
    state = lt.initial_state(INCIDENT)
    for actions in ticks:
        state = transition_jointly(state, actions)
    return state


def test_without_settings_a_role_sees_its_slice() -> None:
    said = (lt.Report("slow_reads", "triage"), lt.Wait(), lt.RequestMetrics("user-db"))
    state = after(said, (lt.ClassifySeverity(lt.Severity.P1), lt.Wait(), lt.Wait()))
    whole = lt.observe(state)
    for split in (TRIO, TRIO, BY_TIER):
        slices = tuple(slice_for(whole, role) for role in split.roles)
        assert observe_roles(state, split) == slices
        assert observe_roles(state, split, whole) == slices


def test_a_late_board_comes_so_many_ticks_later_and_to_its_author_at_once() -> None:
    split = with_settings(delay=2)
    triage, escalation, _ = split.roles
    owner = sorted(INCIDENT.truth.teams)[0]
    state = after(
        (lt.ClassifySeverity(lt.Severity.P1), lt.Wait(), lt.Report("cpu_high", "remediation")),
        (lt.IdentifyRootCause("user-db"), lt.Escalate(owner), lt.Wait()),
    )
    seen = observe_role(state, split, escalation)
    assert (seen.severity, seen.root_cause, seen.reports) == (None, None, ())
    assert seen.pages == (owner,)  # it may page
    assert lt.Escalate(owner) in seen.last_actions
    assert lt.IdentifyRootCause("user-db") not in seen.last_actions
    mine = observe_role(state, split, triage)
    assert (mine.severity, mine.root_cause, mine.pages) == (lt.Severity.P1, "user-db", ())
    assert observe_role(state, split, split.roles[2]).reports == lt.observe(state).reports
    state = transition_jointly(state, WAITING)
    later = observe_role(state, split, escalation)
    assert (later.severity, later.root_cause) == (lt.Severity.P1, None)
    assert later.reports == lt.observe(state).reports
    state = transition_jointly(state, WAITING)
    assert observe_role(state, split, escalation).root_cause == "user-db"
    assert observe_role(state, split, triage).pages == (owner,)


def test_a_class_of_a_fault_is_declared_as_a_root_cause_is() -> None:
    network, split = lt.ClassifyFault("network"), with_settings(delay=1)
    state = transition_jointly(lt.initial_state(RECORDING), (network, *WAITING[1:]))
    for deaf in (TRIO_WITHOUT_BOARD, split):
        assert observe_role(state, deaf, deaf.roles[0]).fault_category == "network"
    seen = observe_role(state, split, split.roles[1])
    assert (seen.fault_category, network in seen.last_actions) == (None, False)
    state = transition_jointly(state, WAITING)
    assert observe_role(state, split, split.roles[1]).fault_category == "network"


def test_so_many_of_a_hundred_reports_are_lost_and_no_declaration() -> None:
    listener = attrs.evolve(ESCALATION, loss=30)
    lost = [is_lost(seed, "triage", listener, tick) for seed in range(400) for tick in range(10)]
    assert 0.27 < sum(lost) / len(lost) < 0.33
    for loss, share in ((0, 0), (100, 1)):
        one = attrs.evolve(ESCALATION, loss=loss)
        assert {is_lost(seed, "triage", one, 0) for seed in range(50)} == {bool(share)}
    split = with_settings(loss=100)
    state = after((lt.Report("slow_reads", "triage"), lt.Wait(), lt.Wait()))
    state = transition_jointly(state, (lt.IdentifyRootCause("user-db"), lt.Wait(), lt.Wait()))
    for role in split.roles[1:]:
        seen = observe_role(state, split, role)
        assert seen.reports == ()
        assert seen.root_cause == "user-db"
    assert len(observe_role(state, split, split.roles[0]).reports) == 1


def test_what_is_lost_differs_by_speaker_listener_and_tick() -> None:
    one = attrs.evolve(ESCALATION, loss=50)
    other = attrs.evolve(REMEDIATION, loss=50)
    rows = [
        [is_lost(seed, speaker, listener, tick) for seed in range(64)]
        for speaker, listener, tick in (
            ("triage", one, 0), ("triage", one, 1), ("triage", other, 0), ("remediation", one, 0),
        )
    ]  # fmt: skip
    assert len(set(map(tuple, rows))) == 4


def test_a_budget_counts_a_role_s_own_requests() -> None:
    split = with_settings(budget=1)
    triage, _, remediation = split.roles
    state = lt.initial_state(INCIDENT)
    assert [requests_left(state, split, role) for role in split.roles] == [1, 1, 1]
    wanted = (lt.RequestTraces("user-db"), lt.Wait(), lt.Wait())
    state = transition_jointly(state, as_taken(wanted, split, state))
    assert requests_left(state, split, triage) == 0
    assert requests_left(state, split, remediation) == 1
    assert observe_role(state, split, triage).requests_left == 0
    assert "REQUESTS LEFT: 0" in lt.render_observation(observe_role(state, split, triage))
    again = as_taken(
        (lt.RequestMoreLogs(None), lt.Wait(), lt.RequestMetrics("user-db")), split, state
    )
    assert again == (
        lt.Malformed("request_more_logs all", "triage has no requests left, of 1", "triage"),
        lt.Wait(),
        lt.RequestMetrics("user-db"),
    )
    state = transition_jointly(state, again)
    assert [requests_left(state, split, role) for role in split.roles] == [0, 1, 0]
    assert requests_left(state, TRIO, TRIO.roles[0]) is None


@pytest.mark.parametrize("split", [NORTH_SOUTH, BY_TIER], ids=lambda split: split.name)
def test_a_role_sees_and_asks_of_what_it_watches(split: RoleSplit) -> None:
    topology = INCIDENT.topology
    asks = [lt.RequestMetrics(topology.names[min(watched(role, topology))]) for role in split.roles]
    state = transition_jointly(lt.initial_state(INCIDENT), asks)
    whole, shown = lt.observe(state), []
    for role, seen, asked in zip(split.roles, observe_roles(state, split), asks, strict=True):
        names = {topology.names[one] for one in watched(role, topology)}
        for panel in (seen.alerts, seen.window, seen.changes, seen.metrics):
            assert {one.service for one in panel} <= names
        assert {one.service for one in seen.metrics} == {asked.service}
        assert seen.directory == whole.directory
        mine = evidence(state, role)
        assert {one.service for one in mine} <= watched(role, topology) | {-1}
        shown += [one for one in mine if one.service >= 0]
        other = next(name for name in topology.names if name not in names)
        refused = as_allowed(lt.RequestTraces(other), role, topology, None)
        assert isinstance(refused, lt.Malformed)
        assert f"{role.name} watches" in refused.reason
    everything = [one for one in evidence(state) if one.service >= 0]
    assert sorted(shown, key=repr) == sorted(everything, key=repr)


def test_a_role_is_told_its_own_rules() -> None:
    prompt = lt.system_prompt(INCIDENT, split=BY_TIER, role="data")
    assert "YOUR SERVICES, of which alone you see" in prompt
    assert "user-db, payment-db, email-queue." in prompt
    split = with_settings(delay=2, loss=10, budget=3)
    prompt = lt.system_prompt(INCIDENT, split=split, role="triage")
    assert "BUDGET: you may make 3 requests." in prompt
    assert "declare and report reaches you 2 ticks late; 10 of 100 reports" in prompt
    assert "BUDGET" not in lt.system_prompt(INCIDENT, split=TRIO, role="triage")


@pytest.mark.parametrize("team", ["expert", "random", "oracle"])
@pytest.mark.parametrize(
    "split", [NORTH_SOUTH, with_settings(delay=1, loss=20, budget=2)], ids=lambda one: one.name
)
def test_scripted_teams_play_by_these_rules(team: str, split: RoleSplit) -> None:
    state = play_joint_episode(INCIDENT, make_team(team, split)(INCIDENT), split)
    assert state.is_closed
    if team == "oracle":
        assert state.closing == "resolved"
    state = play_joint_episode(RECORDING, make_team(team, split)(RECORDING), split)
    assert team == "random" or not any(isinstance(act, lt.Malformed) for act in state.actions)
