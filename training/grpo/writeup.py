r"""Write up finished runs: tables and curves for ``docs/results/``.

    python -m training.grpo.writeup runs/grpo-0 runs/grpo-1 runs/grpo-2 --to docs/results \
        --ablations runs/grade-0

Renews the blocks of ``grpo.md``, and leaves the words around them alone. Writes
``grpo.png``, and ``grpo-steps.csv`` with a row a step. All from the files of the runs, and
the ``tiny.json`` of the models that they began with.
"""

import argparse
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.grading import Grade
from training.common.files import replace, save_text
from training.common.pages import renew
from training.evaluate.figures import PARTS, difference
from training.evaluate.results import ALL_TASKS
from training.grpo.played import Step
from training.grpo.seeds import draw_runs
from training.grpo.settings import Settings
from training.grpo.written import Written, read

PAGE: Final = "grpo.md"
TABLE: Final = "grpo-steps.csv"
CURVES: Final = "grpo.png"
#: So many steps at either end of a stage are told.
ENDS: Final = 5
#: Settings in which a run and its ablation may differ without a word.
_ASIDE: Final = ("seed", "eval_before", "eval_episodes", "report_to", "threads")
#: What an older run had, which does not say.
_DEFAULTS: Final = {one.name: one.default for one in attrs.fields(Settings)}


def write_up(runs: Sequence[Written], to: Path, ablations: Sequence[Written] = ()) -> None:
    """Write the page, the figure, and the table of steps.

    ``ablations`` are each compared with the run of the same seed.

    Raises:
        InvalidInput: if there is no such run, or it did not play the incidents of an ablation.
    """
    runs = sorted(runs, key=lambda one: one.seed)
    pairs = [(_usual(runs, one), one) for one in ablations]
    blocks = {
        "outcome": lambda: _outcome(runs),
        "change": lambda: _change(runs),
        "paging": lambda: _paging(runs),
        "lost": lambda: _lost(runs),
        "criteria": lambda: _criteria(runs),
        "stages": lambda: _stages(runs),
        "time": lambda: _time(runs),
        "commands": lambda: _commands(runs),
    }
    if pairs:
        blocks["ablations"] = lambda: _ablations(pairs)
    renew(to / PAGE, "GRPO", blocks)
    save_text(to / TABLE, _table(runs))
    replace(to / CURVES, lambda where: draw_runs(runs, where))


def _head(*columns: str) -> Iterable[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join('---' for _ in columns)} |"


def _change(runs: Sequence[Written]) -> Iterable[str]:
    yield from _head("task", "seed", "incidents", "before", "after", "difference (95 %)")
    for task in (*runs[0].results["tasks"], ALL_TASKS):
        found = {str(run.seed): run.results["difference"][task] for run in runs}
        if len(runs) > 1:
            found["mean of all"] = _together(runs, task)
        for seed, one in found.items():
            yield (
                f"| {task} | {seed} | {one['incidents']:,} | {one['before']:.3f} | "
                f"{one['after']:.3f} | {_gap(one['difference'])} |"
            )


def _together(runs: Sequence[Written], task: str) -> Any:
    """The difference of all runs: each incident has the mean of its scores over them.

    The interval is over incidents; that other seeds might come out otherwise is not in it.
    """
    sides: list[dict[str, tuple[Grade, ...]]] = [{}, {}]
    for run in runs:
        for side, one in zip(sides, (run.before, run.after), strict=True):
            played = one.all_attempts if task == ALL_TASKS else one.attempts[task]
            for incident, tries in played.items():
                side[incident] = (*side.get(incident, ()), *tries)
    return difference(*sides)


def _usual(runs: Sequence[Written], ablation: Written) -> Written:
    """The run that an ablation is compared with."""
    found = [run for run in runs if run.seed == ablation.seed]
    command = ablation.about["command"]
    if not found:
        raise InvalidInput(f"{command}: no run has its seed, {ablation.seed}")
    if not set(ablation.before.all_attempts) <= set(found[0].before.all_attempts):
        raise InvalidInput(f"{command}: played incidents that the run of its seed did not")
    return found[0]


def _ablations(pairs: Sequence[tuple[Written, Written]]) -> Iterable[str]:
    yield from _head("changed", "seed", "task", "steps", "solved", "paged right", "pages right",
                     "before", "after", "difference (95 %)", "less unchanged")  # fmt: skip
    for usual, run in pairs:
        was, now = usual.about["settings"], run.about["settings"]
        changed = ", ".join(
            f"`{name}` {str(value) or 'none'}" for name, value in now.items()
            if name not in _ASIDE and value != was.get(name, _DEFAULTS[name])
        )  # fmt: skip
        for task in (*run.results["tasks"], ALL_TASKS):
            one = run.results["difference"][task]
            every, right = (
                each.after.all_attempts if task == ALL_TASKS else each.after.attempts[task]
                for each in (usual, run)
            )
            left = {incident: every[incident] for incident in right}
            found = run.results["agents"][1]["tasks"].get(task, {})
            shares = (
                _share(found.get(name)) for name in ("solved", "paged_right", "page_precision")
            )
            yield _row(
                changed, str(run.seed), task, str(len(run.steps)), *shares,
                f"{one['before']:.3f}", f"{one['after']:.3f}",
                *map(_gap, (one["difference"], difference(left, right)["difference"])),
            )  # fmt: skip


def _gap(one: Mapping[str, float]) -> str:
    return f"{one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f})"


def _agents(runs: Sequence[Written]) -> Iterable[tuple[list[str], dict[str, Any]]]:
    """The model before and after each run, task by task: its first cells, and its figures."""
    for task in runs[0].results["tasks"]:
        for run in runs:
            for agent in run.results["agents"][:2]:
                yield [task, str(run.seed), agent["agent"]], agent["tasks"][task]


def _outcome(runs: Sequence[Written]) -> Iterable[str]:
    names = ("solved", "handed_over", "paged_right", "mis_page", "page_precision", "paged", "gated")
    yield from _head("task", "seed", "agent", "net value", "solved", "handed over", "paged right",
                     "mis-paged", "pages right", "paged", "gated", "mean grade",
                     "ticks")  # fmt: skip
    for cells, one in _agents(runs):
        net = "-" if one["net"] is None else f"{one['net']['mean']:+.3f}"
        yield _row(*cells, net, *(_share(one[name]) for name in names),
                   f"{one['grade']['mean']:.3f}", f"{one['ticks']:.1f}")  # fmt: skip


def _paging(runs: Sequence[Written]) -> Iterable[str]:
    """Hand-overs, pages and mis-pages for each price of a hand-over."""
    names = ("handed_over", "paged", "mis_paged")
    prices = [one["price"] for one in next(iter(_agents(runs)))[1]["by_price"]]
    yield from _head("task", "seed", "agent", *(f"c = {one:g}" for one in prices))
    for cells, one in _agents(runs):
        by_price = {at["price"]: at for at in one["by_price"]}
        yield _row(
            *cells,
            *(", ".join(f"{by_price[at][name]:.1%}" for name in names) for at in prices),
        )


def _lost(runs: Sequence[Written]) -> Iterable[str]:
    names = PARTS
    yield from _head("task", "seed", "agent", "episodes", *(one.replace("_", " ") for one in names))
    for cells, one in _agents(runs):
        if one["lost"] is not None:
            parts = (f"{one['lost'][name]:+.3f}" for name in names)
            yield _row(*cells, str(one["lost"]["episodes"]), *parts)


def _criteria(runs: Sequence[Written]) -> Iterable[str]:
    names = list(next(iter(_agents(runs)))[1]["criteria"])
    yield from _head("task", "seed", "agent", *names)
    for cells, one in _agents(runs):
        found = one["criteria"]
        yield _row(*cells, *(f"{found[name]:.2f}" if name in found else "-" for name in names))


def _stages(runs: Sequence[Written]) -> Iterable[str]:
    """Where each stage began, and what its first and its last steps were."""
    yield from _head("seed", "stage", "steps", "grade", "solved", "paged right", "pages right")
    for run in runs:
        for stage in sorted({one.stage for one in run.steps}):
            mine = [one for one in run.steps if one.stage == stage]
            span = f"{mine[0].step} to {mine[-1].step}"
            yield _row(str(run.seed), str(stage), span, *(
                f"{_mean(mine[:ENDS], name):.2f} to {_mean(mine[-ENDS:], name):.2f}"
                for name in ("reward", "solved", "paged_right", "page_precision")
            ))  # fmt: skip


def _mean(steps: Sequence[Step], name: str) -> float:
    """The mean of the steps that have it; NaN if none has."""
    found = [value for one in steps if not isnan(value := getattr(one, name))]
    return fmean(found) if found else nan


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


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
    began = (run.began for run in runs)
    # Runs that share a warm start tell of it once.
    yield from dict.fromkeys(one["command"] for one in began if one is not None)
    for run in runs:
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


def main() -> None:
    """Read the command line, and write up."""
    parser = argparse.ArgumentParser(prog="python -m training.grpo.writeup", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="directories of finished runs")
    parser.add_argument(
        "--to", type=Path, required=True, help="where the page is, or will be written"
    )
    parser.add_argument(
        "--ablations", nargs="+", type=Path, default=[], metavar="RUN",
        help="finished runs with another setting, each compared with the run of its seed",
    )  # fmt: skip
    options = parser.parse_args()
    try:
        runs, ablations = (
            [read(one) for one in each] for each in (options.runs, options.ablations)
        )
        write_up(runs, options.to, ablations)
    except InvalidInput as wrong:
        parser.error(str(wrong))


if __name__ == "__main__":
    main()
