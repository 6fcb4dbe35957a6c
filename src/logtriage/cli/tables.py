"""Tables of figures: the rows of a run, and runs compared."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logtriage.cli.console import put, say
from logtriage.cli.figures import WIDE, share, table_of
from logtriage.cli.losses import print_loss_differences, print_losses
from logtriage.cli.screens import heading, number
from logtriage.evaluation import Comparison, Row
from logtriage.printable import spelled

_SHARES: Final = (
    ("solved", "solved"),
    ("root_cause", "root\ncause"),
    ("severity", "sev-\nerity"),
    ("mis_page", "mis-\npage"),
    ("ignored", "ig-\nnored"),
)
_TICKS: Final = "ticks"
_BRIER: Final = "Brier"
_UNSCORED: Final = "un-\nscored"


def print_rows(console: Console, rows: Sequence[Row]) -> None:
    """One table a task, all with the same columns."""
    wide = console.width >= WIDE
    longest = max((len(spelled(row.policy)) for row in rows), default=0)
    for task in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == task]
        played = " to ".join(map(str, sorted({row.episodes for row in mine})))
        split = mine[0].role_split
        roles = "" if split is None else f", roles {spelled(split)}"
        count = f"{played} episodes{roles}"
        say(console, _title(task, count, mine[0].rubric, mine[0].seal))
        put(console, _rows_table(mine, longest, console.width, wide=wide))
        say(console)
        if any(row.located for row in mine):
            put(console, _located_table(mine, gap=2 if wide else 1))
            say(console)
        print_losses(console, mine)
        if any(row.teamwork for row in mine):
            put(console, _teamwork_table(mine, gap=2 if wide else 1))
            say(console)


def _teamwork_table(rows: Sequence[Row], gap: int) -> Table:
    """Doubt in bits when the last actions were chosen: pooled, and of each role by itself."""
    table = table_of(gap)
    table.add_column("bits of doubt", overflow="fold")
    names = next(row.teamwork.alone for row in rows if row.teamwork)
    for title in ("episodes", "pooled", *(spelled(one.role) for one in names)):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        if row.teamwork is not None:
            table.add_row(
                Text(spelled(row.policy)),
                str(row.teamwork.episodes),
                number(row.teamwork.pooled.mean, 2),
                *(number(one.bits.mean, 2) for one in row.teamwork.alone),
            )
    return table


def _title(task: str, count: str, rubric: str, seal: str | None) -> Text:
    sealed = "" if seal is None else f", seal {spelled(seal)}"
    return Text.assemble(heading(task), (f"  {count}, rubric {rubric}{sealed}", "dim"))


def _rows_table(rows: Sequence[Row], longest: int, width: int, *, wide: bool) -> Table:
    gap = 2 if wide else 1
    columns = [("mean grade\n[95 % interval]", 20 if wide else 18)]
    columns += [(title, max(6 if wide else 0, _widest(title))) for _, title in _SHARES]
    columns += [(title, _widest(title)) for title in (_TICKS, _BRIER, _UNSCORED)]
    room = width - sum(size + gap for _, size in columns)
    table = table_of(gap)
    table.add_column("policy", width=max(8, min(longest, room)), overflow="fold")
    for title, size in columns:
        # The interval stands beside its mean; the other figures stand under each other.
        table.add_column(title, width=size, justify="left" if "\n[" in title else "right")
    for row in rows:
        table.add_row(
            Text(spelled(row.policy)),
            _grade(row, wide=wide),
            *(share(getattr(row, name), 1 if wide else 0) for name, _ in _SHARES),
            number(row.ticks, 1),
            number(row.brier),
            Text(str(row.unscored), style="bold yellow" if row.unscored else ""),
        )
    return table


def _located_table(rows: Sequence[Row], gap: int) -> Table:
    """How root causes were ranked, over all incidents and by fault kind."""
    table = table_of(gap)
    table.add_column("policy", overflow="fold")
    table.add_column("fault", overflow="fold")
    for title in ("incidents", "AC@1", "AC@3", "AC@5", "Avg@5"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        for one in row.located:
            table.add_row(
                Text(spelled(row.policy) if one.kind is None else ""),
                Text(one.kind or "all", style="" if one.kind else "bold"),
                str(one.incidents),
                *(number(value) for value in (one.ac1, one.ac3, one.ac5, one.avg5)),
            )
    return table


def _widest(title: str) -> int:
    return max(len(part) for part in title.split("\n"))


def _grade(row: Row, *, wide: bool) -> Text:
    if row.grade is None:
        return Text("–")
    write = number if wide else _short
    interval = f" [{write(row.grade.low)}, {write(row.grade.high)}]"
    return Text.assemble((number(row.grade.mean), "bold"), (interval, "dim"))


def _short(value: float) -> str:
    """Three digits in four characters: ``.987``, and ``1.00``."""
    text = number(value)
    return text[1:] if text.startswith("0") else text[:-1]


def print_comparisons(console: Console, comparisons: Sequence[Comparison]) -> None:
    """One table a task, with a line for each pair of policies."""
    for task in dict.fromkeys(one.task for one in comparisons):
        mine = [one for one in comparisons if one.task == task]
        shared = " to ".join(map(str, sorted({one.shared for one in mine})))
        say(console, _title(task, f"{shared} shared incidents", mine[0].rubric, mine[0].seal))
        put(console, _comparisons_table(mine, gap=2 if console.width >= WIDE else 1))
        say(console)
        print_loss_differences(console, mine)


def _comparisons_table(comparisons: Sequence[Comparison], gap: int) -> Table:
    table = table_of(gap)
    table.add_column("policy A", overflow="fold")
    table.add_column("policy B", overflow="fold")
    table.add_column("mean A", justify="right", no_wrap=True)
    table.add_column("mean B", justify="right", no_wrap=True)
    table.add_column("B - A [95 % interval]", width=23, no_wrap=True)
    for title in ("better", "worse", "same"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in comparisons:
        table.add_row(
            Text(spelled(one.policy_a)),
            Text(spelled(one.policy_b)),
            number(one.mean_a),
            number(one.mean_b),
            _difference(one),
            *(str(count) for count in (one.better, one.worse, one.same)),
        )
    return table


def _difference(one: Comparison) -> Text:
    found = one.difference
    style = "bold green" if found.low > 0 else "bold red" if found.high < 0 else "bold"
    interval = f" [{found.low:+.3f}, {found.high:+.3f}]"
    return Text.assemble((f"{found.mean:+.3f}", style), (interval, "dim"))
