"""What all roles of a team know together, and what a team is needed for."""

from math import sqrt
from statistics import fmean, stdev

import pytest

import logtriage as lt
from logtriage.dynamics import transition_jointly
from logtriage.evaluation.full_look import full_look
from logtriage.evidence import evidence
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import BY_CHANNEL, BY_TIER, ROLE_SPLITS, SOLO, TRIO
from logtriage.world.channels import Channel
from tests.audit.planted.tasks import all_quiet


def played(index: int) -> lt.State:
    """Two ticks of questions."""
    state = lt.initial_state(lt.make_incident(f"cascading_failure-v4/test/{index}"))
    for acts in (
        (lt.RequestTraces("user-db"), lt.Wait(), lt.RequestMetrics("user-db")),
        (lt.RequestMoreLogs("user-db"), lt.Wait(), lt.RequestMetrics("payment-db")),
    ):
        state = transition_jointly(state, acts)
    return state


def test_what_is_pooled_is_what_any_role_was_shown() -> None:
    state = played(5)
    for split in ROLE_SPLITS.values():
        each = {cell for role in split.roles for cell in evidence(state, role)}
        hidden = set(evidence(state)) - each
        assert set(evidence(state, split)) == each
        # Nobody of the trio tails the window.
        assert {one.channel for one in hidden} <= (
            {Channel.WINDOW} if "trio" in split.name else set()
        )
    blind = RoleSplit("blind", [Role("all", ("alerts", "window"), SOLO.roles[0].may)] * 1)
    assert set(evidence(state, blind)) == set(evidence(state, blind.roles[0]))
    assert lt.belief(state, blind).weights == lt.belief(state, blind.roles[0]).weights
    assert lt.belief(state, BY_CHANNEL).weights == lt.belief(state).weights


def needed(incidents: list[lt.Incident], split: RoleSplit) -> tuple[float, float]:
    """By how much all roles expect more than the best of them alone, as net value; its error.

    Both after a full look, and by the best plan given all readings, or those of the role.
    """
    states = list(map(full_look, incidents))
    viewers: tuple[RoleSplit | Role, ...] = (split, *split.roles)
    pooled, *alone = (
        [lt.belief(state, viewer).best().value for state in states] for viewer in viewers
    )
    lost = [mine - apart for mine, apart in zip(pooled, max(alone, key=fmean), strict=True)]
    most = fmean(1.0 - (incident.worth_of_hand_over or 0.0) for incident in incidents)
    return fmean(lost) / most, stdev(lost) / sqrt(len(lost)) / most


@pytest.mark.parametrize("split", [TRIO, BY_TIER], ids=lambda split: split.name)
def test_the_benchmark_needs_a_team_and_calm_incidents_do_not(split: RoleSplit) -> None:
    drawn = [lt.make_incident(f"cascading_failure-v4/train/{number}") for number in range(30)]
    gap, error = needed(drawn, split)
    assert gap + 2 * error >= 0.30
    calm, error = needed([all_quiet("train", number) for number in range(30)], split)
    assert calm + 2 * error < 0.30
