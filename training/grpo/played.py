"""Records of a training episode and of a step, in plain figures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from logtriage.evaluation import SOLVED
from logtriage.grading import Grade
from logtriage.state import Closing, State


@attrs.frozen
class Episode:
    """One attempt: ``number`` within its ``step`` (from 1), members of a group being neighbours.

    ``gate`` is why the reward is 0 whatever was earned, or None. ``fault`` says whether there
    was one, ``paged`` whether anybody was paged, ``paged_right`` whether an accepted team
    was, ``mis_paged`` whether a wrong one was; ``price`` is the incident's price of hand-over.
    ``criteria`` are scores by name; ``actions`` are wire actions;
    ``unplayed`` of them came after the end.
    """

    step: int
    number: int
    incident: str
    task: str
    reward: float
    gate: str | None
    closing: str | None
    ticks: int
    unplayed: int
    fault: bool
    paged: bool
    paged_right: bool
    mis_paged: bool
    price: float | None
    criteria: dict[str, float]
    actions: tuple[dict[str, Any], ...]

    @property
    def gated(self) -> bool:
        """Whether a gate holds."""
        return self.gate is not None

    @property
    def handed_over(self) -> bool:
        """Whether the incident was handed over."""
        return self.closing == Closing.HANDED_OVER

    @property
    def solved(self) -> bool:
        """Whether the grade is that of a solved incident."""
        return self.reward >= SOLVED


def episode_of(
    step: int,
    number: int,
    grade: Grade,
    actions: Iterable[Mapping[str, Any]],
    after: State,
) -> Episode:
    """The record of an episode, from its grade and the state after it."""
    assert grade.score is not None  # what is played is always scored
    facts, incident = after.facts, after.incident
    return Episode(
        step=step,
        number=number,
        incident=grade.incident,
        task=grade.task,
        reward=grade.score,
        gate=grade.gate,
        closing=None if grade.closing is None else str(grade.closing),
        ticks=grade.ticks,
        unplayed=grade.unplayed,
        fault=not incident.truth.benign,
        paged=bool(facts.pages),
        paged_right=any(team in incident.truth.teams for _, team in facts.pages),
        mis_paged=facts.wrong_pages > 0,
        price=incident.price_of_hand_over,
        criteria={row.name: row.score for row in grade.criteria},
        actions=tuple(dict(action) for action in actions),
    )


@attrs.frozen
class Step:
    """The means and shares of a step's episodes, and its seconds.

    ``stage`` counts from 0. ``solved`` is the share of grades of at least 0.9, ``paged_right``
    that of the faults in which an accepted team was paged, ``paged`` and ``mis_paged`` those of
    all episodes in which anybody and a wrong team was, ``page_precision`` the share of the
    episodes with a page in which no page was wrong; a share of nothing is NaN.
    ``zero_variance`` is the share of groups whose rewards are all the same, which teach
    nothing. ``generation`` is the model's, ``env`` the environment's (rewards and records
    included), ``update`` what is not rollout: losses, gradients, optimiser; the rest of
    ``seconds`` is templates, tokens and advantages. ``tokens`` were generated;
    NaN in the table of an older run.
    """

    step: int
    stage: int
    solved: float
    paged_right: float
    mis_paged: float
    page_precision: float
    paged: float
    reward: float
    gated: float
    zero_variance: float
    ticks: float
    seconds: float
    generation: float
    env: float
    update: float
    tokens: float = math.nan

    @property
    def env_share(self) -> float:
        """The environment's part of the time."""
        return self.env / self.seconds if self.seconds else 0.0


@attrs.frozen
class Shares:
    """The means of :class:`Step` over episodes of whole groups."""

    solved: float
    paged_right: float
    mis_paged: float
    page_precision: float
    paged: float
    reward: float
    gated: float
    zero_variance: float
    ticks: float

    @classmethod
    def of(cls, episodes: Sequence[Episode], group: int) -> "Shares":
        """The shares of these episodes; neighbours are in one group."""
        rewards = [episode.reward for episode in episodes]
        groups = [rewards[start : start + group] for start in range(0, len(rewards), group)]
        return cls(
            solved=_mean(episode.solved for episode in episodes),
            paged_right=_mean(episode.paged_right for episode in episodes if episode.fault),
            mis_paged=_mean(episode.mis_paged for episode in episodes),
            page_precision=_mean(not episode.mis_paged for episode in episodes if episode.paged),
            paged=_mean(episode.paged for episode in episodes),
            reward=_mean(episode.reward for episode in episodes),
            gated=_mean(episode.gated for episode in episodes),
            zero_variance=_mean(min(rewards) == max(rewards) for rewards in groups),
            ticks=_mean(episode.ticks for episode in episodes),
        )


def _mean(values: Iterable[float]) -> float:
    """The mean; NaN of nothing."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else float("nan")
