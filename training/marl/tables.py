"""The tables of the page of results, in Markdown, line by line."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Final

from logtriage.evaluation.statistics import Interval
from logtriage.roles.splits import SILENT
from training.marl import figures
from training.marl.review import BENIGN, Episode
from training.marl.runs import DIFFERING, USUAL, Group, Written, differing, other_of


def _rows(*columns: str) -> Iterable[str]:
    yield "| " + " | ".join(columns) + " |"
    yield "|" + " --- |" * len(columns)


def _grades(groups: Sequence[Group]) -> Iterable[str]:
    yield from _rows("task", "split", "grade", "interquartile mean", "by seed", "before",
                     "solved", "mis-paged", "ticks to resolve", "resolved", "ignored",
                     "out of time")  # fmt: skip
    for group in groups:
        seeds = ", ".join(f"{run.facts['after']['grade']:.3f}" for run in group.runs)
        before = fmean(run.facts["before"]["grade"] for run in group.runs)
        shares = [f"{group.mean(name):.1%}" for name in ("resolved", "ignored", "out_of_time")]
        ticks = figures.ticks_to_resolve(group.episodes)
        yield (
            f"| `{group.settings.task}` | {group.label} | {_interval(group.scores)} "
            f"| {_shown(figures.middle_interval(group.scores, group.kinds))} | {seeds} "
            f"| {before:.3f} | {group.mean('solved'):.1%} | {group.mean('mis_paged'):.1%} "
            f"| {'–' if ticks is None else f'{ticks:.1f}'} | {' | '.join(shares)} |"
        )


def _board(groups: Sequence[Group]) -> Iterable[str]:
    yield from _rows("task", "compared", "difference in grade", "in the interquartile mean")
    for task in dict.fromkeys(group.settings.task for group in groups):
        found = {group.label: group for group in groups if group.settings.task == task}
        for one, other in _compared(list(found.values())):
            if one in found and other in found:
                left, right = found[one].scores, found[other].scores
                gaps = (
                    figures.difference(left, right),
                    figures.middle_difference(left, right, found[one].kinds),
                )
                cells = [f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})" for gap in gaps]
                yield f"| `{task}` | {one} − {other} | {' | '.join(cells)} |"


def _compared(groups: Sequence[Group]) -> Iterable[tuple[str, str]]:
    """Labels of groups that differ in one thing; some may not be there."""
    names = list(dict.fromkeys(group.split.name for group in groups))
    pairs = [(name, f"{name}{SILENT}") for name in names]
    pairs += [("trio", "trio_without_board"), ("trio_without_reports", "trio_without_board")]
    pairs += [("trio", "solo"), ("trio", "duo"), ("duo", "solo")]
    for setting in dict.fromkeys(group.other for group in groups):
        yield from ((f"`{one}`{setting}", f"`{other}`{setting}") for one, other in pairs)
    for group in groups:
        own = differing(group.settings)
        usual = {name: value for name, value in USUAL.items()
                 if own[name] != value}  # fmt: skip
        others = [other_of(group.algorithm, **{**own, name: usual[name]}) for name in usual]
        others += [other_of("", **own)] if group.algorithm else []
        yield from ((group.label, f"`{group.split.name}`{other}") for other in others)


def _algorithms(groups: Sequence[Group]) -> Iterable[str]:
    """What each algorithm makes of each split, all else as usual."""
    found: dict[tuple[str, str], dict[str, Group]] = {}
    for group in groups:
        own = differing(group.settings)
        if {**own, "critic": USUAL["critic"]} == USUAL:
            trained = group.algorithm or ("mappo" if own["critic"] == USUAL["critic"] else "ippo")
            name = trained.upper() + (", BenchMARL" if group.algorithm else "")
            found.setdefault((group.settings.task, group.split.name), {})[name] = group
    names = list(dict.fromkeys(name for row in found.values() for name in row))
    yield from _rows("task", "split", *names)
    for (task, split), row in found.items():
        cells = (
            f"{_interval(row[name].scores)}, seeds: {len(row[name].runs)}" if name in row else "–"
            for name in names
        )
        yield f"| `{task}` | `{split}` | {' | '.join(cells)} |"


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
        if not any("report" in role.may for role in group.split.roles):
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
    yield from dict.fromkeys(_common(run) for run in runs)


def _common(run: Written) -> str:
    """The settings that other seeds and splits have, too."""
    own = {"task", "seed", "split", *DIFFERING}
    values = {**run.facts["settings"], **run.facts.get("benchmarl", {})}
    listed = ", ".join(f"`{key}` {value}" for key, value in values.items() if key not in own)
    return f"Settings{' with BenchMARL' if run.algorithm else ''}: {listed}."


BLOCKS: Final[dict[str, Callable[[Sequence[Group]], Iterable[str]]]] = {
    "grades": _grades,
    "algorithms": _algorithms,
    "board": _board,
    "criteria": _criteria,
    "failures": _failures,
    "fault-classes": _classes,
    "depths": _depths,
    "reports": _reports,
    "runs": _runs,
}


def _interval(scores: figures.Scores) -> str:
    found = figures.interval(scores)
    return f"**{found.mean:.3f}** ({found.low:.3f} to {found.high:.3f})"


def _shown(found: Interval) -> str:
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
