"""Files: written whole or not at all, and read by lines of bounded length."""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, overload

#: The longest line that is read, in bytes (in a text stream, in characters). The limit holds for
#: unpacked gzip, where a few kilobytes may become gigabytes.
MAX_LINE: Final = 16 * 1024 * 1024
#: Why a longer line is refused.
TOO_LONG: Final = f"longer than {MAX_LINE >> 20} MiB"
#: Flags that some systems lack.
_NO_LINKS: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final[int] = getattr(os, "O_BINARY", 0)


#: The byte to lock on systems that lock bytes; it lies beyond the content.
_LOCKED_BYTE: Final = 1000


def try_lock(descriptor: int) -> None:
    """Lock an open file for this process, until it is closed.

    Raises:
        BlockingIOError, PermissionError: if another process has it.
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
    """Write a file beside its place under another name, and move it there once complete.

    If anything goes wrong, the old file stays and nothing else is left. The file has the mode
    that the umask gives to a new file; a link to a file is replaced, not followed. A device or a
    pipe, such as ``/dev/null``, cannot be replaced: it is written to.

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
    except OSError as error:  # of the path that was asked for: nobody knows the other name
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
    """Whether there is a device or a pipe.

    Raises:
        IsADirectoryError: if there is a directory.
    """
    try:
        mode = path.stat().st_mode
    except OSError:  # nothing there, or nothing that can be seen: writing says what is wrong
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def open_here(path: Path, flags: int, mode: int = 0o666) -> int:
    """A descriptor of the file of that very name: a link there is an error, not followed.

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

    A line may have ``most`` bytes (characters of a text), or :data:`MAX_LINE`. No more than the
    limit is ever held of a longer line; the lines after it are read as usual.
    """
    most = MAX_LINE if most is None else most
    readline = getattr(stream, "readline", None)
    if readline is None:
        for number, line in enumerate(stream, start=1):
            yield number, line if len(line) <= most else None
        return
    number = 0
    while line := readline(most + 1):
        number += 1
        if len(line) <= most:
            yield number, line
            continue
        while line and line[-1] not in ("\n", 0x0A):
            line = readline(most)
        yield number, None
