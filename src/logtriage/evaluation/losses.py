"""Mean parts of grades (:mod:`logtriage.beliefs.explain`) over a policy's explained episodes."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Final

import attrs

from logtriage.actions import Escalate
from logtriage.beliefs.explain import Explanation, Step
from logtriage.evaluation.statistics import Interval, mean_of_attempts, paired_difference

#: The parts of a grade: fields of an explanation that sum up to the grade.
PARTS: Final = ("at_first", "asking_gained", "decisions", "luck")
_FIGURES: Final = (*PARTS, "without_luck", "hardness")


@attrs.frozen
class Calls:
    """The ``count`` of pages, or of first declared root causes, and shares; None without any.

    ``justified``: the belief gave them at least the bar. ``right``: the truth agrees.
    ``lucky``: right without being justified.
    """

    count: int
    right: float | None
    justified: float | None
    lucky: float | None


@attrs.frozen
class Losses:
    """The parts of grades over explained episodes: means, or differences of two runs.

    Differences are paired, B - A, over incidents that both runs explained; they have no ``Calls``.
    """

    episodes: int
    at_first: Interval
    asking_gained: Interval
    decisions: Interval
    luck: Interval
    without_luck: Interval
    hardness: Interval
    pages: Calls | None = None
    root_causes: Calls | None = None


def losses_of(attempts: Iterable[Sequence[Explanation]]) -> Losses | None:
    """Mean losses of explained episodes, or None; ``attempts`` groups them by incident."""
    every = list(attempts)
    explained = [episode for each in every for episode in each]
    if not explained:
        return None
    steps = [step for episode in explained for step in episode.steps]
    judged = [step for step in steps if step.justified is not None]  # pages and root causes
    return Losses(
        episodes=len(explained),
        **_figures(lambda name: mean_of_attempts([_values(each, name) for each in every])),
        pages=_calls([step for step in judged if isinstance(step.action, Escalate)]),
        root_causes=_calls([step for step in judged if not isinstance(step.action, Escalate)]),
    )


def loss_difference(before: Sequence[Explanation], after: Sequence[Explanation]) -> Losses | None:
    """The mean differences, ``after`` - ``before``, on the same incidents; None without any."""
    if not before:
        return None
    return Losses(
        episodes=len(before),
        **_figures(lambda name: paired_difference(_values(before, name), _values(after, name))),
        pages=None,
        root_causes=None,
    )


def _figures(interval: Callable[[str], Interval | None]) -> dict[str, Interval]:
    intervals = ((name, interval(name)) for name in _FIGURES)
    return {name: known for name, known in intervals if known is not None}


def _values(explained: Sequence[Explanation], name: str) -> list[float]:
    return [getattr(episode, name) for episode in explained]


def _calls(steps: Sequence[Step]) -> Calls:
    if not steps:
        return Calls(0, right=None, justified=None, lucky=None)
    return Calls(
        len(steps),
        right=fmean(bool(step.right) for step in steps),
        justified=fmean(bool(step.justified) for step in steps),
        lucky=fmean(step.lucky for step in steps),
    )
