"""How good stated confidences are over a run, and what handing over by them would earn.

A confidence is stated with a root cause, and compared with the truth and with the exact posterior
at that tick. A figure that cannot be computed is None, never NaN.
"""

from collections.abc import Sequence
from math import lgamma
from statistics import fmean
from typing import Any, Final

import attrs
import numpy as np

from logtriage._lib.grouping import grouped
from logtriage._lib.progress import OnProgress, watched
from logtriage.actions import IdentifyRootCause
from logtriage.beliefs import belief
from logtriage.dynamics import transition
from logtriage.evaluation.episodes import played_state
from logtriage.evaluation.loading import LoadedRun
from logtriage.evaluation.net_values import net_value
from logtriage.evaluation.statistics import (
    LEVEL,
    RESAMPLES,
    SEED,
    Interval,
    augrc,
    bisected,
    brier,
    mean_interval,
    mean_known,
    resampled_interval,
)
from logtriage.state import State, initial_state

#: Bins of confidences, each of the same width; the last holds 1.
BINS: Final = 10


@attrs.frozen
class Stated:
    """A root cause that was declared with a confidence.

    ``posterior`` is the exact probability of that service at that tick; None if probabilities are
    unknown, or if a team played.
    """

    confidence: float
    right: bool
    posterior: float | None


#: A scored episode: (stated root cause or None, grade, worth of a hand-over or None).
_Episode = tuple[Stated | None, float, float | None]


@attrs.frozen
class Bin:
    """Confidences in [``low``, ``high``): ``count``, mean (``stated``), and the share ``right``.

    ``least`` and ``most`` are exact bounds of that share: calibrated confidences lie between them
    in 19 of 20 bins. ``posterior`` is the mean of the exact posteriors.
    """

    low: float
    high: float
    count: int
    stated: float
    right: float
    least: float
    most: float
    posterior: float | None


@attrs.frozen
class Bar:
    """The net value if each episode with a confidence below ``bar`` were handed over at its start.

    Incidents whose hand-over has no worth are left out. Episodes without a confidence count as
    they were played. ``handed_over`` is the share below ``bar``.
    """

    bar: float
    handed_over: float
    net: Interval


@attrs.frozen
class Calibration:
    """The confidences of one policy on one task.

    ``stated`` of the ``scored`` episodes have a confidence. ``ece`` is the expected calibration
    error with its bootstrap interval. Chance alone makes it positive: a calibrated policy with the
    same confidences exceeds ``by_chance`` in one case of twenty. ``over`` is the mean of confidence
    minus exact posterior; above 0, the policy is too sure.
    """

    policy: str
    task: str
    scored: int
    stated: int
    ece: Interval | None
    by_chance: float | None
    over: Interval | None
    brier: float | None
    augrc: float | None
    bins: tuple[Bin, ...]
    bars: tuple[Bar, ...]


def calibrate(run: LoadedRun, on_progress: OnProgress | None = None) -> tuple[Calibration, ...]:
    """The calibration of each policy on each task of a run."""
    cells = [(policy, task) for task in run.tasks for policy in run.policies]
    every = [(cell, grade) for cell in cells for grade in run.scored(cell[0], cell[1:]).values()]
    played: dict[tuple[str, str], list[_Episode]] = {cell: [] for cell in cells}
    for cell, grade in watched(every, on_progress, len(every)):
        state = played_state(run.incidents(grade.incident), grade)
        played[cell].append((_stated(state), grade.score, state.incident.worth_of_hand_over))
    return tuple(_calibration(*cell, played[cell]) for cell in cells)


def ece(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Expected calibration error: |mean confidence - share right|, averaged over bins by count."""
    return float(_errors(np.asarray(confidences, float)[None], np.asarray(right, float)[None])[0])


def share_bounds(hits: int, count: int, error: float) -> tuple[float, float]:
    """Exact (low, high) of a share (Clopper and Pearson), wrong with probability <= ``error``."""
    return (
        0.0 if hits == 0 else _share_at(hits, count, error / 2, above=True),
        1.0 if hits == count else _share_at(hits, count, error / 2, above=False),
    )


def _calibration(policy: str, task: str, rows: Sequence[_Episode]) -> Calibration:
    known = [stated for stated, _, _ in rows if stated is not None]
    stated, right = [row.confidence for row in known], [row.right for row in known]
    over = [row.confidence - row.posterior for row in known if row.posterior is not None]
    error, by_chance = _error_of(stated, right) if known else (None, None)
    return Calibration(
        policy, task, scored=len(rows), stated=len(known), ece=error, by_chance=by_chance,
        over=mean_interval(over), brier=brier(stated, right), augrc=augrc(stated, right),
        bins=_bins(known), bars=_bars(rows) if known else (),
    )  # fmt: skip


def _stated(state: State) -> Stated | None:
    """The root cause that an episode declared with a confidence; None if there is none."""
    facts, incident = state.facts, state.incident
    if facts.confidence is None or facts.root_cause is None:
        return None
    posterior = None
    if incident.setting is not None and state.schedule is None:
        before = initial_state(incident)  # played up to the declaration
        for action in state.actions:
            if isinstance(action, IdentifyRootCause) and action.service == facts.root_cause:
                break
            before = transition(before, action)
        posterior = belief(before).root_causes.get(facts.root_cause, 0.0)
    right = facts.root_cause in incident.truth.root_causes
    return Stated(facts.confidence, right, posterior)


def _error_of(stated: Sequence[float], right: Sequence[bool]) -> tuple[Interval, float]:
    """(ECE with its interval, the ECE that chance alone exceeds in one case of twenty)."""
    confidences, outcomes = np.asarray(stated, float), np.asarray(right, float)
    draws = np.random.default_rng(SEED)
    rows = draws.integers(len(stated), size=(RESAMPLES, len(stated)))
    error = resampled_interval(ece(stated, right), _errors(confidences[rows], outcomes[rows]))
    fair = draws.random((RESAMPLES, len(stated))) < confidences
    by_chance = _errors(np.broadcast_to(confidences, fair.shape), fair.astype(float))
    return error, float(np.quantile(by_chance, LEVEL))


def _errors(confidences: Any, outcomes: Any) -> Any:
    """The calibration error of each row of (rows, count) confidences and outcomes."""
    places = np.minimum(BINS - 1, (confidences * BINS).astype(int))
    gaps = [  # each times the count of its bin
        np.abs(((confidences - outcomes) * (places == number)).sum(axis=1))
        for number in range(BINS)
    ]
    return np.sum(gaps, axis=0) / max(1, confidences.shape[1])


def _bins(known: Sequence[Stated]) -> tuple[Bin, ...]:
    inside = grouped((min(BINS - 1, int(row.confidence * BINS)), row) for row in known)
    return tuple(_bin(number, inside[number]) for number in sorted(inside))


def _bin(number: int, rows: Sequence[Stated]) -> Bin:
    count, hits = len(rows), sum(row.right for row in rows)
    least, most = share_bounds(hits, count, 1.0 - LEVEL)
    return Bin(
        low=number / BINS,
        high=(number + 1) / BINS,
        count=count,
        stated=fmean(row.confidence for row in rows),
        right=hits / count,
        least=least,
        most=most,
        posterior=mean_known(row.posterior for row in rows),
    )


def _bars(rows: Sequence[_Episode]) -> tuple[Bar, ...]:
    """Net values at the bars 0, 0.1, ..., 1, over incidents with a worth of a hand-over."""
    known = [(stated, score, worth) for stated, score, worth in rows if worth is not None]
    bars = []
    for bar in (number / BINS for number in range(BINS + 1)):
        below = [stated is not None and stated.confidence < bar for stated, _, _ in known]
        outcomes = []
        for is_below, (_, score, worth) in zip(below, known, strict=True):
            outcomes.append((worth if is_below else score, worth))
        net = net_value(outcomes)
        if net is not None:
            bars.append(Bar(bar, fmean(below), net))
    return tuple(bars)


def _share_at(hits: int, count: int, tail: float, *, above: bool) -> float:
    """The share at which ``hits`` or more (not ``above``: or fewer) have probability ``tail``."""
    numbers = np.arange(hits, count + 1) if above else np.arange(hits + 1)
    ways = np.array(
        [lgamma(count + 1) - lgamma(n + 1) - lgamma(count - n + 1) for n in numbers.tolist()]
    )

    def lies_below(share: float) -> bool:
        logs = ways + numbers * np.log(share) + (count - numbers) * np.log1p(-share)
        too_rare = float(np.exp(logs).sum()) < tail
        return too_rare if above else not too_rare  # so many grow likelier with the share

    return bisected(0.0, 1.0, lies_below)
