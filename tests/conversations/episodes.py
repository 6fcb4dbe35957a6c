"""One episode worth 1, in the shapes in which other tools keep conversations."""

import json
from collections.abc import Callable
from typing import Any, Final

import logtriage as lt
from logtriage.adapters.episode import Episode
from logtriage.conversations.tools import call_from_action

INCIDENT: Final = "cascading_failure-v4/test/246"
ACTIONS: Final = (
    lt.RequestMetrics("user-db"),
    lt.Escalate("sre-team"),
    lt.ClassifySeverity("P1"),
    lt.IdentifyRootCause("user-db"),
    lt.Remediate("scale", "user-db"),
    lt.Resolve(),
)
CALLS: Final = [call_from_action(action) for action in ACTIONS]

Row = dict[str, Any]
Messages = list[dict[str, Any]]


def _screens() -> tuple[str, str, list[str]]:
    """The rules, the first screen, and the answer to each call."""
    episode = Episode(lt.make_incident(INCIDENT))
    rules, first = (message["content"] for message in episode.prompt)
    answers = [
        episode.step({"role": "assistant", "tool_calls": [{"name": name, "arguments": given}]}).text
        for name, given in CALLS
    ]
    return rules, first, answers


RULES, FIRST, ANSWERS = _screens()
PROMPT: Final[Messages] = [{"role": "system", "content": RULES}, {"role": "user", "content": FIRST}]


def each(turn: Callable[[int, str, dict[str, Any], str], list[Any]]) -> list[Any]:
    """What ``turn`` makes of each call: its number, name, arguments and answer."""
    steps = enumerate(zip(CALLS, ANSWERS, strict=True))
    return [item for n, ((name, given), shown) in steps for item in turn(n, name, given, shown)]


def openai_turn(n: int, name: str, given: dict[str, Any], shown: str) -> Messages:
    function = {"name": name, "arguments": json.dumps(given)}
    calls = [{"id": f"call_{n}", "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": f"call_{n}", "content": shown},
    ]


def openai(**fields: Any) -> Row:
    """The row that most others are made of: OpenAI's messages, two for each call."""
    return {"incident": INCIDENT, "messages": [*PROMPT, *each(openai_turn)], **fields}


def in_text(write: Callable[[str, dict[str, Any]], str]) -> Row:
    """A row in which each call stands in the text of a reply."""

    def turn(n: int, name: str, given: dict[str, Any], shown: str) -> Messages:
        del n
        return [
            {"role": "assistant", "content": write(name, given)},
            {"role": "user", "content": shown},
        ]

    return {"incident": INCIDENT, "messages": [*PROMPT, *each(turn)]}
