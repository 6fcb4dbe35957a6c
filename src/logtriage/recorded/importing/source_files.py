"""Files that imports read: found inside their folder alone, by lines, as CSV and as JSON.

Everything here raises :class:`~logtriage.errors.BundleError` with the file and the line.
:func:`read_rows` and :func:`read_records` refuse the first bad record: users can mend their files.
:func:`read_sound_rows` counts bad rows and leaves them out: published files stay damaged.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

from logtriage._lib.files import TOO_LONG, numbered_lines
from logtriage._lib.printable import masked
from logtriage.errors import BundleError
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import LeftOut

#: Bytes of the longest line of CSV; the longest of the published data has 17,000.
MAX_CSV_LINE: Final = 1_000_000
#: The largest JSON document that spans lines, in bytes once unzipped: it is read as a whole.
MAX_DOCUMENT: Final = 512 * 1024 * 1024
#: How the names of JSON files end, in small letters or capitals; ``.gz`` may follow.
ENDINGS: Final = (".json", ".jsonl", ".ndjson")
#: How much of a header a message shows.
_SHOWN: Final = 200


# --- files -------------------------------------------------------------------------------


def inside(root: Path, path: Path) -> Path:
    """The path; an error if links lead it outside of ``root``."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise BundleError(f"{path} leads outside of {root}")
    return path


def listed(folder: Path) -> list[Path]:
    """What a folder holds, by name; nothing if there is no such folder."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def find_csv(root: Path, folder: Path, stem: str) -> Path | None:
    """``stem.csv`` or ``stem.csv.gz`` in a folder below ``root``; None if neither is there.

    An error if both are there, if it is no file or leads outside of ``root``, and if upper and
    lower case differ: no file must be ignored silently.
    """
    names = (f"{stem}.csv", f"{stem}.csv.gz")
    paths = [path for path in listed(folder) if path.name.casefold() in map(str.casefold, names)]
    for path in paths:
        if path.name not in names:
            raise BundleError(f"{path}: the name must be {names[0]} or {names[1]}")
        _check_file(path)
    if len(paths) > 1:
        raise BundleError(f"{folder}: must have {names[0]} or {names[1]}, has both")
    return inside(root, paths[0]) if paths else None


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "a link that leads nowhere" if path.is_symlink() else "none"
        raise BundleError(f"{path}: must be a file, is {'a folder' if path.is_dir() else what}")


def lines_of(
    file: IO[bytes], name: str, most: int | None = None, skip: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, unzipped if need be.

    A line of more than ``most`` bytes (None: the limit of all files) is an error. With ``skip`` it
    is left out instead, and ``skip`` gets its number.
    """
    zipped = file.read(2) == b"\x1f\x8b" or name.endswith(".gz")
    file.seek(0)
    number = 0
    try:
        for number, line in numbered_lines(gzip.GzipFile(fileobj=file) if zipped else file, most):
            if line is not None:
                yield number, line
            elif skip is None:
                raise BundleError(f"{name}:{number}: {too_long(most)}")
            else:
                skip(number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{number + 1}: damaged gzip: {error}") from None


def too_long(most: int | None) -> str:
    """Why a longer line is refused."""
    return TOO_LONG if most is None else f"longer than {most:,} bytes"


# --- JSON --------------------------------------------------------------------------------


def decoded(text: bytes) -> Any:
    """JSON that has no constants of JavaScript; ValueError or RecursionError for other text."""
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parsed(text: bytes, name: str, number: int | None = None) -> Any:
    """Decoded JSON; ``number`` is the line of ``name`` at which the text begins."""
    try:
        return decoded(text.rstrip())
    except (ValueError, RecursionError) as error:
        line = "" if number is None else f":{number + getattr(error, 'lineno', 1) - 1}"
        raise BundleError(f"{name}{line}: not JSON: {error}") from None


def json_lines(file: IO[bytes], name: str) -> Iterator[tuple[str, Any]]:
    """Each line's place and decoded JSON; empty lines are left out."""
    for number, line in lines_of(file, name):
        if line.strip():
            yield f"{name}:{number}", parsed(line, name, number)


def documents(root: Path) -> Iterator[Field]:
    """Every document of the JSON files below a folder, by name of file; of a list its items.

    A file whose first line is a document holds one in each line (OTLP files, whatever they
    are called); any other file is one document.
    """
    for path in sorted(root.rglob("*")):
        if path.is_dir():
            # A link to a folder is not followed: what it leads to is read if it is below, too.
            inside(root, path)
        elif path.name.lower().removesuffix(".gz").endswith(ENDINGS):
            _check_file(path)
            name = path.relative_to(root).as_posix()
            with inside(root, path).open("rb") as file:
                for number, value in _values(file, name):
                    spot = Field(value, f"{name}:{number}")
                    yield from spot.items() if isinstance(value, list) else (spot,)


def _values(file: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    lines, is_first = lines_of(file, name), True
    for number, line in lines:
        if not line.strip():
            continue
        if is_first and not _is_document(line):
            text = bytearray(line)
            for _, more in lines:
                text += more
                if len(text) > MAX_DOCUMENT:
                    limit = f"longer than {MAX_DOCUMENT >> 20} MiB"
                    raise BundleError(f"{name}: {limit}, and not JSON lines")
            line = bytes(text)
        is_first = False
        yield number, parsed(line, name, number)


def _is_document(line: bytes) -> bool:
    try:
        decoded(line)
    except RecursionError:
        return True  # which nobody can read
    except ValueError:
        return False
    return True


# --- CSV ---------------------------------------------------------------------------------


def read_rows(path: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Each row with the place where it begins, ``name:line``.

    A row may span lines where a field is quoted, as RFC 4180 has it. Empty lines are left out.
    """
    line = 1
    with path.open("rb") as file:
        texts = (_text(line, number, name) for number, line in lines_of(file, name, MAX_CSV_LINE))
        rows = csv.reader(texts, strict=True)
        try:
            for row in rows:
                where, line = f"{name}:{line}", rows.line_num + 1
                if len(row) > 1 or "".join(row).strip():
                    yield where, row
        except csv.Error as error:
            raise BundleError(f"{name}:{line}: broken CSV: {error}") from None


def read_records(path: Path, needed: Sequence[str], name: str) -> Iterator[Field]:
    """Each record, its values by column.

    An error if the file lacks a column, has one twice, or has a record of another length than
    its header.
    """
    rows = read_rows(path, name)
    _, header = next(rows, ("", []))
    _check_columns(header, needed, name)
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise BundleError(f"{name}:1: column {masked(twice[0])!r} appears twice")
    for where, row in rows:
        if len(row) != len(header):
            raise BundleError(
                f"{where}: wrong column count: {len(row)} where the header has {len(header)}"
            )
        yield Field(dict(zip(header, row, strict=True)), where)


def read_sound_rows(
    path: Path, columns: Sequence[str], left_out: LeftOut, *, optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Line number and the named columns of each sound row; ``optional`` ones last, or "".

    A row is one line: the published files never break one, and so a stray quote costs
    its own row and not the rest of the file. An error only if a column is missing or the gzip is
    damaged.
    """
    name = left_out.begin(path)

    def skip(number: int) -> None:
        left_out.add(path, number, too_long(MAX_CSV_LINE))

    with path.open("rb") as file:
        lines = lines_of(file, name, MAX_CSV_LINE, skip)
        header = _split(_text(next(lines, (1, b""))[1], 1, name, "replace")) or []
        _check_columns(header, columns, name)
        places = [header.index(column) for column in columns]
        places += [header.index(column) if column in header else -1 for column in optional]
        for number, line in lines:
            row = _split(_text(line, number, name, "replace"))
            if row is None:
                left_out.add(path, number, "broken CSV")
            elif len(row) == len(header):
                yield number, [row[place] if place >= 0 else "" for place in places]
            elif line.strip():
                left_out.add(path, number, "wrong column count")


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
