"""Figures in a terminal: tables without lines, shares, means with their intervals."""

from typing import Final

from rich.table import Table
from rich.text import Text

from logtriage.cli.screens import number
from logtriage.evaluation import Interval

#: From this width on, figures have more digits and columns more room.
WIDE: Final = 100


def table_of(gap: int) -> Table:
    """An empty table whose columns are so many blanks apart."""
    return Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")


def share(value: float | None, decimals: int) -> str:
    """A share in per cent; nothing is rounded to all or none unless it is."""
    if value is None:
        return "–"
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
    text = text if float(text) else text.removeprefix("-")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text
