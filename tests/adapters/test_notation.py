"""Notation through the shells: the same episode as in text, in words."""

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from logtriage import (
    InvalidInput,
    initial_state,
    make_incident,
    observe,
    play,
    render_observation,
    system_prompt,
    transition,
)
from logtriage.adapters.episode import Episode
from logtriage.adapters.served import Endpoint
from logtriage.adapters.trl import NotationEnv, triage_rows
from logtriage.conversations.wires import Style, actions_of_conversation
from logtriage.errors import UnknownName
from logtriage.evaluation import play_episode
from logtriage.grading import grade
from logtriage.parsing import action_to_wire, render_action
from logtriage.policies import ChatPolicies, ChatPolicy
from logtriage.policies.chat import Message
from logtriage.roles.splits import TRIO
from tests.rendering.reader_notation import in_notation, states_of

INCIDENT = make_incident("single_crash-v4/val/1")
PLAYED = play(INCIDENT, "observer")
WORDS = [render_action(action, "word") for action in PLAYED.actions]


def test_an_episode_goes_in_words() -> None:
    episode = Episode(INCIDENT, style="notation")
    told = [episode.prompt[1]["content"]]
    assert episode.prompt[0]["content"] == system_prompt(INCIDENT, style="notation")
    for word in WORDS:
        told.append(episode.step(word).text)
    assert told[:-1] == in_notation(states_of(PLAYED))[:-1]
    assert episode.state == PLAYED
    assert episode.grade == grade(PLAYED)


def test_an_episode_in_notation_can_be_played_by_tools() -> None:
    episode = Episode(INCIDENT, "tools", style="notation")
    call = {"name": "request_traces", "arguments": {"service": "user-db"}}
    assert "traces: user-db" in episode.step({"role": "assistant", "tool_calls": [call]}).text


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown style 'poem'"):
        Episode(INCIDENT, style="poem")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="unknown style 'poem'"):
        Endpoint(style="poem")


def test_the_environment_of_trl_has_one_tool_whose_argument_is_a_word() -> None:
    tools = [name for name, _ in inspect.getmembers(NotationEnv, inspect.isfunction)]
    public = [name for name in tools if not name.startswith("_")]
    assert public == ["act", "get_reward", "reset"]
    env = NotationEnv()
    (row,) = triage_rows([INCIDENT.id], style="notation")
    assert row["prompt"][0]["content"] == system_prompt(INCIDENT, style="notation")
    text = [env.reset(**row), *(env.act(action=word) for word in WORDS)]
    assert text[:-1] == in_notation(states_of(PLAYED))[:-1]
    assert env.get_reward() == grade(PLAYED).score
    assert [dict(action) for action in env.actions] == [
        action_to_wire(action) for action in PLAYED.actions
    ]


def test_what_is_no_word_costs_its_tick() -> None:
    env = NotationEnv()
    (row,) = triage_rows([INCIDENT.id], style="notation")
    env.reset(**row)
    text = env.act(action="fix it")
    assert text.startswith("1/11 ")
    assert text.splitlines()[-1].startswith("unread: act wants an action in one word")
    assert [action["action_type"] for action in env.actions] == ["malformed"]


class Script:
    """A model that says its lines in turn, and notes what it was shown."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.shown: list[list[Message]] = []

    def __call__(self, messages: Sequence[Message]) -> str:
        self.shown.append(list(messages))
        return self.lines.pop(0)


def test_a_chat_model_reads_and_answers_in_words() -> None:
    script = Script(WORDS)
    state = play_episode(INCIDENT, ChatPolicies(script, style="notation")(INCIDENT))
    assert state == PLAYED
    said = [line["content"] for line in script.shown[-1] if line["role"] == "user"]
    assert said == in_notation(states_of(PLAYED))[:-1]


def test_every_screen_of_a_notation_is_needed() -> None:
    with pytest.raises(InvalidInput, match="turns = 2: in notation every screen is needed"):
        ChatPolicy(Script([]), "rules", turns=2, style="notation")


def test_a_role_sees_in_notation_what_its_views_show_and_others_did() -> None:
    split, state = TRIO, transition(initial_state(INCIDENT), PLAYED.actions[0])
    for role in split.roles:
        words = render_observation(observe(state, role), "notation")
        for view, heading in (("alerts", "alert:"), ("window", "log:"), ("directory", "own:")):
            assert (heading in words) == (view in role.views)
        assert "NOTATION." in system_prompt(INCIDENT, style="notation", split=split, role=role.name)


def test_replies_in_words_are_read_from_a_conversation() -> None:
    messages = [{"role": "assistant", "content": word} for word in WORDS]
    wires = actions_of_conversation(messages, INCIDENT.topology, style=Style.WORD)
    assert wires == [action_to_wire(action) for action in PLAYED.actions]


def test_a_served_model_is_asked_in_notation(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    from tests.adapters.test_endpoint import completion, server
    from tests.cli.test_cli import logtriage

    def scripted(body: dict[str, Any]) -> tuple[int, bytes]:
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return 200, completion(("request_metrics:user-db", "hm", "hand_over")[turn])

    with server(scripted) as (url, seen):
        words = ["eval", "openai:m", "--base-url", url, "--task", "single_crash-v4"]
        done = logtriage(*words, "--episodes", "1", "--style", "notation", "--out", str(tmp_path))
        assert done.exit_code == 0, done.output
        assert "tools" not in seen[0]
        assert "NOTATION." in seen[0]["messages"][0]["content"]
        assert seen[1]["messages"][-1]["content"].startswith("1/11 metrics: user-db")
        refused = logtriage(*words, "--episodes", "1", "--style", "poem")
        assert "unknown style 'poem'" in refused.output
        shift = logtriage("eval", "openai:m", "--base-url", url, "--task", "quiet_shift-v1",
                          "--style", "notation")  # fmt: skip
        assert "--style is not for shifts" in shift.output
    (file,) = (tmp_path / "transcripts").iterdir()
    (row,) = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    kinds = [action["action_type"] for action in row["actions"]]
    assert kinds == ["request_metrics", "malformed", "hand_over"]
