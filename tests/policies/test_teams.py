"""Scripted teams, and what they may not do."""

from typing import Any

import attrs
import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    InvalidInput,
    Malformed,
    Observation,
    RequestMoreLogs,
    Resolve,
    Severity,
    State,
    grade,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.actions import ACTION_TYPES, Remediate, Report, Wait
from logtriage.evaluation import play_joint_episode
from logtriage.incident import Fault, Truth
from logtriage.policies import (
    RandomPolicy,
    RoleFailure,
    RolePolicies,
    as_taken,
    idle,
    joint_schedule,
)
from logtriage.policies.board import heard, said
from logtriage.registry import make_team
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import DUO, SOLO, TRIAGE, TRIO, TRIO_WITHOUT_REPORTS
from logtriage.roles.words import NO_FAULT
from logtriage.tasks import TaskSpec
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS, SMALL_TASKS, benign_incident, real_incident

every_small_task = pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)
LOOK = RequestMoreLogs(None)


@attrs.frozen
class Saying:
    """Says the same in every tick, and remembers how often; raises what is an exception."""

    said: Any

    def act(self, _: Observation, memory: Any) -> tuple[Action, Any]:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said, (memory or 0) + 1


def saying(*each: Any) -> RolePolicies:
    return RolePolicies(map(Saying, each))


def played(task: str, split: RoleSplit, spec: str, count: int) -> list[State]:
    make = make_team(spec, split)
    incidents = map(make_incident, incident_ids(task, "test", count))
    return [play_joint_episode(one, make(one), split) for one in incidents]


# -- what a team is ----------------------------------------------------------------------


def test_each_role_has_its_own_slice_and_memory() -> None:
    seen: list[Observation] = []

    class Looking:
        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            seen.append(observation)
            return Wait(), (*(memory or ()), observation.tick)

    state = initial_state(real_incident())
    slices = tuple(observe(state, role) for role in TRIO.roles)
    team = RolePolicies([Looking(), Saying(Wait()), Looking()])
    actions, memory = team.act(slices, None)
    assert actions == (Wait(), Wait(), Wait())
    assert memory == (None, ((0,), 1, (0,)))
    assert seen == [slices[0], slices[2]]
    assert team.act(slices, memory)[1] == (None, ((0, 0), 2, (0, 0)))


def test_a_policy_that_raises_is_named_by_its_place() -> None:
    state = initial_state(real_incident())
    slices = tuple(observe(state, role) for role in TRIO.roles)
    with pytest.raises(RoleFailure, match="role 1: OSError: gone") as caught:
        saying(Wait(), OSError("gone"), Wait()).act(slices, None)
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(InvalidInput, match="2 policies for 3 roles"):
        saying(Wait(), Wait()).act(slices, None)


def test_what_a_role_may_not_do_says_what_it_may() -> None:
    taken = as_taken((Resolve(), Escalate("sre-team"), Report("all is well")), TRIO_WITHOUT_REPORTS)
    assert taken == (
        Malformed(
            "resolve",
            "triage may not resolve; it may: classify_severity, identify_root_cause, "
            "request_traces, wait",
            "triage",
        ),
        Escalate("sre-team"),
        Malformed(
            "report all is well",
            "remediation may not report; it may: ignore, remediate, request_metrics, resolve, wait",
            "remediation",
        ),
    )


def test_nobody_speaks_in_the_name_of_another() -> None:
    others = Report("x", "remediation"), Malformed("y", "z", "triage"), Malformed("y", "z")
    assert as_taken(others, TRIO) == (
        Report("x", "triage"),
        Malformed("y", "z", "escalation"),
        Malformed("y", "z", "remediation"),
    )
    assert as_taken((Malformed("y", "z"),), SOLO) == (Malformed("y", "z"),)


def test_a_team_answers_for_every_role_with_an_action() -> None:
    with pytest.raises(InvalidInput, match="2 actions for the roles triage, escalation, remed"):
        as_taken((Wait(), Wait()), TRIO)
    wrong: Any = (Wait(), None, Wait())
    with pytest.raises(TypeError, match="escalation must return an action, got NoneType"):
        as_taken(wrong, TRIO)


def test_who_has_nothing_to_do_waits_or_looks_around() -> None:
    assert idle(TRIAGE) == Wait()
    assert idle(Role("r", (), ("request_more_logs", "resolve"))) == LOOK
    assert idle(Role("r", (), ("resolve",))) == Wait()


# -- oracles -----------------------------------------------------------------------------


def test_the_schedule_of_the_trio() -> None:
    """Where a hand-over has no price, the fix need not wait for the page."""
    priced = joint_schedule(attrs.evolve(real_incident(), price_of_hand_over=0.5), TRIO)
    assert [joint[2] for joint in priced] == [
        Wait(),
        Remediate("kill-query", "user-db"),
        Resolve(),
    ]
    incident = real_incident()
    assert joint_schedule(incident, TRIO) == (
        (ClassifySeverity(Severity.P1), Escalate("dba-team"), Remediate("kill-query", "user-db")),
        (IdentifyRootCause("user-db", 1.0), Wait(), Resolve()),
    )
    backwards = RoleSplit("backwards", TRIO.roles[::-1])
    assert joint_schedule(incident, backwards)[1:] == (
        (Wait(), Wait(), IdentifyRootCause("user-db", 1.0)),
        (Resolve(), Wait(), Wait()),
    )
    severity = ClassifySeverity(Severity.P3)
    assert joint_schedule(benign_incident(), TRIO) == ((severity, Wait(), Ignore()),)


@pytest.mark.parametrize("split", [DUO, TRIO], ids=lambda split: split.name)
def test_oracles_page_before_they_touch_production(split: RoleSplit) -> None:
    """Of a hand-over with a price, too: a fix in the tick of the page would cost."""
    for number in range(4):
        incident = make_incident(f"cascading_failure-v4/test/{number}")
        team = make_team("oracle", split)(incident)
        assert grade(play_joint_episode(incident, team, split)).score == 1.0


def test_an_oracle_that_sees_nothing_closes_after_a_fix_that_was_held_back() -> None:
    closer = Role("a", (), set(ACTION_TYPES) - {"remediate", "escalate"})
    fixer = Role("b", (), {"remediate", "escalate", "identify_root_cause"})
    split = RoleSplit("blind", (closer, fixer))
    incident = real_incident()
    state = play_joint_episode(incident, make_team("a=oracle,b=oracle", split)(incident), split)
    assert grade(state).score == 1.0
    assert state.tick == 4  # the schedule alone has three, and the fix in its second


# -- experts -----------------------------------------------------------------------------


@every_small_task
def test_experts_see_nothing_but_their_slices_and_the_board(task: TaskSpec) -> None:
    nonsense = Truth(
        Fault("saturation", "email-queue"),
        Severity.P3,
        frozenset({"email-queue"}),
        frozenset(FIVE_TEAMS.teams),  # any page is right, so that nothing closes early
        frozenset(),
    )
    for one in incident_ids(task.id, "test", 10):
        incident = make_incident(one)
        if incident.truth.benign:  # nobody would answer a page
            continue
        liar = attrs.evolve(incident, truth=nonsense, id="x", task="y")
        team = make_team("expert", TRIO)(incident)
        honest = play_joint_episode(incident, team, TRIO).history
        other = play_joint_episode(liar, team, TRIO).history
        # A mis-page ends the episode, and is right there.
        assert honest == other[: len(honest)]


def test_the_board_is_read_from_its_end_and_never_guessed_at() -> None:
    screen = observe(initial_state(make_incident("cascading_failure-v4/test/0")))

    def board(*messages: str) -> Observation:
        return attrs.evolve(screen, reports=tuple((0, Report(one, "x")) for one in messages))

    assert heard(screen) is None
    assert heard(board(NO_FAULT, "slow_query")) == ("slow_query", None)
    assert heard(board("slow_query", NO_FAULT, "good morning")) == (NO_FAULT, None)
    assert heard(board("slow_query user-db")) == ("slow_query", "user-db")
    assert heard(board("slow_query", "deadlock on user-db")) == ("slow_query", None)
    assert heard(board("deadlock nowhere")) is None
    assert said(Report("not slow_query"), load_world("oncall")) is None


# -- chance ------------------------------------------------------------------------------


def test_random_roles_draw_apart_and_within_what_they_may() -> None:
    incident = make_incident("cascading_failure-v4/test/3")
    twins = RoleSplit("twins", [attrs.evolve(SOLO.roles[0], name=name) for name in ("a", "b")])
    team = make_team("random", twins)(incident)
    slices = tuple(observe(initial_state(incident), role) for role in twins.roles)
    (one, two), _ = team.act(slices, None)
    assert one != two
    for task in SMALL_TASKS:
        for state in played(task.id, TRIO, "random", 4):
            assert not any(isinstance(action, Malformed) for action in state.actions)


def test_other_seeds_and_incidents_draw_otherwise() -> None:
    incidents = [make_incident(f"cascading_failure-v4/test/{n}") for n in (3, 4)]
    drawn = {make_team(s, TRIO)(one) for s in ("random:1", "random:2") for one in incidents}
    assert len(drawn) == 4
    assert make_team("random", TRIO)(incidents[0]) == make_team("random:0", TRIO)(incidents[0])
    (_, policy, _) = make_team("random", TRIO)(incidents[0]).players  # type: ignore[attr-defined]
    assert isinstance(policy, RandomPolicy)
    assert policy.role == TRIO.roles[1]
