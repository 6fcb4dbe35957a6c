"""How actions and time change a state: closing rules, horizons, joint play."""

import pytest

import logtriage as lt
from logtriage.dynamics import apply, play, tick
from logtriage.errors import EpisodeOver, UnknownName
from logtriage.state import Closing
from tests.builders import SEVEN_SERVICES, WAIT, real_incident


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
