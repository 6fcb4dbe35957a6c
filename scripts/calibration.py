"""Hold beliefs against what was true, in bins: docs/results/calibration.md.

    python -m scripts.calibration                     # 12,000 incidents of each of three tasks
    python -m scripts.calibration --count 500

Each incident of split `test` gets up to eight actions, drawn without regard to the truth: requests,
and one in six times a remedy. Then the belief states three probabilities: that the likeliest root
cause (or nothing) is right, that the likeliest team (or nobody) is right, and that a service drawn
by lot is the root cause. No two events of a table share an incident, so the number of events of a
bin that were true is a sum of independent draws; z is its distance from the sum of the
probabilities, in standard deviations.
"""

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import logtriage as lt
from logtriage._lib.files import replacing
from logtriage.actions import Remediate, RequestMetrics, RequestMoreLogs, RequestTraces, all_actions
from logtriage.rng import hash_name
from logtriage.vector import BatchedTriage, BeliefScreens
from scripts.page_tables import table

ROOT: Final = Path(__file__).resolve().parent.parent
TASKS: Final = ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4")
#: Where bins of probabilities begin and end.
BINS: Final = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
STATEMENTS: Final = ("The likeliest root cause", "The likeliest team", "A service drawn by lot")
#: Actions before a look at the belief, at most.
MOST: Final = 8
ROWS: Final = 2_000

Events = NDArray[np.float64]


def events(task: str, first: int, rows: int) -> Events:
    """Probability and truth (3, rows, 2) of one event of each of the statements."""
    random = np.random.default_rng([hash_name(f"calibration {task}"), first])
    batch = BatchedTriage(task)
    screens = BeliefScreens(batch)
    step = batch.reset("test", np.arange(first, first + rows))
    observed = screens.begin(step)
    topology = lt.make_incident(f"{task}/test/0").topology
    every = all_actions(topology, hand_over=True)
    looks = _places(every, (RequestMoreLogs, RequestMetrics, RequestTraces))
    remedies = _places(every, (Remediate,))
    until = random.integers(MOST + 1, size=rows)
    said = np.empty_like(observed)
    for now in range(MOST + 1):
        said[until == now] = observed[until == now]
        fixing = random.random(rows) < 1 / 6
        actions = np.where(fixing, random.choice(remedies, rows), random.choice(looks, rows))
        step = batch.step(actions)
        observed = screens.read(step, actions)
    layout = screens.layout
    truths = [lt.make_incident(f"{task}/test/{n}").truth for n in range(first, first + rows)]
    true_roots = [{topology.index(name) for name in truth.root_causes} for truth in truths]
    true_teams = [{topology.teams.index(name) for name in truth.teams} for truth in truths]
    benign = said[:, layout["benign"]][:, 0]
    root, team = said[:, layout["root"]], said[:, layout["team"]]
    lot = random.integers(root.shape[1], size=rows)
    drawn = [(root[n, lot[n]], int(lot[n]) in true_roots[n]) for n in range(rows)]
    return np.array(
        [_likeliest(root, benign, true_roots), _likeliest(team, benign, true_teams), drawn]
    )


def _places(every: Any, kinds: tuple[type, ...]) -> NDArray[np.int64]:
    return np.array([n for n, action in enumerate(every) if isinstance(action, kinds)])


def _likeliest(chances: Any, benign: Any, right: list[set[int]]) -> list[tuple[float, bool]]:
    """Whether the likeliest of some answers, or that there is none, is right."""
    best = chances.argmax(axis=1)
    return [
        (none, not right[n]) if none >= row[best[n]] else (row[best[n]], int(best[n]) in right[n])
        for n, (row, none) in enumerate(zip(chances, benign, strict=True))
    ]


def bins_of(known: Events) -> Iterator[tuple[str, ...]]:
    """A row of each bin that has any of the events (N, 2)."""
    chance, held = known[:, 0], known[:, 1]
    for low, high in pairwise(BINS):
        inside = (chance >= low) & ((chance < high) | (high == BINS[-1]))
        if inside.any():
            expected, spread = chance[inside].sum(), (chance * (1 - chance))[inside].sum() ** 0.5
            z = 0.0 if spread < 1e-6 else (held[inside].sum() - expected) / spread
            shares = (f"{chance[inside].mean():.4f}", f"{held[inside].mean():.4f}")
            within = "yes" if abs(z) <= 3 else "**no**"
            yield f"{low:g} to {high:g}", f"{inside.sum():,}", *shares, f"{z:+.2f}", within


def page(count: int, command: str) -> str:
    """The page, from so many incidents of each task."""
    what = (__doc__ or "").split("\n\n")[2].strip()
    parts, every = [], []
    for task in TASKS:
        starts = range(0, count, ROWS)
        known = np.concatenate([events(task, at, min(ROWS, count - at)) for at in starts], axis=1)
        parts.append(f"## `{task}`\n\n{count:,} incidents.")
        for rows, statement in zip(known, STATEMENTS, strict=True):
            bins = list(bins_of(rows))
            every += [float(row[-2]) for row in bins]
            head = ("probability", "incidents", "mean probability", "share that was true", "z",
                    "at most 3")  # fmt: skip
            parts.append(f"### {statement}\n\n{table(head, bins)}")
    worst = max(map(abs, every))
    total = count * len(TASKS) * len(STATEMENTS)
    head = (
        f"# Is the belief calibrated?\n\nThis command writes the page:\n\n    {command}\n\n"
        f"{what}\n\n"
        f"The page holds {total:,} events in {len(every)} bins. The largest |z| is {worst:.2f}; by "
        "chance alone, one in 370 is above 3."
    )
    return "\n\n".join([head, *parts]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=12_000, help="incidents of each task")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    asked = parser.parse_args()
    option = "" if asked.count == parser.get_default("count") else f" --count {asked.count}"
    text = page(asked.count, f"python -m scripts.calibration{option}")
    with replacing(asked.out / "calibration.md") as file:
        file.write(text.encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
