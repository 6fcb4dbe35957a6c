"""Figures in a terminal: tables that fit it, shares, means with their intervals."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from logtriage.cli.console import put, say
from logtriage.cli.legend import meaning_of, plain_title
from logtriage.cli.screens import NO_FIGURE, facts, heading, number
from logtriage.evaluation import Interval

#: The least room for a name before it is folded: shorter names stay whole.
_NAME: Final = 12

Cell = str | Text
#: The rows of a table, each of as many cells as there are titles. Called with whether the
#: terminal is wide: figures have more digits then.
Rows = Callable[[bool], Sequence[Sequence[Cell]]]


class Figures:
    """Tables of figures, one below the other, and at the end what their columns mean.

    A table that does not fit the terminal comes with fewer digits, or else as a list: each
    row under its name, a line for each figure.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._titles: dict[str, None] = {}

    def put(self, titles: Sequence[str], rows: Rows, *, names: int = 1) -> None:
        """A table, and a blank line. The first ``names`` columns say whose figures they are.

        Lines of a title are separated by a line break; a title with a bracket stands on the left.
        A column without a single figure is left out.
        """
        cells = {wide: [list(map(_text, row)) for row in rows(wide)] for wide in (True, False)}
        kept = [
            at
            for at in range(len(titles))
            if at < names or any(row[at].plain != NO_FIGURE for row in cells[True])
        ]
        titles = [titles[at] for at in kept]
        self._titles.update(dict.fromkeys(map(plain_title, titles[names:])))
        for wide in (True, False):
            chosen = [[row[at] for at in kept] for row in cells[wide]]
            table = self._table(titles, chosen, names, gap=2 if wide else 1)
            if table is not None:
                put(self._console, table)
                say(self._console)
                return
        self._stack(titles, [[row[at] for at in kept] for row in cells[True]], names)

    def legend(self) -> None:
        """What the columns of the tables above mean; of several that mean the same, the first."""
        meanings: dict[str, str] = {}
        for title in self._titles:
            if told := meaning_of(title):
                meanings.setdefault(told, title)
        known = [(title, told) for told, title in meanings.items()]
        if known:
            say(self._console, heading("LEGEND"))
            put(self._console, facts(known))

    def _table(
        self, titles: Sequence[str], cells: Sequence[Sequence[Text]], names: int, gap: int
    ) -> Table | None:
        """The table, if it fits."""
        columns = [[title, *(row[at].plain for row in cells)] for at, title in enumerate(titles)]
        widths = [max(map(_widest, column)) for column in columns]
        room = self._console.width - sum(widths[names:]) - gap * (len(titles) - 1)
        if sum(widths[:names]) > room:
            widths[:names] = [min(width, room // names) for width in widths[:names]]
            if any(
                width < min(_NAME, max(map(_widest, column)))
                for width, column in zip(widths[:names], columns, strict=False)
            ):
                return None
        table = table_of(gap)
        for at, (title, width) in enumerate(zip(titles, widths, strict=True)):
            left = at < names or "[" in title
            table.add_column(
                title, width=width, overflow="fold", justify="left" if left else "right"
            )
        for row in cells:
            table.add_row(*row)
        return table

    def _stack(self, titles: Sequence[str], rows: Sequence[Sequence[Text]], names: int) -> None:
        for row in rows:
            cells = [" ".join(cell.plain.split("\n")) for cell in row]
            whose = ", ".join(cells[:names])
            if cell_len(whose) > self._console.width:
                whose = ",\n".join(cells[:names])
            say(self._console, Text(whose, "bold"))
            shown = zip(map(plain_title, titles[names:]), cells[names:], strict=True)
            put(self._console, facts([(title, cell) for title, cell in shown if cell]))
            say(self._console)


def _text(cell: Cell) -> Text:
    return Text(cell) if isinstance(cell, str) else cell


def _widest(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def table_of(gap: int) -> Table:
    """An empty table whose columns are so many blanks apart."""
    return Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")


def share(value: float | None, decimals: int) -> str:
    """A share in per cent; nothing is rounded to all or none unless it is."""
    if value is None:
        return NO_FIGURE
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    least = 10.0 ** -(decimals + 2)
    return f"{min(1 - least, max(least, value)):.{decimals}%}"


def stacked(found: Interval, *, wide: bool) -> Text:
    """A mean above its interval, for columns that stand close."""
    digits = 3 if wide else 2
    interval = f"[{_bare(found.low, digits)}, {_bare(found.high, digits)}]"
    return Text.assemble((number(found.mean), "bold"), "\n", (interval, "dim"))


def _bare(value: float, digits: int) -> str:
    """A figure without the nought before its point."""
    text = number(value, digits)
    return text.replace("0.", ".", 1) if abs(value) < 1 else text
