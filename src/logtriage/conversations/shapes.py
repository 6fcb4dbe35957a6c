"""The shapes in which others keep conversations, and how each is recognised and read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.jsonvalues import absent
from logtriage.conversations.blocks import at, decoded, first, opened
from logtriage.conversations.dialects import Shape, messages_of
from logtriage.conversations.failures import failed, failed_request, failure_in, is_note
from logtriage.conversations.names import INCIDENT_AT, TRACES, Row, thread_in
from logtriage.conversations.otel import RUNS, is_telemetry, objects, rows_of_traces, telemetry_rows
from logtriage.conversations.sessions import (
    LINE,
    claude_rows,
    codex_rows,
    is_claude,
    is_codex,
    is_message,
    message_rows,
    row_of_trajectory,
)
from logtriage.errors import InvalidInput


def is_team_row(row: Row) -> bool:
    """Whether a row is a verifiers episode whose agents played the roles of a team."""
    traces = row.get("traces")
    if not isinstance(traces, list) or not traces:
        return False
    return all(
        isinstance(trace, Mapping)
        and isinstance(trace.get("nodes"), list)
        and isinstance(at(trace, "task.data.role"), str)
        for trace in traces
    )


#: Keys of a page of an API's list: its rows, and what tells pages apart.
_IN_PAGE: Final = ("data", "runs", "events")
_OF_PAGE: Final = frozenset(
    {"meta", "object", "cursor", "cursors", "next_cursor", "has_more", "first_id", "last_id"}
    | {"total", "page", "page_size", "limit", "total_pages"}
)


def _page_of(value: Any) -> Sequence[Any] | None:
    """The rows of a page of an API's list, or the results of a report; None without any."""
    if not isinstance(value, Mapping):
        return None
    rows = list(objects(value.get("results")))
    if rows and _names_no_incident(value) and not any(map(_names_no_incident, rows)):
        return rows
    held = [key for key in _IN_PAGE if isinstance(value.get(key), list) and value[key]]
    is_page = len(held) == 1 and value.keys() - _OF_PAGE == {*held}
    return value[held[0]] if is_page else None


def _names_no_incident(row: Row) -> bool:
    return all(absent(at(row, path)) for path in INCIDENT_AT)


def is_conversation(value: Any) -> bool:
    """Whether a list is messages, not rows."""
    if not isinstance(value, list) or not value or not isinstance(value[0], Mapping):
        return False
    if any(shape.fits(value[0]) for shape in MARKED_LINES) or not _names_no_incident(value[0]):
        return False
    try:
        return bool(messages_of(value[:1])) and "messages" not in value[0]
    except InvalidInput:
        return False


#: Keys that may hold a request in a log, the response to it, and the messages in a request.
_REQUEST: Final = (
    *("messages", "request", "request_body", "requestBody", "proxy_server_request"),
    *("inputs", "input"),
)
_RESPONSE: Final = ("response", "response_body", "responseBody", "outputs", "output")
#: Those of a log of a proxy, whose requests are the bodies that were sent.
_BODIES: Final = ("request", "request_body", "requestBody")
#: Keys of a provider's response, one of which a JSON text must have to be one.
_OF_RESPONSE: Final = ("choices", "candidates", "output", "message", "messages", "role", "error")
#: Where a row may hold the reply to a body without a response.
_SAID: Final = ("choices", "candidates", "completion")
#: The field of a row with a response that cannot be read.
UNREAD: Final = "logtriage.unread"
_ASKED: Final = ("messages", "contents", "input")


def _request_of(row: Row) -> Any:
    """The request in a row of a log: messages, or an object with messages."""
    values = (row.get(key) for key in _REQUEST)
    return _opened(next((value for value in values if not _is_empty(value)), None))


def reply_beside(place: Row) -> dict[str, Any]:
    """The response beside a request, as a field of its row; empty without one."""
    said = first(place, _RESPONSE)
    return {} if said is None else {"response": said}


def _is_empty(value: object) -> bool:
    return absent(value) or value in ({}, [], "{}")


def response_in(value: Any) -> Any:
    """A response or messages, in a JSON text or in ``body``; a text of anything else as it is."""
    inside = _opened(value)
    is_response = isinstance(inside, Mapping) and any(key in inside for key in _OF_RESPONSE)
    known = is_response or is_conversation(inside) or not isinstance(value, str)
    return inside if known else value


def _opened(value: Any) -> Any:
    """The object or list in a JSON text, and what stands in a ``body``; else the value."""
    inside = opened(value)
    body = inside.get("body") if isinstance(inside, Mapping) else None
    return body if isinstance(body, Mapping) else inside


def _is_logged(row: Row) -> bool:
    asked, said = _request_of(row), any(key in row for key in _RESPONSE)
    said = said or (any(key in row for key in _BODIES) and not any(key in row for key in _SAID))
    is_whole = not _is_empty(row.get("messages")) and "response" not in row
    if is_whole or (not said and not failed(row)):
        return False
    if isinstance(asked, Mapping):
        return any(isinstance(asked.get(key), list) for key in _ASKED)
    return isinstance(asked, list) and all(isinstance(message, Mapping) for message in asked)


def _logged(row: Row) -> Row:
    """A request and its response as a row. If the request failed, there is no reply to read."""
    asked = _request_of(row)
    raw = first(row, _RESPONSE)
    response = response_in(raw)
    others = {key: row[key] for key in row if key not in (*_REQUEST, *_RESPONSE)}
    if isinstance(about := others.get("metadata"), str):
        others["metadata"] = _opened(about)  # a table of a database has texts
    is_empty = response in (None, "", "{}", [], {}) or at(response, "generations") in ([], [[]])
    errors = _failures_in(raw)
    if is_empty and not failed(row):  # a word for the outcome may be the task's, beside a reply
        outcome = row.get("outcome")
        errors += ["success: false"] if row.get("success") is False else []
        errors += [outcome] if isinstance(outcome, str) and failed({"status": outcome}) else []
    if error := next(filter(None, errors), None):
        others["error"] = error
    told = at(response, "messages")
    is_run = isinstance(told, list) and len(told) > 1  # it may have failed later
    if failed_request(others) and not is_run:
        response = None
    elif is_empty:
        response = {}  # which is refused, since nothing says why
    elif isinstance(response, str) and decoded(response) is None and _is_body(row, response):
        others[UNREAD] = f"response: neither a reply in JSON nor a failure: {response[:60]!r}"
    if isinstance(asked, Mapping):  # none, if only the response that failed was kept
        for name in ("model", "previous_response_id"):
            others.setdefault(name, asked.get(name))
        asked = next((asked[key] for key in _ASKED if isinstance(asked.get(key), list)), [])
    asked = asked if isinstance(asked, list) else []
    if len(asked) == 1 and isinstance(asked[0], list):  # LangChain sends a list of requests
        (asked,) = asked
    return {**others, "messages": asked, "response": response}


def _is_body(row: Row, response: str) -> bool:
    """Whether a response must be JSON: it begins as JSON, or its request is a body."""
    return response.startswith('{"') or any(isinstance(row.get(key), Mapping) for key in _BODIES)


def is_no_chat(row: object) -> bool:
    """Whether a row holds a request without messages: embeddings, moderation."""
    raw = first(row, _RESPONSE) if isinstance(row, Mapping) else None
    response = response_in(raw)
    if not isinstance(response, Mapping) or response.keys() & {*_OF_RESPONSE} or failed(response):
        return False
    return any(isinstance(response.get(key), list) for key in ("data", "results", "embeddings"))


def _is_lost(row: Row) -> bool:
    """Whether a row without its request holds the envelope of a response that failed."""
    return "messages" not in row and any(_failures_in(row.get("response")))


def _failures_in(response: Any) -> list[object]:
    """The failures that a response notes, and its envelope."""
    sides = (response_in(response), response)
    return [failure_in(side) for side in sides if isinstance(side, Mapping)]


_PARENTS: Final = ("parentObservationId", "parent_observation_id", "parent_run_id", "parent_id")
#: What OpenAI's agents call their traces and spans.
_OPENAI: Final = ("trace", "trace.span")
#: Keys that hold the messages of a whole run, or an answer to a request.
_WHOLE: Final = ("messages", "generations", "choices", "candidates", "output", "tool_calls")


def _is_stored(line: Row) -> bool:
    """Whether a JSON object is a row of a stored trace, or a trace that holds its rows."""
    kind, below = line.get("type"), line.get("observations")
    is_row = isinstance(kind, str) and kind.isupper() and first(line, TRACES) is not None
    is_trace = kind is None and isinstance(below, list) and {"id", "timestamp"} <= line.keys()
    is_run = isinstance(first(line, ("run_type", "op_name")), str)
    is_span = line.get("object") in _OPENAI
    # Transcripts keep fields of their rows.
    return (is_row or is_trace or is_run or is_span) and "actions" not in line


def _stored(rows: Iterable[Row], above: Row) -> Iterator[dict[str, Any]]:
    """Rows of a store, and the rows below them, as :func:`rows_of_traces` takes them."""
    for number, row in enumerate(rows):
        if "run_type" in row:  # the session of LangSmith's API is its project
            row = {key: row[key] for key in row if key != "session_id"}
        if isinstance(about := row.get("span_data"), Mapping):
            row = {**about, **row}
        is_trace = "observations" in row or row.get("object") == "trace"
        kind = str(first(row, ("run_type", "type")) or ("trace" if is_trace else ""))
        span = {"kind": kind.lower(), "id": thread_in(row, ("id",)), LINE: above.get(LINE, number)}
        span["trace"] = thread_in(row, TRACES) or above.get("trace") or span["id"] or number
        span["parent"] = thread_in(row, _PARENTS) or above.get("id")
        span |= {"attributes": row, "failure": {key: row[key] for key in row if is_note(key)}}
        held = _held(row, kind.lower())
        yield span if held is None else {**span, "row": held}
        yield from _stored(objects(first(row, ("observations", "child_runs"))), span)


def _held(row: Row, kind: str) -> Row | None:
    """The row if it holds messages. A text at the end of a run is no conversation."""
    said = response_in(first(row, _RESPONSE))
    inside = first(said, _WHOLE) if isinstance(said, Mapping) else said
    is_whole = isinstance(inside, list) and any(isinstance(one, Mapping | list) for one in inside)
    if kind in ("generation", "llm") or (not kind and _is_logged(row)):
        return row
    if kind in RUNS and (is_whole or (_is_logged(row) and failed(row))):
        return row if _is_logged(row) else {**row, "messages": inside}
    return None


def _swe_agent(row: Row) -> Row:
    """A trajectory of mini-SWE-agent. Reaching a limit is a normal end, an exception an error."""
    status = at(row, "info.exit_status")
    own = ("", "Submitted", "LimitsExceeded", "TimeExceeded", "RepeatedFormatError")
    error = None if absent(status) or status in own else status
    return {"error": error, "model": at(row, "info.config.model.model_name"), **row}


#: Lines or items that together make rows. The first shape that a line fits counts.
LINES: Final = (
    Shape("Claude Code", is_claude, claude_rows),
    Shape("Codex", is_codex, codex_rows),
    Shape("OpenTelemetry, OpenInference, OpenLLMetry", is_telemetry, telemetry_rows),
    Shape(
        "Langfuse, LangSmith, Weave, OpenAI's agents",
        _is_stored,
        lambda rows: rows_of_traces(_stored(rows, {})),
    ),
    Shape(
        "logs with a message a line",
        lambda line: is_message(line) and _names_no_incident(line),
        message_rows,
    ),
)
MARKED_LINES: Final = LINES[:-1]  # without bare messages: a list of those is one conversation
#: Rows that are rewritten as ``messages`` and other fields.
ROWS: Final = (
    Shape(
        "Harbor and others: ATIF",
        lambda row: str(row.get("schema_version")).startswith("ATIF-"),
        row_of_trajectory,
    ),
    Shape(
        "mini-SWE-agent",
        lambda row: str(row.get("trajectory_format", "")).startswith("mini-swe-agent"),
        _swe_agent,
    ),
    Shape("logs of requests: LiteLLM, LangSmith, Langfuse", _is_logged, _logged),
    Shape("responses alone that failed: OpenAI's batches", _is_lost, _logged),
)


def rows_in(value: Any) -> Iterator[tuple[str, Any]]:
    """The rows that a value holds, each with its place in it."""
    items = value if isinstance(value, list) else _page_of(value)
    if is_conversation(value):
        yield "", {"messages": value}
    elif items is not None:
        for number, item in enumerate(items):
            for inside, row in rows_in(item) if isinstance(item, Mapping) else [("", item)]:
                yield f"[{number}]{inside}", row
    elif not isinstance(value, Mapping):
        yield "", value
    elif isinstance(value.get("samples"), list):  # Inspect
        model = at(value, "eval.model")
        for number, sample in enumerate(value["samples"]):
            row = {"model": model, **sample} if isinstance(sample, Mapping) else sample
            yield f": samples[{number}]", row
    elif isinstance(value.get("traces"), list) and not is_team_row(value):  # verifiers
        # An episode that failed before its first trace is a row without messages.
        yield from (("", trace) for trace in value["traces"] or [{**value, "messages": []}])
    else:
        yield "", value


def as_row(row: Row) -> Row:
    """Rewrite a row by the first of :data:`ROWS` that fits; return any other row as it is."""
    for shape in ROWS:
        if shape.fits(row):
            rewritten: Row = shape.read(row)
            return rewritten
    return row
