"""Teams by specification: what is known, what is refused, and that workers can have them."""

import pickle
import re

import attrs
import pytest

from logtriage import Action, InvalidInput, Observation, make_incident
from logtriage.errors import UnknownName
from logtriage.incident import Incident
from logtriage.policies import ExpertPolicy, Memory, OracleRole, Policy, RandomPolicy, RolePolicies
from logtriage.registry import make_team
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import TRIO

INCIDENT = make_incident("cascading_failure-v4/test/3")
MIXED = "triage=expert, escalation = oracle,remediation=random:7"


@attrs.frozen
class Mine:
    role: Role
    split: RoleSplit

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        return ExpertPolicy(self.role).act(observation, memory)


def mine(_: Incident, split: RoleSplit, role: Role) -> Policy:
    return Mine(role, split)


@pytest.mark.parametrize("spec", ["oracle", "expert", "random:12", MIXED])
def test_what_a_specification_makes(spec: str) -> None:
    team = make_team(spec, TRIO)(INCIDENT)
    assert isinstance(team, RolePolicies)
    assert len(team.players) == len(TRIO)


def test_a_policy_for_each_role_in_any_order() -> None:
    team = make_team("remediation=random:7,triage=expert,escalation=oracle", TRIO)(INCIDENT)
    assert team == make_team(MIXED, TRIO)(INCIDENT)
    assert isinstance(team, RolePolicies)
    triage, escalation, remediation = team.players
    assert triage == ExpertPolicy(TRIO.roles[0])
    assert escalation == OracleRole(INCIDENT, TRIO, TRIO.roles[1])
    assert isinstance(remediation, RandomPolicy)
    assert remediation.role == TRIO.roles[2]


def test_policies_of_ones_own_play_one_role_or_all() -> None:
    own = {"mine": mine, "hf:org/model=x": mine}
    all_roles = make_team("mine", TRIO, roles=own)(INCIDENT)
    assert all_roles == RolePolicies([Mine(role, TRIO) for role in TRIO.roles])
    spec = "triage=hf:org/model=x,escalation=mine,remediation=expert"
    assert make_team(spec, TRIO, roles=own)(INCIDENT) == RolePolicies(
        [Mine(TRIO.roles[0], TRIO), Mine(TRIO.roles[1], TRIO), ExpertPolicy(TRIO.roles[2])]
    )
    assert pickle.loads(pickle.dumps(make_team("mine", TRIO, roles=own)))(INCIDENT) == all_roles
    assert make_team("oracle", TRIO, roles={"oracle": mine})(INCIDENT) == all_roles


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("quartet", "unknown team 'quartet'; known: oracle, expert, observer, pooled, random, "),
        ("", "unknown team ''; known: oracle"),
        ("medic=expert", "unknown role 'medic'; known: triage, escalation, remediation"),
        ("triage=expert,medic=oracle", "unknown role 'medic'; known: triage, escalation, rem"),
        ("triage=", "unknown policy of role triage ''; known: oracle, expert"),
        ("triage=pooled", "role triage: policy 'pooled' sees for all roles, so it plays all"),
        ("triage=expert",
         "no policy for escalation, remediation (role split 'trio' has triage, escalation, "
         "remediation)"),
        ("openai:x", "policy 'openai:x': logtriage eval plays a model"),
        ("triage=openai:x", "role triage: policy 'openai:x': logtriage eval plays a model"),
        ("first_error", "plays alone, not in a team; these do: oracle, expert, observer, pooled"),
        ("constant:resolve", "policy 'constant:resolve' plays alone"),
        ("triage=first_error", "role triage: policy 'first_error' plays alone"),
        ("triage=expert,triage=oracle", "role 'triage' is named twice"),
        ("random:x", "policy 'random:x': expected a whole number from 0 as the seed"),
        ("triage=random:-1", "policy 'random:-1': expected a whole number from 0 as the seed"),
    ],
)  # fmt: skip
def test_a_specification_that_makes_no_team_says_why(spec: str, message: str) -> None:
    error = UnknownName if message.startswith("unknown") else InvalidInput
    with pytest.raises(error, match=re.escape(message)):
        make_team(spec, TRIO, roles={"mine": mine})
