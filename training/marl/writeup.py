"""Write up finished runs: tables and curves for ``docs/results/``.

    python -m training.marl.writeup runs/sweep/* --to docs/results

Renews the blocks of ``role-splits.md`` between ``<!-- NAME -->`` and ``<!-- /NAME -->``,
and leaves the words around them alone; without that page, it begins one. Writes
``role-splits.png``, ``role-splits.csv`` with a row a run, and ``role-splits-curves.csv``
with one for each evaluation.
"""

import argparse
import csv
import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.roles.splits import ROLE_SPLITS, SILENT
from training.common.files import replace, save_text
from training.common.pages import renew
from training.common.tasks import place_of
from training.marl import figures
from training.marl.runs import Group, Written
from training.marl.tables import BLOCKS

PAGE: Final = "role-splits.md"
_PALETTE: Final = ("#777777", "#4f772d", "#1b6ca8", "#e0a030", "#c8553d", "#8d6a9f", "#5b8e7d",
                   "#bc4b51")  # fmt: skip
#: The columns that say which run it is: those of its group, and the seed.
_OWN: Final = ("task", "split", "algorithm", "credit", "critic", "inform", "rounds_in_all", "seed")
_SPLITS: Final = list(ROLE_SPLITS)


def write_up(runs: Sequence[Written], to: Path) -> None:
    """Write the page, the figure, and the table of runs."""
    runs = sorted(runs, key=_order)
    groups = [
        Group(tuple(run for run in runs if run.group == key))
        for key in dict.fromkeys(run.group for run in runs)
    ]
    renew(to / PAGE, "Role splits", {name: partial(make, groups) for name, make in BLOCKS.items()})
    save_text(to / "role-splits.csv", _table(runs))
    save_text(to / "role-splits-curves.csv", _curves(runs))
    replace(to / "role-splits.png", lambda where: _draw(groups, where))


def _order(run: Written) -> tuple[object, ...]:
    task, split, algorithm, credit, critic, inform, rounds = run.group
    built_in = _SPLITS.index(split) if split in _SPLITS else len(_SPLITS)
    other = algorithm, credit != "team", critic, inform, rounds
    return place_of(task), built_in, split, *other, run.settings.seed


# -- files ----------------------------------------------------------------------------


def _table(runs: Sequence[Written]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = list(runs[0].facts["after"])
    writer.writerow([*_OWN, *names, "ticks_to_resolve", "seconds", "cpu_seconds"])
    for run in runs:
        ticks = figures.ticks_to_resolve(run.episodes)
        values = [*(run.facts["after"][name] for name in names), ticks]
        times = [f"{run.facts[key]:.1f}" for key in ("seconds", "cpu_seconds")]
        figure = ["" if one is None else f"{one:.6g}" for one in values]
        writer.writerow([*run.group, run.settings.seed, *figure, *times])
    return out.getvalue()


def _curves(runs: Sequence[Written]) -> str:
    """The curves of all runs, a row for each evaluation."""
    out = io.StringIO()
    # Entropies go by the names of roles, which other splits do not have.
    names = [name for name in runs[0].curve[0] if not name.startswith("entropy_")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_OWN, *names])
    for run in runs:
        for row in run.curve:
            values = (row[name] for name in names)
            figure = ["" if one is None else f"{one:.6g}" for one in values]
            writer.writerow([*run.group, run.settings.seed, *figure])
    return out.getvalue()


def _draw(groups: Sequence[Group], path: Path) -> None:
    """A line a group, the mean of its seeds, in a band from the lowest to the highest."""
    tasks = list(dict.fromkeys(group.settings.task for group in groups))
    splits = list(dict.fromkeys(group.split.name.removesuffix(SILENT) for group in groups))
    figure = Figure(figsize=(4.0 * len(tasks) + 2.6, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, task in zip(figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0], tasks,
                          strict=True):  # fmt: skip
        for group in groups:
            if group.settings.task != task:
                continue
            split = group.split.name.removesuffix(SILENT)
            color = _PALETTE[splits.index(split) % len(_PALETTE)]
            style = "--" if split != group.split.name else "-"
            curves = [{row["ticks"] or 0.0: row["val_grade"] or 0.0 for row in run.curve}
                      for run in group.runs]  # fmt: skip
            ticks = sorted(set(curves[0]).intersection(*curves))
            grades = np.array([[curve[tick] for tick in ticks] for curve in curves])
            across = np.array(ticks) / 1e6
            if group.other:  # dotted, where all else is not as usual
                style = ":" if style == "-" else "-."
            axes.plot(across, grades.mean(axis=0), color=color, linewidth=1.2, linestyle=style,
                      label=group.label.replace("`", ""))  # fmt: skip
            axes.fill_between(across, grades.min(axis=0), grades.max(axis=0), color=color,
                              alpha=0.12, linewidth=0)  # fmt: skip
        axes.set(title=task, xlabel="million ticks of a team", ylim=(0, 1.02))
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("mean grade, split val, greedy")
    named: dict[str, Artist] = {}
    for axes in figure.axes:
        for line, name in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(name, line)
    figure.legend(named.values(), named, loc="outside right upper", fontsize="small")
    figure.savefig(path, format="png", dpi=120, metadata={"Software": None})


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.marl.writeup", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("runs", type=Path, nargs="+", help="output directories of training.marl")
    parser.add_argument("--to", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    write_up([Written.read(path) for path in given.runs], given.to)


if __name__ == "__main__":
    main()
