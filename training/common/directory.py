"""Output directories: they must be empty or not exist yet."""

from pathlib import Path

from logtriage.errors import LogTriageError


class Refused(LogTriageError):
    """A directory that cannot be used for output."""


def check_empty(out: Path) -> None:
    """Refuse a directory with something in it.

    Raises:
        Refused: naming it.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} is there already, and not an empty directory: give another one")
