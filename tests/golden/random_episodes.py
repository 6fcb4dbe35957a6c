"""Ten thousand random episodes and what they were graded, written down once.

    python -m tests.golden.random_episodes

writes ``random_episodes.npz`` if it is missing. The episodes are drawn from counters, so the file
holds grades alone. It tells a change of the code that grades from a change of what it grades.
"""

from collections.abc import Iterator
from math import fsum
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage import Action, Incident, State, grade, make_incident
from logtriage.actions import HandOver, Ignore, Remediate, Resolve, all_actions
from logtriage.dynamics import play, play_jointly
from logtriage.grading.tables import CLOSINGS
from logtriage.policies import perfect_actions
from logtriage.rng import below, draw, hash_name

FILE: Final = Path(__file__).parent / "random_episodes.npz"
COUNT: Final = 10_000
#: The tasks that take turns; the fleet, whose incidents take long to draw, comes once.
TASKS: Final = (
    *("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4", "unseen_world-v4"),
    *("compound_failure-v4", "single_crash-v4-fog0", "compound_failure-v4-fog3", "fleet_outage-v4"),
)
SPLITS: Final = ("train", "val", "test", "ood")
#: The episodes of an incident.
REPEATS: Final = 5
_KEY: Final = hash_name("random episodes")
_CLOSES: Final = (Resolve(), Ignore(), HandOver())


@attrs.frozen
class Episode:
    """An incident with actions and their ticks; one that is ``joint`` may share a tick."""

    incident: Incident
    plays: tuple[tuple[int, Action], ...]
    joint: bool

    def state(self) -> tuple[State, int]:
        """The last state, and how many actions were left out."""
        if self.joint:
            return play_jointly(self.incident, self.plays)
        return play(self.incident, [action for _, action in self.plays])


def episodes(count: int = COUNT) -> Iterator[Episode]:
    """The episodes, in order."""
    for number in range(count):
        group = number // REPEATS
        task = TASKS[group % len(TASKS)]
        split = SPLITS[group // len(TASKS) % len(SPLITS)]
        incident = make_incident(f"{task}/{split}/{group}")
        joint = number % REPEATS == 0
        yield Episode(incident, tuple(_plays(incident, number, joint)), joint)


def _plays(incident: Incident, number: int, joint: bool) -> Iterator[tuple[int, Action]]:
    """Right actions, wrong remedies and any others; a close that comes early is rare."""
    every = all_actions(incident.topology, hand_over=incident.takes_hand_over)
    right = perfect_actions(incident)
    opening = [action for action in right if action not in _CLOSES]
    remedies = [action for action in every if isinstance(action, Remediate)]
    tick = 0
    for place in range(below(draw(_KEY, number), incident.horizon + 4)):
        kind, pick, pause = (draw(_KEY, number, 1 + 3 * place + part) for part in range(3))
        share = below(kind, 100)
        chosen = opening if share < 75 and opening else remedies if share < 80 else every
        if share >= 96:
            chosen = [*right, *_CLOSES]
        yield tick, chosen[below(pick, len(chosen))]
        tick += 1 if not joint else below(pause, 2)


def graded(episode: Episode) -> tuple[Any, ...]:
    """What the file holds of an episode: its grade without words."""
    state, unplayed = episode.state()
    got = grade(state, unplayed=unplayed)
    names = {"wrong_escalation": 0, "ignored_incident": 1, None: -1}
    return (
        got.score,
        fsum(row.score * row.weight for row in got.criteria),  # sum() differs between Pythons
        np.prod([row.factor for row in got.discounts]),
        names[got.gate],
        -1 if got.closing is None else CLOSINGS.index(got.closing),
        got.ticks,
        got.unplayed,
        int(got.digest, 16),
    )


COLUMNS: Final = {
    "score": np.float64, "points": np.float64, "left": np.float64, "gate": np.int8,
    "closing": np.int8, "ticks": np.int16, "unplayed": np.int16, "digest": np.uint64,
}  # fmt: skip


def table(rows: Iterator[Episode]) -> dict[str, NDArray[Any]]:
    """The grades of episodes, a column for each of :data:`COLUMNS`."""
    columns = zip(*map(graded, rows), strict=True)
    return {
        name: np.array(column, kind)
        for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
    }


def record() -> None:
    """Write the file.

    Raises:
        SystemExit: if there is one; grades that change need a new version of the rubric.
    """
    if FILE.exists():
        raise SystemExit(f"{FILE.name} exists: changed grades need a new version of the rubric")
    np.savez_compressed(FILE, allow_pickle=False, **table(episodes()))


if __name__ == "__main__":
    record()
