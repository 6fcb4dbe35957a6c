"""Tasks that batches play: registered ones by id, or your own sheets as ``module:name``."""

from functools import lru_cache
from typing import Any

import attrs

from logtriage._lib.references import imported
from logtriage.adapters.sources import is_own_task
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId, index_of
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.tasks import TASKS, TaskSpec, get_task


@lru_cache(maxsize=64)
def sheet_of(task: str | TaskSpec) -> TaskSpec:
    """The sheet of a task; ``module:name`` imports, and so runs, the module.

    Raises:
        UnknownName: for the id of a task that does not exist.
        InvalidInput: if there is no such module, or it has no such sheet; for a sheet that
            bears the id of another task; and for a task that batches do not play.
    """
    if isinstance(task, TaskSpec):
        return task
    sheet = imported(task) if is_own_task(task) else get_task(task)
    if not isinstance(sheet, TaskSpec):
        raise InvalidInput(
            f"task {task!r}: expected a task sheet (logtriage.TaskSpec), which batches play, "
            f"got {type(sheet).__name__}"
        )
    if sheet not in TASKS and any(sheet.id == task.id for task in TASKS):
        raise InvalidInput(
            f"task {task!r}: expected a name or version of its own: {sheet.id!r} is another task, "
            "by which transcripts would be graded"
        )
    if sheet.several or sheet.topology is None:
        raise InvalidInput(
            f"task {sheet.id!r}: expected a task that draws incidents of one fault on one "
            "topology: batches play no others, and networks have a fixed width"
        )
    return sheet


def is_playable(_: object, __: "attrs.Attribute[Any]", task: str) -> None:
    """A validator of attrs: :func:`sheet_of` finds the task."""
    sheet_of(task)


def incident_of(task: str | TaskSpec, incident_id: str) -> Incident:
    """The incident of a task with that id, ``<task>/<split>/<index>``."""
    sheet = sheet_of(task)
    _, split, _ = incident_id.split("/")
    return draw_incident(sheet, IncidentId(sheet, split, index_of(incident_id)))


def ids_of(task: str | TaskSpec, split: str, count: int) -> tuple[str, ...]:
    """The ids of the first incidents of a split."""
    sheet = sheet_of(task)
    return tuple(str(IncidentId(sheet, split, index)) for index in range(count))
