"""``calibration``: what the confidences of a run are worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logtriage.cli.bar import Bar, loaded_runs
from logtriage.cli.console import emit, note, results, say
from logtriage.cli.figures import Figures, estimate, share, stacked
from logtriage.cli.options import Json, Legend, RunDirectory, SealFile, seal_in
from logtriage.cli.screens import heading, number

if TYPE_CHECKING:
    from logtriage.evaluation.calibration import Calibration


def calibration(
    run: RunDirectory, seal_file: SealFile = None, legend: Legend = False, as_json: Json = False
) -> None:
    """Hold the confidences of a run against the truth.

    A confidence is stated with a root cause, and compared with the exact posterior too. By
    bins: what was stated, what was right (with exact bounds), and what the posterior was. And the
    net value if all below a bar were handed over.
    """
    from logtriage.evaluation.calibration import calibrate

    (loaded,) = loaded_runs([run], seal_in(seal_file))
    with Bar("weighing confidences", "episodes") as bar:
        rows = calibrate(loaded, bar.show)
    if as_json:
        for row in rows:
            emit(row)
        return
    figures = Figures(results())
    for task in dict.fromkeys(row.task for row in rows):
        say(results(), heading(task))
        _put(figures, [row for row in rows if row.task == task])
    if not any(row.stated for row in rows):
        note("no root cause was declared with a confidence", "yellow")
    if legend:
        figures.legend()


def _put(figures: Figures, rows: "Sequence[Calibration]") -> None:
    figures.put(
        ("policy", "stated", "ECE", "by chance", "too sure by", "Brier", "AUGRC"),
        [
            [
                row.policy,
                f"{row.stated} of {row.scored}",
                stacked(row.ece),
                number(row.by_chance),
                stacked(row.over),
                number(row.brier),
                number(row.augrc),
            ]
            for row in rows
        ],
    )
    for row in rows:
        figures.put(
            ("policy", "confidence", "count", "mean", "right [95 % bounds]", "posterior"),
            [
                [
                    row.policy,
                    f"{bin_.low:g} to {bin_.high:g}",
                    str(bin_.count),
                    number(bin_.stated, 2),
                    f"{bin_.right:.2f} [{bin_.least:.2f}, {bin_.most:.2f}]",
                    number(bin_.posterior, 2),
                ]
                for bin_ in row.bins
            ],
            names=2,
        )
        figures.put(
            ("policy", "handing over", "the bar\nhands over", "net value [95 % interval]"),
            [
                [row.policy, f"below {bar.bar:g}", share(bar.handed_over), estimate(bar.net)]
                for bar in row.bars
            ],
            names=2,
        )
