"""Actions as tools: one schema, and any call is exactly one action."""

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.conversations.tools import anthropic_tools, call_from_action, openai_tools, tools_of
from logtriage.parsing import action_from_wire, render_action
from logtriage.parsing.calls import wire_from_call
from logtriage.parsing.tools import ALL_TOOLS, TOOLS
from tests.builders import SEVEN_SERVICES

KILL = lt.Remediate("kill-query", "user-db")


def called(name: object, arguments: object = None) -> lt.Action:
    return action_from_wire(wire_from_call(name, arguments), SEVEN_SERVICES)


def reason(name: object, arguments: object = None) -> str:
    action = called(name, arguments)
    assert isinstance(action, lt.Malformed), action
    return action.reason


def test_every_action_survives_being_a_call() -> None:
    for action in (*lt.all_actions(SEVEN_SERVICES), lt.IdentifyRootCause("user-db", 0.25)):
        name, arguments = call_from_action(action)
        assert called(name, arguments) == action
        assert called(name, json.dumps(arguments)) == action


def test_to_act_is_to_take_the_action_that_is_named_in_one_word() -> None:
    for action in lt.all_actions(SEVEN_SERVICES):
        assert called("act", {"action": render_action(action, "word")}) == action
    assert reason("act", {"action": "fix it"}) == "act wants an action in one word"
    assert reason("act") == "act wants an action in one word"
    assert reason("act", {"action": "escalate:me"}).startswith("unknown team 'me'")


def test_a_call_of_every_action_fits_the_schema() -> None:
    for action in (*lt.all_actions(SEVEN_SERVICES), lt.IdentifyRootCause("user-db", 0.25)):
        name, arguments = call_from_action(action)
        schema = TOOLS[name].json_schema()
        assert set(schema["required"]) <= arguments.keys() <= schema["properties"].keys()
        for key, value in arguments.items():
            property_ = schema["properties"][key]
            assert isinstance(value, {"string": str, "number": float}[property_["type"]])
            assert value in property_.get("enum", [value])


def test_schemas_of_the_providers_have_the_same_content() -> None:
    given = lt.make_incident("single_crash-v4/test/531"), tuple(ALL_TOOLS)
    for openai, anthropic in zip(openai_tools(*given), anthropic_tools(*given), strict=True):
        function = openai["function"]
        assert openai["type"] == "function"
        assert anthropic == {
            "name": function["name"],
            "description": function["description"],
            "input_schema": function["parameters"],
        }


@pytest.mark.parametrize("incident_id", ["single_crash-v4/test/531", "tiny:outage/test/0"])
def test_the_remedies_on_offer_are_those_of_the_incidents_world(incident_id: str) -> None:
    incident = lt.make_incident(incident_id)
    tool = next(one for one in tools_of(incident) if one.name == "remediate")
    assert tool.json_schema()["properties"]["remedy"]["enum"] == [*world_of(incident)]
    assert f"(choices: {json.dumps(world_of(incident))})" in tool.docstring()


def world_of(incident: lt.Incident) -> tuple[str, ...]:
    assert incident.world is not None
    return incident.world.rules.remedies


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("remediate", {"remedy": "kill-query", "service": "user-db"}, KILL),
        ("remediate", {"value": "kill-query:user-db"}, KILL),
        ("remediate", {"value": "kill-query:user-db", "remedy": None, "service": None}, KILL),
        ("escalate", {"value": "dba-team"}, lt.Escalate("dba-team")),
        ("escalate", {"team": "dba-team", "why": "it is a database"}, lt.Escalate("dba-team")),
        ("mcp__logtriage__escalate", {"team": "dba-team"}, lt.Escalate("dba-team")),
        ("functions.escalate", {"team": "dba-team"}, lt.Escalate("dba-team")),
        ("resolve", "", lt.Resolve()),
        ("resolve", None, lt.Resolve()),
        ("resolve", "{}", lt.Resolve()),
        ("ignore", {"value": "noise"}, lt.Ignore()),
        ("request_more_logs", {}, lt.RequestMoreLogs(None)),
        ("request_more_logs", {"service": "all"}, lt.RequestMoreLogs(None)),
        ("request_more_logs", {"service": None}, lt.RequestMoreLogs(None)),
        ("request_more_logs", {"service": math.nan}, lt.RequestMoreLogs(None)),
        ("request_more_logs", math.nan, lt.RequestMoreLogs(None)),
        (
            "identify_root_cause",
            {"service": "user-db", "confidence": math.nan, "team": None},
            lt.IdentifyRootCause("user-db"),
        ),
        ("escalate", '"{\\"team\\": \\"dba-team\\"}"', lt.Escalate("dba-team")),
        ("resolve", '""', lt.Resolve()),
        ("a:b/c.d__escalate", {"team": "dba-team"}, lt.Escalate("dba-team")),
        ("step", {"action_type": "remediate", "value": "kill-query:user-db"}, KILL),
    ],
)
def test_calls_that_are_understood(name: str, arguments: Any, action: lt.Action) -> None:
    assert called(name, arguments) == action


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("submit", {"answer": "done"}, "unknown tool 'submit'; one of: classify_severity, "),
        (None, {}, "unknown tool without a name; one of: "),
        (["escalate"], {}, "unknown tool without a name; one of: "),
        ("Escalate", {"team": "dba-team"}, "unknown tool 'Escalate'; "),
        ("escalate", "{'team': 'dba-team'}", "arguments are not JSON: "),
        ("escalate", '["dba-team"]', "arguments must be an object, got a list"),
        ("escalate", '"dba-team"', "arguments must be an object, got a string"),
        ("escalate", '"\\"{}\\""', "arguments must be an object, got a string"),
        ("escalate", ["dba-team"], "arguments must be an object, got a list"),
        ("escalate", "[" * 100_000, "arguments nested too deeply"),
        ("escalate", "x" * 200_001, "arguments of 200001 characters; at most 200000 "),
        ("escalate", {}, "no team; one of: sre-team, "),
        ("escalate", {"name": "dba-team"}, "escalate wants team, got 'name'"),
        ("classify_fault", {"fault_class": "code"}, "classify_fault wants fault_category, got 'fa"),
        ("escalate", {"team": "dba"}, "unknown team 'dba'; one of: sre-team, "),
        ("escalate", {"team": 7}, "value of escalate must be a string, got 7"),
        ("remediate", {"remedy": "restart"}, "remediate wants the strings remedy and service"),
        ("remediate", {"remedy": "restart", "service": 3}, "remediate wants the strings "),
        ("remediate", {"remedy": "reboot", "service": "user-db"}, "unknown remedy 'reboot'; "),
        ("classify_severity", {"severity": "P4"}, "unknown severity 'P4'; one of: P1, P2, P3"),
        (
            "identify_root_cause",
            {"service": "user-db", "confidence": "high"},
            "confidence must be a number in [0, 1], got 'high'",
        ),
    ],
)
def test_what_cannot_be_read_is_malformed_with_the_reason(
    name: object, arguments: Any, expected: str
) -> None:
    assert reason(name, arguments).startswith(expected)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
NAMES = st.sampled_from([*TOOLS, "submit", "", "__escalate"]) | st.text(max_size=8) | st.none()
FIELDS = st.sampled_from(
    ["service", "team", "remedy", "severity", "confidence", "value", "action_type"]
)
VALUES = st.sampled_from([*SEVEN_SERVICES.names, *SEVEN_SERVICES.teams, "restart", "P1"])


@given(NAMES, ANYTHING | st.dictionaries(FIELDS, VALUES | ANYTHING, max_size=4))
@example("escalate", {"team": {"a": object()}})
@example("escalate", {1: 2})
def test_any_call_is_exactly_one_action(name: object, arguments: Any) -> None:
    wire = wire_from_call(name, arguments)
    assert isinstance(action_from_wire(wire, SEVEN_SERVICES), lt.Action)
