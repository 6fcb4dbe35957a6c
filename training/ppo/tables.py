"""What agents reached, as tables: their grades beside scripted policies, and pages by team."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from logtriage.world.loading import load_world
from training.ppo.references import POLICIES, reference
from training.ppo.runs import Written, pages

SECURITY = load_world("oncall").topologies["seven-services-five-teams"].pages("security")

#: What the best agents must reach beside the observer: its grade, and its mis-pages.
GRADE_SHARE: Final = 0.80
PAGES: Final = 0.60
MIS_PAGES: Final = 1.5
SECURITY_SHARE: Final = 0.5
#: The trial that tells: the benchmark's fog.
HERE: Final = "fog2"


def table(*heads: str) -> Iterable[str]:
    """The head of a table."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + " --- |" * len(heads)


def grade_of(result: dict[str, Any]) -> str:
    """A mean grade and its margin."""
    return f"{result['grade']:.3f} ± {result['error']:.3f}"


def _mark(*, reached: bool) -> str:
    return "yes" if reached else "**no**"


def reached(runs: Sequence[Written]) -> Iterable[str]:
    """Every run beside the scripted policies."""
    met = f"met: ≥ {GRADE_SHARE:.2f}, ≥ {PAGES:.0%}, ≤ {MIS_PAGES}"
    yield from table("task", "agent", "grade", "grade / observer's", "faults paged rightly",
                      "mis-paged", "mis-paged / observer's", "solved", "ticks", met)  # fmt: skip
    for task in dict.fromkeys(run.settings.task for run in runs):
        observer = reference(task, HERE, "observer")
        for run in (run for run in runs if run.settings.task == task):
            one = run.trial(HERE)
            _, right = pages([one])
            compared = "–", "–", "–"  # of a task of one's own no observer was measured
            if observer is not None:
                share, wrong = one["grade"] / observer.grade, one["mis_paged"] / observer.mis_paged
                reaches = share >= GRADE_SHARE and right >= PAGES and wrong <= MIS_PAGES
                compared = f"{share:.2f}", f"{wrong:.2f}", _mark(reached=reaches)
            yield (
                f"| `{task}` | PPO, seed {run.settings.seed} | {grade_of(one)} | {compared[0]} "
                f"| {right:.1%} | {one['mis_paged']:.1%} | {compared[1]} | {one['solved']:.1%} "
                f"| {one['ticks']:.1f} | {compared[2]} |"
            )
        for policy in POLICIES:
            found = reference(task, HERE, policy)
            if found is not None and observer is not None:
                yield (
                    f"| `{task}` | `{policy}` | {found.grade:.3f} ± {found.margin:.3f} "
                    f"| {found.grade / observer.grade:.2f} | | {found.mis_paged:.1%} "
                    f"| {found.mis_paged / observer.mis_paged:.2f} | | | |"
                )


def right_pages(runs: Sequence[Written]) -> Iterable[str]:
    """Right pages by team, over all runs of a task."""
    yield "Faults in which the right team was paged, by that team; all seeds of a task:"
    yield ""
    tasks = list(dict.fromkeys(run.settings.task for run in runs))
    teams = sorted({team for run in runs for team in run.trial(HERE)["teams"]})
    yield from table("task", *(f"`{team}`" for team in teams), "security beside the others",
                      f"≥ {SECURITY_SHARE}")  # fmt: skip
    for task in tasks:
        figures = [run.trial(HERE) for run in runs if run.settings.task == task]
        by_team = {team: pages(figures, team) for team in teams}
        others = pages(figures, *(team for team in teams if team != SECURITY))[1]
        share = by_team[SECURITY][1] / others if others else 0.0
        cells = [f"{right:.1%} of {faults:,}" for faults, right in by_team.values()]
        yield (
            f"| `{task}` | {' | '.join(cells)} | {share:.2f} "
            f"| {_mark(reached=share >= SECURITY_SHARE)} |"
        )
