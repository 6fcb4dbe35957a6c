"""The law of teams of text: what a role may not ask for is malformed, as everywhere else."""

from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import initial_state
from logtriage.actions import TEAM_ACTION_TYPES, Malformed
from logtriage.adapters.team_episode import TeamEpisode
from logtriage.conversations.teams import joint_transcript
from logtriage.conversations.tools import call_from_action
from logtriage.dynamics import transition_jointly
from logtriage.incident import Incident
from logtriage.parsing import actions_from_wire
from logtriage.policies import as_taken
from logtriage.roles import RoleSplit
from logtriage.roles import role_actions as every_action
from property_tests.strategies import incidents, role_actions, role_splits


def reply(action: Any) -> dict[str, Any]:
    name, arguments = call_from_action(action)
    return {"role": "assistant", "tool_calls": [{"name": name, "arguments": arguments}]}


@settings(max_examples=20)
@given(st.data(), incidents(max_services=9), role_splits(settings=True))
def test_calls_play_what_a_team_of_policies_plays(
    data: st.DataObject, incident: Incident, split: RoleSplit
) -> None:
    """Parts that a role watches and its budget hold for calls, and in what is saved of them."""
    episode, state = TeamEpisode(incident, split), initial_state(incident)
    said: dict[str, list[dict[str, Any]]] = {name: [] for name in split.names}
    for _ in range(data.draw(st.integers(1, 6))):
        if state.is_closed:
            break
        chosen = tuple(
            data.draw(st.sampled_from(every_action(role, incident.topology)) | asked)
            if every_action(role, incident.topology)
            else data.draw(asked)
            for role in split.roles
            for asked in [
                role_actions(incident, role).filter(lambda one: type(one) is not Malformed)
            ]
        )
        replies = {name: reply(one) for name, one in zip(split.names, chosen, strict=True)}
        for name, one in replies.items():
            said[name].append(one)
        episode.step(replies)
        taken = as_taken(chosen, split, state)
        state = transition_jointly(state, taken)
        assert [_plain(one) for one in episode.state.actions] == [
            _plain(one) for one in state.actions
        ]
        assert episode.state.closing == state.closing
    found = joint_transcript(said, split, incident)
    saved = actions_from_wire(found.actions, incident.topology, frozenset(TEAM_ACTION_TYPES))
    played = [_plain(one) for one in episode.state.actions]
    assert [_plain(one) for one in saved][: len(played)] == played
    assert (found.ticks or ())[: len(played)] == tuple(when for when, _ in episode.state.history)


def _plain(action: Any) -> Any:
    """Without the name of a role that plays alone, which only texts are signed with."""
    return attrs.evolve(action, by=None) if hasattr(action, "by") else action
