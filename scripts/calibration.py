"""Hold the belief against what was true, in bins with exact bounds: docs/results/calibration.md.

    python scripts/calibration.py                    # 3,000 incidents a task
    python scripts/calibration.py --count 200

Each incident of split ``test`` gets up to five requests, drawn without regard to the truth. Then
the belief states three probabilities: that the likeliest root cause (or nothing) is right, that
the likeliest team (or nobody) is right, and that a fault drawn by lot from all possible faults is
the true fault. No two events of a table share an incident, so counts in a bin have exact binomial
bounds (Clopper and Pearson, Biometrika 26, 1934).
"""

import argparse
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import attrs
import numpy as np
from oncall_page import table
from oncall_results import TASKS

import logtriage as lt
from logtriage._lib.files import replacing
from logtriage.audit.vocabulary import asking
from logtriage.beliefs import Belief, belief
from logtriage.dynamics import play
from logtriage.evaluation.calibration import share_bounds
from logtriage.incident import Incident
from logtriage.rng import hash_name

ROOT: Final = Path(__file__).resolve().parent.parent
#: Where bins of probabilities begin and end.
BINS: Final = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
STATEMENTS: Final = ("the likeliest root cause", "the likeliest team", "a fault drawn by lot")
#: Requests before a look, at most.
LOOKS: Final = 5
#: The chance that any bound of the page fails, if all is exact.
FAILURE: Final = 0.05


@attrs.frozen
class Event:
    """A statement that the belief gives a probability, and whether it was true."""

    probability: float
    held: bool


def events_of(incident: Incident) -> tuple[Event, ...]:
    """One event of each of the statements."""
    draws = np.random.default_rng(hash_name(f"calibration {incident.id}"))
    looks = asking(incident.topology)
    picks = draws.integers(len(looks), size=int(draws.integers(LOOKS + 1))).tolist()
    held, truth = belief(play(incident, [looks[pick] for pick in picks])[0]), incident.truth
    faults = sorted(held.faults)
    kind, service = faults[int(draws.integers(len(faults)))]
    parts = [part.fault for part in truth.parts] if truth.several else [truth.fault]
    true = {(one.kind, one.service) for one in parts if one is not None}
    return (
        _likeliest(held, held.root_causes, truth.root_causes),
        _likeliest(held, held.teams, truth.teams),
        Event(held.faults[kind, service], (kind, service) in true),
    )


def _likeliest(held: Belief, chances: dict[str, float], right: frozenset[str]) -> Event:
    """Whether the likeliest of some answers, or that there is none, is right."""
    name, chance = next(iter(chances.items()), ("", 0.0))
    if held.benign >= chance:
        return Event(held.benign, not right)
    return Event(chance, name in right)


def rows_of(events: Iterable[Event], level: float) -> Iterator[tuple[str, ...]]:
    """A row of each bin that has any events; ``level`` is the chance that its bound fails."""
    known = list(events)
    for low, high in pairwise(BINS):
        inside = [
            one
            for one in known
            if low <= one.probability < high or (high == 1.0 == one.probability)
        ]
        if inside:
            hits, count = sum(one.held for one in inside), len(inside)
            mean = sum(one.probability for one in inside) / count
            least, most = share_bounds(hits, count, level)
            within = "yes" if least <= mean <= most else "**no**"
            yield (f"{low:g} to {high:g}", f"{count:,}", f"{mean:.4f}", f"{hits / count:.4f}",
                   f"{least:.4f} to {most:.4f}", within)  # fmt: skip


HEAD: Final = """
# Is the belief calibrated?

This command writes the page:

    {command}

{what}

If the belief is exact, a bound holds with a chance of at least {level:.3%}, so all bounds
hold together with a chance of at least 95 %.
"""


def page(counts: dict[str, int], command: str) -> str:
    """The page, from so many incidents of each task."""
    found = {
        task: [events_of(lt.make_incident(f"{task}/test/{n}")) for n in range(count)]
        for task, count in counts.items()
    }
    level = FAILURE / (len(counts) * len(STATEMENTS) * (len(BINS) - 1))
    assert __doc__ is not None
    what = __doc__.split("\n\n")[2].strip()
    parts = [HEAD.strip().format(command=command, what=what, level=1.0 - level)]
    head = ("probability", "incidents", "mean probability", "share that was true", "exact bound",
            "within")  # fmt: skip
    for task, rows in found.items():
        parts.append(f"## `{task}`\n\n{len(rows):,} incidents.")
        for place, statement in enumerate(STATEMENTS):
            bins = rows_of((row[place] for row in rows), level)
            parts.append(f"### {statement.capitalize()}\n\n{table(head, bins)}")
    return "\n\n".join(parts).replace("``", "`") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=3000, help="incidents a task")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    asked = parser.parse_args()
    # Sets of faults on a fleet are searched: no exact belief.
    tasks = [task for task in TASKS if task != "compound_fleet-v3"]
    option = "" if asked.count == parser.get_default("count") else f" --count {asked.count}"
    text = page(dict.fromkeys(tasks, asked.count), f"python scripts/calibration.py{option}")
    with replacing(asked.out / "calibration.md") as file:
        file.write(text.encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
