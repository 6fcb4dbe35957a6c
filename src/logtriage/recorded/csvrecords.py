"""Reading CSV files that people can mend: the first bad record is an error that names its line."""

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from logtriage.errors import BundleError
from logtriage.printable import masked
from logtriage.recorded.csvrows import MAX_LINE

#: How much of a header a message shows.
_SHOWN: Final = 200


def read_rows(path: Path, name: str, errors: str = "strict") -> Iterator[tuple[str, list[str]]]:
    """Each row with the place where it begins, ``name:line``.

    A row may span lines where a field is quoted, as RFC 4180 has it. Empty lines are left out.
    ``errors`` says what becomes of bytes that are not UTF-8, as of :meth:`bytes.decode`.

    Raises:
        BundleError: naming ``name`` and line, if the file is damaged, is not UTF-8, or has a
            line of more than :data:`~logtriage.recorded.csvrows.MAX_LINE` bytes.
    """
    line = 1
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            rows = csv.reader(_lines(file.readline, name, errors), strict=True)
            for row in rows:
                where, line = f"{name}:{line}", rows.line_num + 1
                if len(row) > 1 or "".join(row).strip():
                    yield where, row
    except csv.Error as error:
        raise BundleError(f"{name}:{line}: broken CSV: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{line}: damaged gzip: {error}") from None


def _lines(read: Callable[[int], bytes], name: str, errors: str) -> Iterator[str]:
    """The lines as text, each with its end."""
    for number, line in enumerate(iter(lambda: read(MAX_LINE + 1), b""), 1):
        if len(line) > MAX_LINE:
            raise BundleError(f"{name}:{number}: longer than {MAX_LINE:,} bytes")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8", errors)
        except UnicodeDecodeError as error:
            found = line[error.start : error.start + 1].hex()
            raise BundleError(
                f"{name}:{number}: not UTF-8: byte 0x{found} at {error.start}; "
                "save the file as UTF-8"
            ) from None


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
    missing = [column for column in needed if column not in header]
    if missing:
        there = masked(", ".join(header)[:_SHOWN]) or "none, the file is empty"
        raise BundleError(f"{name}:1: no column {', '.join(missing)}; columns: {there}")
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise BundleError(f"{name}:1: column {masked(twice[0])!r} appears twice")
    for where, record in rows:
        if len(record) != len(header):
            raise BundleError(
                f"{where}: wrong column count: {len(record)} where the header has {len(header)}"
            )
        yield where, dict(zip(header, record, strict=True))
