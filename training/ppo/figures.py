"""The curves of finished runs, drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.common.tasks import sheet_of
from training.ppo.references import POLICIES, reference
from training.ppo.runs import Written

_COLORS: Final = {
    "belief": "#1b6ca8",
    "counts": "#4f772d",
    "screen": "#8d6a9f",
    "screen-gru": "#2a9d8f",
    "belief-shaped": "#e0a030",
}
_OTHER: Final = "#c8553d"
_GREYS: Final = dict(zip(POLICIES, ("#222222", "#777777", "#bbbbbb"), strict=True))


def draw(runs: Sequence[Written], path: Path) -> None:
    """A column a task: the grade while it is learnt, and of what was learnt, over fog."""
    tasks = list(dict.fromkeys(run.settings.task for run in runs))
    figure = Figure(figsize=(4.0 * len(tasks) + 2.0, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(2, len(tasks), squeeze=False, sharey=True)
    for column, task in enumerate(tasks):
        mine = [run for run in runs if run.settings.task == task]
        _learning(rows[0, column], task, mine)
        _fog(rows[1, column], task, mine)
    shown = {label: handle for axes in rows[1] for handle, label in zip(
        *axes.get_legend_handles_labels(), strict=True)}  # fmt: skip
    figure.legend(shown.values(), shown.keys(), loc="outside right upper")
    rows[0, 0].set_ylabel("mean grade, split val")
    rows[1, 0].set_ylabel("mean grade, split test")
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def _learning(axes: Axes, task: str, runs: Sequence[Written]) -> None:
    for run in runs:
        axes.plot(
            [(row["steps"] or 0.0) / 1e6 for row in run.curve],
            [row["val_grade"] or 0.0 for row in run.curve],
            color=_COLORS.get(run.label, _OTHER),
            marker=".",
        )
    observer = reference(task, "fog2", "observer")
    if observer is not None:
        axes.axhline(observer.grade, color=_GREYS["observer"], linewidth=0.8)
        axes.axhline(0.8 * observer.grade, color=_GREYS["observer"], linestyle=":", linewidth=0.8)
    axes.set(title=task, xlabel="million steps", ylim=(0, 1.02))
    axes.grid(alpha=0.3)


def _fog(axes: Axes, task: str, runs: Sequence[Written]) -> None:
    levels = range(len(sheet_of(task).world.rules.fog))
    for policy in POLICIES:
        points = [(fog, found) for fog in levels if (found := reference(task, f"fog{fog}", policy))]
        axes.errorbar(
            [fog for fog, _ in points],
            [found.grade for _, found in points],
            [found.margin for _, found in points],
            color=_GREYS[policy],
            marker=".",
            capsize=2,
            label=policy,
        )
    labels: set[str] = set()
    for run in runs:
        tried = [run.trial(f"fog{fog}") for fog in levels]
        axes.errorbar(
            list(levels),
            [one["grade"] for one in tried],
            [one["error"] for one in tried],
            color=_COLORS.get(run.label, _OTHER),
            marker="o",
            markersize=3,
            capsize=2,
            label=None if run.label in labels else f"PPO, {run.label}",
        )
        labels.add(run.label)
    axes.set(xlabel="fog", xticks=list(levels), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
