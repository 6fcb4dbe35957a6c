"""Conversations of any framework become the same actions."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.conversations.tools import call_from_action
from logtriage.conversations.wires import NO_CALL, Style, actions_of_conversation
from logtriage.errors import InvalidInput
from logtriage.parsing import actions_from_wire, render_action
from logtriage.parsing.replies import ENDED_THINKING
from tests.builders import SEVEN_SERVICES

ACTIONS: tuple[lt.Action, ...] = (
    lt.RequestMoreLogs(None),
    lt.ClassifySeverity(lt.Severity.P2),
    lt.IdentifyRootCause("user-db", 0.5),
    lt.Escalate("dba-team"),
    lt.Remediate("kill-query", "user-db"),
    lt.Resolve(),
)
CALLS = [call_from_action(action) for action in ACTIONS]
SCREEN = {"role": "user", "content": 'TICK 0/12 {"action_type": "ignore"}'}

Messages = list[dict[str, Any]]


def played(messages: str | Messages, **options: Any) -> list[lt.Action]:
    wires = actions_of_conversation(messages, SEVEN_SERVICES, **options)
    return actions_from_wire(wires, SEVEN_SERVICES)


def _nested(depth: int) -> Any:
    return {"output": [_nested(depth - 1)]} if depth else said()


def said(**message: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "let me see", **message}


def with_screens(messages: Messages) -> Messages:
    return [one for message in messages for one in (SCREEN, message)]


def of(message: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Messages:
    """A message of the agent for each call."""
    return [message(name, given) for name, given in CALLS]


def function(name: str, given: Any, **others: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": given}, **others}


def use(name: str, given: Any, number: str = "c") -> dict[str, Any]:
    return {"type": "tool_use", "id": number, "name": name, "input": given}


OPENAI = of(
    lambda name, given: said(content=None, tool_calls=[function(name, json.dumps(given), id="c")])
)
INSPECT = of(
    lambda name, given: said(
        tool_calls=[{"id": "c", "function": name, "arguments": given, "type": "function"}]
    )
)
RESPONSES = of(
    lambda name, given: {
        "type": "function_call",
        "call_id": "c",
        "name": name,
        "arguments": json.dumps(given),
    }
)
ANTHROPIC = of(
    lambda name, given: said(content=[{"type": "text", "text": "let me see"}, use(name, given)])
)
GEMINI = of(
    lambda name, given: {
        "role": "model",
        "parts": [
            {"text": "escalate now?", "thought": True},
            {"text": "let me see"},
            {"functionCall": {"name": name, "args": given}, "thoughtSignature": "x"},
        ],
    }
)
#: LangChain says each call twice.
LANGCHAIN = [
    {
        "type": "ai",
        "content": [use(name, given, f"c{number}")],
        "tool_calls": [{"id": f"c{number}", "name": name, "args": given, "type": "tool_call"}],
        "invalid_tool_calls": [],
    }
    for number, (name, given) in enumerate(CALLS)
]
NOTHING: dict[str, Any] = dict.fromkeys(["service", "team", "remedy", "severity", "confidence"])
REASONED = [
    {"type": "reasoning", "summary": []},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
]
#: A provider's raw responses.
RAW: dict[str, Messages] = {
    "completions": [
        {"object": "chat.completion", "choices": [{"index": 0, "message": one}], "usage": {}}
        for one in OPENAI
    ],
    "responses": [{"object": "response", "output": [*REASONED, one]} for one in RESPONSES],
    "anthropic": [
        {"id": "msg_1", "type": "message", "model": "m", "stop_reason": "tool_use", **one}
        for one in ANTHROPIC
    ],
    "gemini": [{"candidates": [{"content": one, "finishReason": "STOP"}]} for one in GEMINI],
}
IN_WORDS: dict[str, Messages] = {
    "text": [said(content=f"So: {render_action(action)}") for action in ACTIONS],
    "blocks": [said(content=[{"type": "text", "text": render_action(one)}]) for one in ACTIONS],
}
KINDS: dict[str, Messages] = {
    **{f"{name}, raw": messages for name, messages in RAW.items()},
    **IN_WORDS,
    "openai": OPENAI,
    "trl": of(lambda name, given: said(tool_calls=[function(name, given)])),
    "responses": RESPONSES,
    "old openai": of(
        lambda name, given: said(function_call=function(name, json.dumps(given))["function"])
    ),
    "anthropic": ANTHROPIC,
    "inspect": INSPECT,
    "langchain": of(
        lambda name, given: said(role="ai", tool_calls=[{"id": "c", "name": name, "args": given}])
    ),
    "langchain, twice": LANGCHAIN,
    "langchain, dicts": [{"type": "ai", "data": one} for one in LANGCHAIN],
    "parallel": [said(tool_calls=[call for message in OPENAI for call in message["tool_calls"]])],
    "gemini": GEMINI,
    "gemini, python": of(
        lambda name, given: {
            "role": "model",
            "parts": [{"text": None, "function_call": {"name": name, "args": given}}],
        }
    ),
    "bedrock": of(
        lambda name, given: said(
            content=[{"text": "so"}, {"toolUse": {"toolUseId": "t", "name": name, "input": given}}]
        )
    ),
    "encoded twice": of(
        lambda name, given: said(tool_calls=[function(name, json.dumps(json.dumps(given)))])
    ),
    "in the text": of(
        lambda name, given: said(
            content=f"<think>hm</think><tool_call>{json.dumps({'name': name, 'arguments': given})}"
        )
    ),
    "padded": of(
        lambda name, given: said(
            tool_calls=[{**function(name, {**NOTHING, **given}), "name": None, "input": None}],
            function_call=None,
        )
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_episode_in_any_words_is_the_same_actions(kind: str) -> None:
    messages = with_screens(KINDS[kind])
    assert played(messages) == list(ACTIONS)
    if kind not in IN_WORDS:
        assert played(messages, style="tools") == list(ACTIONS)


@pytest.mark.parametrize("provider", RAW)
def test_a_raw_response_is_a_conversation_of_one_reply(provider: str) -> None:
    wires = actions_of_conversation(RAW[provider][0], SEVEN_SERVICES)
    assert actions_from_wire(wires, SEVEN_SERVICES) == list(ACTIONS[:1])


def test_a_call_that_a_turn_has_twice_with_its_id_is_one_action_unless_answered_twice() -> None:
    """What was answered was carried out, and costs its tick, whatever the answer says."""
    look, other = (
        said(tool_calls=[{"id": "c1", "function": {"name": name, "arguments": "{}"}}])
        for name in ("request_more_logs", "resolve")
    )
    told = [{"role": "tool", "tool_call_id": "c1", "content": f"TICK {n}/8"} for n in (1, 2)]
    once = [lt.RequestMoreLogs(None)]
    assert played([SCREEN, look, look, told[0]]) == once
    assert played([SCREEN, look, told[0], look, told[0]]) == [*once, *once]
    assert played([SCREEN, look, look, told[0], told[0]]) == [*once, *once]
    assert played([SCREEN, look, look, look, told[0], told[0]]) == [*once, *once]
    assert played([SCREEN, look, told[0], look, told[1]]) == [*once, *once]
    assert played([SCREEN, look, told[0], look]) == [*once, *once]
    assert played([SCREEN, look, other, told[0]]) == [*once, lt.Resolve()]
    no_id = said(tool_calls=[{"id": "", "function": {"name": "request_more_logs"}}])
    assert played([SCREEN, no_id, no_id]) == [*once, *once]


@pytest.mark.parametrize("dressed", ["{}", "I would do:\n```json\n{}\n```\nThat is all."])
def test_one_reply_with_an_array_is_a_plan(dressed: str) -> None:
    plan = f"[{', '.join(render_action(action) for action in ACTIONS)}]"
    text = dressed.replace("{}", plan)
    assert played(text) == list(ACTIONS)
    assert played([SCREEN, said(content=text)]) == list(ACTIONS)
    assert played([said(content="Hm."), said(content=text)], style="plan") == list(ACTIONS)


def test_thoughts_in_messages_of_their_own_are_no_replies() -> None:
    blocks = said(content=[{"type": "thinking", "thinking": "Hm."}])
    thoughts = [{"type": "reasoning", "summary": []}, blocks]
    plan = said(content=f"[{', '.join(render_action(one) for one in ACTIONS)}]")
    assert played([SCREEN, *thoughts, plan]) == list(ACTIONS)
    assert [type(one) for one in played([SCREEN, *thoughts])] == [lt.Malformed]


def test_a_plan_is_one_reply_of_two_where_text_is_asked_for() -> None:
    text = f"[{render_action(lt.Resolve())}, {render_action(lt.Escalate('dba-team'))}]"
    (action,) = played(text, style=Style.TEXT)
    assert isinstance(action, lt.Malformed)


def test_talk_among_calls_costs_nothing() -> None:
    talked = [said(), *OPENAI, said(content=render_action(lt.Resolve()))]
    assert played(talked) == list(ACTIONS)
    with pytest.raises(InvalidInput, match="style text: the agent calls tools"):
        played(talked, style="text")


def test_talk_alone_is_malformed_one_step_each() -> None:
    assert [type(one) for one in played([said(), said()])] == [lt.Malformed, lt.Malformed]
    (one,) = played([said(content="Hm."), said(content="So.")], style="tools")
    assert one == lt.Malformed("Hm.\nSo.", NO_CALL)


def test_a_reply_without_a_call_is_malformed_wherever_it_stands() -> None:
    talk, thinking = said(content="Hm."), said(content="<think>resolve it")
    steps = played(with_screens([talk, *OPENAI[:2], thinking, talk]))
    assert steps == [
        lt.Malformed("Hm.", NO_CALL),
        *ACTIONS[:2],
        lt.Malformed("<think>resolve it", ENDED_THINKING),
        lt.Malformed("Hm.", NO_CALL),
    ]
    submit = said(tool_calls=[{"function": {"name": "submit", "arguments": "{}"}}])
    assert played(with_screens([*OPENAI, submit]), other_tools=["submit"]) == list(ACTIONS)


def test_a_call_that_cannot_be_read_is_a_step() -> None:
    broken = [
        said(tool_calls=[{"function": {"name": "escalate", "arguments": "{"}}]),
        said(tool_calls=[{"function": "escalate", "arguments": {}, "parse_error": "no JSON"}]),
        said(invalid_tool_calls=[{"name": "escalate", "args": "{", "id": "x", "error": None}]),
        said(content="<tool_call>escalate!</tool_call>"),
    ]
    steps = played([*OPENAI[:1], *broken])
    assert [type(one) for one in steps] == [lt.RequestMoreLogs, *[lt.Malformed] * 4]
    reasons = [one.reason for one in steps if isinstance(one, lt.Malformed)]
    assert reasons[0].startswith("arguments are not JSON")
    assert reasons[1] == "no JSON"
    assert reasons[2].startswith("arguments are not JSON")
    assert reasons[3].startswith("the text of a tool_call cannot be read")


def test_unknown_tools_are_malformed_unless_they_are_the_harness_s_own() -> None:
    submit = said(tool_calls=[{"function": {"name": "mcp__x__submit", "arguments": "{}"}}])
    assert isinstance(played([submit])[0], lt.Malformed)
    assert played([*OPENAI, submit], other_tools=["submit"]) == list(ACTIONS)


def test_only_what_the_agent_wrote_counts() -> None:
    given = {**said(), "source": "input", "tool_calls": OPENAI[-1]["tool_calls"]}
    result = {"role": "tool", "content": render_action(lt.Resolve())}
    server = said(content=[{"type": "tool_use", "tool_type": "web_search", "name": "resolve"}])
    assert played([given, SCREEN, result, server, *INSPECT]) == list(ACTIONS)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        (7, "expected a list of messages, got a number"),
        ({"x": 1}, "the object: cannot tell who wrote it: no role, and no type"),
        (
            {"role": "assistant"},
            "the object: a reply with neither content nor tool_calls; it has: role",
        ),
        (
            [{"role": "bot", "content": ""}],
            "[0].role: unknown role 'bot'; one of: ai, assistant, developer, environment, exit, "
            "function, human, ipython, model, observation, system, tool, user",
        ),
        ([{"content": "x"}], "[0]: cannot tell who wrote it: no role, and no type"),
        ([{"type": "step"}], "[0]: cannot tell who wrote it: no role, and the type 'step'"),
        ([said(tool_calls=["x"])], "[0].tool_calls[0]: expected an object, got a string"),
        ([said(tool_calls=[{"type": "function"}])], "[0].tool_calls[0]: a call without a name"),
        ([said(toolUses=[{}])], "[0].toolUses: not known; calls are read from tool_calls"),
        (
            [said(content=[{"type": "call", "toolName": "resolve"}])],
            "[0].content[0]: a block of type 'call' is not known; calls are read from "
            "tool_use, functionCall and tool_calls",
        ),
        (
            [said(content=[{"functionCall": {}}])],
            "[0].content[0].functionCall: expected an object with a name",
        ),
        ([said(content=[7])], "[0].content[0]: expected an object, got a number"),
        (
            {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "x"}}]},
            "the response: a chunk of a stream; put the whole reply together first",
        ),
        ({"choices": [{}, {}]}, "choices: expected one, got 2; a row is one reply"),
        (
            {"output": [{"output": [{}]}]},
            ".output[0].output[0]: empty, and no error or status says why",
        ),
        (_nested(9), f"{'.output[0]' * 4}.output: messages nested too deeply"),
        (_nested(400), f"{'.output[0]' * 4}.output: messages nested too deeply"),
        ([{"choices": [{"text": "x"}]}], "[0].choices[0].message: expected an object, got nothing"),
        ([said(), "hello"], "[1]: expected an object, got a string"),
        ([said(tool_calls={})], "[0].tool_calls: expected a list, got an object"),
        ([said(content=3)], "[0].content: expected a string or a list, got a number"),
    ],
)
def test_what_is_no_conversation_is_refused_by_field(messages: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        played(messages)
    assert str(caught.value) == message


KEYS = st.sampled_from(
    (
        *("role", "type", "content", "parts", "tool_calls", "function", "name", "arguments", "id"),
        *("index", "choices", "delta", "message", "candidates", "output", "data", "text", "args"),
        *("messages", "function_call", "functionCall", "input", "call_id", "source", "object"),
    )
)
WORDS = st.sampled_from(
    (
        *("assistant", "user", "model", "ai", "tool", "function_call", "tool_use", "text", "c1"),
        *("resolve", "escalate", "{}", '{"team":"dba-team"}', "<tool_call>", "<think>", "message"),
    )
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.just(math.nan) | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(ANYTHING, st.sampled_from(Style))
def test_whatever_comes_becomes_actions_or_our_own_error(messages: Any, style: Style) -> None:
    try:
        wires = actions_of_conversation(messages, SEVEN_SERVICES, style=style)
    except InvalidInput:
        return
    assert all(isinstance(one, lt.Action) for one in actions_from_wire(wires, SEVEN_SERVICES))
