"""The tables and the plot of docs/results/inference-or-decision.md, from finished runs.

python -m training.ppo.study runs/ppo --only-write --to docs/results
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.common.intervals import (
    over_incidents,
    policy_line,
    policy_table,
    student,
    welch,
)
from training.common.pages import renew, save_table, table
from training.common.rows import EPISODES, PRICES, Row, figures, net_value, read_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.ppo import store
from training.ppo.predictor import ABOUT

PAGE: Final = "inference-or-decision.md"
TABLE, CURVES, PLOT = "inference-runs.csv", "inference-curves.csv", "inference.png"
#: Scripted policies in the order of the tables; each is a run of ``training.scripted``.
SCRIPTED: Final = ("oracle", "observer", "top_suspect", "expert")
#: The name of the imitated teacher.
TEACHER: Final = "teacher"
#: The directory of a task's predictor, which learns from its first run on the exact belief.
PREDICTOR: Final = "predictor"


@attrs.frozen(eq=False)
class Finished:
    """A finished run: its arm and seed, what it wrote of itself, its curve, its episodes."""

    arm: str
    seed: int
    about: dict[str, Any]
    curve: list[dict[str, float | None]]
    episodes: dict[tuple[str, ...], list[Row]]

    def rows(self, split: str = EVAL_SPLIT) -> list[Row]:
        """The episodes of a split."""
        return self.episodes[split,]

    @property
    def net(self) -> float:
        """Net value on ``test``."""
        return net_value(self.rows())

    def val_at(self, share: float) -> float:
        """Net value on ``val`` at the look nearest to a share of the steps.

        NaN if that look is further from there than a tenth of the run.
        """
        steps = self.about["steps"]
        gaps = [abs((row["steps"] or 0.0) / steps - share) for row in self.curve]
        nearest = self.curve[gaps.index(min(gaps))]
        return nearest["val_net_value"] or 0.0 if min(gaps) <= 0.1 else math.nan


@attrs.frozen(eq=False)
class Study:
    """What is finished on one task: runs by arm, and scripted policies by name.

    All are judged on the same incidents of ``test``. ``predictor`` is what that network wrote
    of itself; None where there is none.
    """

    task: str
    runs: dict[str, list[Finished]]
    scripted: dict[str, list[Row]]
    predictor: dict[str, Any] | None


def read(folder: Path, count: int) -> Finished:
    """The run in a directory ``<arm>-<seed>``, and its first ``count`` episodes of each split."""
    arm, _, seed = folder.name.rpartition("-")
    about = json.loads((folder / store.RUN).read_text("utf-8"))
    curve = store.load_curve(folder / store.CURVE)
    episodes = {key: rows[:count] for key, rows in read_rows(folder / EPISODES).items()}
    return Finished(arm, int(seed), about, curve, episodes)


def read_study(out: Path, task: str, arms: Sequence[str]) -> Study:
    """What is finished in the directory of a task."""
    scripted = {
        name: read_rows(out / task / name / EPISODES)[EVAL_SPLIT,]
        for name in (*SCRIPTED, TEACHER)
        if (out / task / name / EPISODES).exists()
    }
    shared = min(map(len, scripted.values()))

    def runs_in(folder: Path) -> dict[str, list[Finished]]:
        by_arm = {}
        for arm in arms:
            paths = [path.parent for path in sorted(folder.glob(f"{arm}-[0-9]*/{EPISODES}"))]
            members = [run for path in paths if (run := read(path, shared)).about["finished"]]
            if members:
                by_arm[arm] = members
        return by_arm

    about = out / task / PREDICTOR / ABOUT
    return Study(
        task,
        runs_in(out / task),
        {name: rows[:shared] for name, rows in scripted.items()},
        json.loads(about.read_text("utf-8")) if about.exists() else None,
    )


def write_up(out: Path, tasks: Sequence[str], arms: Sequence[str], to: Path) -> None:
    """Renew the page's tables, and write the figure and the raw rows."""
    studies = [read_study(out, task, arms) for task in tasks if (out / task).is_dir()]
    blocks: dict[str, Callable[[], Iterable[str]]] = {
        "lost": lambda: _lost(studies),
        "arms": lambda: _arms(studies),
        "predictor": lambda: _predictors(studies),
        "curves": lambda: _plateau(studies),
    }
    renew(to / PAGE, "Inference or decision?", blocks)
    _save_runs(studies, to / TABLE)
    _save_curves(studies, to / CURVES)
    _draw(studies, arms, to / PLOT)


def _lost(studies: Sequence[Study]) -> Iterable[str]:
    """Net value lost to decision and to inference."""
    rows = []
    for study in studies:
        belief, observer = study.runs["belief"], study.scripted["observer"]
        gaps = [net_value(observer) - run.net for run in belief]
        pairs = [(observer, run.rows()) for run in belief]
        rows.append([f"`{study.task}`", "decision", "observer − `belief`", str(len(belief)),
                     student(gaps), over_incidents(pairs)])  # fmt: skip
        for arm, others in study.runs.items():
            if arm == "belief":
                continue
            by_seed = {run.seed: run for run in others}
            shared = [(run.rows(), by_seed[run.seed].rows()) for run in belief
                      if run.seed in by_seed]  # fmt: skip
            gap = welch([run.net for run in belief], [run.net for run in others])
            rows.append([f"`{study.task}`", "inference", f"`belief` − `{arm}`",
                         f"{len(belief)}, {len(others)}", gap, over_incidents(shared)])  # fmt: skip
    heads = ["task", "lost to", "difference", "seeds", "over seeds (95 %)",
             "over incidents (95 %)"]  # fmt: skip
    return table(heads, rows, 3)


def _arms(studies: Sequence[Study]) -> Iterable[str]:
    """Each arm and each scripted policy on ``test``, a table a task."""
    for number, study in enumerate(studies):
        yield from ([""] if number else [])
        count = len(next(iter(study.scripted.values())))
        yield f"**`{study.task}`**, the first {count} incidents of `{EVAL_SPLIT}`:"
        yield ""
        learnt = [
            policy_line(f"PPO, `{arm}`", [run.rows() for run in members])
            for arm, members in study.runs.items()
        ]
        others = [
            policy_line(f"`{name}`", [rows], seeded=False) for name, rows in study.scripted.items()
        ]
        yield from policy_table([*learnt, *others])


def _predictors(studies: Sequence[Study]) -> Iterable[str]:
    """What each predictor lost to the exact posterior."""
    rows = []
    for study in studies:
        if (about := study.predictor) is not None:
            cross, exact = about["cross_entropy_bits"], about["exact_entropy_bits"]
            rows.append([f"`{study.task}`", f"{about['screens']:,}", f"{about['cpu_seconds']:.0f}",
                         f"{cross:.2f}", f"{exact:.2f}", f"{cross - exact:.2f}",
                         f"{about['acting_error']:.3f}"])  # fmt: skip
    heads = ["task", "screens seen", "CPU seconds", "cross-entropy, bits", "exact entropy, bits",
             "lost, bits", "error of the value of acting"]  # fmt: skip
    return table(heads, rows)


def _plateau(studies: Sequence[Study]) -> Iterable[str]:
    """The gain of the last third of each run on ``val``."""
    rows = []
    for study in studies:
        for arm, members in study.runs.items():
            seconds = np.mean([run.about["cpu_seconds"] for run in members])
            early, late = (
                [run.val_at(share) for run in members if not math.isnan(run.val_at(share))]
                for share in (2 / 3, 1)
            )
            rows.append([f"`{study.task}`", f"`{arm}`", str(len(members)),
                         f"{members[0].about['steps']:,}", f"{seconds:.0f}",
                         f"{np.mean(early):+.3f}" if early else "",
                         f"{np.mean(late):+.3f}"])  # fmt: skip
    heads = ["task", "arm", "seeds", "steps", "CPU seconds a run",
             f"net value on `{CHOICE_SPLIT}` after two thirds", "at the end"]  # fmt: skip
    return table(heads, rows, 2)


def _save_runs(studies: Sequence[Study], path: Path) -> None:
    """A row for each run and split."""
    rows = []
    for study in studies:
        groups = [
            (run.arm, str(run.seed), run.about, run.episodes)
            for members in study.runs.values()
            for run in members
        ]
        groups += [(name, "", {}, {(EVAL_SPLIT,): episodes})
                   for name, episodes in study.scripted.items()]  # fmt: skip
        rows += [
            {
                "task": study.task, "arm": arm, "seed": seed, "split": split,
                "incidents": len(episodes), "steps": about.get("steps", ""),
                "cpu_seconds": about.get("cpu_seconds", ""),
                **{name: f"{value:.4f}" for name, value in figures(episodes).items()},
            }
            for arm, seed, about, by_split in groups
            for (split,), episodes in by_split.items()
        ]  # fmt: skip
    save_table(path, rows)


def _save_curves(studies: Sequence[Study], path: Path) -> None:
    """A row for each point of a curve."""
    of_run = (
        (study.task, run) for study in studies for members in study.runs.values() for run in members
    )
    rows = [
        {"task": task, "arm": run.arm, "seed": run.seed, **row}
        for task, run in of_run
        for row in run.curve
    ]
    save_table(path, rows)


def _draw(studies: Sequence[Study], arms: Sequence[str], path: Path) -> None:
    """A row of plots a task.

    Net value on ``val`` while it is learnt, on ``test`` at the end, and hand-overs by price.
    """
    figure = Figure(figsize=(13, 3.6 * len(studies)), layout="constrained")
    FigureCanvasAgg(figure)
    palette = ("#1b6ca8", "#3c8d53", "#c8553d", "#8a5aa8", "#b8860b")
    colours = dict(zip(arms, palette, strict=False))
    plots = figure.subplots(len(studies), 3, squeeze=False)
    for study, (curves, worth, heed) in zip(studies, plots, strict=True):
        for run in (run for members in study.runs.values() for run in members):
            first = run is study.runs[run.arm][0]
            curves.plot([(row["steps"] or 0.0) / 1e3 for row in run.curve],
                        [row["val_net_value"] or 0.0 for row in run.curve], color=colours[run.arm],
                        lw=1, alpha=0.7, label=run.arm if first else None)  # fmt: skip
        for place, (arm, members) in enumerate(study.runs.items()):
            worth.plot([place] * len(members), [run.net for run in members], "o",
                       color=colours[arm])  # fmt: skip
            each = [figures(run.rows()) for run in members]
            means = [np.mean([row[f"handed_over_{price}"] for row in each]) for price in PRICES]
            heed.plot(PRICES, means, "o-", color=colours[arm], label=arm)
        for name, dashes in (("observer", "--"), ("top_suspect", "-."), (TEACHER, ":")):
            if name in study.scripted:
                rows = study.scripted[name]
                worth.axhline(net_value(rows), color="grey", ls=dashes, label=name)
                shares = [figures(rows)[f"handed_over_{price}"] for price in PRICES]
                heed.plot(PRICES, shares, dashes, color="grey", label=name)
        curves.set(xlabel="thousand steps", ylabel=f"net value, {CHOICE_SPLIT}", ylim=(-0.5, 1),
                   title=study.task)  # fmt: skip
        worth.axhline(0, color="black", lw=0.8)
        worth.set_xticks(range(len(study.runs)), [arm.replace("-", "\n") for arm in study.runs])
        worth.set(ylabel=f"net value, {EVAL_SPLIT}")
        heed.set(xlabel="what a hand-over is worth", ylabel=f"handed over, {EVAL_SPLIT}")
        for axes in (curves, worth, heed):
            axes.legend(fontsize=7)
    figure.savefig(path, dpi=90, metadata={"Software": None})
