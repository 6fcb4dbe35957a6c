"""Measures what remembering is worth in worlds that nobody has seen.

    python scripts/unseen_world.py --incidents 500 --rows build/unseen.jsonl

Three play the first incidents of a split of ``unseen_world-v3``:

* ``observer`` believes by the incident's own world, which the prompt states;
* ``expert`` reads the rows of the same runbook;
* ``remembering`` is the observer with the base world's tables in their best alignment. It knows
  which kind, service and team stands for which of the base world's, sees the same screens, and
  believes that the kinds look, are mended and paged as there. If what it sees fits nothing that it
  remembers, it hands over, or resolves where it has paged or tried a remedy.

The net value of ``observer`` less that of ``remembering``, paired, is what reading the runbook is
worth beyond remembering another world. Episodes that stand in the file of ``--rows`` are not played
again.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.actions import Action, HandOver, Resolve
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import SPLITS, incident_ids, parse_incident_id
from logtriage.errors import InvalidInput
from logtriage.evaluation.net_values import net_difference, net_value
from logtriage.evaluation.playing import play
from logtriage.evaluation.statistics import Interval
from logtriage.grading import grade
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Policy
from logtriage.policies.observer import ObserverPolicy, followed
from logtriage.tasks import setting_of
from logtriage.world.channels import Evidence
from logtriage.world.default import default_world
from logtriage.world.drawn import remembered
from logtriage.world.model import World
from logtriage.world.schedule import Doings
from logtriage.world.simulation import Simulation
from logtriage.world.unseen import UNSEEN, as_unseen, unseen_seed, world_number

TASK: Final = "unseen_world-v3"
PLAYERS: Final = ("observer", "expert", "remembering")


@attrs.frozen(cache_hash=True)
class Misread(Simulation):
    """What ``real`` shows, as somebody sees it who believes in the world of the ``setting``."""

    real: Simulation = attrs.field(kw_only=True)

    def shown(self, now: int, doings: Doings) -> Iterator[Evidence]:
        """The evidence that there really is."""
        return self.real.shown(now, doings)


@attrs.frozen
class Remembering:
    """The observer in a world that it takes for another. Memory is the observer's."""

    incident: Incident

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The observer's action; where nothing fits what it sees, it gives up."""
        try:
            return ObserverPolicy(self.incident).act(observation, memory)
        except InvalidInput:  # no hypothesis fits the evidence
            untouched = not observation.pages and not observation.remedies
            return (
                HandOver() if untouched else Resolve(),
                followed(self.incident, observation, memory),
            )


def remembering(incident: Incident) -> Remembering:
    """The player with the base world's tables."""
    named = parse_incident_id(incident.id)
    seed = unseen_seed(named.split, world_number(named.index))
    return taken_for(incident, as_unseen(remembered(default_world(), seed), "remembered"))


def taken_for(incident: Incident, world: World) -> Remembering:
    """The player that takes an incident's world for another, with the same names."""
    real = incident.simulation
    assert real is not None  # since it was drawn
    setting = setting_of(world, world.tasks[UNSEEN], real.setting.fog)
    fields = {one.name: getattr(real, one.name) for one in attrs.fields(Simulation)}
    misread = Misread(**fields | {"setting": setting}, real=real)
    return Remembering(attrs.evolve(incident, telemetry=misread))


def episode(incident_id: str, player: str) -> dict[str, Any]:
    """One row of results: who played which incident, its price, and what it earned."""
    incident = make_incident(incident_id)
    policy: str | Policy = remembering(incident) if player == "remembering" else player
    return {
        "incident": incident_id,
        "player": player,
        "price": incident.price_of_hand_over,
        "grade": grade(play(incident, policy)).score,
    }


def _episode(cell: tuple[str, str]) -> dict[str, Any]:
    return episode(*cell)


def rows_in(path: Path | None) -> list[dict[str, Any]]:
    """The rows of a file; none if there is no file yet."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def page(rows: Iterable[dict[str, Any]], ids: Sequence[str]) -> str:
    """The results as a table in Markdown."""
    by = {(row["player"], row["incident"]): (row["grade"], row["price"]) for row in rows}
    played = {player: [by[player, one] for one in ids] for player in PLAYERS}
    lines = ["| player | net value | grade |", "|---|---|---|"]
    for player, graded in played.items():
        mean = sum(points for points, _ in graded) / len(graded)
        lines.append(f"| {player} | {told(net_value(graded))} | {mean:.3f} |")
    worth = net_difference(played["remembering"], played["observer"])
    lines += ["", f"Observer less remembering, paired: {told(worth)} of net value."]
    return "\n".join(lines)


def told(interval: Interval | None) -> str:
    """A net value with its interval."""
    if interval is None:
        return "-"
    return f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Play what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--incidents", type=int, default=500)
    parser.add_argument("--split", choices=SPLITS, default="test")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="file of episodes, one JSON object a line")
    given = parser.parse_args(arguments)
    ids = incident_ids(TASK, given.split, given.incidents)
    rows = rows_in(given.rows)
    known = {(row["incident"], row["player"]) for row in rows}
    left = [(one, who) for one in ids for who in PLAYERS if (one, who) not in known]
    if given.rows is not None:
        given.rows.parent.mkdir(parents=True, exist_ok=True)
    file = nullcontext() if given.rows is None else given.rows.open("a", encoding="utf-8")
    with file as out, ProcessPoolExecutor(given.processes) as pool:
        # The players of an incident follow each other, so that a process draws its world once.
        played = pool.map(_episode, left, chunksize=len(PLAYERS))
        for row in played:
            rows.append(row)
            if out is not None:
                out.write(json.dumps(row) + "\n")
                out.flush()
    sys.stdout.write(page(rows, ids) + "\n")


if __name__ == "__main__":
    main()
