"""The tables and the plot of docs/results/inference-or-decision.md, from finished runs.

python -m training.ppo.study runs/ppo --only-write --to docs/results
"""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.common.intervals import (
    line,
    over_incidents,
    policy_line,
    policy_table,
    student,
    welch,
)
from training.common.pages import renew
from training.common.rows import EPISODES, PRICES, Row, figures, net_value, read_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.ppo import store

PAGE: Final = "inference-or-decision.md"
TABLE, CURVES, PLOT = "inference-runs.csv", "inference-curves.csv", "inference.png"
#: Scripted policies in the order of the tables; each is a run of ``training.scripted``.
SCRIPTED: Final = ("oracle", "observer", "top_suspect", "expert")
#: The name of the imitated teacher.
TEACHER: Final = "teacher"


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


def read(folder: Path, count: int) -> Finished:
    """The run in a directory ``<arm>-<seed>``, and its first ``count`` episodes of each split."""
    arm, _, seed = folder.name.rpartition("-")
    about = json.loads((folder / store.RUN).read_text("utf-8"))
    curve = store.load_curve(folder / store.CURVE)
    episodes = {key: rows[:count] for key, rows in read_rows(folder / EPISODES).items()}
    return Finished(arm, int(seed), about, curve, episodes)


def write_up(out: Path, arms: Sequence[str], predictor: Path, to: Path) -> None:
    """Renew the page's tables, and write the figure and the raw rows."""
    scripted = {
        name: read_rows(out / name / EPISODES)[EVAL_SPLIT,]
        for name in (*SCRIPTED, TEACHER)
        if (out / name / EPISODES).exists()
    }
    shared = min(map(len, scripted.values()))  # all are judged on the same incidents
    scripted = {name: rows[:shared] for name, rows in scripted.items()}
    paths = [one for arm in arms for one in sorted(out.glob(f"{arm}-[0-9]*"))]
    finished = [one for one in paths if (one / EPISODES).exists()]
    every = [read(one, shared) for one in finished]
    runs = [one for one in every if one.arm in arms and one.about["finished"]]
    arms = [arm for arm in arms if _of(runs, arm)]
    blocks: dict[str, Callable[[], Iterable[str]]] = {
        "lost": lambda: _lost(runs, scripted),
        "arms": lambda: _arms(runs, scripted),
        "predictor": lambda: _predictor(predictor),
        "curves": lambda: _plateau(runs, arms),
    }
    renew(to / PAGE, "Inference or decision?", blocks)
    _save_runs(runs, scripted, to / TABLE)
    _save_curves(runs, to / CURVES)
    _draw(runs, scripted, arms, to / PLOT)


def _of(runs: Sequence[Finished], arm: str) -> list[Finished]:
    return [one for one in runs if one.arm == arm]


def _lost(runs: Sequence[Finished], scripted: dict[str, list[Row]]) -> Iterable[str]:
    """Net value lost to decision and to inference."""
    yield line(["lost to", "difference", "seeds", "over seeds (95 %)", "over incidents (95 %)"])
    yield line(["---", "---", "---:", "---", "---"])
    belief = _of(runs, "belief")
    observer = scripted["observer"]
    gaps = [net_value(observer) - one.net for one in belief]
    pairs = [(observer, one.rows()) for one in belief]
    yield line(["decision", "observer − `belief`", str(len(belief)), student(gaps),
                over_incidents(pairs)])  # fmt: skip
    for arm in dict.fromkeys(one.arm for one in runs if one.arm != "belief"):
        others = _of(runs, arm)
        by_seed = {one.seed: one for one in others}
        shared = [(one.rows(), by_seed[one.seed].rows()) for one in belief if one.seed in by_seed]
        gap = welch([one.net for one in belief], [one.net for one in others])
        yield line(["inference", f"`belief` − `{arm}`", f"{len(belief)}, {len(others)}", gap,
                    over_incidents(shared)])  # fmt: skip


def _arms(runs: Sequence[Finished], scripted: dict[str, list[Row]]) -> Iterable[str]:
    """Each arm and each scripted policy on ``test``."""
    arms = dict.fromkeys(one.arm for one in runs)
    learnt = [policy_line(f"PPO, `{arm}`", [one.rows() for one in _of(runs, arm)]) for arm in arms]
    others = [policy_line(f"`{name}`", [rows], seeded=False) for name, rows in scripted.items()]
    yield from policy_table([*learnt, *others])


def _predictor(run: Path) -> Iterable[str]:
    about = json.loads((run / "predictor.json").read_text("utf-8"))
    cross, exact = about["cross_entropy_bits"], about["exact_entropy_bits"]
    yield (
        f"The predictor saw {about['screens']:,} screens in {about['cpu_seconds']:.0f} CPU seconds."
        f" On screens of `val`, met by the agent that it learnt from, its cross-entropy with the "
        f"exact posterior is {cross:.2f} bits; the exact posterior's own entropy there is "
        f"{exact:.2f} bits. So it loses {cross - exact:.2f} bits. The value of acting is off by "
        f"{about['acting_error']:.3f} (root mean square)."
    )


def _plateau(runs: Sequence[Finished], arms: Sequence[str]) -> Iterable[str]:
    """The gain of the last third of each run on ``val``."""
    yield line(["arm", "seeds", "steps", "CPU seconds a run", "net value on `val` after two thirds",
                "at the end"])  # fmt: skip
    yield line(["---", "---:", "---:", "---:", "---:", "---:"])
    for arm in arms:
        members = _of(runs, arm)
        early = [_at(one, 2 / 3) for one in members]
        late = [one.curve[-1]["val_net_value"] or 0.0 for one in members]
        seconds = [one.about["cpu_seconds"] for one in members]
        yield line([f"`{arm}`", str(len(members)), f"{members[0].about['steps']:,}",
                    f"{np.mean(seconds):.0f}", f"{np.mean(early):+.3f}",
                    f"{np.mean(late):+.3f}"])  # fmt: skip


def _at(run: Finished, share: float) -> float:
    """Net value on ``val`` at the point of the curve nearest to a share of the steps."""
    wanted = share * run.about["steps"]
    point = min(run.curve, key=lambda row: abs((row["steps"] or 0.0) - wanted))
    return point["val_net_value"] or 0.0


def _save_runs(runs: Sequence[Finished], scripted: dict[str, list[Row]], path: Path) -> None:
    every = [(one.arm, str(one.seed), one.about, one.episodes) for one in runs]
    every += [(name, "", {}, {(EVAL_SPLIT,): rows}) for name, rows in scripted.items()]
    with path.open("w", newline="", encoding="utf-8") as file:
        table: Any = None
        for arm, seed, about, episodes in every:
            for (split,), rows in episodes.items():
                found = {
                    "arm": arm, "seed": seed, "split": split, "incidents": len(rows),
                    "steps": about.get("steps", ""), "cpu_seconds": about.get("cpu_seconds", ""),
                    **{name: f"{value:.4f}" for name, value in figures(rows).items()},
                }  # fmt: skip
                if table is None:
                    table = csv.DictWriter(file, found, lineterminator="\n")
                    table.writeheader()
                table.writerow(found)


def _save_curves(runs: Sequence[Finished], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        names = ["arm", "seed", *runs[0].curve[0]]
        table = csv.DictWriter(file, names, lineterminator="\n")
        table.writeheader()
        for one in runs:
            table.writerows({"arm": one.arm, "seed": one.seed, **row} for row in one.curve)


def _draw(
    runs: Sequence[Finished], scripted: dict[str, list[Row]], arms: Sequence[str], path: Path
) -> None:
    """Net value on ``val`` while it is learnt, on ``test`` at the end, and hand-overs by price."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    FigureCanvasAgg(figure)
    curves, worth, heed = figure.subplots(1, 3)
    palette = ("#1b6ca8", "#3c8d53", "#c8553d", "#8a5aa8", "#b8860b")
    colours = dict(zip(arms, palette, strict=False))
    for place, arm in enumerate(arms):
        members = _of(runs, arm)
        for number, one in enumerate(members):
            curves.plot([(row["steps"] or 0.0) / 1e3 for row in one.curve],
                        [row["val_net_value"] or 0.0 for row in one.curve], color=colours[arm],
                        lw=1, alpha=0.7, label=None if number else arm)  # fmt: skip
        worth.plot([place] * len(members), [one.net for one in members], "o", color=colours[arm])
        each = [figures(one.rows()) for one in members]
        means = [np.mean([one[f"handed_over_{price}"] for one in each]) for price in PRICES]
        heed.plot(PRICES, means, "o-", color=colours[arm], label=arm)
    for name, dashes in (("observer", "--"), ("top_suspect", "-."), (TEACHER, ":")):
        if name in scripted:
            worth.axhline(net_value(scripted[name]), color="grey", ls=dashes, label=name)
            shares = [figures(scripted[name])[f"handed_over_{price}"] for price in PRICES]
            heed.plot(PRICES, shares, dashes, color="grey", label=name)
    curves.set(xlabel="thousand steps", ylabel=f"net value, {CHOICE_SPLIT}", ylim=(-0.5, 1))
    worth.axhline(0, color="black", lw=0.8)
    worth.set_xticks(range(len(arms)), [one.replace("-", "\n") for one in arms])
    worth.set(ylabel=f"net value, {EVAL_SPLIT}")
    heed.set(xlabel="what a hand-over is worth", ylabel=f"handed over, {EVAL_SPLIT}")
    for axes in (curves, worth, heed):
        axes.legend(fontsize=7)
    figure.savefig(path, dpi=110, metadata={"Software": None})
