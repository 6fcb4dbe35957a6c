"""What scripted policies reach on the same tasks: ``docs/results/oncall.csv``, read."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import Final

import attrs

from logtriage.tasks import DEFAULT_TASKS
from training.ppo.curriculum import with_fog

POLICIES: Final = ("observer", "expert", "chain")
TABLE: Final = Path(__file__).parents[2] / "docs/results/oncall.csv"


@attrs.frozen
class Reference:
    """A policy on a task: mean ``grade`` ± ``margin``, shares ``paged`` and ``mis_paged``.

    ``margin`` is half of the grade's interval.
    """

    episodes: int
    grade: float
    margin: float
    paged: float
    mis_paged: float


@lru_cache(maxsize=4)
def references(table: Path) -> dict[tuple[str, str, str], Reference]:
    """The policies of :data:`POLICIES`, by task, split and policy."""
    with table.open(encoding="utf-8", newline="") as file:
        return {
            (row["task"], row["split"], row["policy"]): Reference(
                int(row["episodes"]),
                float(row["grade"]),
                (float(row["grade_high"]) - float(row["grade_low"])) / 2.0,
                float(row["paged"]),
                float(row["mispaged"]),
            )
            for row in csv.DictReader(file)
            if row["price"] == "all" and row["policy"] in POLICIES
        }


def reference(task: str, trial: str, policy: str, table: Path = TABLE) -> Reference | None:
    """A policy in a trial (``fog0`` to ``fog3``, ``ood``) of a task; None if none was measured."""
    if trial == "ood":
        return references(table).get((task, "ood", policy))
    if task not in DEFAULT_TASKS:
        return None
    fogged = with_fog(task, int(trial.removeprefix("fog"))).id
    return references(table).get((fogged, "test", policy))
