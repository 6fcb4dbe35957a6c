"""The curves of several runs, side by side, for a page of results."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.grpo.figures import rolling, window_of
from training.grpo.played import Episode
from training.grpo.written import Written

#: What the figure shows of the episodes of a step: a name, and the values of some episodes.
_SHOWN: Final[Mapping[str, Callable[[Sequence[Episode]], list[float]]]] = {
    "grade": lambda some: [one.reward for one in some],
    "solved": lambda some: [one.solved for one in some],
    "right team paged, of the faults": lambda some: [one.paged_right for one in some if one.fault],
    "pages right, of the episodes with one": lambda some: [
        not one.mis_paged for one in some if one.paged
    ],
}
_COLORS: Final = ("#1b6ca8", "#c8553d", "#3c8d53", "#8a5aa8")


def draw_runs(runs: Sequence[Written], path: Path) -> None:
    """A panel a figure of :data:`_SHOWN` over the steps, a line a seed.

    Dotted lines are where a seed's next stage began.
    """
    figure = Figure(figsize=(8.4, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
    for axes, (name, values) in zip(panels, _SHOWN.items(), strict=True):
        for color, run in zip(_COLORS, runs, strict=False):
            some: dict[int, list[Episode]] = {one.step: [] for one in run.steps}
            for episode in run.episodes:
                some[episode.step].append(episode)
            curve = rolling([values(one) for one in some.values()], window_of(len(some)))
            means, low, high = zip(*curve, strict=True)
            axes.plot(list(some), means, color=color, label=f"seed {run.seed}")
            axes.fill_between(list(some), low, high, color=color, alpha=0.12, linewidth=0)
            for before, after in pairwise(run.steps):
                if before.stage != after.stage:
                    axes.axvline(after.step, color=color, linestyle=":", linewidth=1)
        axes.set(title=name, ylim=(-0.02, 1.02))
        axes.grid(alpha=0.3)
    below, left = figure.axes[2:], figure.axes[0]
    for axes in below:
        axes.set_xlabel(f"step; means of {window_of(len(runs[0].steps))}")
    left.legend(loc="lower right", fontsize="small")
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})
