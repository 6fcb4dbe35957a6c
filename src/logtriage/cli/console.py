"""Where output goes: results to stdout, everything about them to stderr."""

import json
import os
import sys
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.text import Text


class _Console(Console):
    """A console that lets a broken pipe be handled in the one place for it."""

    def on_broken_pipe(self) -> None:
        """Say so to the caller."""
        raise BrokenPipeError


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
    messages().print(text, style=style, soft_wrap=True)


def fail(text: object) -> None:
    """An error message on stderr."""
    messages().print(Text.assemble(("error: ", "bold red"), str(text)), soft_wrap=True)


def emit(data: Any) -> None:
    """One JSON value on a line of stdout, at once; in ASCII, so that every terminal can take it."""
    sys.stdout.write(f"{json.dumps(data)}\n")
    sys.stdout.flush()


def mute_stdout() -> None:
    """Nobody reads stdout any more: let what is still to be flushed go nowhere."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
