"""Counterfactual credit: each role is told what its action added, and a shared loss is shared."""

import numpy as np
import pytest

import logtriage as lt
from logtriage.dynamics import transition_jointly
from logtriage.grading import score
from logtriage.grading.credit import credits_of
from logtriage.roles import role_actions
from logtriage.roles.splits import get_role_split
from logtriage.vector import BatchedTeam

ID = "cascading_failure-v4/test/42"
INCIDENT = lt.make_incident(ID)
TRUTH = INCIDENT.truth
RIGHT = lt.Escalate(min(TRUTH.teams))
WRONG, ALSO_WRONG = (lt.Escalate(t) for t in INCIDENT.topology.teams[:3] if t not in TRUTH.teams)
FIX = lt.Remediate(*min(TRUTH.remedies))
#: A page in time and the fix have earned something.
BEGUN = lt.initial_state(INCIDENT)
for _act in (RIGHT, FIX):
    BEGUN = transition_jointly(BEGUN, [_act])
EARNED = score(BEGUN)


def test_who_acts_alone_gets_the_difference_to_waiting() -> None:
    assert TRUTH.severity is not None
    said = lt.ClassifySeverity(TRUTH.severity)
    gained = score(transition_jointly(BEGUN, [said])) - EARNED
    assert gained > 0
    assert credits_of(BEGUN, [said, lt.Wait(), lt.Wait()]) == pytest.approx((gained, 0.0, 0.0))
    assert credits_of(BEGUN, [lt.Wait(), WRONG, lt.Wait()]) == (0.0, -EARNED, 0.0)


@pytest.mark.parametrize(
    "acts",
    [
        (WRONG, WRONG), (WRONG, ALSO_WRONG), (lt.Ignore(), WRONG), (lt.Ignore(), lt.Ignore()),
        (WRONG, lt.Ignore()),
    ],
)  # fmt: skip
def test_roles_that_take_a_gated_action_in_one_tick_share_the_loss(
    acts: tuple[lt.Action, ...],
) -> None:
    assert credits_of(BEGUN, [acts[0], lt.Wait(), acts[1]]) == (-EARNED / 2, 0.0, -EARNED / 2)


def test_roles_that_resolve_in_one_tick_share_what_that_earns() -> None:
    gained = score(transition_jointly(BEGUN, [lt.Resolve()])) - EARNED
    assert gained > 0
    assert credits_of(BEGUN, [lt.Resolve(), lt.Resolve()]) == pytest.approx(
        (gained / 2, gained / 2)
    )


def test_a_right_page_beside_a_wrong_one_bears_nothing() -> None:
    assert credits_of(BEGUN, [RIGHT, WRONG]) == (0.0, -EARNED)


def test_the_batched_team_shares_the_same_way() -> None:
    pytest.importorskip("numba")
    split = get_role_split("by_tier")
    team = BatchedTeam("cascading_failure-v4", split, credit="counterfactual")
    actions = [
        role_actions(role, INCIDENT.topology, INCIDENT.world, hand_over=True)
        for role in split.roles
    ]
    team.reset("test", np.array([42]))
    for acts in ((lt.Wait(), RIGHT, lt.Wait()), (lt.Wait(), FIX, lt.Wait())):
        team.step([[able.index(act)] for able, act in zip(actions, acts, strict=True)])
    last = (lt.Wait(), WRONG, ALSO_WRONG)
    screen = team.step([[able.index(act)] for able, act in zip(actions, last, strict=True)])
    assert screen.rewards[:, 0] == pytest.approx([0.0, -EARNED / 2, -EARNED / 2])
