"""Figures in a terminal: tables that fit it, shares, means with their intervals."""

from collections.abc import Iterable, Mapping
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from logtriage._lib.grouping import grouped
from logtriage._lib.printable import spelled
from logtriage.cli.console import put, results, say
from logtriage.cli.screens import facts, heading, number
from logtriage.evaluation import Interval
from logtriage.report.columns import DETAILS, HEADLINE
from logtriage.report.text import NO_FIGURE

#: Names of at most this many characters are never folded.
_NAME: Final = 12
_GAP: Final = 2

Cell = str | Text

_CALL: Final = "of the pages and root causes"

#: The meaning of each column, by its title without a bracket, or the words that it begins with.
_MEANINGS: Final = {
    **{column.title: column.meaning for column in (*HEADLINE, *DETAILS)},
    "A, unscored as 0": "over what both runs planned, with 0 for what A has no score of; B alike",
    "the bar hands over": "episodes of less confidence than the bar, beside those handed over",
    "AC@1": "faults whose root cause is ranked first; AC@3 and AC@5: among the first 3 or 5",
    "Avg@5": "mean of AC@1 to AC@5",
    "stated": "scored episodes that declared a root cause with a confidence",
    "ECE": "expected calibration error, with its bootstrap interval; 0 is best",
    "by chance": "ECE that perfect calibration exceeds in one case of twenty",
    "too sure by": "mean confidence less the exact posterior at that tick",
    "posterior": "what the exact belief gave the declared service at that tick",
    "explained": "episodes with an explanation",
    "at first": "expected grade before any action; with the next three, it makes the grade",
    "asking gained": "what requests were expected to add",
    "decisions": "what all other actions were expected to add; below 0, what they cost",
    "luck": "how much better than expected the outcomes were; below 0, worse",
    "luck adjusted": "mean grade less the luck: the same on average, and steadier; no headline",
    "hardness": "what all evidence together would leave in doubt",
    "justified": f"{_CALL}, those that the evidence supported",
    "lucky": f"{_CALL}, those that were right without support",
    "net A": "worth of A beyond handing everything over; B alike",
    "net B - A": "difference of the net values, with its paired interval",
    "B - A": "mean difference per incident, with its paired bootstrap interval",
    "run - base": "mean difference per incident, with its paired interval",
    "worth": "sum of value x (grade - worth of a hand-over) - cost; repeats: mean",
    "cost": "what the incidents cost together, repeats averaged",
    "worth nothing at": "the cost of an episode at which the worth is 0, if there is one",
    "of all": "share of all incidents",
    "bits left": "doubt about the kind, on average, where it is this one",
    "recognised": "what the belief puts on the right kind",
    "taken for": "what it puts on others; * asks for another team or remedy",
    "repeats": "the attempts of the agent at each incident; k are those drawn from them",
    "one of k": "incidents that at least one of k attempts solves",
    "all k": "incidents that all of k attempts solve",
    "better handed over": "incidents where a hand-over is worth more than the best plan",
    "gained": "points of grade that heeding the worth of a hand-over gains",
    "margin": "the loss that must be ruled out",
    "verdict": "no worse: that is ruled out; worse: a loss is shown; undecided: neither",
    "better": "incidents with a higher grade in B",
    "worse": "incidents with a lower grade in B",
    "same": "incidents with the same grade in both",
}


#: The cells of a row, by the titles of their columns.
Cells = Mapping[str, Cell]


class Figures:
    """Prints tables of figures, and at the end the meanings of their columns.

    A table that does not fit the terminal is printed as a list: the name of each row, then a line
    for each of its figures.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = results() if console is None else console
        self._titles: dict[str, None] = {}

    def put(self, rows: Iterable[Cells], *, names: int = 1) -> None:
        """Print a table of rows with the same titles, and a blank line; nothing without rows.

        The first ``names`` columns name the row. A title may have line breaks; a column whose title
        has a bracket is left-aligned. A column without a single figure is left out.
        """
        columns = {
            title: column
            for at, (title, column) in enumerate(_columns(rows).items())
            if at < names or any(cell.plain != NO_FIGURE for cell in column)
        }
        if not columns:
            return
        self._titles.update(dict.fromkeys(map(plain_title, list(columns)[names:])))
        table = self._table(columns, names)
        if table is None:
            self._stack(columns, names)
        else:
            put(self.console, table)
            say(self.console)

    def legend(self) -> None:
        """Print the meaning of each printed column, once for columns with the same meaning."""
        meanings: dict[str, str] = {}
        for title in self._titles:
            keys = [title.partition(end)[0] for end in (" [", " solve", " ")]  # the longest first
            known = [_MEANINGS[key] for key in keys if key in _MEANINGS]
            if known:
                meanings.setdefault(known[0], title)
        if meanings:
            say(self.console, heading("LEGEND"))
            put(self.console, facts([(title, meaning) for meaning, title in meanings.items()]))

    def _table(self, columns: Mapping[str, list[Text]], names: int) -> Table | None:
        """The table; None if there is no room for the names."""
        widths = {title: _widest(title, column) for title, column in columns.items()}
        naming, figures = list(columns)[:names], list(columns)[names:]
        room = self.console.width - _GAP * (len(columns) - 1)
        room -= sum(widths[title] for title in figures)
        if sum(widths[title] for title in naming) > room:
            columns = {**columns, **{name: list(map(_at_commas, columns[name])) for name in naming}}
            for name in naming:
                wanted = _widest(name, columns[name])
                widths[name] = min(wanted, room // names)
                if widths[name] < min(_NAME, wanted):
                    return None
        table = _empty()
        for title, width in widths.items():
            left = title in naming or "[" in title
            table.add_column(
                title, width=width, overflow="fold", justify="left" if left else "right"
            )
        for row in zip(*columns.values(), strict=True):
            table.add_row(*row)
        return table

    def _stack(self, columns: Mapping[str, list[Text]], names: int) -> None:
        figures = list(map(plain_title, columns))[names:]
        for row in zip(*columns.values(), strict=True):
            cells = [" ".join(cell.plain.split("\n")) for cell in row]
            whose = ", ".join(cells[:names])
            if cell_len(whose) > self.console.width:
                whose = ",\n".join(cells[:names])
            say(self.console, Text(whose, "bold"))
            shown = zip(figures, cells[names:], strict=True)
            put(self.console, facts([(title, cell) for title, cell in shown if cell]))
            say(self.console)


def _columns(rows: Iterable[Cells]) -> dict[str, list[Text]]:
    return grouped((title, _text(cell)) for row in rows for title, cell in row.items())


def _text(cell: Cell) -> Text:
    return Text(spelled(cell, "\n")) if isinstance(cell, str) else cell


def _at_commas(name: Text) -> Text:
    """A name with a line for each role of a team."""
    return Text(name.plain.replace(",", ",\n"), name.style)


def _widest(title: str, column: Iterable[Text]) -> int:
    """The width of the longest line of a column."""
    return max(cell_len(line) for text in (title, *column) for line in str(text).split("\n"))


def _empty() -> Table:
    return Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")


def listed(rows: Iterable[Cells]) -> Table:
    """A table of text, whose long cells are folded."""
    table, columns = _empty(), _columns(rows)
    for title in columns:
        table.add_column(title, overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def share(value: float | None, decimals: int = 1) -> str:
    """A share in per cent. Only an exact 0 or 1 is shown as 0 % or 100 %."""
    if value is None:
        return NO_FIGURE
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    least = 10.0 ** -(decimals + 2)
    return f"{min(1 - least, max(least, value)):.{decimals}%}"


def estimate(interval: Interval | None, spec: str = ".3f", colour: str = "") -> Text:
    """A mean beside its interval; ``spec`` formats the numbers, ``colour`` is of the mean."""
    if interval is None:
        return Text(NO_FIGURE)
    mean, around = f"{interval:{spec}}".split(" ", 1)
    return Text.assemble((mean, f"bold {colour}"), (f" {around}", "dim"))


def stacked(estimate: Interval | None) -> Text:
    """A mean above its interval, for narrow columns."""
    if estimate is None:
        return Text(NO_FIGURE)
    interval = f"[{_bare(estimate.low)}, {_bare(estimate.high)}]"
    return Text.assemble((number(estimate.mean), "bold"), "\n", (interval, "dim"))


def _bare(value: float | None) -> str:
    """A figure without the 0 before its point."""
    text = number(value)
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def plain_title(title: str) -> str:
    """A title on one line."""
    return title.replace("\n", " ")
