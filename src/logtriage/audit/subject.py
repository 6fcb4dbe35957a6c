"""The subject of an audit: a source of incidents, and the rubric that grades them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import attrs

from logtriage.actions import Action, check_action
from logtriage.audit.failing import AuditedCodeFailed, in_words
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.drawing.generator import draw_incident, make_incident
from logtriage.drawing.ids import SPLITS, IncidentId, parse_incident_id
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.grading import TRIAGE_3, Rubric, rubric_of
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.tasks import TaskSpec, is_registered, task_of
from logtriage.world.loading import WorldLike

#: Incidents are taken from these numbers on, since the score may depend on the number.
NUMBERS: Final = (0, 100_000, 10_000_000)
#: From a split and a number to an incident; the same two always give the same incident.
Draw = Callable[[str, int], Incident]
#: From an incident to the list of actions that is meant to earn the most.
Oracle = Callable[[Incident], Sequence[Action]]
_Shared = TypeVar("_Shared")


@attrs.frozen
class DrawnTask:
    """Draws the incidents of a task sheet, by their ids if the task is registered."""

    spec: TaskSpec

    def __call__(self, split: str, number: int) -> Incident:
        """The incident of that split and number."""
        if is_registered(self.spec):
            return make_incident(f"{self.spec.id}/{split}/{number}", world=self.spec.world)
        return draw_incident(self.spec, IncidentId(self.spec, split, number))


@attrs.frozen(eq=False)
class Subject:
    """What is audited: a source of incidents, its rubric, its oracle, and its name in reports."""

    name: str
    draw: Draw
    rubric: Rubric
    oracle: Oracle = perfect_actions
    #: Drawn incidents. ``attrs.evolve`` makes it anew, which the check of determinism needs.
    _drawn: dict[tuple[str, int], Incident] = attrs.field(factory=dict, init=False, repr=False)

    def incident(self, split: str, number: int) -> Incident:
        """The incident of a split and a number; drawn once."""
        key = (split, number)
        if key not in self._drawn:
            drawn = self.draw(split, number)
            if not isinstance(drawn, Incident):
                raise InvalidInput(
                    f"{self.name}: drew {type(drawn).__name__} for {split}/{number}, "
                    "expected an Incident"
                )
            self._drawn[key] = drawn
        return self._drawn[key]

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits of the task; your own task needs only ``train`` and ``test``."""
        return tuple(split for split in SPLITS if split in ("train", "test") or self._has(split))

    def _has(self, split: str) -> bool:
        try:
            self.incident(split, 0)
        except (LogTriageError, LookupError, ValueError):
            return False
        return True

    @property
    def has_own_oracle(self) -> bool:
        """Whether the oracle is a user's."""
        return self.oracle is not perfect_actions

    def perfect(self, incident: Incident) -> tuple[Action, ...]:
        """The oracle's list of actions; AuditedCodeFailed if it raises or returns no actions."""
        if not self.has_own_oracle:
            return perfect_actions(incident)
        try:
            plan = tuple(self.oracle(incident))
            for action in plan:
                if not isinstance(action, Action):
                    raise TypeError(f"expected actions, got {type(action).__name__}")
                check_action(action, incident.topology)
        except Exception as error:
            what = f"{in_words(error)} (on {incident.id})"
            raise AuditedCodeFailed("the oracle", what) from error
        return plan

    def incidents(self, split: str, count: int) -> list[Incident]:
        """The first ``count`` incidents of a split."""
        return [self.incident(split, number) for number in range(count)]


@attrs.frozen(eq=False)
class Work:
    """One audit: its subject, sample sizes and thresholds, and results that checks share."""

    subject: Subject
    sizes: Sizes
    limits: Thresholds
    _kept: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    def shared(self, make: "Callable[[Work], _Shared]") -> _Shared:
        """The result of ``make(self)``, a function or class of a module; it is called once."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return self._kept[make]  # type: ignore[no-any-return]


def seed_of(incident: Incident) -> int:
    """The seed of an incident's id, without ``@TOPOLOGY``; 0 if it is not of a built-in task."""
    try:
        return parse_incident_id(incident.id.partition("@")[0], world=incident.world).seed
    except LogTriageError:
        return 0


def subject_of(
    task: "str | TaskSpec | Draw | Subject",
    rubric: Rubric | None = None,
    *,
    oracle: Oracle | None = None,
    world: WorldLike | None = None,
) -> Subject:
    """The subject that a task stands for; arguments as of :func:`logtriage.audit.audit`.

    Raises:
        UnknownName: for the id of a task that does not exist.
        InvalidInput: for anything else that is none of these, or draws no incident.
    """
    if isinstance(task, Subject):
        changes: dict[str, Any] = {"rubric": rubric, "oracle": oracle}
        changes = {name: new for name, new in changes.items() if new is not None}
        return attrs.evolve(task, **changes) if changes else task  # which keeps what it drew
    draw: Any
    if isinstance(task, str | TaskSpec):
        spec = task_of(task, world)
        name, draw = spec.id, DrawnTask(spec)
    elif callable(task):
        name, draw = getattr(task, "__qualname__", type(task).__qualname__), task
    else:
        raise InvalidInput(
            "expected a task's id, a task sheet or a function from split and number to an "
            f"incident, got {type(task).__name__}"
        )
    subject = Subject(name, draw, rubric or TRIAGE_3, oracle or perfect_actions)
    if rubric is None:  # the incidents name it; TRIAGE_3 only stood in until one was drawn
        return attrs.evolve(subject, rubric=rubric_of(subject.incident("test", 0)))
    return subject
