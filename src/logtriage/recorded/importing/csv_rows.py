"""Rows of CSV files.

:func:`read_rows` and :func:`read_records` refuse the first bad record, as users can mend their
files, unless they are told to count bad ones.
:func:`read_sound_rows` counts bad rows and leaves them out: published files stay damaged.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from logtriage._lib.printable import masked
from logtriage.errors import BundleError
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import STRICT, LeftOut
from logtriage.recorded.importing.source_files import lines_of, too_long_reason, while_sound

#: Bytes of the longest line of CSV; the longest of the published data has 17,000.
MAX_CSV_LINE: Final = 1_000_000
_SHOWN: Final = 200


def read_rows(path: Path, name: str, left_out: LeftOut = STRICT) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, cells) of each row (RFC 4180) with text; the place is ``name:line``.

    A row that cannot be read is bad input.
    """
    number = 1
    with path.open("rb") as file:
        lines = while_sound(lines_of(file, name, MAX_CSV_LINE), name, left_out)
        errors = "replace" if left_out.skips_bad else "strict"
        rows = csv.reader((_text(line, at, name, errors) for at, line in lines), strict=True)
        while True:
            where = f"{name}:{number}"
            try:
                row = next(rows, None)
            except csv.Error as error:
                left_out.bad(BundleError(f"{where}: broken CSV: {error}"), where)
                row = []
            if row is None:
                return
            number = rows.line_num + 1
            if len(row) > 1 or "".join(row).strip():
                yield where, row


def read_records(
    path: Path, needed: Sequence[str], name: str, left_out: LeftOut = STRICT
) -> Iterator[Field]:
    """Yield each record, with its values by column.

    A BundleError if the file lacks a column or has one twice. A record that cannot be read, or is
    not as long as the header, is bad input.
    """
    rows = read_rows(path, name, left_out)
    _, header = next(rows, ("", []))
    _check_columns(header, needed, name)
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise BundleError(f"{name}:1: column {masked(twice[0])!r} appears twice")
    for where, row in rows:
        if len(row) == len(header):
            yield Field(dict(zip(header, row, strict=True)), where)
        else:
            count = f"{len(row)} where the header has {len(header)}"
            error = BundleError(f"{where}: wrong column count: {count}")
            left_out.bad(error, where, "wrong column count")


def read_sound_rows(
    path: Path,
    name: str,
    columns: Sequence[str],
    left_out: LeftOut,
    *,
    optional: Sequence[str] = (),
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of each sound row: ``columns``, then ``optional`` (or "").

    A row is one line: rows of the published files never span lines, and so a stray quote costs its
    own row alone. A BundleError only if a column is missing or the gzip is damaged.
    """
    left_out.begin(name)

    def skip(number: int) -> None:
        left_out.add(too_long_reason(MAX_CSV_LINE), f"{name}:{number}")

    with path.open("rb") as file:
        lines = lines_of(file, name, MAX_CSV_LINE, skip)
        header = _split(_text(next(lines, (1, b""))[1], 1, name, "replace")) or []
        _check_columns(header, columns, name)
        places: list[int | None] = [header.index(column) for column in columns]
        places += [header.index(column) if column in header else None for column in optional]
        for number, line in lines:
            row = _split(_text(line, number, name, "replace"))
            if row is None:
                left_out.add("broken CSV", f"{name}:{number}")
            elif len(row) == len(header):
                yield number, ["" if place is None else row[place] for place in places]
            elif line.strip():
                left_out.add("wrong column count", f"{name}:{number}")


def _text(line: bytes, number: int, name: str, errors: str = "strict") -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8", errors)
    except UnicodeDecodeError as error:
        raise BundleError(
            f"{name}:{number}: not UTF-8: byte 0x{line[error.start]:02x} at {error.start}; "
            "save the file as UTF-8"
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
