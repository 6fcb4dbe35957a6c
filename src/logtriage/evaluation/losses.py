"""Why a policy earned what it earned: means of the parts over its explained episodes."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from logtriage.actions import Escalate
from logtriage.belief.explain import Step
from logtriage.evaluation.explanations import Explained
from logtriage.evaluation.statistics import Interval, mean_interval, paired_difference

#: The parts of a grade, by their fields.
PARTS: Final = ("at_first", "asking_gained", "decision_cost", "luck")
_FIGURES: Final = (*PARTS, "without_luck", "hardness")


@attrs.frozen
class Calls:
    """Pages, or first root causes declared: how many, and shares of them.

    ``justified``: the belief gave them at least the bar. ``right``: the truth agrees.
    ``lucky``: right without being justified. None where there were none.
    """

    count: int
    right: float | None
    justified: float | None
    lucky: float | None


@attrs.frozen
class Losses:
    """The parts in means over the explained episodes of a policy on a task."""

    episodes: int
    at_first: Interval
    asking_gained: Interval
    decision_cost: Interval
    luck: Interval
    without_luck: Interval
    hardness: Interval
    pages: Calls
    root_causes: Calls


def losses_of(explained: Sequence[Explained]) -> Losses | None:
    """The losses of some episodes; None without any."""
    if not explained:
        return None
    steps = [one for found in explained for one in found.explanation.steps]
    judged = [one for one in steps if one.justified is not None]
    return Losses(
        episodes=len(explained),
        **_figures(lambda name: mean_interval(_values(explained, name))),
        pages=_calls([one for one in judged if isinstance(one.action, Escalate)]),
        root_causes=_calls([one for one in judged if not isinstance(one.action, Escalate)]),
    )


def _figures(interval: Callable[[str], Interval | None]) -> dict[str, Interval]:
    """Each part by its name; intervals are None of nothing alone."""
    found = {name: interval(name) for name in _FIGURES}
    return {name: one for name, one in found.items() if one is not None}


def _values(explained: Sequence[Explained], name: str) -> list[float]:
    return [getattr(one.explanation, name) for one in explained]


def _calls(steps: Sequence[Step]) -> Calls:
    count = len(steps)
    if not count:
        return Calls(0, None, None, None)
    return Calls(
        count,
        sum(bool(one.right) for one in steps) / count,
        sum(bool(one.justified) for one in steps) / count,
        sum(one.lucky for one in steps) / count,
    )


@attrs.frozen
class LossDifference:
    """The differences B - A of the parts over the incidents that both runs explained."""

    incidents: int
    at_first: Interval
    asking_gained: Interval
    decision_cost: Interval
    luck: Interval
    without_luck: Interval
    hardness: Interval


def loss_difference(
    before: Sequence[Explained], after: Sequence[Explained]
) -> LossDifference | None:
    """The paired differences of explained episodes of the same incidents; None without any."""
    if not before:
        return None
    return LossDifference(
        incidents=len(before),
        **_figures(lambda name: paired_difference(_values(before, name), _values(after, name))),
    )
