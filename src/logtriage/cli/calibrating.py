"""``calibration``: what the confidences of a run are worth."""

from collections.abc import Sequence

from logtriage.cli.bar import Bar, loaded_runs
from logtriage.cli.console import emit, note, say
from logtriage.cli.figures import Cells, Figures, estimate, share, stacked
from logtriage.cli.options import RunDirectory, SealFile, Shown, seal_in
from logtriage.cli.screens import heading, number
from logtriage.evaluation.calibration import Calibration, calibrate


def calibration(run: RunDirectory, *, seal_file: SealFile = None, shown: Shown) -> None:
    """Hold the confidences of a run against the truth.

    A confidence is stated with a root cause, and compared with the exact posterior too. By
    bins: what was stated, what was right (with exact bounds), and what the posterior was. And the
    net value if all below a bar were handed over.
    """
    (loaded,) = loaded_runs([run], seal_in(seal_file))
    with Bar("weighing confidences", "episodes") as bar:
        rows = calibrate(loaded, bar.show)
    if shown.as_json:
        for row in rows:
            emit(row)
        return
    figures = Figures()
    for task in dict.fromkeys(row.task for row in rows):
        say(figures.console, heading(task))
        _put(figures, [row for row in rows if row.task == task])
    if not any(row.stated for row in rows):
        note("no root cause was declared with a confidence", "yellow")
    if shown.legend:
        figures.legend()


def _put(figures: Figures, rows: Sequence[Calibration]) -> None:
    figures.put(
        {
            "policy": row.policy,
            "stated": f"{row.stated} of {row.scored}",
            "ECE": stacked(row.ece),
            "by chance": number(row.by_chance),
            "too sure by": stacked(row.over),
            "Brier": number(row.brier),
            "AUGRC": number(row.augrc),
        }
        for row in rows
    )
    for row in rows:
        bins: list[Cells] = [
            {
                "policy": row.policy,
                "confidence": f"{each.low:g} to {each.high:g}",
                "count": str(each.count),
                "mean": number(each.stated, 2),
                "right [95 % bounds]": f"{each.right:.2f} [{each.least:.2f}, {each.most:.2f}]",
                "posterior": number(each.posterior, 2),
            }
            for each in row.bins
        ]
        bars: list[Cells] = [
            {
                "policy": row.policy,
                "handing over": f"below {bar.bar:g}",
                "the bar\nhands over": share(bar.handed_over),
                "net value [95 % interval]": estimate(bar.net),
            }
            for bar in row.bars
        ]
        figures.put(bins, names=2)
        figures.put(bars, names=2)
