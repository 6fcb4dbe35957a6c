"""Find the conversations in traces, whose rows are the spans of requests, runs and tools."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from logtriage._lib.grouping import grouped
from logtriage._lib.jsonvalues import absent
from logtriage.conversations.blocks import at, first, objects, opened
from logtriage.conversations.dialects import LINE
from logtriage.conversations.failures import RUN, failed, is_note
from logtriage.conversations.names import ATTEMPTS, PLACES, TRACES, Row, thread_in
from logtriage.conversations.requests import RESPONSE_AT, is_logged, response_in

#: Kinds of rows that repeat what those below them hold.
RUNS: Final = ("invoke_agent", "agent", "workflow", "task", "chain", "span", "trace")
_WORDS: Final = {"gen_ai.agent.name": "agent", "ls_model_name": "model", "model_name": "model"}
_NAMES: Final = ("incident", "incident_id", *ATTEMPTS)
#: Where a row of a trace has names, beside its own fields.
_ABOUT: Final = ("metadata", "extra", "extra.metadata", "attributes", "outputs.llm_output")
_PARENTS: Final = ("parentObservationId", "parent_observation_id", "parent_run_id", "parent_id")
#: What OpenAI's agents call their traces and spans.
_OPENAI: Final = ("trace", "trace.span")
#: Keys that hold the messages of a whole run, or an answer to a request.
_WHOLE: Final = ("messages", "generations", "choices", "candidates", "output", "tool_calls")


def rows_of_traces(spans: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows of each trace: its requests to a model, else runs without a parent, else any run.

    All of these have a ``row``, which holds messages; if no span of an incident's trace has one,
    its run is a row without messages. What rows of a trace name holds for all, unless they differ.
    If a run failed, so did all.
    """
    rows = []
    for trace in grouped((span["trace"], span) for span in spans).values():
        ids = {span["id"] for span in trace} - {None}
        runs = [one for one in trace if one["kind"] in RUNS and one["parent"] not in ids]
        failure: Row = next((run["failure"] for run in runs if failed(run["failure"])), {})
        pairs = dict.fromkeys(pair for span in trace for pair in _named(span["attributes"]).items())
        counts = Counter(name for name, _ in pairs)
        shared = {name: value for name, value in pairs if counts[name] == 1}
        held = [span for span in trace if "row" in span]
        chosen = [span for span in held if span["kind"] not in RUNS]
        chosen = chosen or [span for span in held if span["parent"] not in ids] or held
        for span in chosen or (runs[:1] if "incident" in counts else ()):
            row = {**span.get("row", {"trace_id": span["trace"], "messages": []})}
            for name, value in {**shared, **_named(span["attributes"])}.items():
                places = PLACES if name in _NAMES else PLACES[:1]
                if all(absent(at(row, f"{place}{name}")) for place in places):
                    row[name] = value
            rows.append({**row, RUN: failure, LINE: span[LINE]})
    return rows


def _named(attributes: Row) -> dict[str, str | int]:
    """The incident, attempt, session, agent and model that a row of a trace names."""
    found: dict[str, str | int] = {}
    places = (attributes, *(opened(at(attributes, place)) for place in _ABOUT))
    for key, value in chain(*(each.items() for each in places if isinstance(each, Mapping))):
        path = f"_{key}".replace(".", "_")
        exact = key if key in ("agent", "model") else _WORDS.get(key)
        own = next((name for name in _NAMES if path.endswith(f"_{name}")), exact)
        if own in ("incident", "incident_id"):  # which another system may have, too
            own = "incident" if isinstance(value, str) and value.count("/") in (1, 2) else None
        if own and isinstance(value, str | int):
            found.setdefault(own, value)
    return found


def is_stored(line: Row) -> bool:
    """Whether a JSON object is a row of a stored trace, or a trace that holds its rows."""
    kind, below = line.get("type"), line.get("observations")
    is_row = isinstance(kind, str) and kind.isupper() and first(line, TRACES) is not None
    is_trace = kind is None and isinstance(below, list) and {"id", "timestamp"} <= line.keys()
    is_run = isinstance(first(line, ("run_type", "op_name")), str)
    is_span = line.get("object") in _OPENAI
    # Transcripts keep fields of their rows.
    return (is_row or is_trace or is_run or is_span) and "actions" not in line


def rows_of_store(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows of a store's lines, by the rule of :func:`rows_of_traces`."""
    return rows_of_traces(_spans(rows, {}))


def _spans(rows: Iterable[Row], above: Row) -> Iterator[dict[str, Any]]:
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
        yield from _spans(objects(first(row, ("observations", "child_runs"))), span)


def _held(row: Row, kind: str) -> Row | None:
    """The row if it holds messages. A text at the end of a run is no conversation."""
    response = response_in(first(row, RESPONSE_AT))
    inside = first(response, _WHOLE) if isinstance(response, Mapping) else response
    is_whole = isinstance(inside, list) and any(isinstance(one, Mapping | list) for one in inside)
    if kind in ("generation", "llm") or (not kind and is_logged(row)):
        return row
    if kind in RUNS and (is_whole or (is_logged(row) and failed(row))):
        return row if is_logged(row) else {**row, "messages": inside}
    return None
