"""Baselines of root-cause analysis: every service ranked by what the dashboard shows.

They watch while there is time, score each service by its signals, name the highest
and resolve. They see observations only, know no log phrase and no fault kind, and are
meant for recorded incidents: a source without signals leaves them with nothing to say.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import attrs

from logtriage.actions import Action, IdentifyRootCause, RequestMoreLogs, Resolve
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Ranking
from logtriage.telemetry import Signal

#: Ticks kept for the answer: name a service, resolve.
RESERVE: Final = 2

#: The score of one service from its signals, by their names.
Score = Callable[[dict[str, Signal]], float]


def _stray(name: str) -> Score:
    """How many spreads a signal lies above what is usual."""

    def score(signals: dict[str, Signal]) -> float:
        return max(0.0, signals[name].stray) if name in signals else 0.0

    return score


def error_count(signals: dict[str, Signal]) -> float:
    """Requests of the minute with an error of a kind that the baseline does not have."""
    if "new_errors_bp" not in signals:
        return 0.0
    requests = signals["calls"].value if "calls" in signals else 1
    return signals["new_errors_bp"].value * requests / 10_000


def event_shift(signals: dict[str, Signal]) -> float:
    """How surely a kind of log line appeared or vanished, whichever way."""
    return abs(signals["events_bp"].stray) if "events_bp" in signals else 0.0


cpu_rise: Final = _stray("cpu_bp")
network_delay: Final = _stray("network_ms")
_new_errors: Final = _stray("new_errors_bp")


def combined(signals: dict[str, Signal]) -> float:
    """The largest standardised signal: new errors, events, CPU or network."""
    return max(one(signals) for one in (_new_errors, event_shift, cpu_rise, network_delay))


SCORES: Final[dict[str, Score]] = {
    "error_count": error_count,
    "cpu_rise": cpu_rise,
    "network_delay": network_delay,
    "event_shift": event_shift,
    "combined": combined,
}


@attrs.frozen
class RankingPolicy:
    """Ranks by the mean of a score over all screens that there is time for.

    A fault lasts, a spike does not: hence the mean and not the largest. Memory is the
    screens watched, for each the scores of all services in index order.
    """

    score: Score

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Watch, then name the service with the highest score (of several the first), resolve."""
        if observation.root_cause is not None:
            return Resolve(), memory
        seen = (*(memory or ()), self._scores(observation))
        if observation.ticks_left > RESERVE:
            return RequestMoreLogs(None), seen
        score, name = max(zip(_means(seen), observation.topology.names, strict=True), key=_first)
        return (IdentifyRootCause(name) if score > 0 else Resolve()), seen

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        """Every service, those with equal scores together."""
        scores = _means(memory) if memory else [0.0] * len(observation.topology)
        ranked = sorted(
            zip(scores, observation.topology.names, strict=True), key=lambda row: -row[0]
        )
        return tuple(tuple(name for _, name in group) for _, group in groupby(ranked, key=_first))

    def _scores(self, observation: Observation) -> tuple[float, ...]:
        if not observation.signals:
            return (0.0,) * len(observation.topology)
        return tuple(
            self.score({signal.name: signal for signal in signals})
            for signals in observation.signals
        )


def _means(seen: Sequence[Sequence[float]]) -> list[float]:
    return [sum(scores) / len(seen) for scores in zip(*seen, strict=True)]


def _first(row: tuple[float, object]) -> float:
    return row[0]
