"""Write up finished runs: tables and curves for ``docs/results/``.

    python -m training.ppo.writeup runs/ppo/* --to docs/results

Writes ``ppo-results.md``, ``ppo-curves.png``, and the curve of every run as
``ppo-<task>-<inputs>-seed<seed>.csv``. Scripted policies are those of ``oncall.csv``.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

import attrs

from training.common.files import replace, save_text
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.common.tasks import place_of
from training.ppo import store
from training.ppo.figures import draw
from training.ppo.references import POLICIES, reference
from training.ppo.runs import Written, name_of, pages
from training.ppo.tables import HERE, grade_of, reached, right_pages, table

#: The share of the observer's grade that runs are timed by.
GOAL: Final = 0.7
#: The 97.5th percentile of Student's t with 1, 2, ... degrees of freedom.
_STUDENT: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def write_up(runs: Sequence[Written], to: Path, missing: Sequence[str] = ()) -> None:
    """Write the page, the figure, and the curves; ``missing`` runs are named as such."""
    runs = sorted(runs, key=lambda run: (place_of(run.settings.task), run.label, run.settings.seed))
    for run in runs:
        text = (run.path / store.CURVE).read_text("utf-8")
        save_text(to / f"{run.name}.csv", text)
    replace(to / "ppo-curves.png", lambda where: draw(runs, where))
    save_text(to / "ppo-results.md", "\n".join(_page(runs, missing)) + "\n")


def _page(runs: Sequence[Written], missing: Sequence[str]) -> Iterable[str]:
    first = runs[0].settings
    yield "# Agents that learn to page: PPO"
    yield ""
    yield (
        "Proximal policy optimisation (TorchRL's `ClipPPOLoss`, generalised advantage estimation, "
        "a masked categorical) on `logtriage.vector`. Rewards are the engine's own: they sum to "
        "the grade. Advantages stay in points of the grade. Written by"
    )
    yield ""
    yield "    python -m training.ppo.study runs/ppo --to docs/results"
    yield ""
    yield (
        f"Trained on split `{runs[0].facts['train_split']}`, every incident once; watched on "
        f"`{CHOICE_SPLIT}`; all tables below are of the first {first.eval_incidents:,} incidents "
        f"of split `{EVAL_SPLIT}`, played **greedily**, once, after the last step. ± is 1.96 "
        "standard errors over the incidents. `observer`, `expert` and `chain` are those of "
        "[the scripted policies](oncall.md)."
    )
    yield ""
    if missing:
        yield f"Not run yet: {', '.join(f'`{one}`' for one in missing)}."
        yield ""
    yield "## Reached"
    yield ""
    yield from reached([run for run in runs if run.label == first_label(runs)])
    yield ""
    yield from right_pages([run for run in runs if run.label == first_label(runs)])
    yield ""
    yield "![Grade while it is learnt, and over fog](ppo-curves.png)"
    yield ""
    yield "## Over fog, and out of distribution"
    yield ""
    yield from _trials(runs)
    yield ""
    if len({run.label for run in runs}) > 1:
        yield "## What an agent must be given"
        yield ""
        yield from _compared(runs)
        yield ""
        yield from shaping_of(runs)
    yield "## Runs"
    yield ""
    yield from _runs(runs)


def first_label(runs: Sequence[Written]) -> str:
    """The kind of runs that the first tables are of: the one that most tasks have."""
    labels = [run.label for run in runs]
    return max(labels, key=lambda one: (labels.count(one), one))


def _trials(runs: Sequence[Written]) -> Iterable[str]:
    yield (
        "The agents were trained at fog 2 (or as their name says). `ood` here is the first "
        f"{runs[0].trial('ood')['incidents']:,} incidents of that split that lie on the task's own "
        "topology: networks of a fixed width cannot read the others. The scripted policies' `ood` "
        "has both halves."
    )
    yield ""
    trials = [*(f"fog{fog}" for fog in range(4)), "ood"]
    yield from table("task", "agent", "seeds", *trials)
    for task in dict.fromkeys(run.settings.task for run in runs):
        for label in dict.fromkeys(run.label for run in runs if run.settings.task == task):
            mine = [run for run in runs if run.settings.task == task and run.label == label]
            means = [fmean(run.trial(one)["grade"] for run in mine) for one in trials]
            cells = " | ".join(f"{mean:.3f}" for mean in means)
            yield f"| `{task}` | PPO, {label} | {len(mine)} | {cells} |"
        for policy in POLICIES:
            found = [reference(task, one, policy) for one in trials]
            cells = " | ".join("–" if one is None else f"{one.grade:.3f}" for one in found)
            yield f"| `{task}` | `{policy}` | | {cells} |"


def _compared(runs: Sequence[Written]) -> Iterable[str]:
    """Runs of one task and seed that differ in what the agent is given."""
    yield (
        "`screen`: a screen alone, no memory. `gru`: and a GRU that carries what it saw. `counts`: "
        "the tokens so far. All of these have a head that knows who owns what. `belief`: the "
        "posterior (`BeliefScreens`). `shaped`: questions are paid by what they told. "
        f"`from-fog01`: the first half at fog 0, then 1. {GOAL:.0%} of the "
        f"observer's grade is looked for on `{CHOICE_SPLIT}`, at every evaluation."
    )
    yield ""
    yield from table("task", "seed", "given", "grade", "faults paged rightly", "mis-paged",
                      f"steps to {GOAL:.0%}", "steps", "CPU seconds")  # fmt: skip
    for run in runs:
        same = [one for one in runs if one.settings.task == run.settings.task
                and one.settings.seed == run.settings.seed]  # fmt: skip
        if len(same) > 1:
            one = run.trial(HERE)
            steps = _steps_to_goal(run)
            yield (
                f"| `{run.settings.task}` | {run.settings.seed} | {run.label} | {grade_of(one)} "
                f"| {pages([one])[1]:.1%} | {one['mis_paged']:.1%} "
                f"| {'not reached' if steps is None else f'{steps:,.0f}'} "
                f"| {run.facts['steps']:,} "
                f"| {run.facts['cpu_seconds']:.0f} |"
            )


def _steps_to_goal(run: Written) -> float | None:
    """The steps after which an evaluation reached the goal; None if none did."""
    observer = reference(run.settings.task, HERE, "observer")
    if observer is None:
        return None
    for row in run.curve:
        if (row["val_grade"] or 0.0) >= GOAL * observer.grade:
            return row["steps"] or 0.0
    return None


def shaping_of(runs: Sequence[Written]) -> Iterable[str]:
    """What shaping changed, paired by seed: nothing where there are not two such pairs."""
    plain = {name_of(run.settings): run for run in runs if not run.settings.shaping}
    pairs = [
        (plain[name], run)
        for run in runs
        if run.settings.shaping
        and (name := name_of(attrs.evolve(run.settings, shaping=False))) in plain
    ]
    if len(pairs) < 2:
        return
    seeds = ", ".join(str(run.settings.seed) for _, run in pairs)
    yield (
        f"Shaped rewards beside plain ones, seeds {seeds}: means, and their difference with its "
        "95 % interval (Student's, paired by seed)."
    )
    yield ""
    yield from table("", "plain", "shaped", "shaped - plain")
    grades = [(one.trial(HERE)["grade"], two.trial(HERE)["grade"]) for one, two in pairs]
    steps = [(_steps_to_goal(one), _steps_to_goal(two)) for one, two in pairs]
    yield _paired(f"grade on `{EVAL_SPLIT}`", grades, ".3f")
    reached = [(one, two) for one, two in steps if one is not None and two is not None]
    if len(reached) == len(steps):
        yield _paired(f"steps to {GOAL:.0%} of the observer's", reached, ",.0f")
    yield ""


def _paired(words: str, pairs: Sequence[tuple[float, float]], digits: str) -> str:
    found = [shaped - plain for plain, shaped in pairs]
    margin = _STUDENT[len(found) - 2] * stdev(found) / len(found) ** 0.5
    mean = fmean(found)
    means = " | ".join(f"{fmean(column):{digits}}" for column in zip(*pairs, strict=True))
    low, high = mean - margin, mean + margin
    return f"| {words} | {means} | {mean:{digits}} [{low:{digits}}, {high:{digits}}] |"


def _runs(runs: Sequence[Written]) -> Iterable[str]:
    yield from table("task", "given", "seed", "wall time", "CPU time", "steps", "episodes",
                      "steps/CPU s", "collecting", "curve")  # fmt: skip
    for run in runs:
        facts = run.facts
        busy = facts["collecting_seconds"] + facts["updating_seconds"]
        yield (
            f"| `{run.settings.task}` | {run.label} | {run.settings.seed} "
            f"| {facts['seconds']:.0f} s | {facts['cpu_seconds']:.0f} s | {facts['steps']:,} "
            f"| {facts['episodes']:,} | {facts['steps'] / facts['cpu_seconds']:,.0f} "
            f"| {facts['collecting_seconds'] / busy:.0%} | [CSV]({run.name}.csv) |"
        )
    yield ""
    yield (
        "One thread each. CPU time is that of the process, wall time includes whatever else the "
        "machine did. Collecting is the share of play (engine, belief, policy) in play and updates."
    )
    yield ""
    for key, value in runs[0].facts["machine"].items():
        yield f"- {key}: {value}"
    loads = ", ".join(
        f"{run.facts['load_before']:.1f} to {run.facts['load_after']:.1f}" for run in runs
    )
    yield f"- load average (1 min) before and after each run, its own included: {loads}"
    agree = all(run.facts["scalar_core_agrees"] for run in runs)
    yield (
        "- The actions of the last evaluation, played and graded once more by the scalar core, "
        f"{'give exactly the same score for' if agree else '**do not agree on**'} every incident."
    )
    yield ""
    varied = {"task", "seed", "minutes", "rounds", "inputs", "memory", "fogs", "shaping"}
    common = attrs.asdict(runs[0].settings)
    yield "Settings: " + ", ".join(
        f"`{key}` {value}" for key, value in common.items() if key not in varied
    ) + "."  # fmt: skip


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.writeup", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="output directories of training.ppo")
    parser.add_argument("--to", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    write_up([Written.read(path) for path in given.runs], given.to)


if __name__ == "__main__":
    main()
