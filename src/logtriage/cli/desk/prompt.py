"""The prompt of the console, with completion and a history."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

Complete = Callable[[str], list[str]]


class Prompt(Input):
    """An input with Tab for completion and the arrows for history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("up", "older", "Older", show=False),
        Binding("down", "newer", "Newer", show=False),
    ]

    def __init__(self, complete: Complete) -> None:
        super().__init__(id="prompt", compact=True)
        self._complete = complete
        self._typed: list[str] = []
        self._at = 0
        #: The completions that Tab steps through, and the index of the next.
        self._offers: list[str] = []
        self._turn = 0

    def keep(self, line: str) -> None:
        """Remember an entered line, and begin a new line."""
        if line and self._typed[-1:] != [line]:
            self._typed.append(line)
        self._at = len(self._typed)
        self._show("")

    def action_complete(self) -> None:
        """Complete the line. Pressed again, show the next completion."""
        if self.value not in self._offers:
            self._offers, self._turn = self._complete(self.value), 0
        if self._offers:
            offered = self._offers[self._turn % len(self._offers)]
            self._turn += 1
            self._show(f"{offered} " if len(self._offers) == 1 else offered)

    def action_older(self) -> None:
        """Show the line entered before."""
        if self._at > 0:
            self._at -= 1
            self._show(self._typed[self._at])

    def action_newer(self) -> None:
        """Show the line entered after, or an empty line."""
        self._at = min(self._at + 1, len(self._typed))
        self._show(self._typed[self._at] if self._at < len(self._typed) else "")

    def _show(self, line: str) -> None:
        self.value = line
        self.cursor_position = len(line)
