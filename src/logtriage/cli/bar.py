"""Progress of an evaluation on the terminal."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from logtriage.cli.console import messages, note

#: Seconds between two plain lines.
PAUSE: Final = 10.0


class Bar:
    """A progress bar on a terminal; silent elsewhere, and while a person plays.

    Args:
        quiet: show nothing at all.
        detail: what to show beside the count; without a terminal, plain lines show both now and
            then.
    """

    def __init__(self, *, quiet: bool, detail: Callable[[], str] | None = None) -> None:
        console = messages()
        self._detail = detail
        self._lines = detail is not None and not quiet and not console.is_terminal
        self._said = monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._progress.add_task("playing", total=None)
        self.doing, self.what = "playing", "episodes"
        self.done: int | None = None
        self.total = 0

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the bar."""
        self._progress.stop()

    def begin(self, doing: str, what: str) -> None:
        """Start another kind of work; ``what`` names the things that are counted."""
        self.doing, self.what, self.done, self.total = doing, what, None, 0
        self._progress.reset(self._task, description=doing, total=None)

    def update(self, done: int, total: int) -> None:
        """Show that so many episodes are done."""
        if self.done is None and done:
            note(f"resuming: {done} of {total} episodes are already there", "dim")
        begun, self.done, self.total = self.done is not None, done, total
        detail = "" if self._detail is None or not begun else f"  {self._detail()}"
        self._progress.update(
            self._task, completed=done, total=total, description=f"{self.doing}{detail}"
        )
        now = monotonic()
        if self._lines and (not begun or done == total or now - self._said >= PAUSE):
            self._said = now
            note(f"{self.doing}: {done} of {total} {self.what}{detail}", "dim")


def interrupted(bar: Bar, out: Path | None) -> str:
    """The message after an interrupt: how many are done, and whether they are kept."""
    if bar.done is None:
        return "interrupted"
    done = f"{bar.done} of {bar.total} {bar.what}"
    if out is None:
        return f"interrupted after {done}; use --out DIR to keep them"
    return f"interrupted: {done} are kept in {out}; the same command resumes"
