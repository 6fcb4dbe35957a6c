"""The rows of verifiers: incidents, each with its rules, its first screen and its reward."""

import itertools
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from logtriage.adapters.conversations import actions_of_conversation
from logtriage.adapters.episode import opening
from logtriage.adapters.rewards import by_criterion, metrics_of
from logtriage.evaluation import RECORDED_TASKS, Incidents
from logtriage.grading import Grade, Rubric, grade_actions, rubric_named
from logtriage.incident import Incident
from logtriage.tasks import DRAWN_TASKS, get_task, incident_ids
from logtriage.transcript import check_seal

INCIDENTS = Incidents()


class TriageData(vf.TaskData):
    """A row: the incident's id, the rules and the first screen. The truth is not in it.

    ``seal`` is the fingerprint of the key of a sealed incident.
    """

    incident: str
    seal: str | None = None


class RoleData(vf.TaskData):
    """What one role of a team is told: its rules and its first screen."""

    incident: str
    role: str
    role_split: str
    seal: str | None = None


def incident_of_row(data: TriageData | RoleData) -> Incident:
    """The incident of a row.

    Raises:
        SealError: for a sealed incident without its key, or with another one.
    """
    incident = INCIDENTS(data.incident)
    check_seal(data.seal, incident)
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
    return grade_actions(incident, actions_of_conversation(messages, incident.topology), rubric)


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
        """The incident's id, which names it in every run."""
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
    """Which incidents: ``episodes`` of each of the ``tasks``, from ``start`` on."""

    tasks: list[str] = Field(default_factory=lambda: list(DRAWN_TASKS))
    split: str = "train"
    episodes: int = 100
    start: int = 0
    task: TriageTaskConfig = TriageTaskConfig()


class TriageTaskset(vf.Taskset[TriageTask, TriageConfig]):
    """Incidents of logtriage's tasks, one row each."""

    def load(self) -> Iterator[TriageTask]:
        """The rows, task by task.

        Raises:
            UnknownName, InvalidInput: for a task, split or rubric that does not exist.
        """
        config = self.config
        config.task.named()  # a wrong rubric is refused here, not at the first reward
        numbers = itertools.count()  # 0.4 numbers rows itself, 0.3.1 does not
        for name in config.tasks:
            if name in RECORDED_TASKS:
                ids = list(INCIDENTS.recorded(name))[config.start : config.start + config.episodes]
            else:
                count = 1 if get_task(name).original else config.episodes
                ids = list(incident_ids(name, config.split, count, config.start))
            for one in ids:
                incident = INCIDENTS(one)
                rules, screen = opening(incident, "tools")
                data = TriageData(
                    idx=next(numbers),
                    id=one,
                    name=one,
                    incident=one,
                    seal=incident.seal,
                    system_prompt=rules["content"],
                    prompt=screen["content"],
                )
                yield TriageTask(data, config.task)
