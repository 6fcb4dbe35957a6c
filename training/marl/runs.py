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
#: What they are in the sweep.
USUAL: Final = {name: attrs.fields_dict(Settings)[name].default for name in DIFFERING}
#: How algorithms of BenchMARL are called in tables.
ALGORITHMS: Final = {
    "": "",
    "mappo": ", MAPPO of BenchMARL",
    "ippo": ", IPPO of BenchMARL",
    "vdn": ", VDN",
    "qmix": ", QMIX",
}


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
        # A split's file may be elsewhere by now; what it said stands in the facts.
        with attrs.validators.disabled():
            settings = Settings(**facts["settings"])
        return cls(
            settings,
            store.split_of(facts),
            facts,
            store.load_curve(path / store.CURVE),
            store.load_episodes(path / store.EPISODES),
        )

    @property
    def algorithm(self) -> str:
        """By name, if BenchMARL trained it; empty if training.marl did."""
        found: str = self.facts.get("algorithm", "")
        return found

    @property
    def group(self) -> tuple[Any, ...]:
        """What its seeds have in common: task, split, algorithm, each of :data:`DIFFERING`."""
        one = self.settings
        return one.task, self.split.name, self.algorithm, *differing(one).values()


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
    def algorithm(self) -> str:
        """That of the first seed: all have the same."""
        return self.runs[0].algorithm

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
        return other_of(self.algorithm, **differing(self.settings))

    def mean(self, name: str) -> float:
        """A figure of the last evaluation, over the seeds."""
        return fmean(run.facts["after"][name] for run in self.runs)


def differing(settings: Settings) -> dict[str, Any]:
    """The values of :data:`DIFFERING`."""
    return {name: getattr(settings, name) for name in DIFFERING}


def other_of(algorithm: str, *, credit: str, critic: str, inform: float, rounds: int) -> str:
    """What is not as in the sweep, each after a comma."""
    other = [credit] if credit != USUAL["credit"] else []
    other += [critic] if critic != USUAL["critic"] else []
    other += [f"{inform:g} a bit"] if inform else []
    other += [f"{rounds} rounds"] if rounds != USUAL["rounds"] else []
    return ALGORITHMS[algorithm] + "".join(f", {value}" for value in other)
