"""Rows and files of other frameworks become transcripts."""

import io
import json
import math
from pathlib import Path
from typing import Any

import attrs
import pytest

from logtriage import make_incident
from logtriage.adapters.episode import opening
from logtriage.codec import unstructure_transcript
from logtriage.conversations.convert import convert_file, transcript_of_row
from logtriage.errors import LogTriageError, TranscriptError, UnknownName
from logtriage.evaluation.usage import Usage
from logtriage.grading import grade_transcript
from logtriage.transcript import Transcript

INCIDENT = "single_crash-v4/test/531"
RESOLVE = {"action_type": "resolve"}
CALL = {"id": "c", "type": "function", "function": {"name": "resolve", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "An incident."},
    {"role": "assistant", "tool_calls": [CALL]},
]


def row(**others: Any) -> dict[str, Any]:
    return {"incident": INCIDENT, "messages": MESSAGES, **others}


def node(parent: int | None, name: str, **others: Any) -> dict[str, Any]:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "name": name, "arguments": ""}]}
    return {"parent": parent, "message": message, "sampled": True, **others}


def test_a_transcript_passes_through() -> None:
    wire = {"incident": INCIDENT, "actions": [RESOLVE], "status": "lost", "agent": "me", "run": 7}
    transcript = transcript_of_row(wire)
    assert unstructure_transcript(transcript) == {**wire, "schema": "logtriage.transcript/1"}


@pytest.mark.parametrize(
    "place",
    [
        {"incident": INCIDENT},
        {"incident_id": INCIDENT, "incident": None},
        {"incident_id": INCIDENT, "incident": math.nan},
        {"metadata": {"incident": INCIDENT}},
        {"info": {"incident": INCIDENT, "other": 1}},
        {"task": {"data": {"incident": INCIDENT}}, "metadata": None},
    ],
)
def test_the_incident_is_found(place: dict[str, Any]) -> None:
    assert transcript_of_row({"messages": MESSAGES, **place}).incident == INCIDENT


def test_the_incident_may_stand_elsewhere() -> None:
    found = transcript_of_row({"messages": MESSAGES, "x": {"y": INCIDENT}}, incident_at="x.y")
    assert found.incident == INCIDENT


@pytest.mark.parametrize(
    "place", [{"messages": MESSAGES}, {"prompt": MESSAGES[:1], "completion": MESSAGES[1:]}]
)
def test_the_conversation_is_found(place: dict[str, Any]) -> None:
    assert transcript_of_row({"incident": INCIDENT, **place}).actions == (RESOLVE,)


def test_a_completion_may_be_text() -> None:
    text = json.dumps([RESOLVE, RESOLVE])
    found = transcript_of_row({"incident": INCIDENT, "completion": text})
    assert found.actions == (RESOLVE, RESOLVE)


def test_samples_of_lm_evaluation_harness_are_rows() -> None:
    resps = ['[{"action_type": "resolve"}]']
    sample = {"doc_id": 0, "doc": {"incident": INCIDENT}, "resps": [resps], "filtered_resps": resps}
    assert transcript_of_row(sample).actions == (RESOLVE,)


def test_of_a_trace_that_branches_the_last_branch_counts() -> None:
    nodes = [
        {"parent": None, "message": {"role": "user", "content": "An incident."}},
        node(0, "ignore"),
        node(0, "resolve", sampled=False),
        node(2, "resolve"),
    ]
    found = transcript_of_row({"nodes": nodes, "task": {"data": {"incident": INCIDENT}}})
    assert found.actions == (RESOLVE,)


def test_each_trace_of_an_episode_is_a_row(tmp_path: Path) -> None:
    trace = {
        "nodes": [node(None, "resolve")],
        "task": {"data": {"incident": INCIDENT}},
        "agent": {"name": "agent", "config": {"model": "m"}},
    }
    lost = {"traces": [], "ok": False, "errors": [{"message": "no route"}], "task": trace["task"]}
    path = tmp_path / "traces.jsonl"
    rows = [{"id": "a", "traces": [trace, {**trace, "nodes": 7}, trace]}, lost]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    errors: list[TranscriptError] = []
    found = list(convert_file(path, on_error=errors.append))
    assert actions(found) == [(RESOLVE,), (RESOLVE,), ()]
    assert [one.agent for one in found] == ["m", "m", None]
    assert [one.status for one in found] == ["completed", "completed", "error: no route"]
    assert [error.line for error in errors] == [1]


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        ({}, "completed"),
        ({"error": None, "errors": []}, "completed"),
        ({"error": math.nan}, "completed"),
        ({"error": "no route"}, "error: no route"),
        ({"error": {"message": "no route", "traceback": "…"}}, "error: no route"),
        ({"errors": [{"type": "ProviderError", "message": "no route"}]}, "error: no route"),
        ({"errors": [{"message": "once"}], "ok": True}, "completed"),
        ({"error": True}, "error"),
        ({"error": ["?"]}, "error: ?"),
        ({"error": {}, "errors": [""]}, "completed"),
        ({"errors": "server lost"}, "error: server lost"),
        ({"errors": {"message": "server lost"}}, "error: server lost"),
        ({"errors": [[], {}], "error": "no route"}, "error: no route"),
        ({"status": "model server timed out"}, "model server timed out"),
        ({"status": "incomplete"}, "completed"),
        *(({"status": limit}, "completed") for limit in ("max_iterations", "budget_exceeded")),
        ({"status": "rate_limit_exceeded"}, "rate_limit_exceeded"),
        ({"status": "MaxTurnsExceeded"}, "completed"),
        ({"error": "GraphRecursionError('Recursion limit of 25 reached')"}, "completed"),
        ({"error": "RecursionError: maximum depth"}, "error: RecursionError: maximum depth"),
        ({"status": 503}, "error: status 503"),
        ({"status": {"status_code": "UNSET"}}, "completed"),
        ({"status": {"status_code": "ERROR", "description": "no route"}}, "error: no route"),
        ({"status": "failed", "error": "no route"}, "error: no route"),
    ],
)
def test_a_failure_that_the_framework_noted_is_the_status(
    failure: dict[str, Any], status: str
) -> None:
    assert transcript_of_row(row(**failure)).status == status


def test_short_plain_fields_are_kept() -> None:
    found = transcript_of_row(
        row(id="a-1", epoch=2, model="m", status="Success", note="x" * 101, deep={}, gap=math.nan)
    )
    assert found.extra == {"id": "a-1", "epoch": 2, "model": "m"}
    wrong = dict.fromkeys(attrs.fields_dict(Usage), 1.5)
    counted = transcript_of_row(row(**wrong | {"retries": 12.0, "cost": 0.5}, ranking="user-db"))
    assert counted.extra == {"retries": 12, "cost": 0.5}
    assert all(transcript_of_row(row(cost=cost)).extra == {} for cost in (-1, "0.1", math.inf))
    assert found.agent == "m"
    assert found.status == "completed"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "expected a JSON object, got a list"),
        ({"messages": MESSAGES}, "no incident id at incident, incident_id, metadata.incident, "),
        ({"incident": 7, "messages": MESSAGES}, "incident: expected an incident id, got a number"),
        ({"incident": INCIDENT, "text": "x"}, "no conversation at nodes, messages, conversation"),
        (row(messages=7), "messages: expected a list of messages, got a number"),
        (row(messages=["x"]), "messages[0]: expected an object, got a string"),
        (row(nodes=[{"message": 1}]), "nodes[0].message: expected an object"),
        (row(nodes=[node(0, "resolve")]), "nodes[0].parent: expected an earlier node"),
        ({"incident": INCIDENT, "actions": [1]}, "actions[0]: expected an object, got a number"),
    ],
)
def test_what_is_wrong_is_named(bad: Any, message: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        transcript_of_row(bad)
    assert str(caught.value).startswith(message)


def test_an_incident_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownName, match="unknown task 'nope-v1'"):
        transcript_of_row(row(incident="nope-v1/test/0"))


def test_the_style_must_be_one_of_them() -> None:
    with pytest.raises(ValueError, match="'prose' is not a valid Style"):
        transcript_of_row(row(), style="prose")


def screen_of(incident_id: str) -> str:
    return opening(make_incident(incident_id), "tools")[1]["content"]


IGNORE = {"function": {"name": "ignore", "arguments": "{}"}}
EXAMPLE: list[dict[str, Any]] = [
    {"role": "user", "content": screen_of("single_crash-v4/train/7")},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "e", **IGNORE}]},
    {"role": "tool", "tool_call_id": "e", "content": "The incident is closed (ignored)."},
]
OWN: list[dict[str, Any]] = [
    {"role": "user", "content": f"Now yours:\n{screen_of(INCIDENT)}\n"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
]


@pytest.mark.parametrize(
    "place",
    [
        {"messages": [*EXAMPLE, *OWN]},
        {"messages": [*EXAMPLE, *EXAMPLE, *OWN]},
        {"prompt": [*EXAMPLE, OWN[0]], "completion": OWN[1:]},
        {"prompt": EXAMPLE, "messages": [*EXAMPLE, *OWN]},
        {"prompt": [{"role": "user", "content": "x"}], "messages": [*EXAMPLE, *OWN]},
        {"prompt": EXAMPLE[1:2], "messages": [*EXAMPLE[1:2], *OWN]},
        {"messages": [*EXAMPLE[:1], {**EXAMPLE[1], "source": "input"}, *OWN]},
    ],
)
def test_examples_in_the_prompt_are_not_the_agents(place: dict[str, Any]) -> None:
    assert transcript_of_row({"incident": INCIDENT, **place}).actions == (RESOLVE,)


@pytest.mark.parametrize(
    "messages",
    [
        [*OWN, *EXAMPLE],
        [*OWN, *OWN],
        [OWN[0], *EXAMPLE, *OWN],
        [*EXAMPLE, *EXAMPLE],
        [*OWN[1:], {"role": "user", "content": "TICK 0/8\nsomething else"}],
    ],
)
def test_what_may_be_examples_or_play_is_a_bad_row(messages: Any) -> None:
    with pytest.raises(TranscriptError, match=r"^messages\[\d\]: a first screen after replies of"):
        transcript_of_row(row(messages=messages))


def test_a_screen_that_an_agent_writes_or_a_tool_shows_wipes_nothing_out() -> None:
    told = [{"role": "tool", "tool_call_id": "c", "content": screen_of(INCIDENT)}]
    forged = {"role": "assistant", "content": screen_of(INCIDENT), "tool_calls": [CALL]}
    for between in (told, [forged]):
        found = transcript_of_row(row(messages=[OWN[0], EXAMPLE[1], *between, OWN[1]]))
        assert [one["action_type"] for one in found.actions][:1] == ["ignore"]


@pytest.mark.parametrize(
    "place",
    [
        {"messages": MESSAGES[:1], "response": {"choices": [{"message": MESSAGES[1]}]}},
        {"messages": MESSAGES[:1], "choices": [{"message": MESSAGES[1]}]},
        {"messages": MESSAGES[:1], "completion": "<think>hm</think>" + json.dumps(RESOLVE)},
        {"messages": MESSAGES, "response": {"choices": [{"message": MESSAGES[1]}]}},
        {"messages": [{"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [CALL]}}]},
        {"messages": MESSAGES, "output": {"choices": [{"message": MESSAGES[1]}]}},
        {"choices": [{"message": MESSAGES[1]}], "metadata": {}, "model": "m"},
        {"role": "assistant", "type": "message", "content": json.dumps(RESOLVE)},
        {"response": {"object": "response", "output": [{"type": "message", **MESSAGES[1]}]}},
        {"output": {"messages": MESSAGES}},
        {
            "contents": [{"role": "user", "parts": [{"text": "An incident."}]}],
            "candidates": [{"content": {"parts": [{"functionCall": {"name": "resolve"}}]}}],
        },
    ],
)
def test_raw_responses_are_read_beside_and_without_their_request(place: dict[str, Any]) -> None:
    assert transcript_of_row({"incident": INCIDENT, **place}).actions == (RESOLVE,)


@pytest.mark.parametrize("write", [dict, json.dumps])
def test_a_response_beside_a_conversation_elsewhere_is_read(tmp_path: Path, write: Any) -> None:
    info = {"asked": MESSAGES[:1], "response": {"choices": [{"message": MESSAGES[1]}]}}
    log = tmp_path / "rows.jsonl"
    log.write_text(json.dumps({"incident": INCIDENT, "info": write(info)}))
    assert actions(list(convert_file(log, messages_at="info.asked"))) == [(RESOLVE,)]


def test_a_row_without_a_reply_of_the_agent_is_no_zero() -> None:
    for messages in ([], MESSAGES[:1]):
        with pytest.raises(TranscriptError, match="messages: no reply of the agent among"):
            transcript_of_row(row(messages=messages))
        lost = row(messages=messages, error="no route")
        for failed in (lost, {"incident": INCIDENT, "error": "no route"}):
            found = transcript_of_row(failed)
            assert (found.actions, found.status) == ((), "error: no route")


def test_an_error_in_a_prompt_names_the_prompt() -> None:
    asked = [{"role": "nobody", "content": "hello"}]
    with pytest.raises(TranscriptError, match=r"^prompt\[0\]\.role: unknown role 'nobody'"):
        transcript_of_row(row(prompt=asked))


def test_a_key_of_joint_play_is_not_taken_from_a_row() -> None:
    found = transcript_of_row(row(ticks=3, role_split="solo", tick=1))
    assert (found.ticks, dict(found.extra)) == (None, {"tick": 1})
    made = {"function": {"name": "step", "arguments": {**RESOLVE, "tick": 0}}}
    told = transcript_of_row(row(messages=[{"role": "assistant", "tool_calls": [made]}]))
    assert grade_transcript(told) == grade_transcript(found)


def test_a_row_whose_roles_share_ticks_needs_a_split_that_allows_it() -> None:
    joint = {"incident": INCIDENT, "actions": [RESOLVE] * 4, "ticks": [0, 0, 0, 0]}
    for split, said in (
        ({}, r"ticks\[1\]: a second action in tick 0; where roles share a tick, role_split must"),
        ({"role_split": "nobody"}, "unknown role split 'nobody'"),
        ({"role_split": "trio"}, r"ticks\[3\]: action 4 of tick 0; role split 'trio' has 3: tri"),
    ):
        with pytest.raises(LogTriageError, match=said):
            transcript_of_row({**joint, **split})
    joint |= {"actions": [RESOLVE] * 3, "ticks": [0, 0, 0], "role_split": "trio"}
    assert transcript_of_row(joint).role_split == "trio"


def actions(transcripts: list[Transcript]) -> list[tuple[Any, ...]]:
    return [one.actions for one in transcripts]


@pytest.mark.parametrize("binary", [False, True])
def test_lines_are_converted_and_bad_ones_named(tmp_path: Path, binary: bool) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(row())}\n\n{{\n{json.dumps(row(messages=7))}\n", "utf-8")
    errors: list[TranscriptError] = []
    with path.open("rb") if binary else path.open(encoding="utf-8") as stream:
        found = list(convert_file(stream, on_error=errors.append))
    assert actions(found) == [(RESOLVE,)]
    assert [str(error).split(": ")[0] for error in errors] == [f"{path}:3", f"{path}:4"]
    assert found == list(convert_file(path, on_error=errors.append))
    with pytest.raises(TranscriptError, match=r"rows\.jsonl:3: not JSON"):
        list(convert_file(path))


def test_a_line_beyond_the_limit_is_bad_and_the_others_are_converted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = json.dumps(row())
    monkeypatch.setattr("logtriage._lib.files.MAX_LINE", 2 * len(good))
    errors: list[TranscriptError] = []
    stream = io.StringIO(f"{good}\n{json.dumps(row() | {'note': good * 3})}\n{good}\n")
    assert len(list(convert_file(stream, on_error=errors.append))) == 2
    assert [(one.line, one.reason) for one in errors] == [(2, "longer than 16 MiB")]


@pytest.mark.parametrize(
    "document",
    [
        [row(), row()],
        [[row()], [row()]],
        [{"data": [row()]}, {"data": [row()]}],
        {"eval": {"model": "m"}, "samples": [row(), row()]},
        {"eval": None, "samples": [row(), row()]},
    ],
)
def test_a_document_holds_rows_or_samples(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    found = list(convert_file(path))
    assert actions(found) == [(RESOLVE,), (RESOLVE,)]
    wanted = "m" if isinstance(document, dict) and document["eval"] else None
    assert found[0].agent == wanted


def test_a_bad_sample_of_a_document_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": [row(), row(messages=7)]}), encoding="utf-8")
    with pytest.raises(TranscriptError) as caught:
        list(convert_file(path))
    assert str(caught.value).startswith(f"{path}: samples[1]: messages: expected a list")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{", "not JSON: "), (b"\xff\xfe\xff", "not JSON: "), (b"[" * 99_999, "JSON nested too")],
)
def test_a_document_that_is_not_json_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(content)
    skipped: list[TranscriptError] = []
    with pytest.raises(TranscriptError) as caught:
        list(convert_file(path, on_error=skipped.append))
    assert str(caught.value).startswith(f"{path}: {message}")
    assert not skipped


def test_a_broken_resolver_is_not_a_bad_row() -> None:
    def broken(_: str) -> Any:
        raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="no database"):
        list(convert_file(io.StringIO(json.dumps(row())), resolve=broken))
