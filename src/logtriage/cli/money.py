"""Tables of what agents are worth in money."""

from collections.abc import Sequence

from rich.console import Console

from logtriage.cli.figures import Figures, estimate
from logtriage.cli.screens import NO_FIGURE
from logtriage.evaluation.money import Worth, WorthDifference


def print_worth(console: Console, rows: Sequence[Worth], *, legend: bool = False) -> None:
    """Print the worth of policies beyond handing everything over, if wanted with its legend."""
    figures = Figures(console)
    figures.put(
        ("policy", "task", "episodes", "cost", "worth [95 % interval]", "worth nothing at"),
        [
            [
                row.policy,
                row.task,
                str(row.episodes),
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
    """Print the worth of policies side by side; ``runs`` are the names of runs A and B."""
    Figures(console).put(
        ("A", "B", "incidents", "worth A", "worth B", "worth B - A [95 % interval]"),
        [
            [
                f"{runs[0]}: {row.policy_a}",
                f"{runs[1]}: {row.policy_b}",
                str(row.incidents),
                f"{row.a:,.2f}",
                f"{row.b:,.2f}",
                estimate(row.difference, ",.2f"),
            ]
            for row in rows
        ],
        names=2,
    )
