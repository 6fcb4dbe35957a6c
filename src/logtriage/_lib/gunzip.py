"""Gzip from strangers: unpacked while it stays in proportion to its size.

A few megabytes of gzip may hold gigabytes of blanks. Telemetry packs to a thirtieth at best.
"""

import gzip
import io
from typing import BinaryIO, Final, cast

#: So much may come out of any file, in bytes.
ALWAYS: Final = 32 * 1024 * 1024
#: Beyond that, at most this many bytes may come out for each that went in.
RATIO: Final = 300


class _Bounded(io.RawIOBase):
    """What a gzip file unpacks to; refuses to go on once that is out of proportion."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._unpacked = gzip.GzipFile(fileobj=packed)
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        # Not more at once: what comes before a damaged place is still read.
        data = self._unpacked.read1(len(buffer))
        self._count += len(data)
        if self._count > max(ALWAYS, RATIO * self._packed.tell()):
            raise gzip.BadGzipFile(f"it unpacks to more than {RATIO} times its size")
        buffer[: len(data)] = data
        return len(data)


def unpacked(packed: BinaryIO) -> io.BufferedReader:
    """The content of an open gzip file, from its beginning.

    Reading raises:
        gzip.BadGzipFile, EOFError, zlib.error: if the gzip is damaged, cut off, or unpacks to
            more than :data:`ALWAYS` bytes and :data:`RATIO` times what was read of it.
    """
    packed.seek(0)
    return io.BufferedReader(cast(io.RawIOBase, _Bounded(packed)), 1 << 16)
