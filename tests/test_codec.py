"""JSON at the edge: each wrong field is named, and nothing that came in is lost."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from logtriage import InvalidInput, Transcript
from logtriage.actions import ACTION_TYPES
from logtriage.codec import (
    decode_transcript,
    encode_transcript,
    load_topology,
    role_split_from_json,
    role_split_to_json,
    structure_transcript,
    topology_from_json,
    topology_to_json,
    truth_to_json,
    unstructure_transcript,
)
from logtriage.errors import TopologyError, TranscriptError
from logtriage.roles.splits import get_role_split
from tests.builders import SEVEN_SERVICES, benign_incident, real_incident

GOOD: dict[str, Any] = {
    "schema": "logtriage.transcript/1", "incident": "single_crash-v4/test/0",
    "actions": [{"action_type": "resolve"}], "status": "completed", "agent": "me",
}  # fmt: skip


def changed(**changes: Any) -> dict[str, Any]:
    return {**GOOD, **changes}


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name != key}


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("schema", without("schema")),
        ("status", without("status")),
        ("status", changed(status=None)),
        ("agent", without("agent")),
        ("agent", changed(agent=None)),
    ],
)
def test_these_keys_may_be_left_out(key: str, raw: dict[str, Any]) -> None:
    transcript = structure_transcript(raw)
    assert transcript.status == "completed"
    assert transcript.agent == (None if key == "agent" else "me")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([], "expected a JSON object, got a list"),
        ("x", "expected a JSON object, got a string"),
        (None, "expected a JSON object, got nothing"),
        ({}, "incident: expected an incident id, got nothing"),
        (changed(schema="logtriage.transcript/2"),
         "schema: expected 'logtriage.transcript/1', got 'logtriage.transcript/2'"),
        (without("incident"), "incident: expected an incident id, got nothing; "
         "the keys are 'schema', 'actions', 'status', 'agent'"),
        (changed(incident=7), "incident: expected an incident id, got a number"),
        (without("actions"), "actions: expected a list of wire actions, got nothing"),
        (changed(actions={}), "actions: expected a list of wire actions, got an object"),
        (changed(actions=["resolve"]), "actions[0]: expected an object, got a string"),
        (changed(actions=[{}, {}, [{}]]), "actions[2]: expected an object, got a list"),
        (changed(status=False), "status: expected a string, got a boolean"),
        (changed(agent={}), "agent: expected a string, got an object"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(raw: Any, message: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        structure_transcript(raw)
    assert str(caught.value) == message
    with pytest.raises(TranscriptError) as caught:
        decode_transcript(json.dumps(raw))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: "),
        ("{", "not JSON: "),
        ('{"incident": "x",}', "not JSON: "),
        ("{'incident': 'x'}", "not JSON: "),
        (json.dumps(GOOD) + json.dumps(GOOD), "not JSON: Extra data"),
        ("[" * 100_000, "JSON nested too deeply"),
        ('{"a":' * 100_000, "JSON nested too deeply"),
        ("9" * 5_000, "not JSON: "),
        (b'{"incident": "\xff"}', "not UTF-8: invalid start byte at byte 14"),
        (b"\x80", "not UTF-8: "),
    ],
    ids=["empty", "cut", "comma", "python", "two", "lists", "objects", "digits", "byte", "start"],
)
def test_what_is_not_json_is_said_to_be_so(text: str | bytes, message: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        decode_transcript(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("kind", [str, bytes])
def test_a_byte_order_mark_comes_before_the_json(kind: type) -> None:
    """Editors of Windows write one; it says nothing."""

    def marked(data: object) -> str | bytes:
        text = "\ufeff" + json.dumps(data)
        return text if kind is str else text.encode()

    assert decode_transcript(marked(GOOD)) == decode_transcript(json.dumps(GOOD))
    assert topology_from_json(marked(topology_to_json(SEVEN_SERVICES))) == SEVEN_SERVICES
    split = role_split_to_json(get_role_split("trio"))
    assert role_split_from_json(marked(split)) == get_role_split("trio")
    with pytest.raises(TranscriptError, match="not JSON"):
        decode_transcript("\ufeff\ufeff{}")


@pytest.mark.parametrize("key", ["schema", "incident", "actions", "status", "agent", "other"])
def test_nesting_of_any_depth_is_read_or_refused(key: str) -> None:
    for depth in (*range(900, 1_050), 5_000):
        text = json.dumps(without(key))[:-1] + f', "{key}": {"[" * depth}{"]" * depth}}}'
        try:
            decode_transcript(text)
        except TranscriptError as error:
            assert len(str(error)) < 300  # noqa: PT017


def test_unknown_keys_and_actions_are_kept_as_they_were_written() -> None:
    extra = {"run": 7, "notes": {"deep": [1, None, "é"]}, "": 0, "Incident": "x"}
    actions = [
        {"action_type": "resolve", "reasoning": "done", "confidence": None},
        {"action_type": "nonsense", "value": [1]},
        {},
    ]
    raw = changed(actions=actions, **extra)
    transcript = structure_transcript(raw)
    assert dict(transcript.extra) == extra
    assert unstructure_transcript(transcript) == raw
    assert json.loads(encode_transcript(transcript)) == raw


def test_an_extra_key_cannot_take_the_place_of_a_field() -> None:
    transcript = Transcript("x", (), extra={"incident": "y", "status": "lost"})
    raw = unstructure_transcript(transcript)
    assert (raw["incident"], raw["status"]) == ("x", "completed")


def test_the_truth_on_the_wire() -> None:
    data = truth_to_json(real_incident())
    assert data.pop("topology") == topology_to_json(SEVEN_SERVICES)
    assert data == {
        "id": "hand-made/test/0", "task": "hand-made", "horizon": 12, "benign": False,
        "fault": {"kind": "slow_query", "service": "user-db"}, "severity": "P1",
        "root_causes": ["user-db"], "teams": ["dba-team"], "remedies": ["kill-query:user-db"],
    }  # fmt: skip


def test_a_benign_truth_on_the_wire() -> None:
    data = truth_to_json(benign_incident())
    assert (data["benign"], data["fault"], data["severity"]) == (True, None, "P3")
    assert data["root_causes"] == data["teams"] == data["remedies"] == []


TOPOLOGY: dict[str, Any] = {
    "name": "t", "teams": ["sre-team", "security-team"],
    "services": [{"name": "a", "tier": "edge", "owner": "sre-team", "calls": ["b"]},
                 {"name": "b", "tier": "service", "owner": "sre-team"}],
    "tiers": [{"name": "edge", "entry": True}, {"name": "service"}], "remedies": ["restart"],
    "paged": {"capacity": "sre-team"},
}  # fmt: skip


def setting(path: str, *value: Any) -> Callable[[dict[str, Any]], None]:
    """Set the field at a path; without a value, delete it."""

    def change(data: dict[str, Any]) -> None:
        *parents, last = (int(step) if step.isdigit() else step for step in path.split("."))
        place: Any = data
        for step in parents:
            place = place[step]
        if value:
            (place[last],) = value
        else:
            del place[last]

    return change


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (setting("name"), ["required field 'name' is missing"]),
        (setting("services.0.tier"), ["required field 'tier' is missing", "services[0]"]),
        (setting("name", 5), ["expected a string, got a number", "$.name"]),
        (setting("name", None), ["expected a string, got nothing", "$.name"]),
        (setting("teams", "sre-team"), ["expected a list, got a string", "$.teams"]),
        (setting("teams", [1]), ["expected a string, got a number 1", "$.teams[0]"]),
        (setting("services", 5), ["$.services"]),
        (setting("services", ["a"]), ["expected an object", "services[0]"]),
        (setting("services.1.owner", 3), ["expected a string, got a number", "services[1].owner"]),
        (setting("services.0.calls", "b"), ["expected a list, got a string", "services[0].calls"]),
        (setting("paged", ["sre-team"]), ["expected an object: a team by class", "$.paged"]),
        (setting("paged.capacity", 7), ["expected an object: a team by class", "$.paged"]),
        (setting("colour", "red"), ["unknown field colour; known: name, "]),
        (setting("services.0.calls", ["zz"]), ["service 'a'", "calls: unknown service 'zz'"]),
    ],
)
def test_a_wrong_field_of_a_topology_is_named(
    change: Callable[[dict[str, Any]], None], messages: list[str]
) -> None:
    check_named(topology_from_json, TOPOLOGY, change, messages, TopologyError)


def check_named(
    read: Callable[..., object],
    right: dict[str, Any],
    change: Callable[[dict[str, Any]], None],
    messages: list[str],
    error: type[InvalidInput],
) -> None:
    """Decoded JSON and text are refused alike, naming the source and the field."""
    data = deepcopy(right)
    change(data)
    for given in (data, json.dumps(data)):
        with pytest.raises(error) as caught:
            read(given, "mine.json")
        assert str(caught.value).startswith("mine.json: ")
        for message in messages:
            assert message in str(caught.value)


@pytest.mark.parametrize(
    ("read", "error"), [(topology_from_json, TopologyError), (role_split_from_json, InvalidInput)]
)
@pytest.mark.parametrize(
    "text",
    ["", "[]", "5", "null", '"x"', "{", b"\xff\xfe\xff", "[" * 100_000, "9" * 5_000, "NaN"],
    ids=["empty", "list", "number", "null", "string", "cut", "bytes", "deep", "digits", "nan"],
)
def test_what_is_no_json_object_is_refused(
    text: str | bytes, read: Callable[..., object], error: type[InvalidInput]
) -> None:
    with pytest.raises(
        error, match=r"^mine\.json: (not JSON|not UTF-8|JSON nested|expected a JSON object)"
    ):
        read(text, "mine.json")


def test_a_topology_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(topology_to_json(SEVEN_SERVICES)), encoding="utf-8")
    assert load_topology(path) == load_topology(str(path)) == SEVEN_SERVICES
    path.write_text(json.dumps({**TOPOLOGY, "services": []}), encoding="utf-8")
    with pytest.raises(TopologyError) as caught:
        load_topology(path)
    assert str(caught.value) == f"{path}: topology 't': no services @ $"
    with pytest.raises(FileNotFoundError):
        load_topology(tmp_path / "none.json")


SPLIT: dict[str, Any] = {
    "name": "pair",
    "roles": [
        {"name": "reader", "views": ["window", "alerts"], "may": ["identify_root_cause", "wait"]},
        {
            "name": "doer",
            "views": [],
            "may": [kind for kind in ACTION_TYPES if kind != "identify_root_cause"],
        },
    ],
}


def test_settings_of_roles_are_written_where_they_are_not_the_usual_ones() -> None:
    data = role_split_to_json(role_split_from_json(SPLIT))
    assert all(role.keys() == {"name", "views", "may"} for role in data["roles"])
    data["roles"][0] |= {"watches": ["edge"], "words": ["kinds", "ask b"], "budget": 3}
    data["roles"][1] |= {"delay": 2, "loss": 10}
    split = role_split_from_json(data)
    assert (split.roles[0].budget, split.roles[1].loss) == (3, 10)
    assert role_split_to_json(split) == data
    for field, value in (("delay", "2"), ("loss", 1.5), ("budget", True), ("watches", "edge")):
        wrong = deepcopy(data)
        wrong["roles"][0][field] = value
        with pytest.raises(InvalidInput, match=rf"expected a .*\$\.roles\[0\]\.{field}"):
            role_split_from_json(wrong)


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (setting("name"), ["required field 'name' is missing"]),
        (setting("roles.0.may"), ["required field 'may' is missing", "roles[0]"]),
        (setting("name", 5), ["expected a string, got a number", "$.name"]),
        (setting("roles", 5), ["expected a list", "$.roles"]),
        (setting("roles", []), ["'pair' has no roles"]),
        (setting("roles.1", "doer"), ["expected an object", "roles[1]"]),
        (setting("roles.0.views", "slo"), ["expected a list, got a string", "roles[0].views"]),
        (setting("roles.0.may", [1]), ["expected a string, got a number 1", "roles[0].may[0]"]),
        (setting("roles.0.views", ["truth"]), ["unknown view 'truth'; known: alerts", "roles[0]"]),
        (setting("roles.0.may", ["fix"]), ["unknown action type 'fix'; known: clas", "roles[0]"]),
        (setting("roles.0.may", []), ["'reader' may do nothing"]),
        (setting("roles.0.may", ["wait"]), ["no role may 'identify_root_cause'"]),
        (setting("roles.0.name", "On Call"), ["role 'On Call': expected a name of", "roles[0]"]),
        (setting("name", "trio"), ["'trio' is a built-in split; choose another"]),
        (setting("roles.1.sees", []), ["unknown field sees; known: name, views", "roles[1]"]),
    ],
)
def test_a_wrong_field_of_a_role_split_is_named(
    change: Callable[[dict[str, Any]], None], messages: list[str]
) -> None:
    check_named(role_split_from_json, SPLIT, change, messages, InvalidInput)
