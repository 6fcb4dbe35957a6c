"""Cross-play: what a role is worth among strangers.

    python -m training.marl.strangers runs/teams/trio-*-seed? --to docs/results

Every team in which one role is played by somebody else: networks of one seed by those of
another, on the batched engine; and networks, observers and experts by one another, on the
scalar core, with ``--episodes`` incidents a team. What stands in a cell is the mean grade
over the roles that were swapped, and the share of the incidents in which a wrong team was
paged. The transcripts are kept in ``--out``, and the same command goes on where it was
stopped. Renews two blocks of ``role-splits.md``.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from logtriage.errors import InvalidInput, LogTriageError
from logtriage.evaluation import RunSpec, evaluate, load_run
from logtriage.evaluation.statistics import mean_interval
from logtriage.policies import TeamFactory
from logtriage.roles import RoleSplit
from logtriage.trained import NETWORK, make_team
from training.common.pages import renew
from training.common.settings import EVAL_SPLIT
from training.marl import store
from training.marl.evaluate import play_held_out
from training.marl.networks import Team
from training.marl.settings import Settings
from training.marl.writeup import PAGE

#: Scripted players of a role, beside the networks.
SCRIPTED: Final = ("observer", "expert")


@attrs.frozen(eq=False)
class Trained:
    """A finished run of which the networks play."""

    where: Path
    settings: Settings
    team: Team

    @classmethod
    def read(cls, where: Path) -> "Trained":
        """The run in a directory.

        Raises:
            InvalidInput: if there is none, or none that has been evaluated.
        """
        for name in (store.RUN, store.CHECKPOINT):
            if not (where / name).exists():
                raise InvalidInput(f"{where}: expected a run of training.marl, with {name} in it")
        settings = Settings(**store.load_run(where)["settings"])
        return cls(where, settings, store.load_team(where / store.CHECKPOINT, settings))


def swapped(runs: Sequence[Trained], incidents: int) -> NDArray[np.float64]:
    """Mean grades and shares mis-paged (S, S, R, 2): a role of one seed's team by another's."""
    names = runs[0].settings.roles.names
    found = np.empty((len(runs), len(runs), len(names), 2))
    for (a, one), (b, other) in product(enumerate(runs), repeat=2):
        for place in range(len(names)):
            if a == b and place:
                found[a, b, place] = found[a, b, 0]
                continue
            policies = list(one.team.policies)
            policies[place] = other.team.policies[place]
            mixed = attrs.evolve(one.team, policies=tuple(policies))
            settings = attrs.evolve(one.settings, eval_incidents=incidents)
            result = play_held_out(mixed, settings).result()
            found[a, b, place] = result.grade, result.mis_paged
    return found


def mixed_teams(where: Path, split: RoleSplit) -> dict[str, TeamFactory]:
    """Teams of networks, observers and experts with one role played by another, by name."""
    players = {"network": f"{NETWORK}{where}", **{one: one for one in SCRIPTED}}
    found = {}
    for filler, others in product(players, repeat=2):
        for role in split.names:
            if filler == others and role != split.names[0]:
                continue
            each = {one: players[filler if one == role else others] for one in split.names}
            spec = ",".join(f"{one}={player}" for one, player in each.items())
            found[_name(filler, others, role)] = make_team(spec, split)
    return found


def _name(filler: str, others: str, role: str) -> str:
    return others if filler == others else f"{others}, {role}={filler}"


def seeds_table(runs: Sequence[Trained], found: NDArray[np.float64]) -> Iterable[str]:
    """Who has the team, by row; whose role plays in it, by column."""
    seeds = [f"seed {one.settings.seed}" for one in runs]
    yield "| team of | " + " | ".join(f"a role of {one}" for one in seeds) + " | at worst |"
    yield "|" + " --- |" * (len(seeds) + 2)
    names = runs[0].settings.roles.names
    for a, seed in enumerate(seeds):
        means = found[a].mean(axis=1)  # of the team itself all are the same
        cells = [f"**{grade:.3f}**, {wrong:.1%}" if a == b else f"{grade:.3f}, {wrong:.1%}"
                 for b, (grade, wrong) in enumerate(means)]  # fmt: skip
        away = [(found[a, b, place, 0], names[place], seeds[b]) for b in range(len(runs))
                for place in range(len(names)) if a != b]  # fmt: skip
        worst = min(away, default=None)
        last = "–" if worst is None else f"{worst[0]:.3f} (`{worst[1]}` of {worst[2]})"
        yield f"| {seed} | {' | '.join(cells)} | {last} |"


def strangers_table(
    split: RoleSplit, scores: Mapping[str, Sequence[float]], wrong: Mapping[str, float]
) -> Iterable[str]:
    """Who plays the others, by row; who plays one role, by column."""
    players = ("network", *SCRIPTED)
    yield "| others | " + " | ".join(f"one role by {one}" for one in players) + " |"
    yield "|" + " --- |" * (len(players) + 1)
    for others in players:
        cells = []
        for filler in players:
            names = [_name(filler, others, role) for role in split.names]
            teams = list(dict.fromkeys(names))
            grade = mean_interval([one for name in teams for one in scores[name]])
            assert grade is not None
            mean = f"**{grade.mean:.3f}**" if filler == others else f"{grade.mean:.3f}"
            text = f"{mean} ({grade.low:.3f} to {grade.high:.3f})"
            text += f", {fmean(wrong[name] for name in teams):.0%} mis-paged"
            if filler == others:
                cells.append(text)
                continue
            each = ", ".join(
                f"`{role}` {np.mean(scores[name]):.2f}"
                for role, name in zip(split.names, names, strict=True)
            )
            cells.append(f"{text}: {each}")
        yield f"| {others} | {' | '.join(cells)} |"


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and renew the page."""
    parser = argparse.ArgumentParser(prog="python -m training.marl.strangers", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("runs", type=Path, nargs="+", help="directories of runs of one split")
    parser.add_argument("--incidents", type=int, default=1000, help="of networks among networks")
    parser.add_argument("--episodes", type=int, default=40, help="of each of the other teams")
    parser.add_argument("--out", type=Path, default=Path("runs/strangers"))
    parser.add_argument("--to", type=Path, default=Path("docs/results"))
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if given.incidents < 1 or given.episodes < 1:
        parser.error("expected at least one incident")
    try:
        runs = [Trained.read(one) for one in given.runs]
        _check_alike(runs)
        first = runs[0]
        teams = mixed_teams(first.where, first.settings.roles)
        spec = RunSpec(list(teams), [first.settings.task], EVAL_SPLIT, given.episodes,
                       role_split=first.settings.roles)  # fmt: skip
        console = Console(stderr=True)

        def say(done: int, total: int) -> None:
            if done % given.episodes == 0:
                console.print(f"{done} of {total} episodes", soft_wrap=True)

        rows = evaluate(spec, given.out, teams=teams, on_progress=say)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    scores = scores_of(given.out)
    wrong = {row.policy: row.mis_paged for row in rows if row.mis_paged is not None}
    found = swapped(runs, given.incidents)
    renew(
        given.to / PAGE,
        "Role splits",
        {
            "cross-play-seeds": partial(seeds_table, runs, found),
            "cross-play-strangers": partial(strangers_table, first.settings.roles, scores, wrong),
        },
    )


def scores_of(out: Path) -> dict[str, list[float]]:
    """The grades of every team of an evaluation, in the order of the incidents.

    Raises:
        InvalidInput: if an episode has none, with the reason.
    """
    run = load_run(out)
    found: dict[str, list[float]] = {}
    for (policy, _), grades in run.grades.items():
        for one in grades:
            if one.score is None:
                raise InvalidInput(f"{out}: {policy} has no grade on {one.incident}")
        found[policy] = [one.score for one in grades if one.score is not None]
    return found


def _check_alike(runs: Sequence[Trained]) -> None:
    first = runs[0].settings
    for one in runs[1:]:
        for field in ("task", "roles"):
            if getattr(one.settings, field) != getattr(first, field):
                raise InvalidInput(
                    f"{one.where}: its {field} are not those of {runs[0].where}: strangers must "
                    "fit into one another's team"
                )


if __name__ == "__main__":
    main()
