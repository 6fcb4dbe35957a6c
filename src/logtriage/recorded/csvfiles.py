"""Reading CSV files: files that users can mend, and published files that stay damaged.

:func:`read_rows` and :func:`read_records` refuse the first bad record and name its line.
:func:`read_sound_rows` uses every row or counts it with the reason why not.
"""

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from logtriage._lib.printable import masked
from logtriage.errors import BundleError
from logtriage.recorded.tally import Tally

#: Bytes of the longest line that is read; the longest of the published data has 17,000.
MAX_LINE: Final = 1_000_000
TOO_LONG: Final = f"longer than {MAX_LINE:,} bytes"
#: How much of a header a message shows.
_SHOWN: Final = 200


def read_rows(path: Path, name: str, errors: str = "strict") -> Iterator[tuple[str, list[str]]]:
    """Each row with the place where it begins, ``name:line``.

    A row may span lines where a field is quoted, as RFC 4180 has it. Empty lines are left out.
    ``errors`` is that of :meth:`bytes.decode`, for bytes that are not UTF-8.

    Raises:
        BundleError: naming ``name`` and line, if the file is damaged, is not UTF-8, or has a line
            of more than :data:`MAX_LINE` bytes.
    """
    line = 1
    rows = csv.reader(_lines(path, name, errors), strict=True)
    try:
        for row in rows:
            where, line = f"{name}:{line}", rows.line_num + 1
            if len(row) > 1 or "".join(row).strip():
                yield where, row
    except csv.Error as error:
        raise BundleError(f"{name}:{line}: broken CSV: {error}") from None


def read_records(
    path: Path, needed: Sequence[str], name: str, errors: str = "strict"
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each record with the place where it begins, ``name:line``; values by column.

    Raises:
        BundleError: as :func:`read_rows`, and if the file lacks a column, has one twice, or has
            a record of another length than its header.
    """
    rows = read_rows(path, name, errors)
    _, header = next(rows, ("", []))
    _check_columns(header, needed, name)
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise BundleError(f"{name}:1: column {masked(twice[0])!r} appears twice")
    for where, record in rows:
        if len(record) != len(header):
            raise BundleError(
                f"{where}: wrong column count: {len(record)} where the header has {len(header)}"
            )
        yield where, dict(zip(header, record, strict=True))


def read_sound_rows(
    path: Path, columns: Sequence[str], tally: Tally, *, optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Line number and the named columns of each sound row; ``optional`` ones last, or "".

    A row is one line: the published files never break one, and so a stray quote costs
    its own row and not the rest of the file.

    Raises:
        BundleError: if the file is damaged as a whole (gzip, or a missing column).
    """
    name = tally.name(path)
    tally.begin(path)

    def too_long(line: int) -> None:
        tally.row(name)
        tally.skip(path, line, TOO_LONG)

    lines = _lines(path, name, "replace", too_long)
    header = _split(next(lines, "")) or []
    _check_columns(header, columns, name)
    places = [header.index(column) for column in columns]
    places += [header.index(column) if column in header else -1 for column in optional]
    for line, text in enumerate(lines, 2):
        if not text:  # it was too long
            continue
        row = _split(text)
        tally.row(name)
        if row is None:
            tally.skip(path, line, "broken CSV")
        elif len(row) != len(header):
            if text.strip():
                tally.skip(path, line, "wrong column count")
        else:
            yield line, [row[place] if place >= 0 else "" for place in places]


def _lines(
    path: Path, name: str, errors: str, too_long: Callable[[int], None] | None = None
) -> Iterator[str]:
    """The lines as text, each with its end.

    A line that is too long is an error. With ``too_long`` it is empty instead, and its number goes
    to ``too_long``.
    """
    number = 0
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
                if len(line) <= MAX_LINE:
                    yield _decoded(line, number, name, errors)
                    continue
                if too_long is None:
                    raise BundleError(f"{name}:{number}: {TOO_LONG}")
                while not line.endswith(b"\n") and (line := file.readline(MAX_LINE)):
                    pass
                too_long(number)
                yield ""
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{number + 1}: damaged gzip: {error}") from None


def _decoded(line: bytes, number: int, name: str, errors: str) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8", errors)
    except UnicodeDecodeError as error:
        found = line[error.start : error.start + 1].hex()
        raise BundleError(
            f"{name}:{number}: not UTF-8: byte 0x{found} at {error.start}; save the file as UTF-8"
        ) from None


def _check_columns(header: Sequence[str], needed: Sequence[str], name: str) -> None:
    missing = [column for column in needed if column not in header]
    if missing:
        there = masked(", ".join(header)[:_SHOWN]) or "none, the file is empty"
        raise BundleError(f"{name}:1: no column {', '.join(missing)}; columns: {there}")


def _split(line: str) -> list[str] | None:
    """The fields of one line of CSV; None if one is too long for the csv module."""
    line = line.rstrip("\r\n")
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader((line,)))
    except csv.Error:
        return None
