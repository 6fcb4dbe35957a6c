"""In a log of requests, the rows that name an attempt are one attempt, or none is graded."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest

from logtriage.conversations.convert import convert_files
from tests.conversations.episodes import CALLS, INCIDENT, PROMPT, Row, openai

WHOLE = openai()["messages"]
REQUESTS = [{"incident": INCIDENT, "messages": WHOLE[: 3 + 2 * at]} for at in range(len(CALLS))]
LAST = REQUESTS[-1]["messages"]
OTHER = {"role": "assistant", "content": "Let me think."}


def at(messages: Sequence[Any], **fields: Any) -> Row:
    return {"incident": INCIDENT, "messages": list(messages), **fields}


def asked(messages: Sequence[Any], response: Any, **fields: Any) -> Row:
    return {"incident": INCIDENT, "request": {"messages": messages}, "response": response, **fields}


def read(rows: Sequence[Row], **named: Any) -> tuple[list[int], list[str], int]:
    """The numbers of actions of the attempts, the errors, and how many rows were left out."""
    errors: list[str] = []
    left_out: list[str] = []
    file = io.StringIO("".join(f"{json.dumps({**row, **named})}\n" for row in rows))
    readings = convert_files(
        [file],
        on_error=lambda error: errors.append(str(error)),
        on_beginnings=lambda places, _: left_out.extend(places),
    )
    return [len(one.transcript.actions) for one in readings], errors, len(left_out)


@pytest.mark.parametrize(
    ("row", "unnamed"),
    [
        (at([*WHOLE[:6], OTHER]), [6, 3]),  # a reply that the client dropped
        (at(LAST), [6, 6]),  # a line that was delivered twice
        (at(PROMPT, error="529"), [6, 0]),  # a request that failed and was sent again
        (asked(PROMPT, {"error": "529"}), [6, 0]),
        (asked(PROMPT, None, status="timeout"), [6, 0]),
    ],
)
def test_what_ends_beside_an_attempt_is_none_of_its_own(row: Row, unnamed: list[int]) -> None:
    actions, errors, left_out = read([*REQUESTS, row], attempt=1)
    assert (actions, errors, left_out) == ([6], [], len(CALLS))
    assert read([*REQUESTS, row])[0] == unnamed


@pytest.mark.parametrize("named", [{"trace_id": "t"}, {}])
def test_a_request_that_was_sent_again_in_vain_ends_one_attempt(named: dict[str, str]) -> None:
    rows = [*REQUESTS[:3], *[asked(WHOLE[:8], None, status="timeout")] * 3]
    assert read(rows, **named) == ([3], [], 5)


def test_an_attempt_with_a_bad_row_or_two_ends_is_refused() -> None:
    window = at([*PROMPT, *LAST[6:]])
    for other, reason in (
        (window, "messages[3]: a screen of tick 3 after 1 call: turns are missing"),
        (at([*LAST[:-1], OTHER]), "names the attempt of <stream>:6, which ends otherwise"),
        (asked(LAST[:-1], None), "the response: empty, and no error or status says why"),
    ):
        actions, errors, _ = read([*REQUESTS, other], session_id="a")
        assert actions == []
        told = "another row of the conversation is bad: <stream>:7"
        assert sorted(errors, reverse=True)[1] == f"<stream>:6: {told}"
        assert f"<stream>:7: {reason}" in errors[-1]


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("path", ["attempt", "trace_id", "metadata.session_id", "metadata.traceId"])
@pytest.mark.parametrize(
    "broken",
    [
        at(WHOLE[:4], response={}, status="failure"),
        asked(WHOLE[:4], None, status="error"),
        asked(WHOLE[:4], {"status": "failed", "output": []}),
        {"incident": INCIDENT, "input": WHOLE[:4], "output": None, "level": "ERROR"},
    ],
)
def test_what_broke_off_beside_an_attempt_is_unscored(broken: Row, path: str) -> None:
    place, _, key = path.rpartition(".")
    named = [*((row, "a") for row in REQUESTS), (REQUESTS[0], "b"), (broken, "b")]
    rows = [{**row, **({place: {key: name}} if place else {key: name})} for row, name in named]
    found = list(convert_files([io.StringIO("\n".join(map(json.dumps, rows)))]))
    ends = [(len(one.transcript.actions), one.transcript.status == "completed") for one in found]
    assert ends == [(6, True), (1, False)]


@pytest.mark.parametrize("text", [dict, json.dumps])
def test_requests_and_responses_may_be_json_texts(text: Any) -> None:
    replies = [text({"choices": [{"message": row["messages"][-1]}]}) for row in REQUESTS]
    told = [(row["messages"][:-1], said) for row, said in zip(REQUESTS, replies, strict=True)]
    bodies = [{"request_body": text({"messages": sent}), "response_body": s} for sent, s in told]
    for rows in (bodies, [{"messages": sent, "response": said} for sent, said in told]):
        assert read(rows, incident=INCIDENT) == ([6], [], len(CALLS) - 1)
