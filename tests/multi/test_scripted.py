"""Scripted teams inside of the PettingZoo environments."""

from typing import Any

import pytest
from gymnasium.error import ResetNeeded

import logtriage as lt
from logtriage.actions import Wait
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation import joint_steps
from logtriage.grading import grade
from logtriage.multi import ScriptedTeam, triage_team_v1
from logtriage.policies import ConstantPolicy, RolePolicies
from logtriage.registry import make_team
from logtriage.roles.splits import TRIO

INCIDENT = "cascading_failure-v4/test/42"


@pytest.mark.parametrize("observations", ["flat", "text"])
@pytest.mark.parametrize("spec", ["oracle", "observer", "triage=expert,escalation=observer,"
                                  "remediation=random:3"])  # fmt: skip
def test_a_team_plays_there_as_it_plays_alone(spec: str, observations: str) -> None:
    env = triage_team_v1.parallel_env(split="test", observations=observations)
    team = ScriptedTeam(env, spec)
    drawn = lt.make_incident(INCIDENT)
    *_, last = joint_steps(drawn, make_team(spec, TRIO)(drawn), TRIO)
    for _ in range(2):
        env.reset(options={"id": INCIDENT})
        while env.agents:
            actions = team.actions()
            assert team.actions() == actions
            *_, infos = env.step(actions)
        assert env.core_state.actions == last.actions
        assert infos["triage_0"]["score"] == grade(last).score
        assert team.actions() == {}
    env.reset(options={"id": INCIDENT})
    env.step(dict.fromkeys(env.agents, Wait()))
    assert team.actions() == ScriptedTeam(env, spec).actions()


def test_partners_see_what_an_agent_of_others_does() -> None:
    """The observer believes what the environment shows, and not what it would have done itself."""
    env = triage_team_v1.parallel_env(split="test")
    team, fresh = ScriptedTeam(env), ScriptedTeam(env)
    env.reset(options={"id": INCIDENT})
    for _ in range(3):
        actions = team.actions()
        # Whoever comes in the middle decides the same: there is no state but the environment's.
        assert fresh.actions() == actions
        fresh = ScriptedTeam(env)
        env.step({**actions, "triage_0": Wait()})
    assert not [act for act in env.core_state.actions if isinstance(act, lt.IdentifyRootCause)]


def test_it_plays_by_turns_and_with_a_team_of_ones_own() -> None:
    class Waiting:
        def act(self, observations: Any, memory: Any) -> tuple[tuple[lt.Action, ...], Any]:
            return (Wait(),) * len(observations), (memory or 0) + 1

    env = triage_team_v1.env("single_crash-v4", role_split="duo")
    team = ScriptedTeam(env, lambda _: Waiting())
    env.reset(seed=0)
    for agent in env.agent_iter():
        _, _, done, late, _ = env.last()
        env.step(None if done or late else team.actions()[agent])
    assert team._memory == env.unwrapped.core_state.tick  # type: ignore[attr-defined]


def test_what_cannot_be_played_is_refused() -> None:
    env = triage_team_v1.parallel_env()
    with pytest.raises(ResetNeeded):
        ScriptedTeam(env).actions()
    with pytest.raises(UnknownName, match="known: "):
        ScriptedTeam(env, "nobody")


@pytest.mark.parametrize("observations", ["dict", "text"])
def test_an_action_of_the_core_is_taken_as_the_role_may(observations: str) -> None:
    env = triage_team_v1.parallel_env(split="test", observations=observations)
    env.reset(options={"id": INCIDENT})
    assert env.read("triage_0", lt.Report("slow")) == lt.Report("slow", "triage")
    actions = {"triage_0": lt.Resolve(), "escalation_0": Wait(), "remediation_0": Wait()}
    with pytest.raises(InvalidInput, match="of triage_0: triage may not resolve; it may: classify"):
        env.step(actions)
    assert env.core_state.tick == 0


def test_what_a_scripted_role_may_not_take_is_malformed_as_in_a_run() -> None:
    env = triage_team_v1.parallel_env(split="test")
    own = RolePolicies([ConstantPolicy((lt.Resolve(),))] * 3)
    team = ScriptedTeam(env, lambda _: own)
    env.reset(options={"id": INCIDENT})
    *_, last = joint_steps(lt.make_incident(INCIDENT), own, TRIO)
    while env.agents:
        env.step(team.actions())
    assert env.core_state == last
