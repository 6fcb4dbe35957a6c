"""Finished runs, as their files have them."""

import json
from pathlib import Path
from typing import Any

import attrs

from logtriage.codec import decode_transcript
from logtriage.errors import InvalidInput
from training.common.settings import EVAL_SPLIT
from training.evaluate.evaluation import Evaluation, Judge
from training.evaluate.results import RESULTS
from training.grpo.played import Episode, Step
from training.grpo.record import EPISODES, STEPS, read_episodes, read_steps
from training.grpo.store import AFTER, BEFORE, RUN, load_run
from training.tiny.settings import ABOUT


@attrs.frozen
class Written:
    """A finished run, and the model that it began with, as their files have them.

    ``before`` and ``after`` are the episodes of its evaluations.
    """

    about: dict[str, Any]
    results: dict[str, Any]
    began: dict[str, Any] | None
    steps: list[Step]
    episodes: list[Episode]
    before: Evaluation
    after: Evaluation

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
    about = load_run(out)
    if not about["finished"]:
        raise InvalidInput(f"{out}: this run is not finished")
    model = Path(about["settings"]["model"], ABOUT)
    return Written(
        about,
        json.loads((out / RESULTS).read_text("utf-8")),
        json.loads(model.read_text("utf-8")) if model.exists() else None,
        read_steps(out / STEPS),
        read_episodes(out / EPISODES),
        *(_evaluation(out / name, about["settings"]) for name in (BEFORE, AFTER)),
    )


def _evaluation(path: Path, settings: dict[str, Any]) -> Evaluation:
    """The episodes of a file, to be graded as they were."""
    played = [decode_transcript(one) for one in path.read_text("utf-8").splitlines()]
    judge = Judge.of(settings["rubric"])
    return Evaluation(path.stem, EVAL_SPLIT, settings["eval_samples"], played, judge=judge)
