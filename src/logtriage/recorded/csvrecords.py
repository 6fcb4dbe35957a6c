"""Reading CSV files that people can mend: the first bad record is an error that names its line."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from logtriage.errors import BundleError


def read_rows(path: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Each row with the place where it begins, ``name:line``.

    A row may span lines where a field is quoted, as RFC 4180 has it. Empty lines are left out.

    Raises:
        BundleError: naming ``name`` and line, if the file is damaged.
    """
    line = 1
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
            if path.name.endswith(".gz")
            else path.open(encoding="utf-8-sig", errors="replace", newline="")
        ) as file:
            rows = csv.reader(file, strict=True)
            for row in rows:
                where, line = f"{name}:{line}", rows.line_num + 1
                if len(row) > 1 or "".join(row).strip():
                    yield where, row
    except csv.Error as error:
        raise BundleError(f"{name}:{line}: broken CSV: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{line}: damaged gzip: {error}") from None


def read_records(
    path: Path, needed: Sequence[str], name: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each record with the place where it begins, ``name:line``; values by column.

    Raises:
        BundleError: naming ``name`` and line, if the file is damaged, lacks a column, has one
            twice, or has a record of another length than its header.
    """
    rows = read_rows(path, name)
    _, header = next(rows, ("", []))
    missing = [column for column in needed if column not in header]
    if missing:
        raise BundleError(f"{name}:1: no column {', '.join(missing)}; columns: {', '.join(header)}")
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise BundleError(f"{name}:1: column {twice[0]!r} appears twice")
    for where, record in rows:
        if len(record) != len(header):
            raise BundleError(
                f"{where}: wrong column count: {len(record)} where the header has {len(header)}"
            )
        yield where, dict(zip(header, record, strict=True))
