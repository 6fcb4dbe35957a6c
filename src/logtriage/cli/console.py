"""The consoles of commands: results go to stdout, messages to stderr."""

import json
import os
import sys
from collections.abc import Iterator
from typing import IO, Any, Final

import attrs
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage._lib.unread import kind_of
from logtriage.errors import TranscriptError, WorldError


class _Console(Console):
    """A console that prints no control characters of the text.

    It raises ``BrokenPipeError``, which the group of commands handles.
    """

    _stream: IO[str] | None = None

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render with the control characters of the text spelled out."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else spelled(text, _KEPT), style, control)

    @property
    def file(self) -> IO[str]:
        """The stream; while a bar is shown, its proxy, which prints above the bar."""
        return self._stream or (sys.stderr if self.stderr else sys.stdout)

    @file.setter
    def file(self, stream: IO[str]) -> None:
        self._stream = stream

    def on_broken_pipe(self) -> None:
        """Raise the error instead of ending the program."""
        raise BrokenPipeError


#: Control characters that stay in a text.
_KEPT: Final = "\n\t"
_WIDTH: Final = 120
#: This many bad lines of one kind are reported in full.
MOST_ALIKE: Final = 5


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
    """Print text. A terminal wraps its lines; a file or pipe gets them as they are."""
    console.print(text, style=style, soft_wrap=not console.is_terminal)


def put(console: Console, shown: RenderableType) -> None:
    """Print a table. A file or pipe gets its lines without trailing blanks."""
    if console.is_terminal:
        console.print(shown)
        return
    with console.capture() as printed:
        console.print(shown)
    for line in printed.get().splitlines():
        say(console, line.rstrip())


def note(text: str, style: str | None = None) -> None:
    """Print a message on a line of stderr; it is never wrapped."""
    messages().print(spelled(text), style=style, soft_wrap=True)


def fail(text: object) -> None:
    """Print an error message on a line of stderr.

    A WorldError has several mistakes: each but the first follows on an indented line.
    """
    first, *more = str(text).split("\n") if isinstance(text, WorldError) else [str(text)]
    shown = Text.assemble(("error: ", "bold red"), spelled(first))
    for line in more:
        shown.append(f"\n       {spelled(line)}")
    messages().print(shown, soft_wrap=True)


def emit(data: Any) -> None:
    """Print data, which may hold attrs values, as one line of ASCII JSON to stdout; flush it."""
    sys.stdout.write(f"{json.dumps(data, default=attrs.asdict)}\n")
    sys.stdout.flush()


def mute_stdout() -> None:
    """Discard output that is not flushed yet, once nobody reads stdout."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())


class BadLines:
    """Reports bad lines: the first of each kind in full, of the others how many there were."""

    def __init__(self) -> None:
        self._of_kind: dict[str, list[TranscriptError]] = {}

    def tell(self, error: TranscriptError) -> None:
        """Report a bad line, unless :data:`MOST_ALIKE` of its kind were reported."""
        alike = self._of_kind.setdefault(kind_of(error.reason), [])
        alike.append(error)
        if len(alike) <= MOST_ALIKE:
            fail(error)

    def end(self) -> None:
        """Report how many lines of each kind were left out, and the last of them."""
        for alike in self._of_kind.values():
            if (more := len(alike) - MOST_ALIKE) > 0:
                note(f"{more} more lines like these; the last: {alike[-1]}", "red")
