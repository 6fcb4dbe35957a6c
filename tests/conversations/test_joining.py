"""Rows that are parts of a conversation are joined, or refused; what each counts is summed."""

import io
import json
from typing import Any

import pytest

from logtriage.conversations.convert import convert_files
from logtriage.conversations.rows import Reading
from logtriage.errors import TranscriptError
from logtriage.grading import grade_transcript
from tests.conversations.episodes import CALLS, INCIDENT, PROMPT, Messages, Row, each, openai_turn
from tests.conversations.test_shapes import codex

TOLD = [*PROMPT, *each(openai_turn)]
USED = {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 2}
ENDS = range(2, len(TOLD), 2)
COUNTED = {"prompt_tokens": 7 * len(CALLS), "completion_tokens": 2 * len(CALLS)}


def converted(*rows: Row) -> tuple[list[Reading], list[str]]:
    """The readings of a file, and its errors."""
    errors: list[TranscriptError] = []
    file = io.StringIO("".join(f"{json.dumps(row)}\n" for row in rows))
    return list(convert_files([file], on_error=errors.append)), [each.reason for each in errors]


def parts(form: str) -> Messages:
    """A row for each reply, with what is new in its request; for each reply alone, or message."""
    if form == "messages":
        return [{**one, "usage": USED} if one["role"] == "assistant" else one for one in TOLD]
    rows: Messages = []
    for n, at in enumerate(ENDS):
        new, said = TOLD[at - 1 if n else 0 : at], TOLD[at]
        reply = {"choices": [{"message": said}], "usage": USED}
        if form == "Responses":
            shown = {"type": "function_call_output", "call_id": new[-1].get("tool_call_id")}
            call = {"call_id": said["tool_calls"][0]["id"], **said["tool_calls"][0]["function"]}
            asked = [{**shown, "output": new[-1]["content"]}] if n else new
            rows.append({"id": f"r{n}", "input": asked, "usage": USED})
            rows[-1] |= {"output": [{"type": "function_call", **call}]}
            rows[-1]["previous_response_id"] = f"r{n - 1}" if n else None
        else:
            rows.append(reply if form == "replies" else {"messages": new, "response": reply})
    return rows


@pytest.mark.parametrize("form", ["requests", "replies", "messages", "Responses"])
def test_parts_that_name_their_conversation_are_one_and_others_are_refused(form: str) -> None:
    rows: Messages = [{"incident": INCIDENT, **row} for row in parts(form)]
    named = rows if form == "Responses" else [{**row, "session_id": "s"} for row in rows]
    ((reading,), _) = converted(*named)
    assert grade_transcript(reading.transcript).score == 1.0
    assert reading.rows == len(rows)
    assert reading.transcript.extra.items() >= {**COUNTED, "requests": len(CALLS)}.items()
    if form == "Responses":  # an attempt may break off after its first request
        assert len(converted(*named, {**rows[0], "id": "other"})[0]) == 2
        with pytest.warns(UserWarning, match="1 row left out"):  # newest first, one of them twice
            assert converted(*named[::-1], named[-1])[0] == [reading]
    unnamed = [{key: row[key] for key in row if key != "previous_response_id"} for row in rows]
    asked = {"role": "user", "content": f"Now:\n{PROMPT[1]['content']}"}
    closed = {"incident": INCIDENT, "messages": [asked, TOLD[-2]]}  # one call, and the whole of it
    kept, reasons = converted(*unnamed, closed)
    assert (len(kept), len(reasons)) == (1, len(rows))
    assert all("join the requests of a conversation" in reason for reason in reasons)


def test_attempts_of_one_reply_stay() -> None:
    one, two = TOLD[2], {**TOLD[2], "tool_calls": [TOLD[n]["tool_calls"][0] for n in (2, 4)]}
    asked = {"role": "user", "content": "An incident. What do you do first?"}
    for messages in ([two], [*PROMPT, one], [asked, one]):
        assert len(converted(*[{"incident": INCIDENT, "messages": messages}] * 2)[0]) == 2
    attempts = [{"incident": INCIDENT, "messages": [one], "attempt": n} for n in range(2)]
    assert len(converted(*attempts)[0]) == 2


def requests(noted: Any, **others: Any) -> Messages:
    """A proxy's log: a row for each request, with the whole history."""
    row = {"incident": INCIDENT, **others}
    replies = [{"choices": [{"message": TOLD[at]}], **noted} for at in ENDS]
    return [{**row, "messages": TOLD[:at], "response": replies[at // 2 - 1]} for at in ENDS]


def span(at: int) -> Row:
    """A request as OpenTelemetry keeps it."""
    said = {"input.messages": TOLD[:at], "output.messages": [TOLD[at]]}
    used = {"gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": 2}
    texts = {f"gen_ai.{key}": json.dumps(messages) for key, messages in said.items()}
    return {"traceId": "t", "attributes": {**texts, **used}}


def whole(key: str, usage: Any) -> Row:
    """A row with the usage beside each reply."""
    told = ({**one, key: usage} if one["role"] == "assistant" else one for one in TOLD)
    return {"incident": INCIDENT, "messages": list(told)}


INFO = {"total_token_usage": COUNTED}
GEMINI = {"promptTokenCount": 7, "candidatesTokenCount": 1, "thoughtsTokenCount": 1}


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize(
    "rows",
    [
        [whole("usage", USED)],
        [whole("usageMetadata", GEMINI)],
        [whole("usage_metadata", {"input_tokens": 7, "output_tokens": 2})],
        [{**whole("x", 0), "usage": COUNTED}],
        [whole("usage_details", {"input": 3, "input_cached_tokens": 4, "output": 2})],
        [{**whole("x", 0), "model_usage": {"m": {"input_tokens": 42, "output_tokens": 12}}}],
        [{**whole("usage", USED), **COUNTED}],
        [*codex(), {"type": "event_msg", "payload": {"type": "token_count", "info": INFO}}],
        list(map(span, ENDS)),
        requests({"usage": USED})[::-1],
        requests({}, usage=USED),
        requests({"usage": USED}, usage=USED, cost=0.5),
    ],
)
def test_each_usage_counts_once(rows: Messages) -> None:
    ((reading,), _) = converted(*rows)
    assert not reading.partly_counted
    assert reading.transcript.extra.items() >= COUNTED.items()
    assert reading.transcript.extra.get("cost") in (None, 0.5 * len(CALLS))


@pytest.mark.filterwarnings("ignore:.*left out")
def test_counts_of_some_requests_only_are_left_out() -> None:
    some = whole("usage", USED)
    del some["messages"][2]["usage"]
    for rows in ([some], requests({}, usage=USED, cost=0.5)[-1:], requests({"usage": USED})[1:]):
        ((reading,), _) = converted(*rows)
        assert reading.partly_counted
        assert not reading.transcript.extra.keys() & {*COUNTED, "cost", "requests"}
