"""Teams by split and fog: what scripted teams and trained ones earn, in one table.

    python -m training.marl.leaderboard runs/teams/* --to docs/results

Scripted teams play the first ``--episodes`` incidents of split ``test`` on the scalar core,
the networks of RUNS the first ``--incidents`` on the batched engine, in the split that they
were trained in, at every level of fog. Seeds of one split stand in one row. Transcripts are
kept in ``--out``, and the same command goes on where it was stopped. Renews a block of
``role-splits.md``.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from rich.console import Console

from logtriage.adapters.sources import is_own_task
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.evaluation import Interval, RunSpec, evaluate
from logtriage.registry import make_team
from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.tasks import TASKS
from training.common.pages import renew
from training.common.settings import EVAL_SPLIT
from training.common.splits import role_split_of
from training.marl import figures
from training.marl.evaluate import play_held_out
from training.marl.runs import differing, other_of
from training.marl.strangers import Trained
from training.marl.writeup import PAGE

TEAMS: Final = ("pooled", "observer", "expert", "random")
FOGS: Final = (0, 1, 2, 3)


@attrs.frozen
class Standing:
    """What a team earns in a split, by fog: means with intervals."""

    split: str
    team: str
    incidents: int
    grades: Mapping[int, Interval]


def scripted(
    teams: Sequence[str], split: RoleSplit, tasks: Mapping[int, str], episodes: int, out: Path
) -> list[Standing]:
    """The standings of scripted teams in a split; ``tasks`` by fog."""
    # Given by name, teams are asked once: whether they listen is measured elsewhere.
    given = {one: make_team(one, split) for one in teams}
    spec = RunSpec(teams, tasks.values(), EVAL_SPLIT, episodes, role_split=split)
    rows = evaluate(spec, out / split.name, teams=given)
    fogs = {task: fog for fog, task in tasks.items()}
    found = []
    for team in given:
        mine = [row for row in rows if row.policy == team]
        if any(row.unscored or row.grade is None for row in mine):
            raise InvalidInput(f"{out / split.name}: {team} has episodes without a grade")
        grades = {fogs[row.task]: row.grade for row in mine if row.grade is not None}
        found.append(Standing(split.name, f"`{team}`", episodes, grades))
    return found


def trained(runs: Sequence[Trained], tasks: Mapping[int, str], incidents: int) -> Standing:
    """The standing of networks that were trained alike, with several seeds."""
    one = runs[0].settings
    grades = {}
    for fog, task in tasks.items():
        scores = [
            play_held_out(
                run.team, attrs.evolve(run.settings, task=task, eval_incidents=incidents)
            ).scores
            for run in runs
        ]
        grades[fog] = figures.interval(np.array(scores))
    seeds = f"{len(runs)} seed{'s' if len(runs) > 1 else ''}"
    task = f"on {one.task}" if is_own_task(one.task) else f"at fog {one.sheet.fog}"
    name = f"networks, {seeds}, trained {task}"
    name += other_of("", **differing(one))
    return Standing(one.roles.name, name, incidents, grades)


def table(standings: Sequence[Standing], fogs: Sequence[int]) -> Iterable[str]:
    """A row for each team, the best of a split first."""
    yield "| split | team | incidents | " + " | ".join(f"fog {fog}" for fog in fogs) + " |"
    yield "|" + " --- |" * (3 + len(fogs))
    splits = list(dict.fromkeys(one.split for one in standings))
    ranked = sorted(
        standings,
        key=lambda one: (splits.index(one.split), -sum(each.mean for each in one.grades.values())),
    )
    for one in ranked:
        cells = (
            f"{each.mean:.3f} ({each.low:.3f} to {each.high:.3f})"
            for each in (one.grades[fog] for fog in fogs)
        )
        yield f"| `{one.split}` | {one.team} | {one.incidents:,} | {' | '.join(cells)} |"


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and renew the page."""
    parser = argparse.ArgumentParser(prog="python -m training.marl.leaderboard",
                                     description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("runs", type=Path, nargs="*", help="directories of runs of training.marl")
    names = list(dict.fromkeys(one.name for one in TASKS if one.setting and one.topology))
    parser.add_argument("--task", default="cascading_failure", choices=names)
    parser.add_argument("--splits", nargs="+", default=list(ROLE_SPLITS),
                        help="built-in splits, or JSON files")  # fmt: skip
    parser.add_argument("--fogs", nargs="+", type=int, choices=FOGS, default=list(FOGS))
    parser.add_argument("--teams", nargs="+", default=list(TEAMS))
    parser.add_argument("--episodes", type=int, default=40, help="of each scripted team and fog")
    parser.add_argument("--incidents", type=int, default=1000, help="of each network and fog")
    parser.add_argument("--out", type=Path, default=Path("runs/leaderboard"))
    parser.add_argument("--to", type=Path, default=Path("docs/results"))
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if given.incidents < 1 or given.episodes < 1:
        parser.error("expected at least one incident")
    console = Console(stderr=True)
    tasks = {
        one.fog: one.id
        for one in TASKS
        if one.name == given.task and one.fog is not None and one.fog in given.fogs
    }
    try:
        runs = [Trained.read(one) for one in given.runs]
        standings = []
        for split in map(role_split_of, given.splits):
            standings += scripted(given.teams, split, tasks, given.episodes, given.out)
            alike: dict[tuple[Any, ...], list[Trained]] = {}
            for run in runs:
                if run.settings.roles == split:
                    group = run.settings.task, *differing(run.settings).values()
                    alike.setdefault(group, []).append(run)
            standings += [trained(group, tasks, given.incidents) for group in alike.values()]
            console.print(f"{split.name}: done", soft_wrap=True)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    renew(given.to / PAGE, "Role splits", {"leaderboard": partial(table, standings, given.fogs)})


if __name__ == "__main__":
    main()
