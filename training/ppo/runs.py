"""Finished runs, read back."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from training.common.tasks import file_name
from training.ppo import store
from training.ppo.settings import Settings


@attrs.frozen(eq=False)
class Written:
    """A finished run."""

    settings: Settings
    facts: dict[str, Any]
    curve: list[dict[str, float | None]]
    path: Path

    @classmethod
    def read(cls, path: Path) -> "Written":
        """The run in a directory.

        Raises:
            SystemExit: if it is not finished.
        """
        facts = json.loads((path / store.RUN).read_text("utf-8"))
        if not facts["finished"]:
            raise SystemExit(f"{path}: this run is not finished")
        curve = store.load_curve(path / store.CURVE)
        # What a file names is not imported to write it up.
        with attrs.validators.disabled():
            settings = Settings(**facts["settings"])
        return cls(settings, facts, curve, path)

    @property
    def label(self) -> str:
        """What sets its settings apart from those of other runs of the task."""
        return label(self.settings)

    @property
    def name(self) -> str:
        """The stem of its file."""
        return f"ppo-{name_of(self.settings)}"

    def trial(self, name: str) -> dict[str, Any]:
        """The figures of a trial of :mod:`training.ppo.trials`."""
        found: dict[str, Any] = self.facts["trials"][name]
        return found


def label(settings: Settings) -> str:
    """Inputs, and what is done beside: a memory, shaping, a curriculum."""
    fogs = settings.fogs.replace(",", "")
    parts = [settings.inputs]
    parts += ["gru"] if settings.memory else []
    parts += ["shaped"] if settings.shaping else []
    parts += [f"from-fog{fogs}"] if fogs else []
    return "-".join(parts)


def name_of(settings: Settings) -> str:
    """The directory of a run of these settings."""
    return f"{file_name(settings.task)}-{label(settings)}-seed{settings.seed}"


def pages(figures: Iterable[dict[str, Any]], *teams: str) -> tuple[int, float]:
    """Faults of some teams (of all, if none is named), and the share in which they were paged."""
    rows = [
        row for one in figures for team, row in one["teams"].items() if not teams or team in teams
    ]
    faults = sum(row["faults"] for row in rows)
    return faults, sum(row["faults"] * row["paged"] for row in rows) / faults
