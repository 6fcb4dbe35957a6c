"""``calibration``: what the confidences of a run are worth."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.cli.console import emit, note, results, say
from logtriage.cli.figures import Cell, Figures, share, stacked
from logtriage.cli.options import Json, Legend, SealFile, seal_in
from logtriage.cli.screens import NO_FIGURE, heading, number

if TYPE_CHECKING:
    from logtriage.evaluation.calibration import Calibration


def calibration(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.")],
    seal_file: SealFile = None,
    legend: Legend = False,
    as_json: Json = False,
) -> None:
    """Hold stated confidences against the truth and against the exact posterior.

    A confidence is stated with a root cause. By bins: what was stated, what was right (with exact
    bounds), and what the posterior was. And the net value if all below a bar were handed over.
    """
    from logtriage.evaluation import load_run
    from logtriage.evaluation.calibration import calibrate

    found = calibrate(load_run(run, seal=seal_in(seal_file)))
    if as_json:
        for row in found:
            emit(row.to_json())
        return
    figures = Figures(results())
    for task in dict.fromkeys(row.task for row in found):
        say(results(), heading(task))
        mine = [row for row in found if row.task == task]
        _put_totals(figures, mine)
        for row in mine:
            _put_bins(figures, row)
            _put_bars(figures, row)
    if not any(row.stated for row in found):
        note("no root cause was declared with a confidence", "yellow")
    if legend:
        figures.legend()


def _put_totals(figures: Figures, rows: "Sequence[Calibration]") -> None:
    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                f"{row.stated} of {row.scored}",
                NO_FIGURE if row.ece is None else stacked(row.ece, wide=wide),
                number(row.by_chance),
                NO_FIGURE if row.over is None else stacked(row.over, wide=wide),
                number(row.brier),
                number(row.augrc),
            ]
            for row in rows
        ]

    titles = ("policy", "stated", "ECE", "by chance", "too sure by", "Brier", "AUGRC")
    figures.put(titles, cells)


def _put_bins(figures: Figures, row: "Calibration") -> None:
    def cells(_: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                f"{one.low:g} to {one.high:g}",
                str(one.count),
                number(one.stated, 2),
                f"{one.right:.2f} [{one.least:.2f}, {one.most:.2f}]",
                number(one.posterior, 2),
            ]
            for one in row.bins
        ]

    if row.bins:
        titles = ("policy", "confidence", "count", "mean", "right [95 % bounds]", "posterior")
        figures.put(titles, cells, names=2)


def _put_bars(figures: Figures, row: "Calibration") -> None:
    def cells(wide: bool) -> list[list[Cell]]:
        return [
            [
                Text(spelled(row.policy)),
                f"below {one.bar:g}",
                share(one.handed_over, 1 if wide else 0),
                f"{number(one.net.mean)} [{number(one.net.low)}, {number(one.net.high)}]",
            ]
            for one in row.bars
        ]

    if row.bars:
        titles = ("policy", "handing over", "handed\nover", "net value [95 % interval]")
        figures.put(titles, cells, names=2)
