"""A lock on the directory of a run: one evaluation at a time, with the name of its process.

The lock is the system's, on an open file: it goes with the process that holds it, however
that ends, so a file left by a dead process is no obstacle.
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from logtriage._lib.files import open_here, try_lock
from logtriage._lib.printable import spelled
from logtriage.errors import InvalidInput

LOCK_FILE: Final = ".lock"
_HOLDER: Final = 1000


@contextmanager
def holding(directory: Path) -> Iterator[None]:
    """Hold the directory, which is made if it is not there."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / LOCK_FILE
    descriptor = _locked(path)
    try:
        os.ftruncate(descriptor, 0)
        holder = {"pid": os.getpid(), "host": socket.gethostname()}
        os.write(descriptor, json.dumps(holder).encode())
        yield
    finally:
        with suppress(PermissionError):  # Windows keeps what is open; the next run takes it over
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        descriptor = open_here(path, os.O_RDWR | os.O_CREAT)
        try:
            try_lock(descriptor)
            # The holder removes the file: then this lock is on nothing.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except (BlockingIOError, PermissionError):
            holder = _holder(os.read(descriptor, _HOLDER))
            os.close(descriptor)
            raise InvalidInput(
                f"{path.parent}: {holder} evaluates here; wait for it, or choose another directory"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _holder(content: bytes) -> str:
    try:
        holder = json.loads(content)
        return spelled(f"process {holder['pid']} on {holder['host']}")
    except (ValueError, TypeError, KeyError):  # it has the lock, and did not say so yet
        return "another process"
