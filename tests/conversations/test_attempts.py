"""In a log of requests, the rows that name an attempt are one attempt, or none is graded."""

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from logtriage.conversations.convert import convert_files
from tests.conversations.episodes import CALLS, FIRST, INCIDENT, PROMPT, Row, openai

WHOLE = openai()["messages"]
REQUESTS = [{"incident": INCIDENT, "messages": WHOLE[: 3 + 2 * at]} for at in range(len(CALLS))]
LAST = REQUESTS[-1]["messages"]
OTHER = {"role": "assistant", "content": "Let me think."}


def at(messages: Sequence[Any], **fields: Any) -> Row:
    return {"incident": INCIDENT, "messages": list(messages), **fields}


def asked(messages: Sequence[Any], response: Any, **fields: Any) -> Row:
    return {"incident": INCIDENT, "request": {"messages": messages}, "response": response, **fields}


def lines(rows: Sequence[Row]) -> io.StringIO:
    return io.StringIO("".join(f"{json.dumps(row)}\n" for row in rows))


def read(rows: Sequence[Row], **named: Any) -> tuple[list[int], list[str], int]:
    """The numbers of actions of the attempts, the errors, and how many rows were left out."""
    errors: list[str] = []
    left_out: list[str] = []
    readings = convert_files(
        [lines([{**row, **named} for row in rows])],
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
        (asked(LAST[:-1], ""), "the response: empty, and no error or status says why"),
        ({"incident": INCIDENT, "request": {"messages": LAST[:-1]}}, "the response: empty, and no"),
        (asked(LAST[:-1], "<html>"), "response: neither a reply in JSON nor a failure"),
        (asked(LAST[:-1], 'data: {"choices": []}'), "response: neither a reply in JSON"),
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


Change = Callable[[Row], Any]


def on_calls(change: Change) -> Change:
    return lambda one: {**one, "tool_calls": [c | change(c) for c in one.get("tool_calls", ())]}


def decoded(name: str, arguments: str) -> Row:
    return {"name": name, "arguments": json.loads(arguments)}


def log(said: Change = dict, sent: Change = dict, clock: bool = False, **named: Any) -> list[Row]:
    """A row for each request; ``said`` changes responses, ``sent`` messages in the history."""
    rows = []
    for n, row in enumerate(REQUESTS):
        *history, reply = row["messages"]
        told = [*map(sent, history)]
        told[0] = {**told[0], "content": f"{told[0]['content']} {n if clock else ''}"}
        used = {"prompt_tokens": 7, "completion_tokens": 2}
        body = {"id": f"r{n}", "choices": [{"message": said(reply)}], "usage": used}
        rows.append({**asked(told, body, **named), "model": "m-1"})
    return rows


@pytest.mark.parametrize("named", [{}, {"trace_id": "t"}, {"session_id": "s"}, {"attempt": 1}])
@pytest.mark.parametrize(
    "changes",
    [
        {"said": on_calls(lambda call: {"function": decoded(**call["function"])})},
        {"said": on_calls(lambda _: {"index": 0})},
        {"said": lambda reply: {**reply, "content": "<think>Hm.</think>"}},
        {"said": lambda reply: {**reply, "content": "I look."}},
        {"sent": on_calls(lambda _: {"id": None})},
        {"clock": True},
    ],
)
def test_a_client_may_write_its_history_anew(named: Row, changes: Row) -> None:
    actions, errors, left_out = read(log(**changes, **named))
    refused = 0 if named or "clock" not in changes else 5  # nothing tells attempts apart
    assert (actions, len(errors), left_out) == ([6], refused, 5 - refused)


HTML = "<html>502 Bad Gateway</html>"


@pytest.mark.parametrize("named", [{"trace_id": "t"}, {"session_id": "s"}, {"attempt": 1}, {}])
@pytest.mark.parametrize(
    "failure",
    [
        {"response": HTML, "statusCode": 502},
        {"response": HTML, "status_code": "502"},
        {"response": {"choices": [{"finish_reason": "error", "message": {"content": ""}}]}},
        {"response": {"object": "error", "message": "too long"}},
        {"response": {"status_code": 429, "body": {"detail": "x"}}},
        {"response": None, "success": False},
        {"response": None, "error_message": "timeout", "model": "m", "usage": {"prompt_tokens": 0}},
    ],
)
def test_a_failed_request_has_no_reply_and_takes_no_turns_place(named: Row, failure: Row) -> None:
    rows = log(**named)
    rows.insert(3, {**rows[3], **failure})
    assert read(rows) == ([6], [], 6)
    assert read(rows[:4]) == ([3], [], 3)
    (whole,) = convert_files([lines(rows)], on_beginnings=print)
    assert whole.transcript.extra["prompt_tokens"] == 7 * len(CALLS)
    (cut,) = convert_files([lines(rows[:4])], on_beginnings=print)
    assert cut.transcript.status != "completed"


@pytest.mark.parametrize("request_", [{}, {"messages": {}}, {"messages": []}])
def test_a_failed_request_that_was_not_kept_is_unscored(request_: Row) -> None:
    """A run that failed later keeps its messages."""
    for response, actions in (({"error": "529"}, 0), ({"error": "529", "messages": WHOLE[:6]}, 2)):
        row = {"incident": INCIDENT, **request_, "response": response}
        (found,) = convert_files([lines([row])])
        assert (len(found.transcript.actions), found.transcript.status) == (actions, "error: 529")


TITLE = [{"role": "user", "content": f"A title for {FIRST[:40]}"}]
JUDGE = [{"role": "user", "content": f"Rate:\n{FIRST}\n{WHOLE[3]['content']}"}]


@pytest.mark.parametrize("named", [{"trace_id": "t"}, {"session_id": "s"}])
@pytest.mark.parametrize(
    "beside",
    [
        asked(TITLE, {"choices": [{"message": OTHER}]}),
        asked(JUDGE, {"choices": [{"message": OTHER}]}),
        {"request": {"input": ["x"]}, "response": {"object": "list", "data": [0.1]}},
        log()[-1],  # delivered twice
        asked(WHOLE, {"error": "529"}),  # the incident was closed before
    ],
)
def test_what_is_no_request_of_the_attempt_is_left_out(beside: Row, named: Row) -> None:
    for rows in ([*log(), beside], [beside, *log()]):
        assert read(rows, **named) == ([6], [], 6)


def test_a_session_goes_on_in_another_file_and_an_error_alone_may_end_it() -> None:
    rows = log(session_id="s")
    found = list(convert_files([lines(rows[:3]), lines(rows[3:])], on_beginnings=print))
    assert [len(one.transcript.actions) for one in found] == [6]
    alone = {"incident": INCIDENT, "session_id": "s", "error": "529"}
    for part in (rows[:3], [{"incident": INCIDENT, "session_id": "s", **one} for one in WHOLE[:8]]):
        for twice in (part, [*part, part[-1]]):
            (cut,) = convert_files([lines([*twice, alone])], on_beginnings=print)
            assert (len(cut.transcript.actions), cut.transcript.status) == (3, "error: 529")
    (whole,) = convert_files([lines([*rows[:3], alone, *rows[3:]])], on_beginnings=print)
    assert whole.transcript.status == "completed"
