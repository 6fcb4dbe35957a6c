"""Batched teams: what only several roles at once can do."""

from importlib.util import find_spec

import numpy as np
import pytest

from logtriage import initial_state, make_incident
from logtriage.actions import ClassifySeverity, Remediate
from logtriage.dynamics import transition_jointly
from logtriage.grading import score
from logtriage.roles import role_actions
from logtriage.roles.splits import BY_TIER
from logtriage.vector import BatchedTeam, TeamBeliefs

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

TASK = "cascading_failure-v4-fog1"


def test_more_wrong_remedies_than_ticks_are_graded_as_by_the_scalar_core() -> None:
    team = BatchedTeam(TASK, BY_TIER)
    screen = team.reset("train", np.arange(8))
    states = [initial_state(make_incident(f"{TASK}/train/{row}")) for row in range(8)]
    actions = [role_actions(role, team.topology, hand_over=True) for role in BY_TIER.roles]
    remedies = [
        next(at for at, act in enumerate(of) if isinstance(act, Remediate)) for of in actions
    ]
    severity = next(at for at, act in enumerate(actions[0]) if isinstance(act, ClassifySeverity))
    for tick in range(team.task.horizon):
        chosen = [severity if tick == 0 else remedies[0], *remedies[1:]]
        screen = team.step([np.full(len(states), at) for at in chosen])
        acts = [of[at] for of, at in zip(actions, chosen, strict=True)]
        states = [transition_jointly(state, acts) for state in states]
    assert max(state.facts.unapproved_remedies for state in states) > team.task.horizon + 1
    assert screen.score.tolist() == [score(state) for state in states]


def test_a_team_without_viewers_has_no_beliefs() -> None:
    team = BatchedTeam(TASK, BY_TIER)
    team.reset("train", np.arange(2))
    beliefs = TeamBeliefs(team, viewers=())
    beliefs.begin()
    assert beliefs.of == ()
