"""Conversations in files become transcripts, which ``logtriage grade`` reads.

A row is one JSON object: a conversation and the id of its incident. Rows of Inspect
(samples of a JSON log), verifiers (lines of ``traces.jsonl``), TRL (prompt and
completion), Harbor (trajectories in ATIF) and rows with OpenAI's or Anthropic's messages
are recognised by their fields; transcripts pass through unchanged.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from logtriage._lib.files import TOO_LONG, numbered_lines
from logtriage.conversations.rows import rows_of, transcript_of_row
from logtriage.errors import LogTriageError, SealError, TranscriptError
from logtriage.transcript import Transcript

__all__ = ["convert_file", "transcript_of_row"]


def convert_file(
    source: str | Path | IO[str] | IO[bytes],
    *,
    on_error: Callable[[TranscriptError], None] | None = None,
    **options: Any,
) -> Iterator[Transcript]:
    """Convert a file of rows as a stream: JSONL, or one JSON document if named ``.json``.

    A document holds a list of rows, one row, or an Inspect log with its ``samples``. A
    row that cannot be converted goes to ``on_error`` as a :class:`TranscriptError` with
    file and line (or number), and the rest is converted; without ``on_error`` it is
    raised. ``options`` are those of :func:`transcript_of_row`.

    Raises:
        TranscriptError: for the first bad row, if there is no ``on_error``; for a
            document that is not JSON.
        SealError: for a sealed incident without its key, or with another one.
        OSError: if the file cannot be read.
    """
    if isinstance(source, str | Path):
        with Path(source).open("rb") as stream:
            yield from convert_file(stream, on_error=on_error, **options)
        return
    name = str(getattr(source, "name", "<stream>"))
    rows = _document(source, name) if name.endswith(".json") else _lines(source, name)
    for place, line, row in rows:
        try:
            if isinstance(row, TranscriptError):
                raise row
            transcript = transcript_of_row(row, **options)
        except SealError as error:  # the key is wrong, not the row
            raise SealError(f"{place}{'' if line is None else f':{line}'}: {error}") from None
        except LogTriageError as error:
            reason = error.reason if isinstance(error, TranscriptError) else str(error)
            located = TranscriptError(reason, source=place, line=line)
            if on_error is None:
                raise located from error
            on_error(located)
        else:
            yield transcript


#: File and line of a row, and the row, or the error that stands for it.
_Row = tuple[str, int | None, object]


def _lines(stream: IO[str] | IO[bytes], name: str) -> Iterator[_Row]:
    for number, line in numbered_lines(stream):
        if line is None:
            yield name, number, TranscriptError(TOO_LONG)
        elif line.strip():
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
            {"model": model, **sample} if isinstance(sample, Mapping) else sample
            for sample in document["samples"]
        ]
        name = f"{name}: samples"
    else:
        rows = document if isinstance(document, list) else [document]
    for number, row in enumerate(rows):
        for part in rows_of(row):
            yield f"{name}[{number}]", None, part


def _decoded(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise TranscriptError("JSON nested too deeply") from None
    except ValueError as error:  # UnicodeDecodeError is one
        raise TranscriptError(f"not JSON: {error}") from None
