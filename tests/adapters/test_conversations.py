"""Conversations of any framework become the same actions."""

import json
from typing import Any

import pytest

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Malformed,
    Remediate,
    Remedy,
    RequestMoreLogs,
    Resolve,
    Severity,
)
from logtriage.adapters.conversations import Style, actions_of_conversation
from logtriage.adapters.tools import call_from_action
from logtriage.errors import InvalidInput
from logtriage.parsing import actions_from_wire, render_action
from logtriage.topology import SEVEN_SERVICES

ACTIONS: tuple[Action, ...] = (
    RequestMoreLogs(None),
    ClassifySeverity(Severity.P2),
    IdentifyRootCause("user-db", 0.5),
    Escalate("dba-team"),
    Remediate(Remedy.KILL_QUERY, "user-db"),
    Resolve(),
)
CALLS = [call_from_action(action) for action in ACTIONS]
SCREEN = {"role": "user", "content": 'TICK 0/12 {"action_type": "ignore"}'}

Messages = list[dict[str, Any]]


def played(messages: str | Messages, **options: Any) -> list[Action]:
    wires = actions_of_conversation(messages, SEVEN_SERVICES, **options)
    return actions_from_wire(wires, SEVEN_SERVICES)


def said(**message: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "let me see", **message}


def with_screens(messages: Messages) -> Messages:
    return [one for message in messages for one in (SCREEN, message)]


OPENAI = [
    said(
        content=None,
        tool_calls=[
            {
                "id": "c",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
        ],
    )
    for name, arguments in CALLS
]
TRL = [
    said(tool_calls=[{"type": "function", "function": {"name": name, "arguments": arguments}}])
    for name, arguments in CALLS
]
RESPONSES = [
    {"type": "function_call", "call_id": "c", "name": name, "arguments": json.dumps(arguments)}
    for name, arguments in CALLS
]
OLD_OPENAI = [
    said(function_call={"name": name, "arguments": json.dumps(arguments)})
    for name, arguments in CALLS
]
ANTHROPIC = [
    said(
        content=[
            {"type": "text", "text": "let me see"},
            {"type": "tool_use", "id": "c", "name": name, "input": arguments},
        ]
    )
    for name, arguments in CALLS
]
INSPECT = [
    said(tool_calls=[{"id": "c", "function": name, "arguments": arguments, "type": "function"}])
    for name, arguments in CALLS
]
VERIFIERS = [
    said(tool_calls=[{"id": "c", "name": name, "arguments": json.dumps(arguments)}])
    for name, arguments in CALLS
]
LANGCHAIN = [
    said(role="ai", tool_calls=[{"id": "c", "name": name, "args": arguments}])
    for name, arguments in CALLS
]
PARALLEL = [said(tool_calls=[call for message in OPENAI for call in message["tool_calls"]])]
PADDED = [
    said(
        tool_calls=[
            {
                "function": {
                    "name": name,
                    "arguments": {
                        **dict.fromkeys(["service", "team", "remedy", "severity", "confidence"]),
                        **arguments,
                    },
                },
                "name": None,
                "input": None,
            }
        ],
        function_call=None,
    )
    for name, arguments in CALLS
]
TEXT = [said(content=f"So: {render_action(action)}") for action in ACTIONS]
BLOCKS = [said(content=[{"type": "text", "text": render_action(one)}]) for one in ACTIONS]
KINDS = {
    "openai": OPENAI,
    "trl": TRL,
    "responses": RESPONSES,
    "old openai": OLD_OPENAI,
    "anthropic": ANTHROPIC,
    "inspect": INSPECT,
    "verifiers": VERIFIERS,
    "langchain": LANGCHAIN,
    "parallel": PARALLEL,
    "padded": PADDED,
    "text": TEXT,
    "blocks": BLOCKS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_episode_in_any_words_is_the_same_actions(kind: str) -> None:
    assert played(with_screens(KINDS[kind])) == list(ACTIONS)


@pytest.mark.parametrize("dressed", ["{}", "I would do:\n```json\n{}\n```\nThat is all."])
def test_one_reply_with_an_array_is_a_plan(dressed: str) -> None:
    plan = f"[{', '.join(render_action(action) for action in ACTIONS)}]"
    text = dressed.replace("{}", plan)
    assert played(text) == list(ACTIONS)
    assert played([SCREEN, said(content=text)]) == list(ACTIONS)
    assert played([said(content="Hm."), said(content=text)], style="plan") == list(ACTIONS)


def test_a_plan_is_one_reply_of_two_where_text_is_asked_for() -> None:
    text = f"[{render_action(Resolve())}, {render_action(Escalate('dba-team'))}]"
    (action,) = played(text, style=Style.TEXT)
    assert isinstance(action, Malformed)


def test_talk_among_calls_costs_nothing() -> None:
    assert played([said(), *OPENAI, said(content=render_action(Resolve()))]) == list(ACTIONS)


def test_talk_alone_is_malformed_one_step_each() -> None:
    assert [type(one) for one in played([said(), said()])] == [Malformed, Malformed]
    assert played([said(), said()], style="tools") == []


def test_a_call_that_cannot_be_read_is_a_step() -> None:
    broken = [
        said(tool_calls=["escalate"]),
        said(tool_calls=[{"function": {"name": "escalate", "arguments": "{"}}]),
        said(tool_calls=[{"function": "escalate", "arguments": {}, "parse_error": "no JSON"}]),
        said(tool_calls=[{"type": "function"}]),
    ]
    steps = played([*OPENAI[:1], *broken])
    assert [type(one) for one in steps] == [RequestMoreLogs, *[Malformed] * 4]
    reasons = [one.reason for one in steps if isinstance(one, Malformed)]
    assert reasons[0] == "a tool call must be an object"
    assert reasons[1].startswith("arguments are not JSON")
    assert reasons[2] == "no JSON"
    assert reasons[3].startswith("unknown tool without a name")


def test_unknown_tools_are_malformed_unless_they_are_the_harness_s_own() -> None:
    submit = said(tool_calls=[{"function": {"name": "mcp__x__submit", "arguments": "{}"}}])
    assert isinstance(played([submit])[0], Malformed)
    assert played([*OPENAI, submit], other_tools=["submit"]) == list(ACTIONS)


def test_only_what_the_agent_wrote_counts() -> None:
    given = {**said(), "source": "input", "tool_calls": OPENAI[-1]["tool_calls"]}
    result = {"role": "tool", "content": render_action(Resolve())}
    server = said(content=[{"type": "tool_use", "tool_type": "web_search", "name": "resolve"}])
    assert played([given, SCREEN, result, server, *INSPECT]) == list(ACTIONS)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        (7, "expected a list of messages, got a number"),
        ({"role": "assistant"}, "expected a list of messages, got an object"),
        ([said(), "hello"], "[1]: expected an object, got a string"),
        ([said(tool_calls={})], "[0].tool_calls: expected a list, got an object"),
        ([said(content=3)], "[0].content: expected a string or a list, got a number"),
    ],
)
def test_what_is_no_conversation_is_refused_by_field(messages: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        played(messages)
    assert str(caught.value) == message
