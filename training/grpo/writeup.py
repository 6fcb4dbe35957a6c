"""Write up finished runs: tables and curves for ``docs/results/``.

    python -m training.grpo.writeup runs/grpo-0 runs/grpo-1 runs/grpo-2 --to docs/results

Renews the blocks of ``grpo.md``, and leaves the words around them alone. Writes
``grpo.png``, and ``grpo-steps.csv`` with a row a step. All from the files of the runs, and
the ``tiny.json`` of the models that they began with.
"""

import argparse
import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.errors import InvalidInput
from logtriage.grading import DEFAULT
from training.common.files import replace, save_text
from training.common.pages import renew
from training.evaluate.results import ALL_TASKS, RESULTS
from training.grpo.figures import rolling, window_of
from training.grpo.played import Episode, Step
from training.grpo.record import EPISODES, STEPS, read_episodes, read_steps
from training.grpo.store import RUN
from training.tiny.settings import ABOUT

PAGE: Final = "grpo.md"
TABLE: Final = "grpo-steps.csv"
CURVES: Final = "grpo.png"
CRITERIA: Final = tuple(one.name for one in DEFAULT.criteria)
_COLORS: Final = ("#1b6ca8", "#c8553d", "#3c8d53", "#8a5aa8")


@attrs.frozen
class Written:
    """A finished run, and the model that it began with, as their files have them."""

    about: dict[str, Any]
    results: dict[str, Any]
    began: dict[str, Any] | None
    steps: list[Step]
    episodes: list[Episode]

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.about["settings"]["seed"])


def read(out: Path) -> Written:
    """The run in a directory.

    Raises:
        InvalidInput: if there is none that is finished and evaluated.
    """
    for name in (RUN, RESULTS):
        if not (out / name).exists():
            raise InvalidInput(f"{out}: no {name}; give directories of finished, evaluated runs")
    about = json.loads((out / RUN).read_text("utf-8"))
    if not about["finished"]:
        raise InvalidInput(f"{out}: this run is not finished")
    model = Path(about["settings"]["model"], ABOUT)
    return Written(
        about,
        json.loads((out / RESULTS).read_text("utf-8")),
        json.loads(model.read_text("utf-8")) if model.exists() else None,
        read_steps(out / STEPS),
        read_episodes(out / EPISODES),
    )


def write_up(runs: Sequence[Written], to: Path) -> None:
    """Write the page, the figure, and the table of steps."""
    runs = sorted(runs, key=lambda one: one.seed)
    blocks = {
        "change": lambda: _change(runs),
        "behaviour": lambda: _behaviour(runs),
        "time": lambda: _time(runs),
        "commands": lambda: _commands(runs),
    }
    renew(to / PAGE, "GRPO", blocks)
    save_text(to / TABLE, _table(runs))
    replace(to / CURVES, lambda where: _draw(runs, where))


def _head(*columns: str) -> Iterable[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join('---' for _ in columns)} |"


def _change(runs: Sequence[Written]) -> Iterable[str]:
    yield from _head("task", "seed", "incidents", "before", "after", "difference (95 %)")
    for task in (*runs[0].results["tasks"], ALL_TASKS):
        for run in runs:
            one = run.results["difference"][task]
            change = one["difference"]
            yield (
                f"| {task} | {run.seed} | {one['incidents']:,} | {one['before']:.3f} | "
                f"{one['after']:.3f} | {change['mean']:+.3f} "
                f"({change['low']:+.3f} to {change['high']:+.3f}) |"
            )


def _behaviour(runs: Sequence[Written]) -> Iterable[str]:
    yield from _head("task", "seed", "agent", "gated", "paged", "mis-paged", *CRITERIA, "ticks")
    for task in runs[0].results["tasks"]:
        for run in runs:
            for agent in run.results["agents"][:2]:  # before and after training
                one = agent["tasks"][task]
                criteria = " | ".join(f"{one['criteria'][name]:.2f}" for name in CRITERIA)
                shares = " | ".join(f"{one[name]:.1%}" for name in ("gated", "paged", "mis_page"))
                yield (
                    f"| {task} | {run.seed} | {agent['agent']} | {shares} | {criteria} | "
                    f"{one['ticks']:.1f} |"
                )


def _time(runs: Sequence[Written]) -> Iterable[str]:
    yield from _head("seed", "warm start", "GRPO steps", "a step", "generation", "update",
                     "environment", "an evaluation")  # fmt: skip
    for run in runs:
        spent = run.about["step_seconds"]
        whole = spent["seconds"]
        played = run.results["agents"][1]["seconds"]  # of the model after training
        started = "-" if run.began is None else f"{run.began['seconds'] / 60:.1f} min"
        yield (
            f"| {run.seed} | {started} | {len(run.steps)} in {whole / 60:.1f} min | "
            f"{whole / len(run.steps):.1f} s | {spent['generation'] / whole:.0%} | "
            f"{spent['update'] / whole:.0%} | {spent['env'] / whole:.2%} | {played / 60:.1f} min |"
        )


def _commands(runs: Sequence[Written]) -> Iterable[str]:
    yield "```sh"
    for run in runs:
        if run.began is not None:
            yield run.began["command"]
        yield run.about["command"]
    yield "```"
    yield ""
    yield f"{_machine(runs[0].about['machine'])}."


def _machine(about: Mapping[str, Any]) -> str:
    libraries = [name for name in about if name not in ("cpu", "cores", "system", "python")]
    versions = ", ".join(f"{name} {about[name]}" for name in libraries)
    return f"{about['cpu']}, {about['cores']} cores; Python {about['python']}, {versions}"


def _table(runs: Sequence[Written]) -> str:
    out = io.StringIO()
    names = [field.name for field in attrs.fields(Step)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["seed", *names])
    for run in runs:
        for step in run.steps:
            values = attrs.astuple(step)
            writer.writerow([run.seed, values[0], *(f"{one:.6g}" for one in values[1:])])
    return out.getvalue()


def _draw(runs: Sequence[Written], path: Path) -> None:
    """A panel a task: the sampled grade of training episodes, each seed by itself."""
    tasks = runs[0].results["tasks"]
    figure = Figure(figsize=(4.2 * len(tasks), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        for color, run in zip(_COLORS, runs, strict=False):
            numbers = [one.step for one in run.steps]
            window = window_of(len(numbers))
            some: dict[int, list[float]] = {number: [] for number in numbers}
            for one in run.episodes:
                if one.task == task:
                    some[one.step].append(one.reward)
            means, low, high = zip(*rolling(list(some.values()), window), strict=True)
            axes.plot(numbers, means, color=color, label=f"seed {run.seed}")
            axes.fill_between(numbers, low, high, color=color, alpha=0.12, linewidth=0)
        axes.set(title=task, xlabel="step", ylim=(-0.02, 1.02))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel(f"grade, sampled; mean of {window_of(len(runs[0].steps))} steps")
    panels[0].legend(loc="upper left", fontsize="small")
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def main() -> None:
    """Read the command line, and write up."""
    parser = argparse.ArgumentParser(prog="python -m training.grpo.writeup", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="directories of finished runs")
    parser.add_argument(
        "--to", type=Path, required=True, help="where the page is, or will be written"
    )
    options = parser.parse_args()
    try:
        write_up([read(one) for one in options.runs], options.to)
    except InvalidInput as wrong:
        parser.error(str(wrong))


if __name__ == "__main__":
    main()
