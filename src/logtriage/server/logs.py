"""The server's log: a few lines a second whatever strangers do, and how many were left out."""

import logging
from threading import Lock
from time import monotonic
from typing import Any, Final

from logtriage.server.pace import Bucket

#: So many records are written at once; then one in so many seconds.
BURST: Final = 20
SECONDS: Final = 5.0
#: Characters of a record that are written.
LONGEST: Final = 1_000


class Sparing(logging.Filter):
    """Lets a bounded number of records through, and says how many it did not."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self._bucket = Bucket(1 / SECONDS, BURST)
        self._left_out = 0
        self._lock = Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        with self._lock:
            if self._bucket.take(monotonic()):
                self._left_out += 1
                return False
            if self._left_out:
                record.msg = f"({self._left_out} records left out) {record.getMessage()}"
                record.args = ()
                self._left_out = 0
            return True


class Short(logging.Formatter):
    """Writes the beginning of a record and its end: a traceback may be as long as a page."""

    def format(self, record: logging.LogRecord) -> str:
        """At most about :data:`LONGEST` characters."""
        text = super().format(record)
        half = LONGEST // 2
        return text if len(text) <= LONGEST else f"{text[:half]}\n  …\n{text[-half:]}"


def log_config() -> dict[str, Any]:
    """The configuration of the server's loggers, and of its event loop's."""
    quiet = {"handlers": ["stderr"], "level": "WARNING", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"sparing": {"()": Sparing}},
        "formatters": {"plain": {"()": Short, "fmt": "%(levelname)s: %(message)s"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "plain",
                "filters": ["sparing"],
            }
        },
        "loggers": {"uvicorn": quiet, "asyncio": quiet, "openenv": quiet},
    }
