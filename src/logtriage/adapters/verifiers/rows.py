"""The rows of verifiers: incidents, each with its rules, its first screen and its reward."""

import itertools
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from logtriage.adapters.episode import opening, reply_in
from logtriage.adapters.rewards import by_criterion, metrics_of
from logtriage.adapters.sources import Sources
from logtriage.conversations.wires import Style as Reading
from logtriage.conversations.wires import actions_of_conversation
from logtriage.grading import Grade, Rubric, grade_actions, rubric_named
from logtriage.incident import Incident
from logtriage.rendering import Style
from logtriage.tasks import DRAWN_TASKS
from logtriage.transcript import check_drawn

#: Finds what rows name. A server learns from its taskset, not from a row, what may be imported.
SOURCES = Sources()


class TriageData(vf.TaskData):
    """A row: the incident's name, the rules and the first screen. The truth is not in it.

    The name is the id, or ``module:name/split/number`` for a task of one's own. ``bundle`` is
    the file of a recorded incident that is not shipped, ``seal`` the fingerprint of the key
    of a sealed one, ``world`` that of another world than the default one. ``style`` is how rules
    and screens are written.
    """

    incident: str
    bundle: str | None = None
    seal: str | None = None
    world: str | None = None
    style: Style = "text"


class RoleData(vf.TaskData):
    """What one role of a team is told: its rules and its first screen."""

    incident: str
    role: str
    role_split: str
    bundle: str | None = None
    seal: str | None = None
    world: str | None = None


def incident_of_row(data: TriageData | RoleData) -> Incident:
    """The incident of a row.

    Raises:
        InvalidInput: for a module or a bundle that no taskset of this process named.
        SealError: for a sealed incident without its key, or with another one.
    """
    incident = SOURCES(data.incident, data.bundle)
    check_drawn(data.seal, data.world, incident)
    return incident


def grade_of(data: TriageData, trace: vf.Trace, rubric: Rubric | None = None) -> Grade:
    """The grade of what the model did, as it stands on a trace."""
    incident = incident_of_row(data)
    # What stands there in the agent's name but was not sampled was given to it.
    messages = [
        node.message.model_dump()
        for node in trace.nodes
        if node.sampled or not isinstance(node.message, vf.AssistantMessage)
    ]
    said = Reading.WORD if reply_in(data.style) == "word" else Reading.AUTO
    actions = actions_of_conversation(messages, incident.topology, style=said)
    return grade_actions(incident, actions, rubric)


def shares_of(grade: Grade) -> dict[str, float]:
    """Each criterion's share of the grade, as ``reward/<criterion>``; they add up to it."""
    return {f"reward/{name}": share for name, share in by_criterion(grade).items()}


class TriageTaskConfig(vf.TaskConfig):
    """How a row is graded.

    ``rubric`` is the id of a built-in rubric, or ``module:name`` of one of yours, which imports,
    and so runs, that module; None for that of the incident's task.
    """

    rubric: str | None = None

    def named(self) -> Rubric | None:
        """The rubric.

        Raises:
            UnknownName, InvalidInput: as :func:`logtriage.grading.rubric_named`.
        """
        return None if self.rubric is None else rubric_named(self.rubric)


class TriageTask(vf.Task[TriageData, vf.State, TriageTaskConfig]):
    """One incident; its reward is the grade."""

    @property
    def key(self) -> str:
        """The incident's name, the same in every run."""
        return self.data.incident

    @vf.reward
    async def grade(self, trace: vf.Trace) -> float:
        """The grade, from 0 to 1."""
        score = grade_of(self.data, trace, self.config.named()).score
        assert score is not None  # a list of actions is always scored
        return score

    @vf.metric
    async def criteria(self, trace: vf.Trace) -> dict[str, float]:
        """The figures of a grade, and each criterion's share of it."""
        grade = grade_of(self.data, trace, self.config.named())
        return {**metrics_of(grade), **shares_of(grade)}


class TriageConfig(vf.TasksetConfig):
    """Which incidents: ``episodes`` of each of the ``tasks``, from ``start`` on.

    A task is an id, ``module:name`` of yours (a task sheet, or a function from split and
    number to an incident), which imports, and so runs, that module, or ``recorded`` or
    ``recorded_models``: the incidents of ``bundle``, or the shipped ones. ``world`` is a folder
    or a name, whose tasks need not name it. With ``style`` ``notation``, screens are words, a
    reply is an action in one word, and no tools are offered.
    """

    tasks: list[str] = Field(default_factory=lambda: list(DRAWN_TASKS))
    split: str = "train"
    episodes: int = 100
    start: int = 0
    bundle: str | None = None
    world: str | None = None
    style: Style = "text"
    task: TriageTaskConfig = TriageTaskConfig()


class TriageTaskset(vf.Taskset[TriageTask, TriageConfig]):
    """Incidents of logtriage's tasks, one row each."""

    def __init__(self, config: TriageConfig) -> None:
        super().__init__(config)
        SOURCES.allow(
            config.tasks, config.bundle, config.world
        )  # servers are sent rows, and load none

    def load(self) -> Iterator[TriageTask]:
        """The rows, task by task.

        Raises:
            UnknownName, InvalidInput: for a task, split or rubric that does not exist, and
                for a bundle that no task plays.
            BundleError: if the bundle is damaged.
        """
        config = self.config
        config.task.named()  # a wrong rubric is refused here, not at the first reward
        numbers = itertools.count()  # 0.4 numbers rows itself, 0.3.1 does not
        which = config.tasks, config.split, config.episodes, config.start, config.bundle
        for one in SOURCES.rows(*which, config.world):
            incident = SOURCES(one, config.bundle)
            rules, screen = opening(incident, reply_in(config.style), config.style)
            data = TriageData(
                idx=next(numbers),
                id=one,
                name=one,
                incident=one,
                bundle=config.bundle,
                seal=incident.seal,
                world=incident.world_mark,
                style=config.style,
                system_prompt=rules["content"],
                prompt=screen["content"],
            )
            yield TriageTask(data, config.task)
