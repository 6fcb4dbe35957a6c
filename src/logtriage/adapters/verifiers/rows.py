"""The rows of verifiers: incidents, each with its rules, its first screen and its reward."""

from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from logtriage.adapters.episode import Episode, opening, reply_in
from logtriage.adapters.rewards import by_criterion, metrics_of
from logtriage.adapters.sources import Sources
from logtriage.conversations.wires import Style as Reading
from logtriage.conversations.wires import actions_of_conversation
from logtriage.grading import Graded, Rubric, grade_actions, rubric_named
from logtriage.incident import Incident
from logtriage.rendering import Style
from logtriage.tasks import DRAWN_TASKS
from logtriage.transcript import check_drawn

#: Finds the incidents of rows. The taskset, never a row, says which modules may be imported.
SOURCES = Sources()


class _IncidentData(vf.TaskData):
    incident: str
    bundle: str | None = None
    seal: str | None = None
    world: str | None = None


class TriageData(_IncidentData):
    """A row: the incident's name, the rules and the first screen. The truth is not in it.

    ``incident`` is an id, or ``module:name/split/number`` for your own task. ``bundle`` is the
    file of a recorded incident that is not shipped.
    """

    style: Style = "text"


class RoleData(_IncidentData):
    """The rules and the first screen of one role of a team."""

    role: str
    role_split: str


def incident_of_row(data: _IncidentData) -> Incident:
    """The incident of a row."""
    incident = SOURCES(data.incident, data.bundle)
    check_drawn(data.seal, data.world, incident)
    return incident


def grade_of(data: TriageData, trace: vf.Trace, rubric: Rubric | None = None) -> Graded:
    """The grade of the model's replies on a trace."""
    incident = incident_of_row(data)
    # An assistant message that was not sampled is part of the prompt.
    messages = [
        node.message.model_dump()
        for node in trace.nodes
        if node.sampled or not isinstance(node.message, vf.AssistantMessage)
    ]
    reading = Reading.WORD if reply_in(data.style) == "word" else Reading.AUTO
    actions = actions_of_conversation(messages, incident.topology, style=reading)
    return grade_actions(incident, actions, rubric)


def turn_rewards(data: TriageData, trace: vf.Trace, rubric: Rubric | None = None) -> list[float]:
    """The reward of each sampled reply; with the grade of no action they add up to the grade."""
    episode = Episode(incident_of_row(data), style=data.style, rubric=rubric)
    for node in trace.nodes:
        if node.sampled and isinstance(node.message, vf.AssistantMessage):
            episode.step(node.message.model_dump())
    return list(episode.rewards)


def shares_of(grade: Graded) -> dict[str, float]:
    """Each criterion's share, as ``reward/<criterion>``; the shares add up to the grade."""
    return {f"reward/{name}": share for name, share in by_criterion(grade).items()}


class TriageTaskConfig(vf.TaskConfig):
    """How a row is graded: by a built-in rubric's id, or your own ``module:name``, which runs."""

    rubric: str | None = None

    def named(self) -> Rubric | None:
        """The rubric that the configuration names; None for that of the incident's task."""
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

    A task is an id, your own ``module:name``, which imports, and so runs, that module, or
    ``recorded`` or ``recorded_models``: those of ``bundle``, or the shipped incidents. ``world``
    is a folder or a name; its tasks need not name it. In ``style`` ``notation`` a reply is an
    action in one word.
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
        # Here, since a server receives rows and never calls load().
        SOURCES.allow(config.tasks, config.bundle, config.world)

    def load(self) -> Iterator[TriageTask]:
        """The rows, task by task."""
        config = self.config
        config.task.named()  # refuses a wrong rubric here, not at the first reward
        which = config.tasks, config.split, config.episodes, config.start, config.bundle
        # verifiers 0.4 numbers rows itself, 0.3.1 does not.
        for number, name in enumerate(SOURCES.rows(*which, config.world)):
            incident = SOURCES(name, config.bundle)
            rules, screen = opening(incident, reply_in(config.style), config.style)
            data = TriageData(
                idx=number,
                id=name,
                name=name,
                incident=name,
                bundle=config.bundle,
                seal=incident.seal,
                world=incident.world_mark,
                style=config.style,
                system_prompt=rules["content"],
                prompt=screen["content"],
            )
            yield TriageTask(data, config.task)
