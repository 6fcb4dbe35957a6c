"""Files of an import: found inside their folder alone, unpacked, read by lines and as JSON.

Everything here raises :class:`~logtriage.errors.BundleError` with the file and the line.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

from logtriage._lib.files import TOO_LONG, numbered_lines, unpacked
from logtriage.errors import BundleError, InvalidInput
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import LeftOut

#: The largest JSON document that spans lines, in bytes once unpacked: it is read as a whole.
MAX_DOCUMENT: Final = 512 * 1024 * 1024
#: The longest line of a JSON file: tools save an answer of any size as a single line.
MAX_JSON_LINE: Final = 128 * 1024 * 1024
#: How the names of JSON files end, in small letters or capitals; ``.gz`` may follow.
ENDINGS: Final = (".json", ".jsonl", ".ndjson")
#: Files of these names are JSON as well if their first line is.
_PERHAPS: Final = (".log", ".txt", ".out")
#: The hint in errors of lines that are no JSON: a collector that still writes tears the last one.
SKIP_BAD: Final = "--skip-bad, skip_bad in Python, leaves such lines out"
#: If most of this many first lines are documents, each line of the file counts as one.
_SOME: Final = 20
#: How a line of JSON begins; a log in text may begin with a bracket, too.
_JSON_HEAD: Final = re.compile(rb"\s*(?:\{|\[\s*(?:[{\[\]]|$))")
#: What may stand between documents; the last is that of journald.
_BETWEEN: Final = " \t\r\n\ufeff\x1e"
_SHOWN: Final = 5


def inside(root: Path, path: Path) -> Path:
    """The path; an error if links lead it outside of ``root``."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise BundleError(f"{path} leads outside of {root}")
    return path


def name_of(root: Path, path: Path) -> str:
    """The name of a file in messages: its path below ``root``."""
    return path.relative_to(root).as_posix()


def listed(folder: Path) -> list[Path]:
    """The paths in a folder, sorted; empty if there is no such folder."""
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
        check_file(path)
    if len(paths) > 1:
        raise BundleError(f"{folder}: must have {names[0]} or {names[1]}, has both")
    return inside(root, paths[0]) if paths else None


def check_file(path: Path) -> None:
    """Raise a BundleError for a folder, or for a link that leads nowhere."""
    if not path.is_file():
        what = "a link that leads nowhere" if path.is_symlink() else "none"
        raise BundleError(f"{path}: must be a file, is {'a folder' if path.is_dir() else what}")


def lines_of(
    file: IO[bytes], name: str, most: int | None = None, skip: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, unpacked if need be.

    A line of more than ``most`` bytes (None: the limit of all files) is an error. With ``skip`` it
    is left out instead, and ``skip`` gets its number.
    """
    number = 0
    try:
        for number, line in numbered_lines(unpacked(file, name), most):
            if line is not None:
                yield number, line
            elif skip is None:
                raise BundleError(f"{name}:{number}: {too_long_reason(most)}")
            else:
                skip(number)
    except BundleError:
        raise
    except InvalidInput as error:
        reason = str(error).removeprefix(f"{name}: ")
        raise BundleError(f"{name}:{number + 1}: {reason}") from None


def too_long_reason(most: int | None) -> str:
    """The reason for refusing a line of more than ``most`` bytes."""
    if most is None:
        return TOO_LONG
    return f"longer than {most >> 20} MiB" if most >> 20 else f"longer than {most:,} bytes"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


def decoded(text: bytes) -> Any:
    """Decode JSON; ValueError (also for NaN and Infinity) or RecursionError for other text."""
    return json.loads(text, parse_constant=_no_constant)


def parsed(text: bytes, name: str, number: int | None = None) -> Any:
    """Decoded JSON; ``number`` is the line of ``name`` at which the text begins."""
    try:
        return decoded(text.rstrip())
    except (ValueError, RecursionError) as error:
        raise _not_json(error, name, number) from None


def _not_json(error: Exception, name: str, number: int | None) -> BundleError:
    line = "" if number is None else f":{number + getattr(error, 'lineno', 1) - 1}"
    return BundleError(f"{name}{line}: not JSON: {error}")


def json_lines(file: IO[bytes], name: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, decoded JSON) of each line that is not empty."""
    for number, line in lines_of(file, name):
        if line.strip():
            yield f"{name}:{number}", parsed(line, name, number)


def json_files(root: Path, known: tuple[str, ...], left_out: LeftOut) -> Iterator[tuple[Path, str]]:
    """The JSON files below a folder, by name, without ``known`` names; a note names all others."""
    others = []
    for path in sorted(root.rglob("*")):
        name = name_of(root, path)
        if path.is_dir():
            # A link to a folder is not followed: what it leads to is read if it is below, too.
            inside(root, path)
        elif any(part.startswith(".") for part in path.relative_to(root).parts):
            others.append(name)
        elif name not in known and _is_json(root, path):
            yield inside(root, path), name
        elif name not in known:
            others.append(name)
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        left_out.note(f"not read, since hidden or not JSON: {', '.join(others[:_SHOWN])}{more}")


def _is_json(root: Path, path: Path) -> bool:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(ENDINGS):
        check_file(path)
        return True
    if not name.endswith(_PERHAPS) or not path.is_file():
        return False
    with inside(root, path).open("rb") as file:
        first = next((line for _, line in lines_of(file, path.name) if line.strip()), b"")
    return _JSON_HEAD.match(first) is not None


def documents(path: Path, name: str, left_out: LeftOut) -> Iterator[Field]:
    """Yield every document of a JSON file; the items of a list are documents.

    A file whose first line is a document holds one in each line (OTLP files, whatever they are
    called). Any other file is documents that span lines. Text that is not JSON is bad input, of a
    file of that ``name``.
    """
    with path.open("rb") as file:
        for number, value in _values(file, name, left_out):
            yield from _flat(Field(value, f"{name}:{number}"))


def _flat(document: Field) -> Iterator[Field]:
    """Yield the documents in a list, or in a list of lists, as Zipkin has them.

    A list of series, as promtool writes it, is the result of a query of Prometheus.
    """
    if not isinstance(document.value, list):
        yield document
        return
    for kind, values in (("matrix", "values"), ("vector", "value")):
        if document.value and all("metric" in row and values in row for row in document.items()):
            answer = {"data": {"resultType": kind, "result": document.value}}
            yield Field(answer, document.where)
            return
    for item in document.items():
        yield from item.items() if isinstance(item.value, list) else (item,)


def _values(file: IO[bytes], name: str, left_out: LeftOut) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded JSON) of each document, as :func:`documents` finds them."""
    lines = while_sound(lines_of(file, name, MAX_JSON_LINE), name, left_out)
    number, line = next((row for row in lines if row[1].strip()), (0, b""))
    if not number:
        return
    if _is_document(line):
        yield from _values_by_line(chain(((number, line),), lines), name, left_out)
        return
    text = bytearray(line)
    for _, more in lines:
        text += more
        if len(text) > MAX_DOCUMENT:
            limit = f"longer than {MAX_DOCUMENT >> 20} MiB"
            raise BundleError(f"{name}: {limit}, and not JSON lines")
    rows = bytes(text).splitlines() if left_out.skips_bad else []
    head = rows[:_SOME]
    if 2 * sum(map(_is_document, head)) > len(head):  # JSON lines, of which the first is torn
        yield from _values_by_line(enumerate(rows, number), name, left_out)
        return
    try:
        yield from _one_after_another(bytes(text), name, number)
    except BundleError as error:
        left_out.bad(error, _place_of(error, name))


def while_sound(
    lines: Iterator[tuple[int, bytes]], name: str, left_out: LeftOut
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines up to damage of the file, which is bad input."""
    try:
        yield from lines
    except BundleError as error:
        left_out.bad(error, _place_of(error, name))


def _values_by_line(
    lines: Iterable[tuple[int, bytes]], name: str, left_out: LeftOut
) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        if line.strip():
            try:
                yield number, parsed(line, name, number)
            except BundleError as error:
                skippable = BundleError(f"{error} ({SKIP_BAD})")
                left_out.bad(skippable, f"{name}:{number}", "not JSON")


def _place_of(error: BundleError, name: str) -> str:
    """The place ``name:line`` with which the text of an error begins."""
    line, _, _ = str(error).removeprefix(f"{name}:").partition(":")
    return f"{name}:{line}"


def _one_after_another(text: bytes, name: str, number: int) -> Iterator[tuple[int, Any]]:
    """Yield documents that span lines, each with the line at which it begins."""
    try:
        content = text.decode(json.detect_encoding(text)).rstrip().rstrip(_BETWEEN)
        at, line = 0, number
        while at < len(content):
            before = at
            while content[at] in _BETWEEN:
                at += 1
            line += content.count("\n", before, at)
            value, after = _DECODER.raw_decode(content, at)
            yield line, value
            line += content.count("\n", at, after)
            at = after
    except (ValueError, RecursionError) as error:
        raise _not_json(error, name, number) from None


def _is_document(line: bytes) -> bool:
    try:
        decoded(line)
    except RecursionError:
        return True  # which nobody can read
    except ValueError:
        return False
    return True
