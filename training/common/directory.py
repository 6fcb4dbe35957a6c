"""The directory that a model is built into, or a run begins in: not there, or empty."""

from pathlib import Path

from logtriage.errors import LogTriageError


class Refused(LogTriageError):
    """A directory that cannot be used so."""


def check_empty(out: Path) -> None:
    """Refuse a directory with something in it.

    Raises:
        Refused: naming it.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} is there already, and not an empty directory: give another one")
