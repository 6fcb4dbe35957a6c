"""Where output goes: results to stdout, everything about them to stderr."""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.errors import WorldError


class _Console(Console):
    """A console that prints no control characters but its own, whoever wrote the text.

    A broken pipe is left to the one place that handles it.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """What is written to the terminal: foreign escapes are spelled out."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else spelled(text, _KEPT), style, control)

    def on_broken_pipe(self) -> None:
        """Say so to the caller."""
        raise BrokenPipeError


#: Controls that a text may have: those that move to a place on the screen as text does.
_KEPT: Final = "\n\t"
#: Where there is no terminal to say how wide it is.
_WIDTH: Final = 120


def results() -> Console:
    """The console of results."""
    return _console(stderr=False)


def messages() -> Console:
    """The console of messages: progress, notes, errors."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = _Console(highlight=False, markup=False, emoji=False, stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH
    return console


def say(console: Console, text: str | Text = "", style: str | None = None) -> None:
    """Print text; lines are wrapped for a terminal, and left alone in a file or pipe."""
    console.print(text, style=style, soft_wrap=not console.is_terminal)


def put(console: Console, shown: RenderableType) -> None:
    """Print a table or the like; in a file or pipe without the blanks that fill its lines."""
    if console.is_terminal:
        console.print(shown)
        return
    with console.capture() as printed:
        console.print(shown)
    for line in printed.get().splitlines():
        say(console, line.rstrip())


def note(text: str, style: str | None = None) -> None:
    """A message of its own line on stderr, never wrapped."""
    messages().print(spelled(text), style=style, soft_wrap=True)


def fail(text: object) -> None:
    """An error message on stderr, on a line of its own whatever it quotes.

    Each further mistake of a world has a line, which is indented.
    """
    first, *more = str(text).split("\n") if isinstance(text, WorldError) else [str(text)]
    shown = Text.assemble(("error: ", "bold red"), spelled(first))
    for line in more:
        shown.append(f"\n       {spelled(line)}")
    messages().print(shown, soft_wrap=True)


def emit(data: Any) -> None:
    """One JSON value on a line of stdout, at once; in ASCII, so that every terminal can take it."""
    sys.stdout.write(f"{json.dumps(data)}\n")
    sys.stdout.flush()


def mute_stdout() -> None:
    """Nobody reads stdout any more: let what is still to be flushed go nowhere."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
