"""Baselines of root-cause analysis: every service ranked by the signals of the dashboard.

They watch while there is time, score each service by its signals, name the highest
and resolve. They see observations only, know no log phrase and no fault kind, and are
meant for recorded incidents: a source without signals leaves them with nothing to say.
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Final

import attrs

from logtriage.actions import Action, IdentifyRootCause, RequestMoreLogs, Resolve
from logtriage.observation import Observation
from logtriage.policies import standardised
from logtriage.policies.base import Memory, Ranking, ranked
from logtriage.world.telemetry import Signal

#: Ticks kept for the answer: name a service, resolve.
RESERVE: Final = 2

#: The score of a service from its signals, by their names.
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


@attrs.frozen
class Method:
    """How services are scored: each screen, then over the screens.

    ``score`` scores a service on a screen; ``over`` sums up its scores. A method may have a second
    score, ``weaker``, which counts as :func:`standardised.weighed` says. With ``fresh``, a screen
    on which nothing is new adds nothing: a recording may have ended. With ``targeted``, signals
    that callers share count only in the metrics that the screen's alerts are about, as
    :func:`standardised.of_target` says.
    """

    score: Score
    over: Callable[[Sequence[float]], float] = fmean
    weaker: Score | None = None
    fresh: bool = False
    targeted: bool = False


#: How each ranking policy scores services, by the name of the policy.
METHODS: Final[dict[str, Method]] = {
    "error_count": Method(error_count),
    "cpu_rise": Method(cpu_rise),
    "network_delay": Method(network_delay),
    "event_shift": Method(event_shift),
    "n_sigma": Method(standardised.n_sigma, over=max),
    "baro": Method(standardised.baro, over=max),
    "combined": Method(standardised.own, weaker=standardised.inherited, fresh=True, targeted=True),
}


@attrs.frozen
class RankingPolicy:
    """Ranks by a score summed up over all screens that there is time for.

    A fault lasts, a spike does not: hence the mean and not the largest, unless the method says
    otherwise. Memory holds for each screen the scores of all services in index order, and after
    them the weaker scores if the method has any.
    """

    method: Method

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Watch, then name the service with the highest score (of several the first), resolve."""
        if observation.root_cause is not None:
            return Resolve(), memory
        scores = self._scores(observation)
        seen = memory or ()
        if not (self.method.fresh and seen and seen[-1] == scores):
            seen = (*seen, scores)
        if observation.ticks_left > RESERVE:
            return RequestMoreLogs(None), seen
        names = observation.topology.names
        score, name = max(zip(self._summed(seen), names, strict=True), key=lambda row: row[0])
        return (IdentifyRootCause(name) if score > 0 else Resolve()), seen

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        """All services, equal scores together."""
        scores = self._summed(memory) if memory else [0.0] * len(observation.topology)
        return ranked(dict(zip(observation.topology.names, scores, strict=True)))

    def _scores(self, observation: Observation) -> tuple[float, ...]:
        scores = (self.method.score, self.method.weaker)
        shown = observation.signals or ((),) * len(observation.topology)
        named = [{signal.name: signal for signal in signals} for signals in shown]
        if self.method.targeted:
            alerts = [alert.name for alert in observation.alerts]
            named = [dict(standardised.of_target(signals, alerts)) for signals in named]
        return tuple(score(signals) for score in scores if score is not None for signals in named)

    def _summed(self, seen: Sequence[Sequence[float]]) -> list[float]:
        scores = [self.method.over(column) for column in zip(*seen, strict=True)]
        if self.method.weaker is None:
            return scores
        half = len(scores) // 2
        pairs = zip(scores[:half], scores[half:], strict=True)
        return [standardised.weighed(own, shared) for own, shared in pairs]
