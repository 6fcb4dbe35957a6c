"""How much teamwork there is: pooled doubt, and each role's own."""

import pytest

from logtriage import (
    IdentifyRootCause,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    State,
    Wait,
    initial_state,
    make_incident,
    transition_jointly,
)
from logtriage.belief import belief
from logtriage.evaluation.teamwork import EPISODES, last_decided, teamwork_of
from logtriage.evidence import evidence
from logtriage.recorded import shipped_incidents
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import BY_CHANNEL, BY_TIER, ROLE_SPLITS, SOLO, TRIO
from logtriage.world.channels import Channel


def played(index: int) -> State:
    """Two ticks of questions, then the end."""
    state = initial_state(make_incident(f"cascading_failure-v3/test/{index}"))
    for acts in (
        (RequestTraces("user-db"), Wait(), RequestMetrics("user-db")),
        (RequestMoreLogs("user-db"), Wait(), RequestMetrics("payment-db")),
        (IdentifyRootCause("user-db"), Wait(), Resolve()),
    ):
        state = transition_jointly(state, acts)
    return state


def test_doubt_is_that_of_the_screen_on_which_the_last_actions_were_chosen() -> None:
    state = played(3)
    before = last_decided(state)
    assert (before.tick, len(before.history), before.is_closed) == (2, 6, False)
    found = teamwork_of([state], TRIO)
    assert found is not None
    assert found.episodes == 1
    assert found.pooled.mean == pytest.approx(belief(before, TRIO).entropy)
    assert [one.role for one in found.alone] == list(TRIO.names)
    for one, role in zip(found.alone, TRIO.roles, strict=True):
        assert one.bits.mean == pytest.approx(belief(before, role).entropy)


@pytest.mark.parametrize("split", [TRIO, BY_CHANNEL, BY_TIER], ids=lambda split: split.name)
def test_together_they_doubt_less_than_any_alone(split: RoleSplit) -> None:
    found = teamwork_of([played(index) for index in range(12)], split)
    assert found is not None
    assert found.pooled.mean < min(one.bits.mean for one in found.alone)


def test_what_is_pooled_is_what_any_role_was_shown() -> None:
    state = last_decided(played(5))
    for split in ROLE_SPLITS.values():
        each = {one for role in split.roles for one in evidence(state, role)}
        hidden = set(evidence(state)) - each
        assert set(evidence(state, split)) == each
        # Nobody of the trio tails the window.
        assert {one.channel for one in hidden} <= (
            {Channel.WINDOW} if "trio" in split.name else set()
        )
    blind = RoleSplit("blind", [Role("all", ("alerts", "window"), SOLO.roles[0].may)] * 1)
    assert set(evidence(state, blind)) == set(evidence(state, blind.roles[0]))
    assert belief(state, blind).weights == belief(state, blind.roles[0]).weights
    assert belief(state, BY_CHANNEL).weights == belief(state).weights


def test_several_faults_are_doubted_too() -> None:
    state = initial_state(make_incident("compound_failure-v3/test/3"))
    for acts in ((RequestMoreLogs(), Wait(), Wait()), (Wait(), Wait(), Resolve())):
        state = transition_jointly(state, acts)
    found = teamwork_of([state], TRIO)
    assert found is not None
    assert found.pooled.mean == belief(last_decided(state), TRIO).entropy
    assert found.pooled.mean < min(one.bits.mean for one in found.alone)


def test_there_is_none_alone_or_where_no_probabilities_are_known() -> None:
    assert teamwork_of([played(1)], SOLO) is None
    assert teamwork_of([], TRIO) is None
    first = initial_state(shipped_incidents()[0])
    assert teamwork_of([transition_jointly(first, [Wait(), Wait(), Resolve()])], TRIO) is None
    found = teamwork_of([played(index % 2) for index in range(EPISODES + 5)], TRIO)
    assert found is not None
    assert found.episodes == EPISODES
