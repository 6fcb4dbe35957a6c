"""TRL: a reward function for one-shot plans, and an environment for multi-turn GRPO.

Nothing here imports TRL, so that rewards can be tried and tested without it.

>>> from logtriage.adapters.trl import TriageEnv, triage_rows  # doctest: +SKIP
>>> GRPOTrainer(..., environment_factory=TriageEnv,
...             train_dataset=Dataset.from_list(triage_rows(ids)))  # doctest: +SKIP
"""

# mypy: disable-error-code="empty-body"

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from logtriage.actions import ALL_SERVICES
from logtriage.adapters.conversations import actions_of_conversation
from logtriage.adapters.episode import Episode, row_of, rules_of
from logtriage.adapters.rewards import by_criterion, metrics_of, reward_names
from logtriage.adapters.tools import TOOLS, Wire
from logtriage.errors import InvalidInput
from logtriage.grading import Grade, Resolver, Rubric, get_rubric, grade_actions
from logtriage.sealing import incident_of
from logtriage.transcript import check_seal

Completion = str | Sequence[Mapping[str, Any]]
LogMetric = Callable[[str, float], None]
RewardFunction = Callable[..., list[float | None]]

#: What logged metrics are called, before the name of the criterion.
PREFIX: Final = "triage"


def triage_rows(
    incident_ids: Iterable[str], *, resolve: Resolver = incident_of
) -> list[dict[str, Any]]:
    """Rows for :class:`TriageEnv`: ``prompt`` (the rules) and ``incident`` (the id).

    :meth:`TriageEnv.reset` puts the first screen into the empty user message. Rows of
    sealed incidents have the fingerprint of their ``seal``, too. The trainer reads these
    columns; the model sees the prompt alone.
    """
    return [
        {
            "prompt": [
                {"role": "system", "content": rules_of(one, "tools")},
                {"role": "user", "content": ""},
            ],
            **row_of(one),
        }
        for one in map(resolve, incident_ids)
    ]


def triage_reward(
    completions: Sequence[Completion],
    incident: Sequence[str | None],
    log_metric: LogMetric | None = None,
    seal: Sequence[str | None] | None = None,
    **_: Any,
) -> list[float | None]:
    """A reward function: the grade of each completion, on the incident of its row.

    A completion is a reply with a JSON array of wire actions, or a conversation with
    tool calls; what cannot be read is a malformed action. A row without an incident (of
    another data set) gets None, which TRL leaves out. Criteria go to ``log_metric``.
    ``seal`` is the column of that name, which rows of sealed incidents have.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist.
        SealError: for a sealed incident without its key, or with another one.
    """
    grades: list[Grade | None] = []
    seals = [None] * len(completions) if seal is None else seal
    for completion, incident_id, said in zip(completions, incident, seals, strict=True):
        if incident_id is None:
            grades.append(None)
            continue
        drawn = incident_of(incident_id)
        check_seal(said, drawn)
        grades.append(grade_actions(drawn, actions_of_conversation(completion, drawn.topology)))
    _log(log_metric, grades)
    return [None if one is None else one.score for one in grades]


def triage_criteria(
    completions: Sequence[Completion],
    environments: Sequence[object],
    log_metric: LogMetric | None = None,
    **_: Any,
) -> list[None]:
    """A reward function that adds no reward: it logs the criteria of :class:`TriageEnv`.

    The environment gives the reward itself (``get_reward``), which TRL adds to those of
    ``reward_funcs``; None is left out of that sum.
    """
    _log(log_metric, [one.grade for one in environments if isinstance(one, TriageTools)])
    return [None] * len(completions)


def criterion_rewards(rubric: Rubric | str) -> list[RewardFunction]:
    """Reward functions for :class:`TriageTools`, one for each criterion of a rubric.

    With ``multi_objective_aggregation="normalize_then_sum"`` TRL normalises each within its
    group. A criterion that does not apply to a row's incident is None there, which TRL
    leaves out. Those of one episode add up to its grade (``triage_rest`` is what bounds and
    rounding add), so that under ``sum_then_normalize`` they are the reward of
    :class:`TriageEnv`.

    Raises:
        UnknownName: for the id of no built-in rubric.
        InvalidInput: for a rubric with a criterion called ``rest``.
    """
    chosen = get_rubric(rubric) if isinstance(rubric, str) else rubric
    return [_criterion_reward(name) for name in reward_names(chosen)]


def _criterion_reward(name: str) -> RewardFunction:
    def reward(
        completions: Sequence[Completion],  # noqa: ARG001 (TRL's signature)
        environments: Sequence[object],
        **_: Any,
    ) -> list[float | None]:
        return [
            by_criterion(one.grade).get(name) if isinstance(one, TriageTools) else None
            for one in environments
        ]

    reward.__name__ = f"{PREFIX}_{name}"
    return reward


def _log(log_metric: LogMetric | None, grades: Sequence[Grade | None]) -> None:
    if log_metric is None:
        return
    values: dict[str, list[float]] = {}
    for grade in grades:
        if grade is None:
            continue
        for name, figure in metrics_of(grade).items():
            values.setdefault(name, []).append(figure)
    for name, found in values.items():
        log_metric(f"{PREFIX}/{name}", sum(found) / len(found))


P = ParamSpec("P")


def _tool(
    signature: Callable[Concatenate["TriageTools", P], str],
) -> Callable[Concatenate["TriageTools", P], str]:
    """A method that plays the action of its name, documented by the one schema.

    It takes any arguments, so that a call with wrong ones reaches the environment and
    costs its tick, as a malformed action does everywhere.
    """
    tool = TOOLS[signature.__name__]

    @wraps(signature)
    def call(self: "TriageTools", /, *unnamed: P.args, **arguments: P.kwargs) -> str:
        if unnamed:
            raise TypeError(f"{tool.name}() takes arguments by name only")
        return self._call({"name": tool.name, "arguments": arguments})

    call.__doc__ = tool.docstring()
    # What a tool returns would be said in every prompt, for nothing.
    call.__annotations__ = {
        name: hint for name, hint in call.__annotations__.items() if name != "return"
    }
    return call


class TriageTools:
    """One incident as an environment of TRL whose reward is left to ``reward_funcs``.

    :class:`TriageEnv` without a reward of its own, for :func:`criterion_rewards`.

    Args:
        rubric: Another rubric than that of the incident's task.
        resolve: Finds incidents by id, if they are not drawn ones.
    """

    def __init__(self, rubric: Rubric | None = None, resolve: Resolver = incident_of) -> None:
        self._rubric = rubric
        self._resolve = resolve
        self._episode: Episode | None = None

    def reset(self, **row: Any) -> str:
        """Start the incident that the dataset row names in its column ``incident``.

        Returns the first screen, with the rules before it unless the row's ``prompt``
        has a system message. The text follows from the row alone, so that all members of
        a group read the same.

        Raises:
            UnknownName, InvalidInput: if the row names no incident that exists.
            SealError: for a sealed incident without its key, or with another one.
        """
        self._episode = Episode.of_row(row, rubric=self._rubric, resolve=self._resolve)
        rules, screen = self._opening()
        prompt = row.get("prompt")
        told = isinstance(prompt, list | tuple) and any(
            isinstance(message, Mapping) and message.get("role") == "system" for message in prompt
        )
        return screen if told else f"{rules}\n\n{screen}"

    @property
    def episode(self) -> Episode:
        """The episode, with its rewards by turn and by criterion.

        Raises:
            InvalidInput: before the first reset.
        """
        if self._episode is None:
            raise InvalidInput("no incident yet: call reset(incident=…) first")
        return self._episode

    @property
    def grade(self) -> Grade:
        """The grade with its reasons."""
        return self.episode.grade

    @property
    def actions(self) -> tuple[Wire, ...]:
        """The wire actions so far, those after the closing one included."""
        return self.episode.actions

    def _opening(self) -> tuple[str, str]:
        """The rules and the first screen."""
        rules, screen = (message["content"] for message in self.episode.prompt)
        return rules, screen

    def _call(self, called: Mapping[str, Any]) -> str:
        """Play a tool call; what the model is told of it."""
        return self.episode.step({"role": "assistant", "tool_calls": [called]}).text

    # The tools: signatures alone. What they say and do comes from logtriage.adapters.tools.

    @_tool
    def classify_severity(self, *, severity: str) -> str: ...  # noqa: D102

    @_tool
    def identify_root_cause(self, *, service: str, confidence: float | None = None) -> str: ...  # noqa: D102

    @_tool
    def escalate(self, *, team: str) -> str: ...  # noqa: D102

    @_tool
    def remediate(self, *, remedy: str, service: str) -> str: ...  # noqa: D102

    @_tool
    def request_more_logs(self, *, service: str = ALL_SERVICES) -> str: ...  # noqa: D102

    @_tool
    def request_metrics(self, *, service: str) -> str: ...  # noqa: D102

    @_tool
    def request_traces(self, *, service: str) -> str: ...  # noqa: D102

    @_tool
    def resolve(self) -> str: ...  # noqa: D102

    @_tool
    def ignore(self) -> str: ...  # noqa: D102


class TriageEnv(TriageTools):
    """One incident as an environment of TRL's ``GRPOTrainer(environment_factory=…)``.

    TRL makes a tool of every public method but ``reset`` and ``get_reward``, reuses
    instances, and knows no end of an episode: it ends with a reply without a tool call,
    or at ``max_tool_calling_iterations`` (set it to the task's horizon). Calls after the
    closing one are told so, and earn nothing.
    """

    def get_reward(self) -> float:
        """The grade of what was played, in [0, 1]; that of an open incident if it is open."""
        score = self.grade.score
        assert score is not None  # what is played is always scored
        return score
