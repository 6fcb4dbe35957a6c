"""Finished runs, as their files have them."""

import json
from pathlib import Path
from typing import Any

import attrs

from logtriage.errors import InvalidInput
from training.evaluate.results import RESULTS
from training.grpo.played import Episode, Step
from training.grpo.record import EPISODES, STEPS, read_episodes, read_steps
from training.grpo.store import RUN
from training.tiny.settings import ABOUT


@attrs.frozen
class Written:
    """A finished run, and the model that it began with, as their files have them."""

    about: dict[str, Any]
    results: dict[str, Any]
    began: dict[str, Any] | None
    steps: list[Step]
    episodes: list[Episode]

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.about["settings"]["seed"])


def read(out: Path) -> Written:
    """The run in a directory.

    Raises:
        InvalidInput: if there is none that is finished and evaluated.
    """
    for name in (RUN, RESULTS):
        if not (out / name).exists():
            raise InvalidInput(f"{out}: no {name}; give directories of finished, evaluated runs")
    about = json.loads((out / RUN).read_text("utf-8"))
    if not about["finished"]:
        raise InvalidInput(f"{out}: this run is not finished")
    model = Path(about["settings"]["model"], ABOUT)
    return Written(
        about,
        json.loads((out / RESULTS).read_text("utf-8")),
        json.loads(model.read_text("utf-8")) if model.exists() else None,
        read_steps(out / STEPS),
        read_episodes(out / EPISODES),
    )
