"""The tasks of shifts: whose incidents they are made of, and how fast these arrive."""

from types import MappingProxyType
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.tasks import TaskSpec, get_task

#: The horizon of an incident on a shift, in those of its task; its par stays that of the task.
HORIZONS: Final = 2


@attrs.frozen
class ShiftTask:
    """The sheet of a task: ``ticks`` long, with incidents of one task.

    An incident arrives at tick 0; after that one arrives in ``rate`` of 1,000 ticks, as long as
    it has its whole horizon before the end.
    """

    id: str
    title: str
    incidents: str
    rate: int
    ticks: int = 200

    @property
    def task(self) -> TaskSpec:
        """The task of its incidents."""
        return get_task(self.incidents)

    @property
    def horizon(self) -> int:
        """How long each incident stays open at most, in ticks: who has several needs longer."""
        return HORIZONS * self.task.horizon

    @property
    def last_arrival(self) -> int:
        """No incident arrives after this tick."""
        return self.ticks - self.horizon


#: Every task of shifts by its id.
SHIFT_TASKS: Final = MappingProxyType(
    {
        task.id: task
        for task in (
            ShiftTask("quiet_shift-v1", "A quiet shift", "cascading_failure-v4", 40),
            ShiftTask("busy_shift-v1", "A busy shift", "cascading_failure-v4", 280),
        )
    }
)


def get_shift_task(task_id: str) -> ShiftTask:
    """The task of that id.

    Raises:
        UnknownName: listing the known ids.
    """
    if task_id not in SHIFT_TASKS:
        raise UnknownName("task of shifts", task_id, SHIFT_TASKS)
    return SHIFT_TASKS[task_id]


def is_shift(text: str) -> bool:
    """Whether a text is a task of shifts, or begins with one as the id of a shift does."""
    return text.partition("/")[0] in SHIFT_TASKS
