"""The shapes in which others keep conversations, and how each is recognised and read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.jsonvalues import absent
from logtriage.conversations.blocks import at, objects
from logtriage.conversations.dialects import Shape, are_messages
from logtriage.conversations.names import INCIDENT_AT, Row
from logtriage.conversations.otel import is_telemetry, telemetry_rows
from logtriage.conversations.requests import is_logged, is_lost, row_of_request
from logtriage.conversations.sessions import (
    claude_rows,
    codex_rows,
    is_claude,
    is_codex,
    is_message,
    message_rows,
    row_of_trajectory,
)
from logtriage.conversations.traces import is_stored, rows_of_store


def is_team_row(row: Row) -> bool:
    """Whether a row is a verifiers episode whose agents played the roles of a team."""
    traces = row.get("traces")
    roles = traces if isinstance(traces, list) else []
    return bool(roles) and all(
        isinstance(at(role, "nodes"), list) and isinstance(at(role, "task.data.role"), str)
        for role in roles
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
    if not are_messages(value) or not _names_no_incident(value[0]):
        return False
    return not any(shape.fits(value[0]) for shape in MARKED_LINES)


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
    Shape("Langfuse, LangSmith, Weave, OpenAI's agents", is_stored, rows_of_store),
    Shape(
        "logs with a message a line",
        lambda line: is_message(line) and _names_no_incident(line),
        message_rows,
    ),
)
#: Lists in lists that hold rows: pages of an API that a tool put together.
_PAGES: Final = 3
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
    Shape("logs of requests: LiteLLM, LangSmith, Langfuse", is_logged, row_of_request),
    Shape("responses alone that failed: OpenAI's batches", is_lost, row_of_request),
)


def rows_in(value: Any, depth: int = _PAGES) -> Iterator[tuple[str, Any]]:
    """The rows in a value, each with its place in it; below ``depth`` lists are bad rows."""
    items = value if isinstance(value, list) else _page_of(value)
    if is_conversation(value):
        yield "", {"messages": value}
    elif items is not None and depth > 0:
        for number, item in enumerate(items):
            for inside, row in rows_in(item, depth - 1):
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
