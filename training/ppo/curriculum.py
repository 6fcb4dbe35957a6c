"""A curriculum over fog: the same task, first where signs are plain."""

import attrs

from logtriage.errors import InvalidInput
from logtriage.tasks import TaskSpec
from training.common.tasks import sheet_of
from training.ppo.settings import Settings

#: The share of a run by whose end it has come to the fog of its task.
ENDS: float = 0.5


def fogs_of(settings: Settings) -> tuple[int, ...]:
    """The levels of ``settings.fogs``.

    Raises:
        InvalidInput: for anything but levels with commas between them.
    """
    if not settings.fogs:
        return ()
    parts = settings.fogs.split(",")
    levels = tuple(str(level) for level in range(len(settings.sheet.world.rules.fog)))
    if not set(parts) <= set(levels):
        raise InvalidInput(f"fogs {settings.fogs!r}: expected levels of {', '.join(levels)}: 0,1")
    return tuple(map(int, parts))


def task_at(settings: Settings, progress: float) -> TaskSpec:
    """The task to play at a progress in [0, 1]."""
    fogs = fogs_of(settings)
    at = int(progress / ENDS * len(fogs))
    return with_fog(settings.task, fogs[at]) if at < len(fogs) else settings.sheet


def with_fog(task: str | TaskSpec, fog: int) -> TaskSpec:
    """The same task at a level of fog."""
    sheet = sheet_of(task)
    assert sheet.setting is not None  # or it would be no task for batches
    return attrs.evolve(sheet, setting=attrs.evolve(sheet.setting, fog=fog))
