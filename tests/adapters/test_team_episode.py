"""A team's episode: ticks, shared reward, and what each role added."""

import pytest

import logtriage as lt
from logtriage.adapters.team_episode import TeamEpisode
from logtriage.conversations.words import words_of
from logtriage.errors import EpisodeOver
from logtriage.grading import score
from logtriage.roles.splits import get_role_split
from tests.adapters.test_episode import called

INCIDENT = lt.make_incident("single_crash-v4/test/531")
SPLIT = get_role_split("trio")
WAIT: dict[str, object] = {"role": "assistant", "tool_calls": [{"name": "wait", "arguments": {}}]}


def waiting(**others: dict[str, object]) -> dict[str, dict[str, object]]:
    return {**dict.fromkeys(SPLIT.names, WAIT), **others}


def test_each_role_is_told_its_own_and_never_the_id() -> None:
    episode = TeamEpisode(INCIDENT, SPLIT)
    assert set(episode.prompts) == set(SPLIT.names)
    turn = episode.step(waiting())
    assert all(screen.startswith("TICK 1/15") for screen in turn.screens.values())
    assert INCIDENT.id not in str(episode.prompts) + str(turn.screens)
    assert (turn.reward, set(turn.by_agent.values()), turn.done) == (0.0, {0.0}, False)


def test_credit_is_the_difference_to_waiting() -> None:
    episode = TeamEpisode(INCIDENT, SPLIT)
    right = called("classify_severity", severity=str(INCIDENT.truth.severity))
    turn = episode.step(waiting(triage=right))
    assert turn.reward > 0
    assert turn.by_agent == {"triage": turn.reward, "escalation": 0.0, "remediation": 0.0}
    assert episode.by_agent == turn.by_agent
    assert episode.reward == sum(episode.rewards) == score(episode.state)
    assert sum(episode.by_criterion.values()) == episode.reward


def test_forks_part_and_errors_are_no_zero() -> None:
    episode = TeamEpisode(INCIDENT, SPLIT)
    other = episode.fork()
    other.step(waiting())
    assert (episode.state.tick, other.state.tick) == (0, 1)
    other.fail("model server gone")
    assert (other.stop, other.reward, other.by_criterion) == ("error", None, {})
    with pytest.raises(EpisodeOver, match="model server gone"):
        other.step(waiting())
    assert episode.stop is None


def test_a_text_is_a_reply_and_each_role_has_its_tools() -> None:
    episode = TeamEpisode(INCIDENT, SPLIT)
    offered = {
        name: {tool["function"]["name"] for tool in tools} for name, tools in episode.tools.items()
    }
    assert offered == {role.name: role.kinds - {"classify_fault"} for role in SPLIT.roles}
    call = '<tool_call>{"name": "wait", "arguments": {}}</tool_call>'
    episode.step(dict.fromkeys(SPLIT.names, call) | {"escalation": {**WAIT, "content": "I wait."}})
    episode.step({name: [{"role": "assistant", "content": call}] for name in SPLIT.names})
    assert episode.state.tick == 2
    assert words_of(episode.transcript("me")) == (call, "I wait.", *(call,) * 4)
    assert set(episode.state.actions) == {lt.Wait()}
    with pytest.raises(lt.InvalidInput, match="a reply: expected text or messages, got nothing"):
        episode.step(dict.fromkeys(SPLIT.names, None))  # type: ignore[arg-type]


def test_a_tick_needs_one_reply_of_each_role() -> None:
    with pytest.raises(lt.InvalidInput, match="expected one of each role: triage, escalation"):
        TeamEpisode(INCIDENT, SPLIT).step({"triage": WAIT})
    with pytest.raises(lt.InvalidInput, match="a cause in words"):
        TeamEpisode(INCIDENT, SPLIT).fail("")
