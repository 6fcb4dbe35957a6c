"""Files: writing them whole or not at all, and reading lines of bounded length."""

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, overload

from logtriage.errors import InvalidInput, kind_of

#: The longest line that is read, in bytes (in a text stream, in characters). The limit holds for
#: unpacked gzip, where a few kilobytes may become gigabytes.
MAX_LINE: Final = 16 * 1024 * 1024
#: The reason for refusing a longer line, in words.
TOO_LONG: Final = f"longer than {MAX_LINE >> 20} MiB"
#: Flags that some systems lack.
_NO_LINKS: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final[int] = getattr(os, "O_BINARY", 0)

#: The byte to lock on systems that lock bytes; it lies beyond the content.
_LOCKED_BYTE: Final = 1000


def try_lock(descriptor: int) -> None:
    """Lock an open file for this process, until it is closed.

    Raises:
        BlockingIOError, PermissionError: if another process has locked it.
    """
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        import fcntl  # a browser has none, and locks nothing

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file in the folder of ``path``; rename it to ``path`` once complete.

    On any error the old file stays, and the temporary file is removed. A link at ``path`` is
    replaced, not followed. A device or a pipe, such as ``/dev/null``, is written to directly.

    Raises:
        OSError: naming the path, if it cannot be written.
    """
    if _takes_a_stream(path):
        with path.open("wb") as stream:
            yield stream
        return
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        descriptor = open_here(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except OSError as error:  # name the path that the caller knows
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _takes_a_stream(path: Path) -> bool:
    """Whether ``path`` is a device or a pipe; IsADirectoryError if it is a directory."""
    try:
        mode = path.stat().st_mode
    except OSError:  # nothing there, or nothing that can be seen: writing says what is wrong
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def open_here(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a file and return its descriptor; a symbolic link is an error, not followed.

    ``mode`` is the mode of a new file, before the umask.

    Raises:
        OSError: if it is a link, or cannot be opened.
    """
    return os.open(path, flags | _NO_LINKS | _BINARY, mode)


@overload
def numbered_lines(
    stream: Iterable[bytes], most: int | None = None
) -> Iterator[tuple[int, bytes | None]]: ...
@overload
def numbered_lines(
    stream: Iterable[str], most: int | None = None
) -> Iterator[tuple[int, str | None]]: ...
def numbered_lines(stream: Iterable[Any], most: int | None = None) -> Iterator[tuple[int, Any]]:
    """The lines of a stream with their numbers from 1; None for a line that is too long.

    A line may have ``most`` bytes (in a text, characters; None: :data:`MAX_LINE`). No more than
    that of a longer line is ever held in memory.
    """
    most = MAX_LINE if most is None else most
    readline = getattr(stream, "readline", None)
    if readline is None:
        for number, line in enumerate(stream, start=1):
            if not isinstance(line, str | bytes):
                raise InvalidInput(f"line {number}: expected a text, got {kind_of(line)}")
            yield number, line if len(line) <= most else None
        return
    number = 0
    while line := readline(most + 1):
        number += 1
        if len(line) <= most:
            yield number, line
            continue
        while line and line[-1] not in ("\n", 0x0A):  # the last of bytes is a number
            line = readline(most)
        yield number, None


#: A gzip may unpack to ``UNPACKED`` bytes, and ``UNPACKED_EACH`` more for each packed byte: logs
#: shrink to a hundredth, blanks to a thousandth.
UNPACKED: Final = 256 * 1024 * 1024
UNPACKED_EACH: Final = 100
#: A gzip may have at most this many blank lines in a row.
BLANK_LINES: Final = 1_000_000
#: Files that are not text, by their first bytes.
_PACKED: Final = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "a file of zstd",
    b"BZh": "a file of bzip2",
    b"\xfd7zXZ": "a file of xz",
    b"PAR1": "a file of Parquet",
    b"SQLite format 3": "a database of SQLite",
}
_GZIP: Final = b"\x1f\x8b"


def unpacked(stream: Any, name: str) -> Any:
    """The stream, unpacked if it is a gzip; a stream of text stays as it is.

    Raises:
        InvalidInput: for a file of another kind; while it is read, for a gzip that is damaged
            or unpacks to too much.
    """
    if isinstance(stream, io.TextIOBase) or not hasattr(stream, "read"):
        return stream
    if hasattr(stream, "peek"):
        begins = stream.peek(16)[:16]
    else:
        place = stream.tell()
        begins = stream.read(16)
        stream.seek(place)
    for mark, kind in _PACKED.items():
        if begins.startswith(mark):
            raise InvalidInput(f"{name}: {kind}, not lines of text; unpack it first")
    return _Unpacked(stream, name) if begins.startswith(_GZIP) else stream


class _Unpacked:
    """The lines of a gzip; InvalidInput once it unpacks to too much for its size."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._counted = _Counted(stream)
        self._file = gzip.GzipFile(fileobj=self._counted)  # type: ignore[call-overload]
        self._read = self._blank = 0
        self.name = name

    def readline(self, size: int = -1) -> bytes:
        """The next line, of at most ``size`` bytes."""
        try:
            line: bytes = self._file.readline(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidInput(f"{self.name}: damaged gzip: {error}") from None
        self._read += len(line)
        self._blank = 0 if line.strip() else self._blank + 1
        if self._blank > BLANK_LINES:
            raise InvalidInput(f"{self.name}: more than {BLANK_LINES:,} blank lines in a row")
        if self._read > UNPACKED + UNPACKED_EACH * self._counted.count:
            raise InvalidInput(
                f"{self.name}: unpacks to more than {UNPACKED_EACH} times its size; unpack it first"
            )
        return line


class _Counted:
    """A stream that counts the bytes read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self.count += len(data)
        return data
