"""TRL: rows, and reward functions for plans, for conversations and by criterion."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.adapters.episode import incidents_of, row_of
from logtriage.adapters.rewards import by_criterion, metrics_of, reward_names
from logtriage.adapters.trl.environments import NotationEnv, Playing
from logtriage.conversations.wires import actions_of_conversation
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput
from logtriage.grading import Grade, Graded, Resolver, Rubric, grade_actions, rubric_named
from logtriage.rendering import Style, check_style, system_prompt
from logtriage.transcript import check_drawn
from logtriage.world.loading import world_at_hand

Completion = str | Sequence[Mapping[str, Any]]
LogMetric = Callable[[str, float], None]
RewardFunction = Callable[..., list[float | None]]

#: The beginning of the names of logged metrics, before the criterion.
PREFIX: Final = "triage"


def triage_rows(
    incident_ids: Iterable[str], *, resolve: Resolver = incident_of, style: Style = "text"
) -> list[dict[str, Any]]:
    """Rows for :class:`TriageEnv`: ``prompt`` (the rules) and the columns of the incident.

    ``style`` must be that of the environment, which is ``notation`` for :class:`NotationEnv`.
    :meth:`TriageEnv.reset` puts the first screen into the empty user message. The trainer reads
    the columns (:func:`~logtriage.adapters.episode.row_of`); the model sees the prompt alone.

    Raises:
        UnknownName, InvalidInput: for a style that does not exist, or that no environment plays.
    """
    if check_style(style) not in (Playing.style, NotationEnv.style):
        played = f"{Playing.style} and {NotationEnv.style}"
        raise InvalidInput(f"style: environments of TRL play {played}, not {style!r}")
    reply = (NotationEnv if style == "notation" else Playing).reply
    return [
        {
            "prompt": [
                {"role": "system", "content": system_prompt(drawn, reply, style=style)},
                {"role": "user", "content": ""},
            ],
            "style": style,
            **row_of(drawn),
        }
        for drawn in incidents_of(incident_ids, resolve)
    ]


def triage_reward(
    completions: Sequence[Completion],
    incident: Sequence[str | None],
    log_metric: LogMetric | None = None,
    seal: Sequence[str | None] | None = None,
    world: Sequence[str | None] | None = None,
    **_: Any,
) -> list[float | None]:
    """A reward function: the grade of each completion, on the incident of its row.

    A completion is a reply with a JSON array of wire actions, or a conversation with
    tool calls; unreadable output is a malformed action. A row without an incident (of
    another data set) gets None, which TRL leaves out. Criteria go to ``log_metric``.
    ``seal`` and ``world`` are columns of the rows. Load your own world in this process first.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist, and for columns of
            another length.
        SealError: for a sealed incident without its key, or with another key.
    """
    grades: list[Grade | None] = []
    for name, column in {"incident": incident, "seal": seal, "world": world}.items():
        if column is not None and len(column) != len(completions):
            raise InvalidInput(f"{name}: {len(column)} rows for {len(completions)} completions")
    seals = [None] * len(completions) if seal is None else seal
    worlds = [None] * len(completions) if world is None else world
    for completion, incident_id, row_seal, row_world in zip(
        completions, incident, seals, worlds, strict=True
    ):
        if not incident_id:
            grades.append(None)
            continue
        drawn = incident_of(incident_id, world=world_at_hand(row_world))
        check_drawn(row_seal, row_world, drawn)
        grades.append(grade_actions(drawn, actions_of_conversation(completion, drawn.topology)))
    _log(log_metric, grades)
    return [None if grade is None else grade.score for grade in grades]


def triage_criteria(
    completions: Sequence[Completion],
    environments: Sequence[object],
    log_metric: LogMetric | None = None,
    **_: Any,
) -> list[None]:
    """A reward function that adds no reward: it logs the criteria of :class:`TriageEnv`."""
    _log(log_metric, [env.grade for env in environments if isinstance(env, Playing)])
    return [None] * len(completions)


def criterion_rewards(rubric: Rubric | str) -> list[RewardFunction]:
    """Reward functions for :class:`TriageTools`, one for each criterion of a rubric.

    With ``multi_objective_aggregation="normalize_then_sum"`` TRL normalises each within its group.
    A criterion that does not apply is None, which TRL leaves out. Rewards of an episode add up to
    its grade; ``triage_rest`` is what bounds and rounding add. Give your own rubric, an id or
    ``module:name`` (which is imported, and so run) to the environment, too.

    Raises:
        UnknownName, InvalidInput: for what is no rubric, or if a criterion is called ``rest``.
    """
    chosen = rubric_named(rubric) if isinstance(rubric, str) else rubric
    return [CriterionReward(name) for name in reward_names(chosen)]


@attrs.frozen
class CriterionReward:
    """The share of one criterion in the grade of each environment. It can be pickled."""

    criterion: str

    @property
    def __name__(self) -> str:
        """What TRL calls the function in its logs."""
        return f"{PREFIX}_{self.criterion}"

    def __call__(
        self,
        completions: Sequence[Completion],  # noqa: ARG002 (TRL's signature)
        environments: Sequence[object],
        **_: Any,
    ) -> list[float | None]:
        """A share for each environment; None if the criterion does not apply."""
        return [
            by_criterion(env.grade).get(self.criterion) if isinstance(env, Playing) else None
            for env in environments
        ]


def _log(log_metric: LogMetric | None, grades: Sequence[Graded | None]) -> None:
    if log_metric is None:
        return
    pairs = [pair for grade in grades if grade is not None for pair in metrics_of(grade).items()]
    for name, figures in grouped(pairs).items():
        log_metric(f"{PREFIX}/{name}", sum(figures) / len(figures))
