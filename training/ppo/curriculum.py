"""A curriculum over fog: the same task, first where signs are plain."""

from logtriage.errors import InvalidInput
from logtriage.tasks import get_task
from logtriage.world.setting import FOG
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
    levels = tuple(str(level) for level in range(len(FOG)))
    if not set(parts) <= set(levels):
        raise InvalidInput(f"fogs {settings.fogs!r}: expected levels of {', '.join(levels)}: 0,1")
    return tuple(map(int, parts))


def task_at(settings: Settings, progress: float) -> str:
    """The id of the task to play at a progress in [0, 1]."""
    fogs = fogs_of(settings)
    at = int(progress / ENDS * len(fogs))
    return with_fog(settings.task, fogs[at]) if at < len(fogs) else settings.task


def with_fog(task: str, fog: int) -> str:
    """The id of the same task at a level of fog."""
    spec = get_task(task)
    base = f"{spec.name}-v{spec.version}"
    plain = get_task(base)
    return base if plain.fog == fog else f"{base}-fog{fog}"
