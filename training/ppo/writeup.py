"""Write up finished runs: tables and curves for ``docs/results/``.

    python -m training.ppo.writeup runs/single runs/cascade --to docs/results

Writes ``ppo-results.md``, ``ppo-curves.png``, and the curve of every run as
``ppo-<task>-seed<seed>.csv``.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import attrs
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.actions import Escalate, all_actions
from logtriage.evaluation import play_episode
from logtriage.generator import make_incident
from logtriage.grading import score
from logtriage.registry import make_policy
from logtriage.tasks import TASKS, incident_ids
from training.common.files import replace, save_text
from training.common.settings import EVAL_SPLIT
from training.ppo import store
from training.ppo.evaluate import play_held_out
from training.ppo.settings import Settings

#: Mean grade to reach, by task; the others are trained for comparison.
GOALS: Final = {"single_crash-v1": 0.80, "cascading_failure-v1": 0.60}
#: Minutes in which to reach it.
LIMIT: Final = 15
_COLORS: Final = ("#1b6ca8", "#c8553d", "#4f772d")
_ORDER: Final = [task.id for task in TASKS]


@attrs.frozen(eq=False)
class Written:
    """A finished run, read back."""

    settings: Settings
    facts: dict[str, Any]
    curve: list[dict[str, float | None]]
    path: Path

    @classmethod
    def read(cls, path: Path) -> "Written":
        """The run in a directory.

        Raises:
            SystemExit: if it is not finished.
        """
        facts = json.loads((path / store.RUN).read_text("utf-8"))
        if not facts["finished"]:
            raise SystemExit(f"{path}: this run is not finished")
        curve = store.load_curve(path / store.CURVE)
        return cls(Settings(**facts["settings"]), facts, curve, path)

    @property
    def name(self) -> str:
        """The stem of its file."""
        return f"ppo-{self.settings.task}-seed{self.settings.seed}"

    def reached(self) -> str:
        """When the goal was first met, in words."""
        goal = GOALS.get(self.settings.task)
        if goal is None:
            return "no goal set"
        for row in self.curve:
            if (row["test_grade"] or 0.0) >= goal:
                return f"≥ {goal:.2f} at {row['seconds']:.0f} s"
        return f"≥ {goal:.2f} **not reached**"


def write_up(runs: Sequence[Written], to: Path) -> None:
    """Write the page, the figure, and the curves."""
    runs = sorted(runs, key=lambda run: (_ORDER.index(run.settings.task), run.settings.seed))
    for run in runs:
        text = (run.path / store.CURVE).read_text("utf-8")
        save_text(to / f"{run.name}.csv", text)
    replace(to / "ppo-curves.png", lambda where: _draw(runs, where))
    save_text(to / "ppo-results.md", "\n".join(_page(runs)) + "\n")


def _page(runs: Sequence[Written]) -> Iterable[str]:
    machine = runs[0].facts["machine"]
    held_out = runs[0].settings.eval_incidents
    yield "# The batched engine can be learnt from: PPO"
    yield ""
    yield (
        "Proximal policy optimisation (TorchRL's `ClipPPOLoss`, generalised advantage estimation, "
        "a masked categorical) on the numeric observation of `logtriage.vector`. Rewards are the "
        "engine's own, unshaped; they sum to the grade. Written by `training/ppo/writeup.py`."
    )
    yield ""
    yield (
        f"Trained on split `{runs[0].facts['train_split']}`, every incident once. Evaluated on the "
        f"first {held_out:,} incidents of split `{EVAL_SPLIT}`, **greedily** (the likeliest action)"
        " unless a column says sampled; ± is 1.96 standard errors over those incidents."
    )
    yield ""
    yield (
        f"| task | seed | before | after | after, sampled | goal (within {LIMIT} min) "
        "| solved | mis-paged before | mis-paged after | faults ignored after | ticks | expert |"
    )
    yield "|" + " --- |" * 12
    for run in runs:
        before, after = run.facts["before"], run.facts["after"]
        sampled, one = run.facts["after_sampled"], run.settings
        yield (
            f"| `{one.task}` | {one.seed} | {_grade(before)} | {_grade(after)} | {_grade(sampled)} "
            f"| {run.reached()} | {after['solved']:.1%} | {before['mis_paged']:.1%} "
            f"| {after['mis_paged']:.1%} | {after['ignored']:.1%} | {after['ticks']:.1f} "
            f"| {_expert(one.task, held_out):.3f} |"
        )
    yield ""
    yield (
        "`expert` is the scripted policy of [policies](../policies.md) on the same incidents. "
        "Solved: a grade of at least 0.9."
    )
    yield ""
    agree = all(run.facts["scalar_core_agrees"] for run in runs)
    yield (
        "The actions of the last evaluation, played and graded once more by the scalar core, "
        f"{'give exactly the same score for' if agree else '**do not agree on**'} every incident."
    )
    yield ""
    yield "![Grade on held-out incidents against time](ppo-curves.png)"
    yield ""
    yield "## By responsible team"
    yield ""
    yield "From the checkpoints, reloaded. Paged: any team, right or wrong."
    yield ""
    yield "| task | seed | team to page | incidents | grade | paged |"
    yield "|" + " --- |" * 6
    for run in runs:
        for team, rows in _by_team(run).items():
            grade, paged = (fmean(column) for column in zip(*rows, strict=True))
            yield (
                f"| `{run.settings.task}` | {run.settings.seed} | {team} | {len(rows)} "
                f"| {grade:.3f} | {paged:.1%} |"
            )
    yield ""
    yield "## Runs"
    yield ""
    yield "| task | seed | wall time | steps | episodes | steps/s | collecting | updating |"
    yield "|" + " --- |" * 8
    for run in runs:
        facts = run.facts
        share = [facts[key] / facts["seconds"] for key in
                 ("collecting_seconds", "updating_seconds")]  # fmt: skip
        yield (
            f"| `{run.settings.task}` | {run.settings.seed} | {facts['seconds']:.0f} s "
            f"| {facts['steps']:,} | {facts['episodes']:,} | {facts['steps_per_second']:,.0f} "
            f"| {share[0]:.0%} | {share[1]:.0%} |"
        )
    yield ""
    yield (
        "Wall time is all of it: evaluations, checkpoints and updates. Steps/s is the rate of "
        "training as a whole, not of the engine."
    )
    yield ""
    for key, value in machine.items():
        yield f"- {key}: {value}"
    loads = ", ".join(f"{run.facts['load_before']:.1f} to {run.facts['load_after']:.1f}"
                      for run in runs)  # fmt: skip
    yield f"- load average (1 min) before and after each run, its own threads included: {loads}"
    yield ""
    yield "```"
    yield from (run.facts["command"] for run in runs)
    yield "```"
    yield ""
    varied = {"task", "seed", "minutes", "rounds"}
    common = attrs.asdict(runs[0].settings)
    yield "Settings: " + ", ".join(
        f"`{key}` {value}" for key, value in common.items() if key not in varied
    ) + "."  # fmt: skip
    yield ""
    yield "## Curves"
    for run in runs:
        yield ""
        yield f"`{run.settings.task}`, seed {run.settings.seed} ([CSV]({run.name}.csv))"
        yield ""
        yield "| seconds | steps | grade, test | solved | mis-paged | grade, train, sampled |"
        yield "|" + " --- |" * 6
        for row in run.curve:
            train = "" if row["train"] is None else f"{row['train']:.3f}"
            yield (
                f"| {row['seconds']:.0f} | {row['steps']:,.0f} | {row['test_grade']:.3f} "
                f"| {row['test_solved']:.1%} | {row['test_mis_paged']:.1%} | {train} |"
            )


def _by_team(run: Written) -> dict[str, list[tuple[float, bool]]]:
    """Grade, and whether anybody was paged, of the held-out incidents by accepted team."""
    agent = store.load_agent(run.path / store.CHECKPOINT, run.settings)
    played = play_held_out(agent, run.settings.task, run.settings.eval_incidents)
    found: dict[str, list[tuple[float, bool]]] = {}
    for row, incident_id in enumerate(played.ids):
        incident = make_incident(incident_id)
        actions = all_actions(incident.topology)
        taken = played.actions[: played.ticks[row], row]
        paged = any(isinstance(actions[one], Escalate) for one in taken)
        team = " or ".join(f"`{one}`" for one in sorted(incident.truth.teams)) or "none (benign)"
        found.setdefault(team, []).append((float(played.scores[row]), paged))
    return dict(sorted(found.items()))


def _grade(result: dict[str, float]) -> str:
    return f"{result['grade']:.3f} ± {result['error']:.3f}"


def _expert(task: str, incidents: int) -> float:
    factory = make_policy("expert")
    return fmean(
        score(play_episode(incident, factory(incident)))
        for incident in map(make_incident, incident_ids(task, EVAL_SPLIT, incidents))
    )


def _draw(runs: Sequence[Written], path: Path) -> None:
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    tasks = list(dict.fromkeys(run.settings.task for run in runs))
    for run in runs:
        task = run.settings.task
        color = _COLORS[tasks.index(task) % len(_COLORS)]
        first = next(one for one in runs if one.settings.task == task) is run
        axes.plot(
            [row["seconds"] or 0.0 for row in run.curve],
            [row["test_grade"] or 0.0 for row in run.curve],
            color=color,
            marker=".",
            label=task if first else None,
        )
        if first and task in GOALS:
            axes.axhline(GOALS[task], color=color, linestyle=":", label=f"goal {GOALS[task]:.2f}")
    axes.set(xlabel="wall time, seconds", ylabel="mean grade, split test, greedy", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, format="png", dpi=120, metadata={"Software": None})


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.writeup", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="output directories of training.ppo")
    parser.add_argument("--to", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    write_up([Written.read(path) for path in given.runs], given.to)


if __name__ == "__main__":
    main()
