"""Conversations in files become transcripts, which ``logtriage grade`` reads.

A row is one JSON object: a conversation and the id of its incident. Rows of Inspect
(samples of a JSON log), verifiers (lines of ``traces.jsonl``), TRL (prompt and
completion) and rows with OpenAI's or Anthropic's messages are recognised by their
fields; transcripts pass through unchanged.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from logtriage.adapters.conversations import Style, actions_of_conversation
from logtriage.codec import json_kind, structure_transcript
from logtriage.errors import InvalidInput, LogTriageError, TranscriptError
from logtriage.generator import make_incident
from logtriage.grading import Resolver
from logtriage.parsing import absent
from logtriage.transcript import COMPLETED, Transcript

#: Where the id of the incident may stand, in the order in which it is looked for.
INCIDENT_AT: Final = (
    "incident",
    "incident_id",
    "metadata.incident",
    "info.incident",
    "task.data.incident",
    "task.incident",
    "doc.incident",
)
#: Where the conversation may stand.
MESSAGES_AT: Final = (
    "messages",
    "conversation",
    "completion",
    "filtered_resps",
    "response",
    "output",
    "reply",
)
_OWN_KEYS: Final = frozenset({"schema", "incident", "actions", "status", "agent", "error"})


def transcript_of_row(
    row: object,
    *,
    incident_at: str | None = None,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
    resolve: Resolver = make_incident,
) -> Transcript:
    """The transcript of one row.

    ``incident_at`` is the dotted path to the incident's id, if it is none of
    :data:`INCIDENT_AT`; ``style`` and ``other_tools`` as in
    :func:`~logtriage.adapters.conversations.actions_of_conversation`. A row with an
    ``error`` (or ``errors``) gets it as its status, so that it is not scored. Short
    plain fields of the row are kept.

    Raises:
        TranscriptError: naming the field and what was expected.
        UnknownName, InvalidInput: for an incident id that does not exist.
    """
    if not isinstance(row, Mapping):
        raise TranscriptError(f"expected a JSON object, got {json_kind(row)}")
    if isinstance(row.get("actions"), list) and incident_at is None:
        return structure_transcript(dict(row))
    incident = resolve(_incident_id(row, incident_at))
    place, messages = _messages(row)
    try:
        wires = actions_of_conversation(
            messages, incident.topology, style=style, other_tools=other_tools
        )
    except InvalidInput as error:
        joint = "" if str(error).startswith("[") else ": "
        raise TranscriptError(f"{place}{joint}{error}") from None
    extra = {key: value for key, value in row.items() if key != place and _is_kept(key, value)}
    return Transcript(incident.id, tuple(wires), _status(row), _agent(row), extra)


def rows_of(row: object) -> list[object]:
    """A row as it is; of an episode of verifiers each trace.

    An episode that failed before its first trace is one row without a word.
    """
    traces = row.get("traces") if isinstance(row, Mapping) else None
    if not isinstance(row, Mapping) or not isinstance(traces, list):
        return [row]
    if not traces:
        return [{**row, "messages": []}]
    return traces


def _agent(row: Mapping[str, Any]) -> str | None:
    """Who played: ``agent`` or ``model``, or the model in the agent's settings."""
    for path in ("agent", "model", "agent.config.model"):
        found = _at(row, path)
        if isinstance(found, str):
            return found
    return None


def _at(row: Mapping[str, Any], path: str) -> Any:
    found: Any = row
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _incident_id(row: Mapping[str, Any], incident_at: str | None) -> str:
    for path in INCIDENT_AT if incident_at is None else (incident_at,):
        found = _at(row, path)
        if isinstance(found, str):
            return found
        if not absent(found):
            raise TranscriptError(f"{path}: expected an incident id, got {json_kind(found)}")
    raise TranscriptError(
        f"no incident id at {incident_at or ', '.join(INCIDENT_AT)}; "
        f"the row has: {', '.join(map(str, row)) or 'nothing'}"
    )


def _messages(row: Mapping[str, Any]) -> tuple[str, Any]:
    """Where the conversation stands, and the conversation."""
    if isinstance(row.get("nodes"), list):
        return "nodes", _last_branch(row["nodes"])
    for key in MESSAGES_AT:
        found = row.get(key)
        if key == "filtered_resps" and isinstance(found, list) and len(found) == 1:
            found = found[0]  # a sample of lm-evaluation-harness
        if not absent(found):
            return key, found
    raise TranscriptError(
        f"no conversation at nodes, {', '.join(MESSAGES_AT)}; "
        f"the row has: {', '.join(map(str, row)) or 'nothing'}"
    )


def _last_branch(nodes: Sequence[Any]) -> list[Any]:
    """The messages that lead to the last one of a verifiers trace, which is a tree.

    What stands there in the agent's name but was not sampled was given to it.
    """
    messages: list[Any] = []
    position: int | None = len(nodes) - 1
    while position is not None and position >= 0:
        node = nodes[position]
        message = node.get("message") if isinstance(node, Mapping) else None
        if not isinstance(message, Mapping):
            raise TranscriptError(f"nodes[{position}].message: expected an object")
        if message.get("role") != "assistant" or node.get("sampled", True):
            messages.append(message)
        parent = node.get("parent")
        if parent is not None and not (isinstance(parent, int) and 0 <= parent < position):
            raise TranscriptError(f"nodes[{position}].parent: expected an earlier node")
        position = parent
    return messages[::-1]


def _status(row: Mapping[str, Any]) -> str:
    """Why a row must not be scored, from what frameworks note of failures.

    verifiers keeps the errors of attempts that were made again, and says ``ok``.
    """
    if row.get("ok") is True:
        return COMPLETED
    errors = row.get("errors")
    error = errors[0] if isinstance(errors, list) and errors else row.get("error")
    if absent(error) or error in ("", False):
        return COMPLETED
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type") or "error"
    return f"error: {error}" if isinstance(error, str) else "error"


def _is_kept(key: str, value: object) -> bool:
    plain = isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 100)
    return plain and key not in _OWN_KEYS and not absent(value)


def convert_file(
    source: str | Path | IO[str] | IO[bytes],
    *,
    incident_at: str | None = None,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
    resolve: Resolver = make_incident,
    on_error: Callable[[TranscriptError], None] | None = None,
) -> Iterator[Transcript]:
    """Convert a file of rows as a stream: JSONL, or one JSON document if named ``.json``.

    A document holds a list of rows, one row, or an Inspect log with its ``samples``. A
    row that cannot be converted goes to ``on_error`` as a :class:`TranscriptError` with
    file and line (or number), and the rest is converted; without ``on_error`` it is
    raised.

    Raises:
        TranscriptError: for the first bad row, if there is no ``on_error``; for a
            document that is not JSON.
        OSError: if the file cannot be read.
    """
    if isinstance(source, str | Path):
        with Path(source).open("rb") as stream:
            yield from convert_file(
                stream,
                incident_at=incident_at,
                style=style,
                other_tools=other_tools,
                resolve=resolve,
                on_error=on_error,
            )
        return
    name = str(getattr(source, "name", "<stream>"))
    rows = _document(source, name) if name.endswith(".json") else _lines(source, name)
    for place, line, row in rows:
        try:
            if isinstance(row, TranscriptError):
                raise row
            converted = transcript_of_row(
                row,
                incident_at=incident_at,
                style=style,
                other_tools=other_tools,
                resolve=resolve,
            )
        except LogTriageError as error:
            reason = error.reason if isinstance(error, TranscriptError) else str(error)
            located = TranscriptError(reason, source=place, line=line)
            if on_error is None:
                raise located from error
            on_error(located)
        else:
            yield converted


#: Where a row stands (file, line), and the row, or why there is none.
_Row = tuple[str, int | None, object]


def _lines(stream: IO[str] | IO[bytes], name: str) -> Iterator[_Row]:
    lines: Iterable[str | bytes] = stream
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                rows = rows_of(_decoded(line))
            except TranscriptError as error:
                yield name, number, error
                continue
            for row in rows:
                yield name, number, row


def _document(stream: IO[str] | IO[bytes], name: str) -> Iterator[_Row]:
    try:
        document = _decoded(stream.read())
    except TranscriptError as error:
        raise TranscriptError(error.reason, source=name) from None
    if isinstance(document, Mapping) and isinstance(document.get("samples"), list):
        header = document.get("eval")
        model = header.get("model") if isinstance(header, Mapping) else None
        rows = [
            {"model": model, **one} if isinstance(one, Mapping) else one
            for one in document["samples"]
        ]
        name = f"{name}: samples"
    else:
        rows = document if isinstance(document, list) else [document]
    for number, row in enumerate(rows):
        for one in rows_of(row):
            yield f"{name}[{number}]", None, one


def _decoded(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise TranscriptError("JSON nested too deeply") from None
    except ValueError as error:  # UnicodeDecodeError is one
        raise TranscriptError(f"not JSON: {error}") from None
