"""Write up finished runs: tables and curves for ``docs/results/``.

    python -m training.marl.writeup runs/sweep/* --to docs/results

Renews the blocks of ``role-splits.md`` between ``<!-- NAME -->`` and ``<!-- /NAME -->``,
and leaves the words around them alone; without that page, it begins one. Writes
``role-splits.png``, and ``role-splits.csv`` with a row a run.
"""

import argparse
import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import attrs
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.roles import ROLE_SPLITS
from logtriage.tasks import TASKS
from training.common.files import replace, save_text
from training.marl import figures, store
from training.marl.review import BENIGN, Episode
from training.marl.settings import Settings

PAGE: Final = "role-splits.md"
BLOCK: Final = re.compile(r"<!-- (?P<name>[\w-]+) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)
_COLORS: Final = dict(zip(ROLE_SPLITS, ("#777777", "#4f772d", "#1b6ca8", "#c8553d"), strict=True))
_TASKS: Final = [task.id for task in TASKS]
_SPLITS: Final = list(ROLE_SPLITS)


@attrs.frozen(eq=False)
class Written:
    """A finished run, read back."""

    settings: Settings
    facts: dict[str, Any]
    curve: list[dict[str, float | None]]
    episodes: list[Episode]

    @classmethod
    def read(cls, path: Path) -> "Written":
        """The run in a directory.

        Raises:
            SystemExit: if it is not finished.
        """
        facts = store.load_run(path)
        if not facts["finished"]:
            raise SystemExit(f"{path}: this run is not finished")
        return cls(
            Settings(**facts["settings"]),
            facts,
            store.load_curve(path / store.CURVE),
            store.load_episodes(path / store.EPISODES),
        )

    @property
    def group(self) -> tuple[str, str, str, str]:
        """What its seeds have in common."""
        one = self.settings
        return one.task, one.split, one.credit, one.critic


@attrs.frozen(eq=False)
class Group:
    """The runs of one split on one task."""

    runs: tuple[Written, ...]

    @property
    def settings(self) -> Settings:
        """Those of the first seed."""
        return self.runs[0].settings

    @property
    def scores(self) -> figures.Scores:
        """Grades (S, N) of S seeds."""
        return np.array([[one.score for one in run.episodes] for run in self.runs])

    @property
    def episodes(self) -> list[Episode]:
        """Those of all seeds."""
        return [one for run in self.runs for one in run.episodes]

    @property
    def label(self) -> str:
        """The split, and what is not as in the sweep."""
        one, usual = self.settings, Settings("")
        other = [value for value, default in ((one.credit, usual.credit),
                 (one.critic, usual.critic)) if value != default]  # fmt: skip
        return f"`{one.split}`" + "".join(f", {value}" for value in other)

    def mean(self, name: str) -> float:
        """A figure of the last evaluation, over the seeds."""
        return fmean(run.facts["after"][name] for run in self.runs)


def write_up(runs: Sequence[Written], to: Path) -> None:
    """Write the page, the figure, and the table of runs."""
    runs = sorted(runs, key=_order)
    groups = [
        Group(tuple(run for run in runs if run.group == key))
        for key in dict.fromkeys(run.group for run in runs)
    ]
    page = to / PAGE
    old = page.read_text("utf-8") if page.exists() else "# Role splits\n" + "".join(
        f"\n<!-- {name} -->\n<!-- /{name} -->\n" for name in BLOCKS
    )  # fmt: skip

    def renewed(found: re.Match[str]) -> str:
        make = BLOCKS.get(found["name"])
        if make is None:
            return found[0]
        body = "\n".join(make(groups))
        return f"<!-- {found['name']} -->\n{body}\n<!-- /{found['name']} -->"

    save_text(page, BLOCK.sub(renewed, old))
    save_text(to / "role-splits.csv", _table(runs))
    replace(to / "role-splits.png", lambda where: _draw(groups, where))


def _order(run: Written) -> tuple[object, ...]:
    task, split, credit, critic = run.group
    return _TASKS.index(task), _SPLITS.index(split), credit != "team", critic, run.settings.seed


# -- blocks ---------------------------------------------------------------------------


def _rows(*columns: str) -> Iterable[str]:
    yield "| " + " | ".join(columns) + " |"
    yield "|" + " --- |" * len(columns)


def _grades(groups: Sequence[Group]) -> Iterable[str]:
    yield from _rows("task", "split", "grade", "by seed", "before", "solved", "mis-paged",
                     "ticks to resolve", "resolved", "ignored", "out of time")  # fmt: skip
    for group in groups:
        seeds = ", ".join(f"{run.facts['after']['grade']:.3f}" for run in group.runs)
        before = fmean(run.facts["before"]["grade"] for run in group.runs)
        shares = [f"{group.mean(name):.1%}" for name in ("resolved", "ignored", "out_of_time")]
        ticks = figures.ticks_to_resolve(group.episodes)
        yield (
            f"| `{group.settings.task}` | {group.label} | {_interval(group.scores)} | {seeds} "
            f"| {before:.3f} | {group.mean('solved'):.1%} | {group.mean('mis_paged'):.1%} "
            f"| {'–' if ticks is None else f'{ticks:.1f}'} | {' | '.join(shares)} |"
        )


def _board(groups: Sequence[Group]) -> Iterable[str]:
    yield from _rows("task", "compared", "difference in grade")
    for task in dict.fromkeys(group.settings.task for group in groups):
        found = {group.label: group for group in groups if group.settings.task == task}
        for one, other in (
            ("`trio`", "`trio_without_board`"),
            ("`trio`", "`solo`"),
            ("`trio`", "`duo`"),
            ("`duo`", "`solo`"),
            ("`trio`, counterfactual", "`trio`"),
        ):
            if one in found and other in found:
                gap = figures.difference(found[one].scores, found[other].scores)
                yield (
                    f"| `{task}` | {one} − {other} "
                    f"| {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}) |"
                )


def _criteria(groups: Sequence[Group]) -> Iterable[str]:
    names = list(dict.fromkeys(name for group in groups for name in _criterion_means(group)))
    yield from _rows("task", "split", *(f"`{name}`" for name in names))
    for group in groups:
        means = _criterion_means(group)
        cells = [f"{means[name]:.2f}" if name in means else "" for name in names]
        yield f"| `{group.settings.task}` | {group.label} | {' | '.join(cells)} |"


def _criterion_means(group: Group) -> dict[str, float]:
    episodes = group.episodes
    names = dict.fromkeys(name for one in episodes for name in one.criteria)
    return {
        name: fmean(one.criteria[name] for one in episodes if name in one.criteria)
        for name in names
    }


def _failures(groups: Sequence[Group]) -> Iterable[str]:
    yield from _rows("task", "split", "unsolved", *figures.LINKS, "wrong remedies")
    for group in groups:
        failed = figures.unsolved(group.episodes)
        part = len(failed) / len(group.episodes)
        cells = [f"{figures.share(failed, holds):.0%}" for holds in figures.LINKS.values()]
        wrong = fmean(one.wrong_remedies for one in failed)
        yield (
            f"| `{group.settings.task}` | {group.label} | {part:.0%} | {' | '.join(cells)} "
            f"| {wrong:.1f} |"
        )


def _classes(groups: Sequence[Group]) -> Iterable[str]:
    return _parts(groups, lambda one: one.fault_class)


def _depths(groups: Sequence[Group]) -> Iterable[str]:
    return _parts(groups, lambda one: BENIGN if one.depth < 0 else f"root at depth {one.depth}")


def _parts(groups: Sequence[Group], key: Callable[[Episode], str]) -> Iterable[str]:
    names = list(figures.by([one for group in groups for one in group.episodes], key))
    yield from _rows("task", "split", *names)
    for group in groups:
        found = figures.by(group.episodes, key)
        cells = []
        for name in names:
            part = found.get(name)
            if part is None:
                cells.append("")
                continue
            pages = [figures.share(part, lambda one, how=how: one.paged == how)
                     for how in ("right", "wrong")]  # fmt: skip
            grade = fmean(one.score for one in part)
            cells.append(f"{grade:.2f} ({pages[0]:.0%} / {pages[1]:.0%})")
        yield f"| `{group.settings.task}` | {group.label} | {' | '.join(cells)} |"


def _reports(groups: Sequence[Group]) -> Iterable[str]:
    yield from _rows("task", "split", "something reported", "true kind among it",
                     "kind, by the first word", "with no word", "class, by the first word",
                     "with no word")  # fmt: skip
    for group in groups:
        if not any("report" in role.may for role in ROLE_SPLITS[group.settings.split].roles):
            continue
        guesses = [
            fmean(figures.guessed(run.episodes, sign, meaning) for run in group.runs)
            for meaning in (lambda one: one.kind, lambda one: one.fault_class)
            for sign in (figures.first_word, lambda _: "")
        ]
        said = figures.share(group.episodes, lambda one: bool(one.words))
        told = figures.share(group.episodes, lambda one: one.told)
        cells = " | ".join(f"{one:.0%}" for one in (said, told, *guesses))
        yield f"| `{group.settings.task}` | {group.label} | {cells} |"


def _runs(groups: Sequence[Group]) -> Iterable[str]:
    runs = [run for group in groups for run in group.runs]
    yield from _rows("task", "split", "wall time a run", "processor time a run", "episodes a run",
                     "load average (1 min) at the start of each run")  # fmt: skip
    for group in groups:
        times = [
            f"{min(found):.0f} to {max(found):.0f} s"
            for found in ([run.facts[key] for run in group.runs]
                          for key in ("seconds", "cpu_seconds"))
        ]  # fmt: skip
        loads = ", ".join(f"{run.facts['load_before']:.1f}" for run in group.runs)
        played = fmean(run.facts["episodes"] for run in group.runs)
        yield (
            f"| `{group.settings.task}` | {group.label} | {times[0]} | {times[1]} | {played:,.0f} "
            f"| {loads} |"
        )
    yield ""
    minutes = sum(run.facts["cpu_seconds"] for run in runs) / 60
    ticks = " or ".join(f"{one:,}" for one in sorted({run.facts["ticks"] for run in runs}))
    yield f"{len(runs)} runs of {ticks} ticks of a team each: {minutes:.0f} minutes of processor."
    agree = all(run.facts["scalar_core_agrees"] for run in runs)
    yield (
        "The actions of every last evaluation, played and graded once more by the scalar core, "
        f"{'give exactly the same score for' if agree else '**do not agree on**'} every incident."
    )
    yield ""
    for key, value in runs[0].facts["machine"].items():
        yield f"- {key}: {value}"
    yield ""
    own = {"task", "seed", "split", "credit", "critic"}
    usual = {str(value): None for run in runs for value in [_common(run.settings, own)]}
    for one in usual:
        yield f"Settings: {one}."


def _common(settings: Settings, own: set[str]) -> str:
    return ", ".join(
        f"`{key}` {value}" for key, value in attrs.asdict(settings).items() if key not in own
    )


BLOCKS: Final[dict[str, Callable[[Sequence[Group]], Iterable[str]]]] = {
    "grades": _grades,
    "board": _board,
    "criteria": _criteria,
    "failures": _failures,
    "fault-classes": _classes,
    "depths": _depths,
    "reports": _reports,
    "runs": _runs,
}


# -- files ----------------------------------------------------------------------------


def _interval(scores: figures.Scores) -> str:
    found = figures.interval(scores)
    return f"**{found.mean:.3f}** ({found.low:.3f} to {found.high:.3f})"


def _table(runs: Sequence[Written]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    own = ("task", "split", "credit", "critic", "seed")
    names = list(runs[0].facts["after"])
    writer.writerow([*own, *names, "ticks_to_resolve", "seconds", "cpu_seconds"])
    for run in runs:
        ticks = figures.ticks_to_resolve(run.episodes)
        values = [*(run.facts["after"][name] for name in names), ticks]
        times = [f"{run.facts[key]:.1f}" for key in ("seconds", "cpu_seconds")]
        figure = ["" if one is None else f"{one:.6g}" for one in values]
        writer.writerow([*(getattr(run.settings, name) for name in own), *figure, *times])
    return out.getvalue()


def _draw(groups: Sequence[Group], path: Path) -> None:
    tasks = list(dict.fromkeys(group.settings.task for group in groups))
    figure = Figure(figsize=(4.0 * len(tasks), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, task in zip(figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0], tasks,
                          strict=True):  # fmt: skip
        for group in groups:
            if group.settings.task != task:
                continue
            color = _COLORS[group.settings.split]
            usual = group.label == f"`{group.settings.split}`"
            for run in group.runs:
                axes.plot(
                    [(row["ticks"] or 0.0) / 1e6 for row in run.curve],
                    [row["test_grade"] or 0.0 for row in run.curve],
                    color=color,
                    linestyle="-" if usual else ":",
                    linewidth=1.0,
                    label=group.label.replace("`", "") if run is group.runs[0] else None,
                )
        axes.set(title=task, xlabel="million ticks of a team", ylim=(0, 1.02))
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("mean grade, split test, greedy")
    figure.axes[0].legend(loc="lower right", fontsize="small")
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
