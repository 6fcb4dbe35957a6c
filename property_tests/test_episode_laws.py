"""Laws of the text episode: a fork is a replay, and rewards add up to the grade."""

import json
import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from logtriage import Incident
from logtriage.adapters.episode import Episode
from logtriage.conversations.tools import call_from_action
from logtriage.grading import grade_actions, grade_transcript
from property_tests.strategies import DRAWN, incidents, useful_actions


@st.composite
def replies(draw: st.DrawFn, incident: Incident) -> str | dict[str, Any]:
    """What an agent says in one turn: calls of tools, a call in its text, or words."""
    calls = [
        {"name": name, "arguments": arguments}
        for name, arguments in map(
            call_from_action, draw(st.lists(useful_actions(incident), max_size=3))
        )
    ]
    if not calls or draw(st.integers(0, 4)) == 0:
        return draw(st.text(max_size=20))
    if draw(st.booleans()):
        return f"<tool_call>{json.dumps(calls[0])}</tool_call>"
    return {"role": "assistant", "tool_calls": calls}


def several(incident: Incident) -> SearchStrategy[list[Any]]:
    return st.lists(replies(incident), max_size=4)


def played(incident: Incident, said: list[Any]) -> tuple[Episode, list[Any]]:
    episode = Episode(incident)
    return episode, [episode.step(one) for one in said]


@given(st.data(), incidents(DRAWN, max_services=12))
def test_a_fork_is_a_replay(data: st.DataObject, incident: Incident) -> None:
    first, one, other = (data.draw(several(incident)) for _ in range(3))
    trunk, _ = played(incident, first)
    fork = pickle.loads(pickle.dumps(trunk)) if data.draw(st.booleans()) else trunk.fork()
    for episode, rest in ((trunk, one), (fork, other)):
        turns = [episode.step(reply) for reply in rest]
        again, told = played(incident, first + rest)
        assert told[len(first) :] == turns
        assert (again.actions, again.rewards) == (episode.actions, episode.rewards)
        assert (again.grade, again.stop) == (episode.grade, episode.stop)


@given(st.data(), incidents(DRAWN, max_services=12))
def test_rewards_add_up_and_messages_hold_no_id(data: st.DataObject, incident: Incident) -> None:
    episode, turns = played(incident, data.draw(several(incident)))
    grade = episode.grade
    assert grade == grade_actions(incident, episode.actions)
    total = 0.0
    for share in episode.by_criterion.values():
        total += share
    assert total == grade.score  # to the last bit, under every rubric
    if grade.rubric.startswith("logtriage/"):
        assert episode.floor + sum(episode.rewards) == grade.score
    assert [turn.reward for turn in turns] == list(episode.rewards)
    told = [*episode.prompt, *(one for turn in turns for one in turn.messages)]
    assert not any(incident.id in one["content"] for one in told)
    # What broke off is unscored, with the same actions.
    episode.fail("lost")
    assert (episode.reward, episode.stop, episode.by_criterion) == (None, "error", {})
    assert grade_transcript(episode.transcript(), resolve=lambda _: incident).score is None
