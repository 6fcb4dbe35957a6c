"""Progress of long work: a bar on a terminal, lines elsewhere."""

from collections.abc import Callable
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from logtriage.cli.console import messages, note


class Bar(Progress):
    """A progress bar on a terminal. ``detail`` is shown beside the count.

    Elsewhere it is silent, or with ``lines`` it prints a line for each tenth of the work.
    """

    def __init__(self, detail: Callable[[], str] = str, *, lines: bool = False) -> None:
        console = messages()
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._detail = detail
        self._lines = lines and not console.is_terminal
        self.begin("playing", "episodes")

    def begin(self, doing: str, what: str) -> None:
        """Start another kind of work; ``what`` names the things that are counted."""
        for row in self.task_ids:
            self.remove_task(row)
        self._row = self.add_task(doing, total=None)
        self._doing, self._what = doing, what
        self._done: int | None = None
        self._total = 0

    def show(self, done: int, total: int) -> None:
        """Show that so much is done."""
        if self._done is None and done:
            note(f"resuming: {done} of {total} {self._what} are already there", "dim")
        if self._lines and 10 * done // total > 10 * (self._done or 0) // total:
            note(f"{self._doing}: {done} of {total} {self._what} {self._detail()}".rstrip(), "dim")
        self._done, self._total = done, total
        words = f"{self._doing}  {self._detail()}".rstrip()
        self.update(self._row, completed=done, total=total, description=words)

    def interrupted(self, out: Path | None) -> str:
        """The message after an interrupt: how many are done, and whether they are kept."""
        if self._done is None:
            return "interrupted"
        done = f"{self._done} of {self._total} {self._what}"
        if out is None:
            return f"interrupted after {done}; use --out DIR to keep them"
        return f"interrupted: {done} are kept in {out}; the same command resumes"
