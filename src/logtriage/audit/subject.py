"""What is audited: a source of incidents, and the rubric that grades them."""

from collections.abc import Callable
from typing import Any

import attrs

from logtriage.actions import Action
from logtriage.errors import InvalidInput
from logtriage.generator import draw_incident, make_incident
from logtriage.grading import Rubric, rubric_of
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.tasks import TASKS, IncidentId, TaskSpec, get_task

#: The incident of a split and a number: always the same one for the same two.
Draw = Callable[[str, int], Incident]


@attrs.frozen
class RegisteredTask:
    """Draws the incidents of a task by their ids."""

    task: str

    def __call__(self, split: str, number: int) -> Incident:
        """The incident of that split and number."""
        return make_incident(f"{self.task}/{split}/{number}")


@attrs.frozen
class OwnTask:
    """Draws from a task sheet that is not registered."""

    spec: TaskSpec

    def __call__(self, split: str, number: int) -> Incident:
        """The incident of that split and number."""
        return draw_incident(self.spec, IncidentId(self.spec, split, number))


@attrs.frozen(eq=False)
class Subject:
    """A source of incidents with its rubric, under a name for the report.

    ``oracle`` gives the list of actions that is meant to earn full marks.
    """

    name: str
    draw: Draw
    rubric: Rubric
    oracle: Callable[[Incident], tuple[Action, ...]] = perfect_actions
    _drawn: dict[tuple[str, int], Incident] = attrs.field(factory=dict, init=False, repr=False)

    def incident(self, split: str, number: int) -> Incident:
        """One incident; drawn once."""
        key = (split, number)
        if key not in self._drawn:
            drawn = self.draw(split, number)
            if not isinstance(drawn, Incident):
                raise InvalidInput(
                    f"{self.name}: drawing {split}/{number} gave {type(drawn).__name__}, "
                    "expected an Incident"
                )
            self._drawn[key] = drawn
        return self._drawn[key]

    def incidents(self, split: str, count: int) -> list[Incident]:
        """The first ``count`` incidents of a split."""
        return [self.incident(split, number) for number in range(count)]


def subject_of(task: "str | TaskSpec | Draw | Subject", rubric: Rubric | None = None) -> Subject:
    """The subject that a task stands for.

    Args:
        task: the id of a registered task; a task sheet, registered or not; a function
            from split and number to an incident; or a subject.
        rubric: in place of the one that the incidents name.

    Raises:
        UnknownName: for the id of a task that does not exist.
        InvalidInput: for anything else that is none of these, or draws no incident.
    """
    if isinstance(task, Subject):
        return task if rubric is None else attrs.evolve(task, rubric=rubric)
    draw: Any
    if isinstance(task, str):
        name, draw = task, RegisteredTask(get_task(task).id)
    elif isinstance(task, TaskSpec):
        name, draw = task.id, RegisteredTask(task.id) if task in TASKS else OwnTask(task)
    elif callable(task):
        name, draw = getattr(task, "__qualname__", type(task).__qualname__), task
    else:
        raise InvalidInput(
            "expected a task's id, a task sheet or a function from split and number to an "
            f"incident, got {type(task).__name__}"
        )
    if rubric is None:
        first = draw("test", 0)
        if not isinstance(first, Incident):
            raise InvalidInput(f"{name}: drew {type(first).__name__}, expected an Incident")
        rubric = rubric_of(first)
    return Subject(name, draw, rubric)
