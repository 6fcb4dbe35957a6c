"""The last screen says what came of an incident, and only what stands on it."""

import pytest

import logtriage as lt
from logtriage.adapters.episode import closing_answer
from logtriage.conversations.screens import closed_in
from logtriage.observation import slice_for
from logtriage.policies.oracle import perfect_actions
from logtriage.rendering import ending, render_observation
from logtriage.roles.splits import get_role_split
from tests.builders import known, played

INCIDENT = lt.make_incident("single_crash-v4/val/0")


LOOKS = [lt.RequestMetrics(INCIDENT.topology.names[0])] * (INCIDENT.horizon - 1)
WRONG = next(team for team in INCIDENT.topology.teams if team not in INCIDENT.truth.teams)
FIX = lt.Remediate("scale", "user-db")
ENDS = {
    "mis-page": ([lt.Escalate(WRONG)], f"{WRONG}: not ours"),
    "ignored": ([lt.Ignore()], "closed as noise"),
    "handed over": ([lt.HandOver()], "the next on call takes over"),
    "last tick": ([*LOOKS, lt.RequestMetrics("user-db")], "nobody resolved it"),
    "late remedy": ([*LOOKS, FIX], "scale:user-db: the symptoms"),
}


@pytest.mark.parametrize(("actions", "came"), ENDS.values(), ids=list(ENDS))
def test_every_shell_says_what_came_of_it(actions: list[lt.Action], came: str) -> None:
    state = played(INCIDENT, *actions)
    told = known(ending(lt.observe(state)))
    assert came in told
    assert f"CLOSED: {state.closing}: {told}" in render_observation(lt.observe(state))
    answer = closing_answer(state, too_late=False)
    assert told in answer
    words = closing_answer(state, too_late=False, style="notation")
    assert closed_in(answer) == closed_in(words) == str(state.closing)
    assert "edge: " in words
    assert ("not_ours" in words) == (came.endswith("not ours"))
    assert ("eases: scale:user-db" in words) == ("the symptoms" in came)


def test_after_a_fix_the_end_says_that_users_are_well() -> None:
    state = played(INCIDENT, *perfect_actions(INCIDENT))
    assert lt.grade(state).score == 1
    told = known(ending(lt.observe(state)))
    assert told.endswith("users see what they usually see")
    assert isinstance(state.actions[-1], lt.Resolve)


def test_an_open_incident_has_no_end() -> None:
    assert ending(lt.observe(lt.initial_state(INCIDENT))) is None


def test_a_role_is_told_no_more_than_it_sees() -> None:
    state = played(INCIDENT, lt.Escalate(WRONG))
    for role in get_role_split("trio").roles:
        told = known(ending(slice_for(lt.observe(state), role)))
        assert ("users" in told) == ("slo" in role.views)
        assert ("firing" in told) == ("alerts" in role.views)
