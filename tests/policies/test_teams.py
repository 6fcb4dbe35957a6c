"""Scripted teams, and what they may not do."""

from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.actions import ACTION_TYPES, Report, Wait
from logtriage.evaluation import play_joint_episode
from logtriage.incident import Fault, Truth
from logtriage.policies import RolePolicies, as_taken
from logtriage.policies.suspicion import heard, said
from logtriage.registry import make_team
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import TRIO, TRIO_WITHOUT_BOARD, TRIO_WITHOUT_REPORTS
from logtriage.roles.words import NO_FAULT
from logtriage.tasks import TaskSpec
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS, SMALL_TASKS, real_incident

every_small_task = pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)


@attrs.frozen
class Saying:
    """Says the same in every tick, and remembers how often; raises what is an exception."""

    said: Any

    def act(self, _: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said, (memory or 0) + 1


def played(task: str, split: RoleSplit, spec: str, count: int) -> list[lt.State]:
    make = make_team(spec, split)
    incidents = map(lt.make_incident, lt.incident_ids(task, "test", count))
    return [play_joint_episode(one, make(one), split) for one in incidents]


def test_each_role_has_its_own_slice_and_memory() -> None:
    seen: list[lt.Observation] = []

    class Looking:
        def act(self, observation: lt.Observation, memory: Any) -> tuple[lt.Action, Any]:
            seen.append(observation)
            return Wait(), (*(memory or ()), observation.tick)

    state = lt.initial_state(real_incident())
    slices = tuple(lt.observe(state, role) for role in TRIO.roles)
    team = RolePolicies([Looking(), Saying(Wait()), Looking()])
    actions, memory = team.act(slices, None)
    assert actions == (Wait(), Wait(), Wait())
    assert memory == (None, ((0,), 1, (0,)))
    assert seen == [slices[0], slices[2]]
    assert team.act(slices, memory)[1] == (None, ((0, 0), 2, (0, 0)))


def test_what_a_role_may_not_do_says_what_it_may() -> None:
    taken = as_taken(
        (lt.Resolve(), lt.Escalate("sre-team"), Report("all is well")), TRIO_WITHOUT_REPORTS
    )
    assert taken == (
        lt.Malformed("resolve", "triage may not resolve; it may: classify_severity, "
         "identify_root_cause, request_traces, wait", "triage"),
        lt.Escalate("sre-team"),
        lt.Malformed("report all is well",
         "remediation may not report; it may: ignore, remediate, request_metrics, resolve, wait",
         "remediation"),
    )  # fmt: skip


def test_an_oracle_that_sees_nothing_closes_after_a_fix_that_was_held_back() -> None:
    closer = Role("a", (), set(ACTION_TYPES) - {"remediate", "escalate"})
    fixer = Role("b", (), {"remediate", "escalate", "identify_root_cause"})
    split = RoleSplit("blind", (closer, fixer))
    incident = real_incident()
    state = play_joint_episode(incident, make_team("a=oracle,b=oracle", split)(incident), split)
    assert lt.grade(state).score == 1.0
    assert state.tick == 4  # the schedule alone has three, and the fix in its second
    team = "triage=oracle,escalation=oracle,remediation=oracle"
    for state in played("cascading_failure-v4", TRIO_WITHOUT_BOARD, team, 6):
        assert lt.grade(state).score == 1.0


@every_small_task
def test_experts_see_nothing_but_their_slices_and_the_board(task: TaskSpec) -> None:
    nonsense = Truth(
        Fault("saturation", "email-queue"),
        lt.Severity.P3,
        frozenset({"email-queue"}),
        frozenset(FIVE_TEAMS.teams),  # any page is right, so that nothing closes early
        frozenset(),
    )
    for one in lt.incident_ids(task.id, "test", 10):
        incident = lt.make_incident(one)
        if incident.truth.benign:  # nobody would answer a page
            continue
        liar = attrs.evolve(incident, truth=nonsense, id="x", task="y")
        team = make_team("expert", "trio")(incident)
        honest = play_joint_episode(incident, team, TRIO).history
        other = play_joint_episode(liar, team, TRIO).history
        # A mis-page ends the episode, and is right there.
        assert honest == other[: len(honest)]


def test_the_board_is_read_from_its_end_and_never_guessed_at() -> None:
    screen = lt.observe(lt.initial_state(lt.make_incident("cascading_failure-v4/test/0")))

    def board(*messages: str) -> lt.Observation:
        return attrs.evolve(screen, reports=tuple((0, Report(one, "x")) for one in messages))

    assert heard(screen) is None
    assert heard(board(NO_FAULT, "slow_query")) == ("slow_query", None)
    assert heard(board("slow_query", NO_FAULT, "good morning")) == (NO_FAULT, None)
    assert heard(board("slow_query user-db")) == ("slow_query", "user-db")
    assert heard(board("slow_query", "deadlock on user-db")) == ("slow_query", None)
    assert heard(board("deadlock nowhere")) is None
    assert said(Report("not slow_query"), load_world("oncall")) is None
