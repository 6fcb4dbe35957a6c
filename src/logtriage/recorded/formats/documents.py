"""The JSON documents of a captured folder: lines of JSON, or a file with one document."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from logtriage._lib.files import MAX_LINE, TOO_LONG, numbered_lines
from logtriage.errors import BundleError
from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.paths import decoded, inside, what_it_is

#: How the names of the files end, in small letters or capitals; ``.gz`` may follow.
ENDINGS: Final = (".json", ".jsonl", ".ndjson")
#: The largest document that spans lines, in bytes once unzipped: it is read as a whole.
MAX_DOCUMENT: Final = 512 * 1024 * 1024


def documents(root: Path) -> Iterator[Spot]:
    """Every document of the JSON files below a folder, by name of file; of a list its items.

    A file whose first line is a document holds one in each line (OTLP files, whatever they
    are called); any other is one document. Both may be gzipped.

    Raises:
        BundleError: naming file and line, for what is no JSON, for damaged gzip, and for a
            link that leads nowhere or outside of the folder.
        OSError: if a file cannot be read.
    """
    for path in sorted(root.rglob("*")):
        if path.is_dir():
            # A link to a folder is not followed: what it leads to is read if it is below, too.
            inside(root, path)
            continue
        if not path.name.lower().removesuffix(".gz").endswith(ENDINGS):
            continue
        if not path.is_file():
            raise BundleError(f"{path}: must be a file, {what_it_is(path)}")
        yield from _of_file(inside(root, path), path.relative_to(root).as_posix())


def _of_file(path: Path, name: str) -> Iterator[Spot]:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        lines: IO[bytes] = gzip.GzipFile(fileobj=file) if zipped else file  # type: ignore[assignment]
        try:
            for number, value in _values(lines, name):
                spot = Spot(value, f"{name}:{number}")
                yield from spot.items() if isinstance(value, list) else (spot,)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BundleError(f"{name}: damaged gzip: {error}") from None


def _values(lines: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    first = True
    for number, line in numbered_lines(lines):
        if line is None:
            raise BundleError(f"{name}:{number}: {TOO_LONG}")
        if not line.strip():
            continue
        if first:
            first = False
            try:
                value = decoded(line)
            except RecursionError as error:
                raise BundleError(f"{name}:{number}: not JSON: {error}") from None
            except ValueError:
                rest = lines.read(MAX_DOCUMENT - MAX_LINE)
                if lines.read(1):
                    raise BundleError(
                        f"{name}: longer than {MAX_DOCUMENT >> 20} MiB, and not JSON lines"
                    ) from None
                yield number, _or_error((line + rest).rstrip(), name, number)
                return
            yield number, value
        else:
            yield number, _or_error(line, name, number)


def _or_error(text: bytes, name: str, number: int) -> Any:
    try:
        return decoded(text)
    except (ValueError, RecursionError) as error:
        line = number + getattr(error, "lineno", 1) - 1
        raise BundleError(f"{name}:{line}: not JSON: {error}") from None
