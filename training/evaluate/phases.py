"""The progress of a long phase: a bar on a terminal, elsewhere lines with the time left."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: Seconds between two plain lines.
PAUSE: Final = 10.0
#: What follows when all is played.
FIGURES: Final = "figures"
EXPLAINING: Final = "explaining what was lost"


class Phases:
    """One phase after the other, each begun, advanced and ended.

    Args:
        console: a terminal gets a bar; a file or a pipe gets plain lines, the first one at
            once.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bar: Progress | None = None
        self._name, self._total = "", 0
        self._first = self._begun = self._last = 0.0

    def begin(self, name: str, total: int | None = None, *, done: int = 0) -> None:
        """Begin a phase of so many things, some of which may be done; None: nobody knows."""
        self.end()
        self._name, self._total, self._first = name, total or 0, float(done)
        self._begun = self._last = monotonic()
        if self.console.quiet:
            return
        if not self.console.is_terminal:
            self._say(f"{name} ..." if total is None else f"{name}: {total:,} to do")
            return
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self.console,
            transient=False,
        )
        self._bar.start()
        self._bar.add_task(name, total=total, completed=done)

    def counted(self, name: str) -> Callable[[int, int], None]:
        """Counts a phase: called with what is done and what there is; the first call begins it."""
        begun = False

        def on_progress(done: int, total: int) -> None:
            nonlocal begun
            if not begun:
                self.begin(name, total, done=done)
                begun = True
            self.advance(done)

        return on_progress

    def advance(self, done: int, note: str = "", *, every: bool = False) -> None:
        """So many are done; as a plain line now and then, or for ``every`` call."""
        if self._bar is not None:
            text = f"{self._name}  {note}" if note else self._name
            self._bar.update(self._bar.task_ids[0], completed=done, description=text)
            return
        now = monotonic()
        if self.console.quiet or not (every or now - self._last >= PAUSE or done == self._total):
            return
        self._last = now
        left = ""
        if done > self._first and done < self._total:
            seconds = (now - self._begun) / (done - self._first) * (self._total - done)
            left = f"  about {_time(seconds)} left"
        self._say(f"{self._name} {done:,}/{self._total:,}{'  ' if note else ''}{note}{left}")

    def end(self) -> None:
        """End the phase, if one is begun."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _say(self, text: str) -> None:
        self.console.print(text, soft_wrap=True, markup=False, emoji=False, highlight=False)


def _time(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
