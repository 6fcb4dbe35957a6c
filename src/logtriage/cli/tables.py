"""Tables of figures: the rows of a run, and runs compared."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from logtriage._lib.printable import counted, spelled
from logtriage.cli.console import say
from logtriage.cli.figures import Cell, Figures, estimate, share, stacked
from logtriage.cli.screens import heading, number
from logtriage.errors import InvalidInput
from logtriage.evaluation import Comparison, Interval, Losses, Row
from logtriage.evaluation.money import Worth, WorthDifference
from logtriage.evaluation.repeats import Repeats
from logtriage.report.columns import DETAILS, HEADLINE, Column
from logtriage.report.text import HARDNESS, NO_FIGURE, PARTS, interval, percent
from logtriage.report.text import number as of_pages

#: The cells of a terminal, by how a page writes a figure; others are as on a page.
_CELLS: Final[Mapping[Callable[[Any], str], Callable[[Any], Cell]]] = {
    interval: estimate,
    percent: share,
    of_pages: number,
}
_WITHOUT_LUCK: Final = ("without_luck", "luck adjusted")


def print_rows(
    console: Console, rows: Sequence[Row], *, legend: bool, luck_adjusted: bool = False
) -> None:
    """Print tables for each task, and with ``legend`` the meaning of their columns.

    ``luck_adjusted`` adds the mean grade less the luck, and needs an explained episode.
    """
    if luck_adjusted:
        _check_adjusted(row.losses for row in rows)
    figures = Figures(console)
    for task in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == task]
        played = {row.episodes // row.attempts for row in mine}
        split = mine[0].role_split
        roles = "" if split is None else f", roles {spelled(split)}"
        count = f"{_things(played, 'episode')}{roles}"
        say(console, _title(task, mine[0].split, count, mine[0].rubric, mine[0].seal))
        _put_rows(figures, mine)
        _put_by_worth(figures, mine)
        _put_located(figures, mine)
        _put_losses(figures, mine, luck_adjusted=luck_adjusted)
    if legend:
        figures.legend()


def _things(counts: Collection[int], thing: str) -> str:
    """A range of counts in words, or the only count."""
    most = counted(max(counts), thing)
    return most if len(counts) == 1 else f"{min(counts):,} to {most}"


def _title(task: str, split: str | None, count: str, rubric: str, seal: str | None) -> Text:
    sealed = "" if seal is None else f", seal {spelled(seal)}"
    name = task if split is None else f"{task}/{split}"
    return Text.assemble(heading(name), (f"  {count}, rubric {rubric}{sealed}", "dim"))


def _put_rows(figures: Figures, rows: Sequence[Row]) -> None:
    tables = (HEADLINE, DETAILS) if any(row.net for row in rows) else ((*HEADLINE, *DETAILS),)
    for columns in tables:
        figures.put(
            ["policy", *map(_title_of, columns)],
            [[row.agent, *(_cell(column, row) for column in columns)] for row in rows],
        )


def _cell(column: Column, row: Row) -> Cell:
    if column.title == "unscored" and row.unscored:
        return Text(column.text(row), "bold yellow")
    return _CELLS.get(column.write, column.write)(column.value(row))


def _folded(title: str) -> str:
    """A title on two lines, for narrow columns."""
    return title.replace(" ", "\n", 1)


def _title_of(column: Column) -> str:
    """The title of a column of results; that of an estimate announces the interval."""
    bracket = "\n[95 % interval]"
    return column.title + bracket if column.write is interval else _folded(column.title)


def _put_by_worth(figures: Figures, rows: Sequence[Row]) -> None:
    """Print the share handed over at each worth of a hand-over, and how many incidents have it."""
    nets = {row.agent: row.net.by_worth for row in rows if row.net and row.net.by_worth}
    incidents: dict[float, int] = {}
    for group in (group for groups in nets.values() for group in groups):
        incidents[group.worth] = max(group.incidents, incidents.get(group.worth, 0))
    shares = {
        policy: {group.worth: group.handed_over for group in groups}
        for policy, groups in nets.items()
    }
    figures.put(
        ["handed over\nat a worth of", *(f"{at:g}\n({incidents[at]})" for at in sorted(incidents))],
        [
            [policy, *(share(by_worth.get(at)) for at in sorted(incidents))]
            for policy, by_worth in shares.items()
        ],
    )


def _put_located(figures: Figures, rows: Sequence[Row]) -> None:
    figures.put(
        ("policy", "fault", "incidents", "AC@1", "AC@3", "AC@5", "Avg@5"),
        [
            [
                row.agent,
                Text(located.kind or "all", style="" if located.kind else "bold"),
                str(located.incidents),
                *map(number, (located.ac1, located.ac3, located.ac5, located.avg5)),
            ]
            for row in rows
            for located in row.located
        ],
        names=2,
    )


def print_repeats(console: Console, rows: Sequence[Repeats], *, legend: bool = False) -> None:
    """Print how often at least one of k repeats solves an incident, and how often all k do."""
    figures = Figures(console)
    figures.put(
        ("policy", "task", "repeats", "k", "one of k solves\n[95 % interval]", "all k solve\n"
         "[95 % interval]"),
        [
            [
                row.policy,
                row.task,
                str(row.repeats),
                str(k),
                estimate(row.pass_at[k - 1]),
                estimate(row.pass_hat[k - 1]),
            ]
            for row in rows
            for k in sorted({1, 2, row.repeats})
        ],
        names=2,
    )  # fmt: skip
    if legend:
        figures.legend()


def print_comparisons(
    console: Console,
    comparisons: Sequence[Comparison],
    runs: tuple[str, ...],
    *,
    legend: bool,
    luck_adjusted: bool = False,
) -> None:
    """Print a table for each task, with a line for each pair of policies.

    ``runs`` are the names of runs A and B; the options are those of :func:`print_rows`.
    """
    if luck_adjusted:
        _check_adjusted(pair.losses for pair in comparisons)
    figures = Figures(console)
    for task in dict.fromkeys(pair.task for pair in comparisons):
        mine = [pair for pair in comparisons if pair.task == task]
        shared = {pair.shared for pair in mine}
        count = _things(shared, "shared incident")
        say(console, _title(task, mine[0].split, count, mine[0].rubric, mine[0].seal))
        _put_comparisons(figures, mine, runs)
        _put_loss_differences(figures, mine, luck_adjusted=luck_adjusted)
    if legend:
        figures.legend()


def _put_comparisons(
    figures: Figures, comparisons: Sequence[Comparison], runs: tuple[str, ...]
) -> None:
    def put(titles: Sequence[str], cells: Callable[[Comparison], Sequence[Cell]]) -> None:
        figures.put(
            ["A", "B", *titles],
            [
                [f"{runs[0]}: {pair.policy_a}", f"{runs[1]}: {pair.policy_b}", *cells(pair)]
                for pair in comparisons
            ],
            names=2,
        )

    if any(pair.net for pair in comparisons):
        put(["net B - A [95 % interval]", "net A", "net B"], _net)
    # The columns of bounds are left out where they repeat the means.
    bounded = any(
        (pair.bound_a, pair.bound_b) != (pair.mean_a, pair.mean_b) for pair in comparisons
    )
    titles = ["mean A", "mean B"]
    titles += ["A, unscored\nas 0", "B, unscored\nas 0"] if bounded else []
    put(
        ["B - A [95 % interval]", "better", "worse", "same", *titles],
        lambda pair: (
            _signed(pair.difference),
            *(str(count) for count in (pair.better, pair.worse, pair.same)),
            number(pair.mean_a),
            number(pair.mean_b),
            *((number(pair.bound_a), number(pair.bound_b)) if bounded else ()),
        ),
    )


def _net(pair: Comparison) -> Sequence[Cell]:
    if pair.net is None:
        return (NO_FIGURE,) * 3
    return _signed(pair.net.difference), number(pair.net.a), number(pair.net.b)


def _signed(difference: Interval) -> Text:
    low, high = difference.bounds
    return estimate(difference, "+.3f", "green" if low > 0 else "red" if high < 0 else "")


def print_worth(console: Console, rows: Sequence[Worth], *, legend: bool = False) -> None:
    """Print the worth in money of policies, beyond that of handing everything over."""
    figures = Figures(console)
    figures.put(
        ("policy", "task", "incidents", "cost", "worth [95 % interval]", "worth nothing at"),
        [
            [
                row.policy,
                row.task,
                str(row.incidents),
                f"{row.cost:,.2f}",
                estimate(row.worth, ",.2f"),
                f"{row.worthless_at:,.2f} an episode" if row.worthless_at >= 0 else NO_FIGURE,
            ]
            for row in rows
        ],
        names=2,
    )
    if legend:
        figures.legend()


def print_worth_differences(
    console: Console, rows: Sequence[WorthDifference], runs: tuple[str, ...]
) -> None:
    """Print the worth in money of two runs; ``runs`` are the names of runs A and B."""
    Figures(console).put(
        ("A", "B", "task", "incidents", "worth A", "worth B", "worth B - A [95 % interval]"),
        [
            [
                f"{runs[0]}: {row.policy_a}",
                f"{runs[1]}: {row.policy_b}",
                row.task,
                str(row.incidents),
                f"{row.a:,.2f}",
                f"{row.b:,.2f}",
                estimate(row.difference, ",.2f"),
            ]
            for row in rows
        ],
        names=3,
    )


def _check_adjusted(losses: Iterable[Losses | None]) -> None:
    """Refuse to adjust grades for luck if no episode is explained."""
    if not any(losses):
        raise InvalidInput(
            "--luck-adjusted needs explained episodes: eval --explain N explains some of a run"
        )


def _put_losses(figures: Figures, rows: Sequence[Row], *, luck_adjusted: bool) -> None:
    """Print two tables of explained episodes: parts of the grade, and what justified the pages."""
    explained = [(row.agent, row.losses) for row in rows if row.losses is not None]
    parts = _parts(luck_adjusted)
    figures.put(
        ["policy", "explained", *(_folded(title) for _, title in parts)],
        [[policy, str(losses.episodes), *_means(losses, parts)] for policy, losses in explained],
    )
    figures.put(
        ("policy", "of", "made", "right", "justified", "lucky"),
        [
            [
                policy,
                name,
                str(calls.count),
                *map(share, (calls.right, calls.justified, calls.lucky)),
            ]
            for policy, losses in explained
            for name, calls in (("pages", losses.pages), ("root causes", losses.root_causes))
            if calls is not None
        ],
        names=2,
    )


def _put_loss_differences(
    figures: Figures, comparisons: Sequence[Comparison], *, luck_adjusted: bool
) -> None:
    """Print the differences of the parts of the grade, where both runs have explanations."""
    explained = [(pair, pair.losses) for pair in comparisons if pair.losses is not None]
    parts = _parts(luck_adjusted)
    names = [f"{pair.policy_b} -\n{pair.policy_a}" for pair, _ in explained]
    figures.put(
        ["B - A", "explained", *(_folded(title) for _, title in parts)],
        [
            [name, str(losses.episodes), *_means(losses, parts)]
            for name, (_, losses) in zip(names, explained, strict=True)
        ],
    )


def _parts(luck_adjusted: bool) -> tuple[tuple[str, str], ...]:
    return (*PARTS, HARDNESS, *([_WITHOUT_LUCK] if luck_adjusted else []))


def _means(losses: Losses, parts: Sequence[tuple[str, str]]) -> list[Cell]:
    return [stacked(getattr(losses, part)) for part, _ in parts]
