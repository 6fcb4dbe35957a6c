"""Reading CSV files that people can mend: the first bad record is an error that names its line."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from logtriage.errors import BundleError


def read_records(
    path: Path, needed: Sequence[str], name: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each record with the place where it begins, ``name:line``; values by column.

    A record may span lines where a field is quoted, as RFC 4180 has it. Empty lines are
    left out.

    Raises:
        BundleError: naming ``name`` and line, if the file is damaged, lacks a column, has one
            twice, or has a record of another length than its header.
    """
    line = 1
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
            if path.name.endswith(".gz")
            else path.open(encoding="utf-8-sig", errors="replace", newline="")
        ) as file:
            records = csv.reader(file, strict=True)
            header = next(records, [])
            missing = [column for column in needed if column not in header]
            if missing:
                raise BundleError(
                    f"{name}:1: no column {', '.join(missing)}; columns: {', '.join(header)}"
                )
            twice = [column for column in header if header.count(column) > 1]
            if twice:
                raise BundleError(f"{name}:1: column {twice[0]!r} appears twice")
            line = records.line_num + 1
            for record in records:
                where, line = f"{name}:{line}", records.line_num + 1
                if len(record) == len(header):
                    yield where, dict(zip(header, record, strict=True))
                elif len(record) > 1 or "".join(record).strip():
                    raise BundleError(
                        f"{where}: wrong column count: {len(record)} where the header has "
                        f"{len(header)}"
                    )
    except csv.Error as error:
        raise BundleError(f"{name}:{line}: broken CSV: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{line}: damaged gzip: {error}") from None
