"""Checks of what a run needs beyond its settings, made before anything loads."""

from pathlib import Path

from logtriage.codec import decode_transcript
from logtriage.errors import InvalidInput
from logtriage.grading import rubric_named
from training.common.settings import EVAL_SPLIT, TRAIN_SPLIT
from training.grpo.settings import Settings
from training.grpo.start import is_built_here
from training.grpo.store import BEFORE
from training.language.attempts import planned
from training.language.places import check_there
from training.language.sources import Source


def check(settings: Settings, out: Path) -> None:
    """Refuse a model, a task, a rubric or an evaluation of a run in ``out`` that cannot be used.

    Raises:
        UnknownName, InvalidInput: naming it.
    """
    if not is_built_here(settings.model):
        check_there(settings.model)
    check_names(settings)
    if settings.eval_episodes and settings.eval_before and not (out / BEFORE).exists():
        played_before(settings)


def check_names(settings: Settings) -> None:
    """Refuse a task, a rubric or a plan of evaluation that cannot be used.

    Raises:
        UnknownName, InvalidInput: naming it.
    """
    source = Source()
    for task in settings.tasks:
        source.id_at(task, TRAIN_SPLIT, 0)
    if settings.rubric:
        rubric_named(settings.rubric)
    if settings.eval_episodes:
        _held_out(settings)


def played_before(settings: Settings) -> str:
    """The transcripts of ``eval_before``, if they are of the incidents of this run.

    Raises:
        InvalidInput: if they are not, or cannot be read.
    """
    try:
        text = Path(settings.eval_before).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"eval_before: cannot be read: {error}") from None
    played = [decode_transcript(line).incident for line in text.splitlines()]
    wanted = _held_out(settings)
    if played != wanted:
        raise InvalidInput(
            f"eval_before = {settings.eval_before!r}: holds {len(played):,} episodes, which are "
            f"not the {len(wanted):,} of this run; give both the same eval_task, eval_episodes and "
            "eval_samples"
        )
    return text


def _held_out(settings: Settings) -> list[str]:
    """The ids of the held-out incidents, one for each attempt."""
    attempts = planned(
        Source(),
        settings.held_out_tasks,
        settings.eval_episodes,
        split=EVAL_SPLIT,
        samples=settings.eval_samples,
        temperature=settings.eval_temperature,
    )
    return [incident for incident, _ in attempts]
