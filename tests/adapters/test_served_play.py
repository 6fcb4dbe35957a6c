"""A model that calls tools plays an episode, by itself and behind a real endpoint."""

import json
from typing import Any

import logtriage as lt
from logtriage import Incident, grade, make_incident
from logtriage.actions import Malformed, RequestMoreLogs
from logtriage.adapters.endpoint import ChatEndpoint
from logtriage.adapters.episode import Episode
from logtriage.adapters.served import play_served
from logtriage.conversations.tools import call_from_action, openai_tools
from logtriage.evaluation.usage import Usage
from logtriage.parsing.replies import ENDED_THINKING
from logtriage.parsing.tools import TOOLS
from tests.adapters.test_endpoint import completion, server

INCIDENT = make_incident("single_crash-v4/test/0")
BEST = lt.play(INCIDENT, "oracle").actions


def call(number: int, name: str, arguments: object) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"c{number}", "type": "function", "function": {"name": name, "arguments": written},
    }  # fmt: skip


def calls() -> list[dict[str, Any]]:
    return [call(number, *call_from_action(one)) for number, one in enumerate(BEST)]


class Model:
    """Says these messages, one after the other."""

    def __init__(self, *said: dict[str, Any]) -> None:
        self.said = list(said)
        self.asked: list[list[Any]] = []
        self.offered: tuple[str, ...] = ()

    def with_tools(self, messages: Any, tools: Any) -> dict[str, Any]:
        self.asked.append(list(messages))
        self.offered = tuple(tool["function"]["name"] for tool in tools)
        return {"role": "assistant", **self.said[len(self.asked) - 1]}


def play(model: Any, incident: Incident = INCIDENT) -> Episode:
    episode = Episode(incident)
    play_served(model, episode)
    return episode


def test_one_call_a_message_is_one_action_and_the_screen_answers_it() -> None:
    model = Model(*({"content": "", "tool_calls": [call]} for call in calls()))
    state = play(model).state
    assert state.actions == BEST
    assert grade(state).score == 1.0
    last = model.asked[-1]
    assert [one["role"] for one in last[:4]] == ["system", "user", "assistant", "tool"]
    assert last[-1]["tool_call_id"] == f"c{len(BEST) - 2}"
    assert "TICK 1/" in last[3]["content"]
    assert "one tool call a turn" in last[0]["content"]
    assert model.offered == tuple(TOOLS)


def test_a_call_in_the_text_is_played_and_answered_by_a_message() -> None:
    text = '<tool_call>{"name": "request_more_logs", "arguments": {}}</tool_call>'
    model = Model(
        {"content": f"<think>hm</think>{text}"},
        {"content": "<think>resolve"},
        {"content": "", "tool_calls": [call(1, "resolve", {})]},
    )
    state = play(model).state
    assert state.actions[0] == RequestMoreLogs(None)
    assert state.actions[1] == Malformed("<think>resolve", ENDED_THINKING)
    assert [one["role"] for one in model.asked[2]] == ["system", *["user", "assistant"] * 2, "user"]
    assert "REQUESTED LOGS" in model.asked[1][-1]["content"]


def test_a_model_behind_an_endpoint_plays_by_tool_calls() -> None:
    left = calls()

    def answer(_: dict[str, Any]) -> tuple[int, bytes]:
        return 200, completion(None, tool_calls=[left.pop(0)])

    with server(answer) as (url, seen):
        ask = ChatEndpoint("m", base_url=url)
        state = play(ask).state
    assert state.actions == BEST
    assert seen[0]["tools"] == openai_tools(INCIDENT)
    assert seen[1]["messages"][-1] == {
        "role": "tool", "tool_call_id": "c0", "content": seen[1]["messages"][-1]["content"],
    }  # fmt: skip
    assert ask.usage == Usage(len(BEST), 10 * len(BEST), 3 * len(BEST))
