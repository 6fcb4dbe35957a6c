"""Finished runs, read back from disk and grouped by what their seeds have in common."""

from pathlib import Path
from statistics import fmean
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.roles import RoleSplit
from training.marl import figures, store
from training.marl.review import Episode
from training.marl.settings import Settings

#: The settings by which groups of one split on one task differ.
DIFFERING: Final = ("credit", "critic", "inform", "rounds")


@attrs.frozen(eq=False)
class Written:
    """A finished run, read back."""

    settings: Settings
    split: RoleSplit
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
            store.split_of(facts),
            facts,
            store.load_curve(path / store.CURVE),
            store.load_episodes(path / store.EPISODES),
        )

    @property
    def group(self) -> tuple[Any, ...]:
        """What its seeds have in common: task, split, and each of :data:`DIFFERING`."""
        one = self.settings
        return one.task, self.split.name, *(getattr(one, name) for name in DIFFERING)


@attrs.frozen(eq=False)
class Group:
    """The runs of one split on one task."""

    runs: tuple[Written, ...]

    @property
    def settings(self) -> Settings:
        """Those of the first seed."""
        return self.runs[0].settings

    @property
    def split(self) -> RoleSplit:
        """That of the first seed: all have the same."""
        return self.runs[0].split

    @property
    def scores(self) -> figures.Scores:
        """Grades (S, N) of S seeds."""
        return np.array([[one.score for one in run.episodes] for run in self.runs])

    @property
    def kinds(self) -> NDArray[np.str_]:
        """What was the matter in each of the N incidents."""
        return np.array([one.kind for one in self.runs[0].episodes])

    @property
    def episodes(self) -> list[Episode]:
        """Those of all seeds."""
        return [one for run in self.runs for one in run.episodes]

    @property
    def label(self) -> str:
        """The split, and what is not as in the sweep."""
        return f"`{self.split.name}`{self.other}"

    @property
    def other(self) -> str:
        """What is not as in the sweep, each after a comma."""
        return other_of(self.settings)

    def mean(self, name: str) -> float:
        """A figure of the last evaluation, over the seeds."""
        return fmean(run.facts["after"][name] for run in self.runs)


def other_of(settings: Settings) -> str:
    """What is not as in the sweep, each after a comma."""
    one, usual = settings, Settings("")
    other = [value for value, default in ((one.credit, usual.credit),
             (one.critic, usual.critic)) if value != default]  # fmt: skip
    other += [f"{one.inform:g} a bit"] if one.inform else []
    other += [f"{one.rounds} rounds"] if one.rounds != usual.rounds else []
    return "".join(f", {value}" for value in other)
