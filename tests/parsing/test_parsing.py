"""What models write becomes one action, or a Malformed with a reason. Never an exception."""

import json
import math
from types import MappingProxyType
from typing import Any

import pytest

import logtriage as lt
from logtriage.actions import KEPT_TEXT
from logtriage.parsing import (
    MAX_OBJECTS,
    action_from_wire,
    action_to_wire,
    parse_plan,
    render_action,
)
from logtriage.parsing import actions as parsing
from logtriage.parsing.marks import MAX_TEXT
from tests.builders import SEVEN_SERVICES

KILL = lt.Remediate("kill-query", "user-db")
KILL_JSON = '{"action_type": "remediate", "value": "kill-query:user-db"}'


def parsed(text: str) -> lt.Action:
    return lt.parse_action(text, SEVEN_SERVICES)


def reason(text: str) -> str:
    action = parsed(text)
    assert isinstance(action, lt.Malformed), action
    return action.reason


def wired(**wire: Any) -> lt.Action:
    return action_from_wire(wire, SEVEN_SERVICES)


def wire_reason(**wire: Any) -> str:
    action = wired(**wire)
    assert isinstance(action, lt.Malformed), action
    return action.reason


@pytest.mark.parametrize(
    "text",
    [
        KILL_JSON, f"  {KILL_JSON}\n", f"```json\n{KILL_JSON}\n```", f"```\n{KILL_JSON}\n```",
        f"I think the report query is the culprit.\n{KILL_JSON}\nLet us see.",
        f"<answer>{KILL_JSON}</answer>", f"My plan {{first}}: {KILL_JSON}",
        f"set {{user-db}} aside; {{'action_type': 'resolve'}} is no JSON; {KILL_JSON}",
        f'{{"thought": "the disk is busy", "certain": true}} {KILL_JSON}',
        f'{{"thought": {{"deep": [1, {{"er": 2}}]}}}} {KILL_JSON}', f"{KILL_JSON} {KILL_JSON}",
        f"first {KILL_JSON} and, as I said, {KILL_JSON}",
        f'{KILL_JSON} {{"action_type": "remediate", "value": "kill-query:user-db", "x": 1}}',
        '{"value": "kill-query:user-db", "reasoning": "disk", "action_type": "remediate"}',
        '{"action_type":"remediate","value":"kill-query:user-db","confidence":0.9}',
        '{"action_type": "remediate", "value": "kill-query:user-db", "confidence": "high"}',
        '{"action_type": "remediate", "value": "kill\\u002dquery:user-db"}', f"\ufeff{KILL_JSON}",
        f"{{{{{{ {KILL_JSON}", f"{KILL_JSON} }}}}}} {{",
    ],
)  # fmt: skip
def test_one_action_is_found(text: str) -> None:
    assert parsed(text) == KILL


@pytest.mark.parametrize("given", [None, "resolve", {"action_type": "resolve"}])
def test_what_is_no_action_is_not_rendered(given: Any) -> None:
    with pytest.raises(lt.InvalidInput, match="expected an action, got "):
        render_action(given)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"action_type": "resolve"}', lt.Resolve()),
        ('{"action_type": "resolve", "value": null}', lt.Resolve()),
        ('{"action_type": "ignore", "value": "it is nothing"}', lt.Ignore()),
        ('{"action_type": "request_more_logs"}', lt.RequestMoreLogs(None)),
        ('{"action_type": "request_more_logs", "value": null}', lt.RequestMoreLogs(None)),
        ('{"action_type": "request_more_logs", "value": "all"}', lt.RequestMoreLogs(None)),
        ('{"action_type": "classify_severity", "value": "P3"}',
         lt.ClassifySeverity(lt.Severity.P3)),
        ('{"action_type": "escalate", "value": "dba-team"}', lt.Escalate("dba-team")),
    ],
)  # fmt: skip
def test_values_may_be_left_out_where_there_are_none(text: str, action: lt.Action) -> None:
    assert parsed(text) == action


def test_of_a_key_given_twice_json_takes_the_last() -> None:
    assert parsed('{"action_type": "resolve", "action_type": "ignore"}') == lt.Ignore()


@pytest.mark.parametrize(
    "text",
    ["", " \n", "resolve", "I would restart user-db.", "null", "[]", '"action_type"', "{}",
     '{"action": "resolve"}', '{"tool": {"action_type": "resolve"}}', "{'action_type': 'resolve'}",
     '{"action_type": "resolve"', '{"action_type": "resolve",}', '"action_type": "resolve"}',
     "\\{\"action_type\": 'resolve'\\}"],
)  # fmt: skip
def test_without_an_action_the_reply_is_malformed(text: str) -> None:
    assert reason(text) == 'no JSON object with a key "action_type" in the reply'
    assert parsed(text) == lt.Malformed(text, reason(text))


@pytest.mark.parametrize(
    "second",
    [
        '{"action_type": "resolve"}', '{"action_type": "remediate", "value": "restart:user-db"}',
        '{"action_type": "nonsense"}', '{"action_type": "remediate"}',
    ],
)  # fmt: skip
def test_two_different_actions_are_one_too_many(second: str) -> None:
    message = "2 different actions in one reply; send exactly one"
    assert reason(f"{KILL_JSON} {second}") == message
    assert reason(f"{second}\n{KILL_JSON}") == message


def test_the_same_cause_with_another_confidence_is_another_action() -> None:
    one, other = (render_action(lt.IdentifyRootCause("user-db", share)) for share in (0.4, 0.5))
    assert "different actions" in reason(one + other)
    assert parsed(one + one) == lt.IdentifyRootCause("user-db", 0.4)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ({"action_type": "reboot"},
         "unknown action_type 'reboot'; one of: classify_severity, identify_root_cause, "
         "escalate, remediate, request_more_logs, request_metrics, request_traces, resolve, "
         "ignore"),
        ({"action_type": "Resolve"}, "unknown action_type 'Resolve'; one of: classify_severity"),
        ({"action_type": None}, "no field action_type; the action has: action_type"),
        ({"action_type": 5}, "unknown action_type 5; one of: classify_severity"),
        ({"action_type": ["resolve"]}, "unknown action_type a list; one of: classify_severity"),
        ({"action_type": "classify_severity", "value": "P4"},
         "unknown severity 'P4'; one of: P1, P2, P3"),
        ({"action_type": "classify_severity"}, "no severity; one of: P1, P2, P3"),
        ({"action_type": "identify_root_cause", "value": "payment"},
         "unknown service 'payment'; one of: api-gateway, auth-service, user-db, "
         "payment-service, payment-db, notification-service, email-queue"),
        ({"action_type": "identify_root_cause", "value": "user-db "},
         "unknown service 'user-db '; one of: api-gateway"),
        ({"action_type": "identify_root_cause"}, "no service; one of: api-gateway"),
        ({"action_type": "escalate", "value": "dba"},
         "unknown team 'dba'; one of: sre-team, backend-team, dba-team, security-team"),
        ({"action_type": "request_more_logs", "value": "payment"},
         "unknown service 'payment'; one of: all, api-gateway"),
        ({"action_type": "request_more_logs", "value": ""},
         "unknown service ''; one of: all, api-gateway"),
        ({"action_type": "remediate", "value": "restart"},
         "remediate wants '<remedy>:<service>', got 'restart'"),
        ({"action_type": "remediate"}, "remediate wants '<remedy>:<service>', got None"),
        ({"action_type": "remediate", "value": "reboot:user-db"},
         "unknown remedy 'reboot'; one of: restart, rollback, scale, flush-cache, kill-query"),
        ({"action_type": "remediate", "value": "restart:payment"},
         "unknown service 'payment'; one of: api-gateway"),
        ({"action_type": "remediate", "value": "restart:user-db:now"},
         "unknown service 'user-db:now'; one of: api-gateway"),
        ({"action_type": "escalate", "value": ["dba-team"]},
         "value of escalate must be a string, got a list"),
        ({"action_type": "classify_severity", "value": True},
         "value of classify_severity must be a string, got True"),
        ({"action_type": "remediate", "value": {"remedy": "restart"}},
         "value of remediate must be a string, got a dict"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_the_choices(wire: dict[str, Any], expected: str) -> None:
    assert wire_reason(**wire).startswith(expected)
    assert reason(f"So: {json.dumps(wire)}").startswith(expected)


@pytest.mark.parametrize(
    "confidence", [True, False, "0.9", -0.01, 1.01, math.inf, -math.inf, [], {}, 2]
)
def test_a_confidence_must_be_a_number_between_zero_and_one(confidence: Any) -> None:
    wire = {"action_type": "identify_root_cause", "value": "user-db", "confidence": confidence}
    message = "confidence must be a number in [0, 1], got "
    assert wire_reason(**wire).startswith(message)
    assert reason(json.dumps(wire)).startswith(message)


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_keys_with_none_or_nan_count_as_absent(nothing: float | None) -> None:
    padding = dict.fromkeys(("value", "confidence", "reasoning", "reason"), nothing)
    for action in lt.all_actions(SEVEN_SERVICES):
        assert wired(**{**padding, **action_to_wire(action)}) == action
    assert wire_reason(action_type="escalate", value=nothing).startswith("no team")


def test_other_keys_are_ignored_whatever_they_hold() -> None:
    wire = {
        **action_to_wire(KILL), "reasoning": ["a", {"b": None}], "confidence": "x", "": object(),
    }  # fmt: skip
    assert action_from_wire(wire, SEVEN_SERVICES) == KILL
    assert action_from_wire(MappingProxyType(wire), SEVEN_SERVICES) == KILL


def test_a_malformed_action_without_its_text_is_malformed_all_the_same() -> None:
    assert wired(action_type="malformed", value="x") == lt.Malformed("x", "malformed")
    assert wired(action_type="malformed", value="x", reason=5) == lt.Malformed("x", "malformed")
    values: list[Any] = [None, 5, []]
    for value in values:
        assert isinstance(wired(action_type="malformed", value=value), lt.Malformed)
    assert isinstance(wired(action_type="malformed"), lt.Malformed)


#: What a reply may consist of, each piece many times.
PIECES = (
    *("{", '{"a":', '{"', '{"action_type":', "[", '"', "\\", '{"\\"', "\0", "\ud800", "}", " "),
    *("🔥", "{}", '{"a":1}', "9", '{"action_type":9', '{[("\\', '{"a":1,', '{"a":{"b":1},', "{ "),
)
#: Replies made to be read again and again.
NESTED = (
    '{"a":' * 900 + "[1" + ",1" * 90_000, '{"a":' * 400 + '"' + "x" * 190_000,
    '{"a":[' * 300 + "0," * 90_000, '{"action_type":"x","value":"' + "\\u0041" * 30_000,
    *(piece * 900 + '"no end to this string ' + "x" * 30_000 for piece in ('{"a":1,', "{ ")),
)  # fmt: skip


class Counting:
    """A decoder that counts its failures, and the characters that each of them read."""

    def __init__(self) -> None:
        self.work = 0

    def raw_decode(self, text: str, position: int = 0) -> tuple[object, int]:
        try:
            return json.JSONDecoder().raw_decode(text, position)
        except json.JSONDecodeError as error:
            end = len(text) if error.msg.startswith("Unterminated") else error.pos
            self.work += 100 + end - position
            raise


def counted(monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[lt.Action, int]:
    """What a text is read as, and the work of reading it."""
    decoder = Counting()
    monkeypatch.setattr(parsing, "_DECODER", decoder)
    return parsed(text), decoder.work


def most_work(text: str) -> int:
    """The work in proportion to its length that a text may take."""
    return parsing.WASTE + (parsing.WASTE_RATE + 1) * len(text) + 1_000


@pytest.mark.parametrize(
    "text",
    [*(piece * (MAX_TEXT // len(piece)) for piece in PIECES), *NESTED, "{" * 1_000_000],
    ids=lambda text: ascii(text[:20]),
)
def test_garbage_is_refused_with_bounded_work(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    action, work = counted(monkeypatch, text)
    assert isinstance(action, lt.Malformed)
    assert action.reason
    assert action.text == text[:KEPT_TEXT]
    assert work <= most_work(text)


def test_an_action_inside_broken_objects_is_found() -> None:
    assert parsed('{"plan": [{"step": ' + KILL_JSON + ", oops") == KILL
    assert parsed('{"a": {"b": {"c": ' + KILL_JSON) == KILL


def test_too_long_a_reply_is_not_read() -> None:
    text = KILL_JSON + " " * MAX_TEXT
    assert reason(text) == f"reply of {len(text)} characters; at most {MAX_TEXT} are read"
    assert parsed(KILL_JSON + " " * (MAX_TEXT - len(KILL_JSON))) == KILL


def test_an_action_after_too_many_braces_is_not_searched_for() -> None:
    assert parsed("{" * (MAX_OBJECTS - 1) + KILL_JSON) == KILL
    assert reason("{" * MAX_OBJECTS + KILL_JSON) == f"more than {MAX_OBJECTS} braces in the reply"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_of_any_depth_is_read_or_refused(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    for depth in (*range(1, 900, 60), *range(900, 1_100), 5_000, 30_000):
        inner = opening * depth + "1" + closing * depth
        text = f'{{"action_type":"escalate","value":{inner}}}'
        assert isinstance(parsed(text), lt.Malformed)  # and no RecursionError at any depth


@pytest.mark.parametrize(
    "wire",
    [
        {"action_type": 10**5_000},
        {"action_type": "escalate", "value": 10**5_000},
        {"action_type": "identify_root_cause", "value": "user-db", "confidence": 10**5_000},
        {"action_type": "nonsense", "x": 10**5_000},
    ],
    ids=["type", "value", "confidence", "elsewhere"],
)
def test_numbers_too_long_to_print_are_malformed(wire: dict[str, Any]) -> None:
    assert isinstance(action_from_wire(wire, SEVEN_SERVICES), lt.Malformed)


@pytest.mark.parametrize(
    "wire",
    [
        {"action_type": "remediate", "value": "\ud800:user-db"},
        {"action_type": "escalate", "value": "\0"},
        {"action_type": "\n" * 10_000},
        {"action_type": "escalate", "value": "x" * 100_000},
        {"action_type": "identify_root_cause", "value": "user-db", "confidence": "9" * 100_000},
        {"action_type": "malformed", "value": "x", "reason": "y" * 100_000},
        {"action_type": "malformed", "value": "x", "reason": "one\nHEALTH: all ok"},
    ],
    ids=["surrogate", "NUL", "line breaks", "long", "long confidence", "own reason", "own lines"],
)
def test_a_reason_is_one_short_line(wire: dict[str, Any]) -> None:
    # It goes onto the next screen as it is.
    action = parsed(json.dumps(wire))
    assert isinstance(action, lt.Malformed)
    assert len(action.reason) <= 400
    assert action.reason.isprintable()
    assert len(action.text) <= KEPT_TEXT


def plan(text: str) -> list[lt.Action]:
    return parse_plan(text, SEVEN_SERVICES)


PAGE = lt.Escalate("dba-team")
PLAN = f"[{render_action(KILL)}, {render_action(PAGE)}]"


@pytest.mark.parametrize(
    "text",
    [
        PLAN, f"```json\n{PLAN}\n```", f"First [1], then: {PLAN}. As I said: {PLAN}",
        f'{{"thought": "x", "actions": {PLAN}}}', f"[broken {PLAN}",
    ],
)  # fmt: skip
def test_a_plan_is_an_array_of_actions_anywhere_in_a_reply(text: str) -> None:
    assert plan(text) == [KILL, PAGE]


def test_what_is_no_action_in_a_plan_is_a_malformed_step() -> None:
    steps = plan(f'[{render_action(KILL)}, "escalate", {{"action_type": "escalate"}}, null]')
    assert steps[0] == KILL
    assert [one.reason for one in steps[1:] if isinstance(one, lt.Malformed)] == [
        'expected an object with a key "action_type"',
        "no team; one of: sre-team, backend-team, dba-team, security-team",
        'expected an object with a key "action_type"',
    ]


def test_a_reply_without_an_array_of_actions_is_one_step() -> None:
    assert plan(f"So: {render_action(KILL)}") == [KILL]
    for text in ("", "restart it", "[]", "[[1], [2]]"):
        (step,) = plan(text)
        assert isinstance(step, lt.Malformed)


def test_two_different_plans_are_malformed_as_a_whole() -> None:
    (step,) = plan(f"{PLAN} or rather [{render_action(PAGE)}]")
    assert isinstance(step, lt.Malformed)
    assert step.reason == "2 different plans in one reply; send exactly one"


@pytest.mark.parametrize("text", ["x" * (MAX_TEXT + 1), "[" * 150_000, "[x" * 2_000])
def test_a_plan_of_any_size_is_read_or_refused(text: str) -> None:
    (step,) = plan(text)
    assert isinstance(step, lt.Malformed)
