"""Tables of figures: the rows of a run, and runs compared."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from rich.text import Text

from logtriage._lib.printable import counted, spelled
from logtriage.cli.console import say
from logtriage.cli.figures import Cell, Cells, Figures, estimate, share, stacked
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


def put_results(figures: Figures, rows: Sequence[Row], *, luck_adjusted: bool = False) -> None:
    """Print tables for each task.

    ``luck_adjusted`` adds the mean grade less the luck, and needs an explained episode.
    """
    if luck_adjusted:
        _check_adjusted(row.losses for row in rows)
    for task in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == task]
        first, played = mine[0], {row.episodes // row.attempts for row in mine}
        roles = "" if first.role_split is None else f", roles {spelled(first.role_split)}"
        _put_title(figures, first, f"{_things(played, 'episode')}{roles}")
        with_net = any(row.net for row in mine)  # else all columns fit into one table
        for columns in (HEADLINE, DETAILS) if with_net else ((*HEADLINE, *DETAILS),):
            figures.put(
                {"policy": row.agent, **{_title_of(each): _cell(each, row) for each in columns}}
                for row in mine
            )
        _put_by_worth(figures, mine)
        figures.put(
            (
                {
                    "policy": row.agent,
                    "fault": Text(located.kind or "all", style="" if located.kind else "bold"),
                    "incidents": str(located.incidents),
                    "AC@1": number(located.ac1),
                    "AC@3": number(located.ac3),
                    "AC@5": number(located.ac5),
                    "Avg@5": number(located.avg5),
                }
                for row in mine
                for located in row.located
            ),
            names=2,
        )
        explained = [(row.agent, row.losses) for row in mine if row.losses is not None]
        _put_losses(figures, "policy", explained, luck_adjusted=luck_adjusted)
        figures.put((cells for pair in explained for cells in _calls(*pair)), names=2)


def _things(counts: Collection[int], thing: str) -> str:
    """A range of counts in words, or the only count."""
    most = counted(max(counts), thing)
    return most if len(counts) == 1 else f"{min(counts):,} to {most}"


def _put_title(figures: Figures, row: Row | Comparison, count: str) -> None:
    sealed = "" if row.seal is None else f", seal {spelled(row.seal)}"
    name = row.task if row.split is None else f"{row.task}/{row.split}"
    about = f"  {count}, rubric {row.rubric}{sealed}"
    say(figures.console, Text.assemble(heading(name), (about, "dim")))


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
    for group in chain.from_iterable(nets.values()):
        incidents[group.worth] = max(group.incidents, incidents.get(group.worth, 0))
    for_each = [(policy, {at.worth: at.handed_over for at in net}) for policy, net in nets.items()]
    figures.put(
        {
            "handed over\nat a worth of": policy,
            **{f"{at:g}\n({incidents[at]})": share(shares.get(at)) for at in sorted(incidents)},
        }
        for policy, shares in for_each
    )


def _calls(policy: str, losses: Losses) -> Iterator[Cells]:
    """Yield how well an agent's pages and root causes were justified."""
    for name, calls in (("pages", losses.pages), ("root causes", losses.root_causes)):
        if calls is not None:
            yield {
                "policy": policy,
                "of": name,
                "made": str(calls.count),
                "right": share(calls.right),
                "justified": share(calls.justified),
                "lucky": share(calls.lucky),
            }


def put_repeats(figures: Figures, rows: Sequence[Repeats]) -> None:
    """Print how often at least one of k repeats solves an incident, and how often all k do."""
    figures.put(
        (
            {
                "policy": row.policy,
                "task": row.task,
                "repeats": str(row.repeats),
                "k": str(k),
                "one of k solves\n[95 % interval]": estimate(row.pass_at[k - 1]),
                "all k solve\n[95 % interval]": estimate(row.pass_hat[k - 1]),
            }
            for row in rows
            for k in sorted({1, 2, row.repeats})
        ),
        names=2,
    )


def put_comparisons(
    figures: Figures,
    comparisons: Sequence[Comparison],
    runs: tuple[str, ...],
    *,
    luck_adjusted: bool = False,
) -> None:
    """Print tables for each task, with a line for each pair of policies.

    ``runs`` are the names of runs A and B; ``luck_adjusted`` is as of :func:`put_results`.
    """
    if luck_adjusted:
        _check_adjusted(pair.losses for pair in comparisons)
    for task in dict.fromkeys(pair.task for pair in comparisons):
        mine = [pair for pair in comparisons if pair.task == task]
        _put_title(figures, mine[0], _things({pair.shared for pair in mine}, "shared incident"))
        if any(pair.net for pair in mine):
            figures.put((_sides(pair, runs) | _net(pair) for pair in mine), names=2)
        # The columns of bounds are left out where they repeat the means.
        bounded = any((pair.bound_a, pair.bound_b) != (pair.mean_a, pair.mean_b) for pair in mine)
        figures.put(
            (
                {
                    **_sides(pair, runs),
                    "B - A [95 % interval]": _signed(pair.difference),
                    **{name: str(getattr(pair, name)) for name in ("better", "worse", "same")},
                    "mean A": number(pair.mean_a),
                    "mean B": number(pair.mean_b),
                    **(_bounds(pair) if bounded else {}),
                }
                for pair in mine
            ),
            names=2,
        )
        explained = [
            (f"{pair.policy_b} -\n{pair.policy_a}", pair.losses)
            for pair in mine
            if pair.losses is not None
        ]
        _put_losses(figures, "B - A", explained, luck_adjusted=luck_adjusted)


def _sides(pair: Comparison | WorthDifference, runs: tuple[str, ...]) -> dict[str, Cell]:
    return {"A": f"{runs[0]}: {pair.policy_a}", "B": f"{runs[1]}: {pair.policy_b}"}


def _net(pair: Comparison) -> dict[str, Cell]:
    net = pair.net
    return {
        "net B - A [95 % interval]": NO_FIGURE if net is None else _signed(net.difference),
        "net A": number(None if net is None else net.a),
        "net B": number(None if net is None else net.b),
    }


def _bounds(pair: Comparison) -> Cells:
    return {"A, unscored\nas 0": number(pair.bound_a), "B, unscored\nas 0": number(pair.bound_b)}


def _signed(difference: Interval) -> Text:
    """A difference, coloured if its interval holds no 0."""
    worse_or_not = "red" if difference.bounds[1] < 0 else ""
    return estimate(difference, "+.3f", "green" if difference.bounds[0] > 0 else worse_or_not)


def put_worth(figures: Figures, rows: Sequence[Worth]) -> None:
    """Print the worth in money of policies, beyond that of handing everything over."""
    figures.put(
        (
            {
                "policy": row.policy,
                "task": row.task,
                "incidents": str(row.incidents),
                "cost": f"{row.cost:,.2f}",
                "worth [95 % interval]": estimate(row.worth, ",.2f"),
                "worth nothing at": f"{row.worthless_at:,.2f} an episode"
                if row.worthless_at >= 0
                else NO_FIGURE,
            }
            for row in rows
        ),
        names=2,
    )


def put_worth_differences(
    figures: Figures, rows: Sequence[WorthDifference], runs: tuple[str, ...]
) -> None:
    """Print the worth in money of two runs; ``runs`` are the names of runs A and B."""
    figures.put(
        (
            {
                **_sides(row, runs),
                "task": row.task,
                "incidents": str(row.incidents),
                "worth A": f"{row.a:,.2f}",
                "worth B": f"{row.b:,.2f}",
                "worth B - A [95 % interval]": estimate(row.difference, ",.2f"),
            }
            for row in rows
        ),
        names=3,
    )


def _check_adjusted(losses: Iterable[Losses | None]) -> None:
    """Refuse to adjust grades for luck if no episode is explained."""
    if not any(losses):
        raise InvalidInput(
            "--luck-adjusted needs explained episodes: eval --explain N explains some of a run"
        )


def _put_losses(
    figures: Figures, whose: str, explained: Sequence[tuple[str, Losses]], *, luck_adjusted: bool
) -> None:
    """Print the parts of the grade over explained episodes, or their differences."""
    parts = (*PARTS, HARDNESS, *([_WITHOUT_LUCK] if luck_adjusted else []))
    figures.put(
        {
            whose: name,
            "explained": str(losses.episodes),
            **{_folded(title): stacked(getattr(losses, part)) for part, title in parts},
        }
        for name, losses in explained
    )
