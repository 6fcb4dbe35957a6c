"""How actions and time change a state: closing rules, horizons, joint play."""

import pytest

import logtriage as lt
from logtriage.dynamics import apply, play, tick
from logtriage.errors import EpisodeOver, UnknownName
from logtriage.state import Closing
from tests.builders import (
    FIX,
    P1,
    RIGHT_PAGE,
    SEVEN_SERVICES,
    WAIT,
    WRONG_PAGE,
    benign_incident,
    played,
    real_incident,
    waits,
)


@pytest.mark.parametrize(
    "action", [*lt.all_actions(SEVEN_SERVICES), lt.Malformed("?", "unreadable")]
)
def test_what_closes_a_real_incident(action: lt.Action) -> None:
    expected = None
    if action == lt.Resolve():
        expected = Closing.RESOLVED
    elif action == lt.Ignore():
        expected = Closing.IGNORED
    elif isinstance(action, lt.Escalate) and action.team != "dba-team":
        expected = Closing.MISROUTED
    assert lt.transition(lt.initial_state(real_incident()), action).closing is expected


@pytest.mark.parametrize("team", SEVEN_SERVICES.teams)
def test_any_page_closes_a_benign_incident(team: str) -> None:
    state = lt.transition(lt.initial_state(benign_incident()), lt.Escalate(team))
    assert state.closing is Closing.MISROUTED


@pytest.mark.parametrize("team", SEVEN_SERVICES.teams)
def test_a_wrong_page_closes_nothing_by_lenient_rules(team: str) -> None:
    incident = real_incident(wrong_page_closes=False)
    assert lt.transition(lt.initial_state(incident), lt.Escalate(team)).closing is None


@pytest.mark.parametrize("horizon", [8, 12, 15])
def test_an_open_incident_runs_out_of_time_at_its_horizon(horizon: int) -> None:
    state = played(real_incident(horizon=horizon), *waits(horizon - 1))
    assert state.closing is None
    state = lt.transition(state, WAIT)
    assert state.closing is Closing.OUT_OF_TIME
    assert state.tick == horizon


@pytest.mark.parametrize(
    "closed",
    [
        played(real_incident(), lt.Resolve()),
        played(real_incident(), lt.Ignore()),
        played(real_incident(), WRONG_PAGE),
        played(real_incident(), *waits(12)),
    ],
    ids=lambda state: str(state.closing),
)
def test_closed_states_take_no_action_and_no_time(closed: lt.State) -> None:
    with pytest.raises(EpisodeOver, match="the incident is closed"):
        apply(closed, WAIT)
    with pytest.raises(EpisodeOver, match="the incident is closed"):
        lt.transition(closed, lt.Resolve())
    with pytest.raises(EpisodeOver, match="the incident is closed"):
        tick(closed)


@pytest.mark.parametrize(
    "action",
    [
        lt.IdentifyRootCause("pay-db"),
        lt.RequestMoreLogs("pay-db"),
        lt.Remediate("scale", "pay-db"),
        lt.Escalate("x-team"),
    ],
)
def test_a_name_that_does_not_exist_is_refused(action: lt.Action) -> None:
    state = lt.initial_state(real_incident())
    for refuse in (apply, lt.transition):
        with pytest.raises(UnknownName, match=r"unknown (service|team)"):
            refuse(state, action)
    with pytest.raises(UnknownName, match=r"unknown (service|team)"):
        play(state.incident, [action])


def test_apply_takes_no_time_and_several_may_act_in_one_tick() -> None:
    state = lt.initial_state(real_incident())
    for action in (lt.ClassifySeverity(P1), RIGHT_PAGE, FIX):
        state = apply(state, action)
        assert state.tick == 0
    state = tick(state)
    assert state.tick == 1
    assert [when for when, _ in state.history] == [0, 0, 0]
    assert state.facts.fixed_at == 0


def test_a_tick_in_which_the_incident_closed_still_passes_once() -> None:
    state = apply(lt.initial_state(real_incident()), lt.Resolve())
    assert state.is_closed
    assert (state.tick, state.closed_at) == (0, 1)
    with pytest.raises(EpisodeOver):
        apply(state, WAIT)
    state = tick(state)
    assert (state.tick, state.closing) == (1, Closing.RESOLVED)
    with pytest.raises(EpisodeOver):
        tick(state)


@pytest.mark.parametrize(
    ("actions", "used", "left"),
    [
        ((), 0, 0),
        ((FIX, lt.Resolve()), 2, 0),
        ((FIX, lt.Resolve(), WRONG_PAGE, FIX), 2, 2),
        ((WRONG_PAGE, FIX, lt.Resolve()), 1, 2),
        (waits(12), 12, 0),
        (waits(15), 12, 3),
    ],
)
def test_play_counts_what_was_left_over(
    actions: tuple[lt.Action, ...], used: int, left: int
) -> None:
    state, unplayed = play(real_incident(), actions)
    assert (state.tick, state.actions, unplayed) == (used, actions[:used], left)
    stepped = lt.initial_state(real_incident())
    for action in actions[:used]:
        stepped = lt.transition(stepped, action)
    assert state == stepped
