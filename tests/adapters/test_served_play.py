"""A model that calls tools plays an episode, by itself and behind a real endpoint."""

import json
from typing import Any

import attrs
import pytest

from logtriage import Incident, InvalidInput, grade, make_incident
from logtriage.actions import Malformed, RequestMoreLogs, Resolve
from logtriage.adapters.endpoint import ChatEndpoint
from logtriage.adapters.episode import Episode
from logtriage.adapters.request_limits import EndpointError
from logtriage.adapters.served import play_served
from logtriage.conversations.tools import TOOLS, call_from_action, openai_tools
from logtriage.conversations.wires import NO_CALL
from logtriage.evaluation import play_episode
from logtriage.evaluation.usage import Usage
from logtriage.grading.offered import ON_REQUEST_KINDS, RECORDED_KINDS
from logtriage.parsing.replies import ENDED_THINKING
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_policy
from tests.adapters.test_endpoint import completion, server

INCIDENT = make_incident("single_crash-v4/test/0")
BEST = play_episode(INCIDENT, make_policy("oracle")(INCIDENT)).actions


def call(number: int, name: str, arguments: object) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": name, "arguments": written},
    }


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


@pytest.mark.parametrize("rubric", ["recorded/1", "recorded/2"])
def test_of_a_recording_the_tools_that_it_has_a_use_for_are_on_offer(rubric: str) -> None:
    incident = attrs.evolve(shipped_incidents()[0], rubric=rubric)
    model = Model({"tool_calls": [call(0, "resolve", {})]})
    play(model, incident)
    expected = {"recorded/1": RECORDED_KINDS, "recorded/2": ON_REQUEST_KINDS}[rubric]
    assert set(model.offered) == set(expected)


def test_several_calls_in_a_message_are_as_many_actions_each_with_its_answer() -> None:
    model = Model(
        {"content": None, "tool_calls": calls()[:2]}, {"content": "", "tool_calls": calls()[2:]}
    )
    state = play(model).state
    assert state.actions == BEST
    assert len(model.asked) == 2
    answers = [one for one in model.asked[1] if one["role"] == "tool"]
    assert [answer["tool_call_id"] for answer in answers] == ["c0", "c1"]
    assert "TICK 2/" in answers[1]["content"]


def test_what_is_no_call_costs_its_tick() -> None:
    model = Model(
        {"content": "Let me think."},
        {"content": "", "tool_calls": [call(0, "escalate", "{broken")]},
        {"content": "", "tool_calls": [call(1, "resolve", {})]},
    )
    state = play(model).state
    talked, broken, last = state.actions
    assert talked == Malformed("Let me think.", NO_CALL)
    assert isinstance(broken, Malformed)
    assert "not JSON" in broken.reason
    assert last == Resolve()
    assert NO_CALL in model.asked[1][-1]["content"]


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
        "role": "tool",
        "tool_call_id": "c0",
        "content": seen[1]["messages"][-1]["content"],
    }
    assert ask.usage == Usage(len(BEST), 10 * len(BEST), 3 * len(BEST))


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"{}"),
        (200, b"<html>"),
        (200, b'{"choices": []}'),
        (200, completion("", tool_calls=7)),
        (200, completion("", tool_calls=["resolve"])),
    ],
    ids=["broken", "html", "none", "a number", "a word"],
)
def test_an_endpoint_that_talks_garbage_leaves_the_episode_unscored(
    answer: tuple[int, bytes],
) -> None:
    with server(lambda _: answer) as (url, _):
        ask = ChatEndpoint("m", base_url=url, retries=0)
        with pytest.raises(EndpointError):
            ask.with_tools([{"role": "user", "content": "hello"}], [])
        transcript = play(ask).transcript("m")
    assert transcript.actions == ()
    assert transcript.status.startswith("error: <m at http://")


def test_an_endpoint_needs_a_key_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="no key"):
        ChatEndpoint("m")
