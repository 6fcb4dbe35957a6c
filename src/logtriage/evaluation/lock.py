"""A lock on the directory of a run: one evaluation at a time.

The lock is the system's, on an open file: it goes with the process that holds it, however
that ends, so a file left by a dead process is no obstacle.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from logtriage._lib.files import open_here, try_lock
from logtriage.errors import InvalidInput

LOCK_FILE: Final = ".lock"


@contextmanager
def holding(directory: Path) -> Iterator[None]:
    """Hold the directory, which is made if it is not there."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / LOCK_FILE
    descriptor = _locked(path)
    try:
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
            os.close(descriptor)
            raise InvalidInput(
                f"{path.parent}: another process evaluates here; wait for it, or choose another "
                "directory"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
