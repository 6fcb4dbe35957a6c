"""Tables of why grades were lost, and of pages by what silence is worth."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logtriage.cli.console import put, say
from logtriage.cli.figures import WIDE, share, stacked, table_of
from logtriage.cli.screens import number
from logtriage.evaluation import Calls, Comparison, Losses, Row
from logtriage.printable import spelled

_PARTS: Final = (
    ("hardness", "hardness"),
    ("search_regret", "search\nregret"),
    ("decision_regret", "decision\nregret"),
    ("luck", "luck"),
)
_THRESHOLD: Final = ("threshold_regret", "threshold\nregret")


def print_losses(console: Console, rows: Sequence[Row]) -> None:
    """What the rows of a task say of prices and losses, if anything."""
    wide = console.width >= WIDE
    if any(row.paging or row.augrc is not None for row in rows):
        put(console, _paging_table(rows, wide=wide))
        say(console)
    explained = [(row.policy, row.losses) for row in rows if row.losses is not None]
    if explained:
        put(console, _parts_table(explained, wide=wide))
        say(console)
        put(console, _calls_table(explained, wide=wide))
        say(console)


def print_loss_differences(console: Console, comparisons: Sequence[Comparison]) -> None:
    """The differences of the parts, where both runs have explanations."""
    found = [
        (f"{one.policy_a}, {one.policy_b}", one.losses)
        for one in comparisons
        if one.losses is not None
    ]
    if not found:
        return
    wide = console.width >= WIDE
    table = table_of(2 if wide else 1)
    table.add_column("B - A", overflow="fold")
    table.add_column("ex-\nplained", justify="right", no_wrap=True)
    for _, title in (*_PARTS, _THRESHOLD):
        table.add_column(title, justify="right", no_wrap=True)
    for name, one in found:
        table.add_row(
            Text(spelled(name)),
            str(one.incidents),
            *(stacked(getattr(one, part), wide=wide) for part, _ in (*_PARTS, _THRESHOLD)),
        )
    put(console, table)
    say(console)


def _paging_table(rows: Sequence[Row], *, wide: bool) -> Table:
    table = table_of(2 if wide else 1)
    table.add_column("policy", overflow="fold")
    prices = sorted({one.price for row in rows for one in row.paging})
    for price in prices:
        table.add_column(f"c {price:g}\npaged", justify="right", no_wrap=True)
        table.add_column("mis-\npaged", justify="right", no_wrap=True)
    table.add_column("\nAUGRC", justify="right", no_wrap=True)
    digits = 1 if wide else 0
    for row in rows:
        found = {one.price: one for one in row.paging}
        cells = []
        for price in prices:
            one = found.get(price)
            values = (None, None) if one is None else (one.paged, one.mis_paged)
            cells += [share(value, digits) for value in values]
        table.add_row(Text(spelled(row.policy)), *cells, number(row.augrc))
    return table


def _parts_table(explained: Sequence[tuple[str, Losses]], *, wide: bool) -> Table:
    table = table_of(2 if wide else 1)
    table.add_column("policy", overflow="fold")
    table.add_column("ex-\nplained", justify="right", no_wrap=True)
    for _, title in _PARTS:
        table.add_column(title, justify="right", no_wrap=True)
    for policy, losses in explained:
        table.add_row(
            Text(spelled(policy)),
            str(losses.episodes),
            *(stacked(getattr(losses, part), wide=wide) for part, _ in _PARTS),
        )
    return table


def _calls_table(explained: Sequence[tuple[str, Losses]], *, wide: bool) -> Table:
    table = table_of(2 if wide else 1)
    table.add_column("policy", overflow="fold")
    table.add_column(_THRESHOLD[1], justify="right", no_wrap=True)
    for title in ("pages", "root\ncauses"):
        for column in (title, "right", "just-\nified", "lucky"):
            table.add_column(column, justify="right", no_wrap=True)
    for policy, losses in explained:
        table.add_row(
            Text(spelled(policy)),
            stacked(losses.threshold_regret, wide=wide),
            *_shares(losses.pages, wide=wide),
            *_shares(losses.root_causes, wide=wide),
        )
    return table


def _shares(calls: Calls, *, wide: bool) -> list[str]:
    digits = 1 if wide else 0
    values = (calls.right, calls.justified, calls.lucky)
    return [str(calls.count), *(share(value, digits) for value in values)]
