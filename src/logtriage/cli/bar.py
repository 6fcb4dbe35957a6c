"""Progress of long work: a bar on a terminal, lines elsewhere."""

import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from logtriage._lib.seal import Seal
from logtriage.cli.console import messages, note
from logtriage.cli.group import INTERRUPTED
from logtriage.evaluation import LoadedRun, load_run

#: Seconds between lines where there is no terminal; shorter work prints no line.
EVERY: Final = 10.0
#: The estimate of the remaining time rests on this many seconds.
_PERIOD: Final = 300.0


class Bar(Progress):
    """Progress of a command: a bar on a terminal, elsewhere a line every :data:`EVERY` seconds.

    It shows ``doing`` (such as ``playing``), a count of things (``what``, such as ``episodes``) and
    a ``detail``. An interrupt ends the command with a message: the count, then ``kept``, a text
    on what is kept.
    """

    def __init__(
        self,
        doing: str,
        what: str,
        detail: Callable[[], str] = str,
        *,
        kept: str = "; nothing is written",
    ) -> None:
        console = messages()
        console.file = sys.stderr  # not the proxy of an outer bar
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            speed_estimate_period=_PERIOD,
            redirect_stdout=sys.stdout.isatty(),  # a file gets its lines as they are
        )
        self._detail, self._kept = detail, kept
        self._over = Event()
        self.begin(doing, what)

    def __enter__(self) -> "Bar":
        super().__enter__()
        if self.disable:
            Thread(target=self._lines, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        super().__exit__(kind, error, trace)
        if isinstance(error, KeyboardInterrupt):
            done = "" if self._done is None else f": {self._count}{self._kept}"
            note(f"interrupted{done or '; nothing was done'}", "yellow")
            raise typer.Exit(INTERRUPTED) from None

    def begin(self, doing: str, what: str) -> None:
        """Start another kind of work; ``what`` names the things to count."""
        self._doing, self._what, self._began = doing, what, monotonic()
        self._done: int | None = None
        self._total: int | None = None
        if not self.task_ids:
            self.add_task(doing, total=None)
        self.reset(self.task_ids[0], description=doing)

    def show(self, done: int, total: int | None) -> None:
        """Show how much is done; ``total`` is None if nobody knows."""
        if self._done is None and done:
            note(f"resuming: {done} of {total} {self._what} are already there", "dim")
        self._done, self._total = done, total
        words = f"{self._doing}  {self._detail()}".rstrip()
        self.update(self.task_ids[0], completed=done, total=total, description=words)

    @property
    def _count(self) -> str:
        of = "" if self._total is None else f" of {self._total}"
        return f"{self._done}{of} {self._what}"

    def _lines(self) -> None:
        while not self._over.wait(EVERY):
            took = timedelta(seconds=round(monotonic() - self._began))
            parts = [f"{took} so far"] if self._done is None else [self._count, f"{took} so far"]
            left = self.tasks[0].time_remaining
            parts += [] if left is None else [f"about {timedelta(seconds=round(left))} left"]
            note(f"{self._doing}: {', '.join(parts)} {self._detail()}".rstrip(), "dim")


def what_is_kept(out: Path | None) -> str:
    """The text after the count of episodes at an interrupt: whether ``out`` keeps them."""
    if out is None:
        return " are lost; use --out DIR to keep them"
    return f" are kept in {out}; the same command resumes"


def loaded_runs(directories: Iterable[Path], seal: Seal | None = None) -> list[LoadedRun]:
    """Read and grade runs, with a bar; raises as :func:`logtriage.evaluation.load_run`."""
    with Bar("reading", "episodes") as bar:
        return [load_run(directory, seal=seal, on_progress=bar.show) for directory in directories]
