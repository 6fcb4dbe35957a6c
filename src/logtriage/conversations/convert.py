"""Convert files of conversations into transcripts, which ``logtriage grade`` reads.

A row is one JSON object: a conversation and the id of its incident.
:mod:`logtriage.conversations.shapes` lists what is recognised; transcripts pass through unchanged.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final
from warnings import warn

import attrs

from logtriage._lib.files import TOO_LONG, numbered_lines, unpacked
from logtriage._lib.jsonvalues import absent
from logtriage._lib.printable import counted
from logtriage.conversations.attempts import attempts_of, without_parts_of_bad
from logtriage.conversations.blocks import at, opened
from logtriage.conversations.dialects import LINE, Shape
from logtriage.conversations.fields import Conversation, conversation_of
from logtriage.conversations.joining import joined
from logtriage.conversations.logrows import LogRow, Result, row_of_conversation
from logtriage.conversations.names import Names, names_of
from logtriage.conversations.requests import is_no_chat, reply_beside
from logtriage.conversations.rows import Reading, reading_of, transcript_of_row
from logtriage.conversations.shapes import LINES, as_row, rows_in
from logtriage.conversations.wires import Style
from logtriage.drawing.sealing import incident_of
from logtriage.errors import LogTriageError, SealError, TranscriptError
from logtriage.grading import Resolver
from logtriage.transcript import Transcript

__all__ = ["convert_file", "convert_files", "transcript_of_row"]

Source = str | Path | IO[str] | IO[bytes]
_Options = tuple[str | None, Style, Collection[str], Resolver]  # the arguments of reading_of
OnError = Callable[[TranscriptError], None]
#: Called with the places of rows that are left out, and of the row that stands for them.
OnBeginnings = Callable[[list[str], str], None]
#: The longest document of JSON that is read, in characters; lines have their own limit.
MAX_DOCUMENT: Final = 256 * 1024 * 1024


def convert_file(
    source: Source, *, on_error: OnError | None = None, **options: Any
) -> Iterator[Transcript]:
    """The transcripts of one file; the options are those of :func:`convert_files`."""
    for reading in convert_files([source], on_error=on_error, **options):
        yield reading.transcript


def convert_files(
    sources: Iterable[Source],
    *,
    on_error: OnError | None = None,
    on_beginnings: OnBeginnings | None = None,
    incident_at: str | None = None,
    messages_at: str | None = None,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
    resolve: Resolver = incident_of,
) -> Iterator[Reading]:
    """Convert the rows of files: JSONL, or one JSON document, gzipped or not.

    A document holds a list of rows, a page of an API's list, one row, or an Inspect log with its
    ``samples``. A row that cannot be converted goes to ``on_error`` as a :class:`TranscriptError`
    with file and line (or number); without ``on_error`` it is raised. The options are those of
    :func:`transcript_of_row`; ``messages_at`` is the dotted path to the conversation.
    Rows for which another row of the attempt stands are left out
    (:mod:`logtriage.conversations.attempts`) and go to ``on_beginnings``, else a warning counts
    them; so all files are read before the first transcript comes. A log is a file of several rows,
    or all files of one row. If a row of an attempt is bad, so are all.

    Raises:
        TranscriptError: for the first bad row, if there is no ``on_error``; for a
            document that is not JSON, and for a file without a row.
        SealError: for a sealed incident without its key, or with another one.
        OSError: if a file cannot be read.
    """
    style = Style(style)
    options = (incident_at, style, other_tools, resolve)
    rows: list[LogRow] = []
    for number, source in enumerate(sources):
        read = [_read(*record, messages_at, options) for record in _records(source)]
        log = number if len(read) > 1 else None
        rows += (attrs.evolve(row, log=log, number=n) for n, row in enumerate(read, len(rows)))
    kept, parts_of = attempts_of(rows)
    if style is not Style.PLAN:  # a plan is whole
        kept = list(joined(kept, lambda row, told: _result(row.place, row.line, told, options)))
    for row in without_parts_of_bad(kept, parts_of):
        if isinstance(row.result, Reading):
            earlier = [part.spent for part in parts_of.get(row, ())]
            yield row.result.counting(row.spent.total(earlier)) if earlier else row.result
        elif on_error is None:
            raise row.result
        else:
            on_error(row.result)
    if on_beginnings is not None:
        for row, parts in parts_of.items():
            on_beginnings(list(map(str, parts)), str(row))
    elif parts_of:
        count = counted(sum(map(len, parts_of.values())), "row")
        why = "the beginning of another row; on_beginnings gets the places"
        warn(f"{count} left out: {why}", stacklevel=2)


def _read(
    place: str, line: int | None, value: object, messages_at: str | None, options: _Options
) -> LogRow:
    """A record as a row of a log; its result is an error if the record is bad."""
    incident_at, *_ = options
    try:
        if isinstance(value, TranscriptError):  # in place of a row that could not be read
            raise value
        if messages_at is not None and isinstance(value, Mapping):
            value = _with_messages(value, messages_at)
        conversation = conversation_of(value)
    except LogTriageError as error:
        bad, names = _error(error, place, line), _named(value, incident_at)
        return LogRow(place, line, bad, names, plays_nothing=is_no_chat(value))
    result = _result(place, line, conversation, options)
    names = names_of(conversation.row, incident_at)
    return row_of_conversation(place, line, conversation, result, names)


def _with_messages(row: Mapping[str, Any], messages_at: str) -> dict[str, Any]:
    """The row with the messages at a path, and with the response beside them if it has none."""
    if absent(messages := at(row, messages_at)):
        known = ", ".join(map(str, row))
        raise TranscriptError(f"no conversation at {messages_at}; the row has: {known}")
    parent, dot, _ = messages_at.rpartition(".")
    beside = opened(at(row, parent)) if dot else row
    response = reply_beside(beside) if isinstance(beside, Mapping) else {}
    return {**response, **row, "messages": messages}


def _named(row: object, incident_at: str | None) -> Names:
    """What a row names of its attempt, even if its conversation is bad."""
    if not isinstance(row, Mapping):
        return Names()
    with suppress(LogTriageError):
        row = as_row(row)
    return names_of(row, incident_at)


def _result(place: str, line: int | None, conversation: Conversation, options: _Options) -> Result:
    try:
        return reading_of(conversation, *options)
    except SealError as error:  # the key is wrong, not the row
        raise SealError(f"{place}{'' if line is None else f':{line}'}: {error}") from None
    except LogTriageError as error:
        return _error(error, place, line)


def _error(error: LogTriageError, place: str, line: int | None) -> TranscriptError:
    reason = error.reason if isinstance(error, TranscriptError) else str(error)
    return TranscriptError(reason, source=place, line=line)


#: (file, line, row); an error stands for a row that could not be read.
_Record = tuple[str, int | None, object]


def _records(source: Source) -> Iterator[_Record]:
    """The rows of a file; lines that together make a conversation become one row."""
    if isinstance(source, str | Path):
        with Path(source).open("rb") as stream:
            yield from _records(stream)
        return
    name = str(getattr(source, "name", "<stream>"))
    by_shape: dict[Shape, list[_Record]] = {}
    empty = True
    for line, value in _values(unpacked(source, name), name):
        for inside, row in rows_in(value):
            empty = False
            shapes = (shape for shape in LINES if isinstance(row, Mapping) and shape.fits(row))
            if (shape := next(shapes, None)) is None:
                yield f"{name}{inside}", line, row
            else:
                by_shape.setdefault(shape, []).append((f"{name}{inside}", line, row))
    if empty:
        raise TranscriptError("empty: there is nothing to convert", source=name)
    for shape, records in by_shape.items():
        rows = shape.read([value for _, _, value in records])
        if not rows:
            place, line, _ = records[0]
            yield place, line, TranscriptError(f"no conversation in the lines of {shape.writers}")
        of_record = Counter(row.get(LINE, 0) for row in rows)
        seen: Counter[int] = Counter()
        for row in rows:
            number = row.pop(LINE, 0)
            place, line, _ = records[number]
            yield f"{place}[{seen[number]}]" if of_record[number] > 1 else place, line, row
            seen[number] += 1


def _values(stream: Any, name: str) -> Iterator[tuple[int | None, Any]]:
    """(line, JSON value) for each line of a file; without a line, the document over all lines."""
    lines: Iterable[tuple[int, Any]] = (
        (n, line) for n, line in numbered_lines(stream) if line is None or line.strip()
    )
    head = list(islice(lines, 2))
    if not head:
        return
    lines = chain(head, lines)
    _, line = head[0]
    value = _decoded(line)
    is_document = name.removesuffix(".gz").endswith(".json")
    if isinstance(value, TranscriptError) and line is not None:
        lines = _all_of(lines)  # all are texts, or all bytes
        whole = _decoded(line[:0].join(text for _, text in lines if text is not None))
        if not isinstance(whole, TranscriptError):
            yield None, whole
            return
        if is_document:
            raise TranscriptError(whole.reason, source=name)
    elif is_document and len(head) == 1 and line is not None:
        yield None, value
        return
    for number, text in lines:
        yield number, _decoded(text)


def _all_of(lines: Iterable[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """All lines; a TranscriptError if they are longer than a document may be."""
    size, found = 0, []
    for number, line in lines:
        size += 0 if line is None else len(line)
        found.append((number, line))
        if size > MAX_DOCUMENT:
            limit = f"{MAX_DOCUMENT >> 20} MiB"
            reason = f"neither JSON a line nor a document of at most {limit}"
            raise TranscriptError(reason, line=number)
    return found


def _decoded(text: str | bytes | None) -> Any:
    """The JSON value of a line, or the error that stands for it. ``text`` None: it is too long."""
    if text is None:
        return TranscriptError(TOO_LONG)
    try:
        return json.loads(text)
    except RecursionError:
        return TranscriptError("JSON nested too deeply")
    except ValueError as error:  # UnicodeDecodeError is one
        return TranscriptError(f"not JSON: {error}")
