"""Files: written whole or not at all, and read by lines of bounded length."""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, overload

#: The longest line that is read, in bytes (of a text stream, in characters). Inside gzip it
#: holds for what comes out, where a few kilobytes may become gigabytes.
MAX_LINE: Final = 16 * 1024 * 1024
#: Why a longer one is refused.
TOO_LONG: Final = f"longer than {MAX_LINE >> 20} MiB"
#: Not on every system.
_NO_LINKS: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final[int] = getattr(os, "O_BINARY", 0)


#: Where locks are on bytes, lock this one, which lies beyond what others read.
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

    If anything goes wrong, what stood there before still does and nothing else is left. The
    file has the mode that the umask gives to a new one; a link to a file is replaced, not
    followed. A device or a pipe, such as ``/dev/null``, is no file to replace: it is written to.

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

    ``mode`` is that of a new file, less what the umask takes away.

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
def numbered_lines(
    stream: Iterable[Any], most: int | None = None
) -> Iterator[tuple[int, Any]]:
    """The lines of a stream with their numbers from 1; None for a line that is too long.

    A line may have ``most`` bytes (characters of a text), or :data:`MAX_LINE`. No more than the
    limit is ever held of a longer line; what follows it is read on.
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
