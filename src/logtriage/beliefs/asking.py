"""What a request might show next, given what was seen of histories so far."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from logtriage.beliefs.cases import Floats
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.model import Reader, shared
from logtriage.beliefs.outcomes import Outcome, Outcomes, fitting
from logtriage.world.channels import Channel
from logtriage.world.histories import INSTANTS, RAMP, instant_of, tick_of, trouble
from logtriage.world.setting import FULL

#: A request with more outcomes than this is valued by the likeliest of them.
OUTCOMES: Final = 48


def outcomes_of(
    seen: Outcomes,
    service: int,
    channel: Channel,
    sorts: tuple[str, ...],
    tick: int,
    begins: Sequence[int],
) -> Floats:
    """The likelihood (B, C, O) of what the sorts of a service may show, in units of 2**-16.

    Axes: B ``begins``, the ticks from which conditions hold; C conditions; O outcomes. The service
    may be blind at ``tick``, the screen's, as long as nobody has asked.
    """
    firsts = [0 if not begin else seen.breaks.index(begin - 1) + 1 for begin in begins]
    own = seen.listed.readers[service]
    outcomes_by_sort = tuple(
        tuple([seen.outcome(service, sort, first, seen.last).to(own) for first in firsts])
        for sort in sorts
    )
    reader, places = shared(own, sorts)
    blind = 0 if (service, channel) in seen.down else reader.setting.blind_weight
    likely = _outcomes_of(reader, sorts, outcomes_by_sort, instant_of(min(tick, _LATEST)), blind)
    return likely[:, places]


@lru_cache(maxsize=1 << 12)
def _outcomes_of(
    reader: Reader,
    sorts: tuple[str, ...],
    outcomes_by_sort: tuple[tuple[Outcome, ...], ...],
    now: int,
    blind: int,
) -> Floats:
    """The same at an instant, from what was seen of S sorts since B ticks each (S, B)."""
    count, begins = len(reader.conditions), len(outcomes_by_sort[0])
    rows = np.full((begins * count, 1), float(FULL))
    for sort, outcomes in zip(sorts, outcomes_by_sort, strict=True):
        table = np.concatenate([_likelihood(reader, sort, outcome, now) for outcome in outcomes])
        rows = (rows[:, :, np.newaxis] * (table[:, np.newaxis, :] / FULL)).reshape(len(rows), -1)
        rows = _likeliest_and_rest(rows)
    if blind:
        dark = np.full((len(rows), 1), float(blind))
        rows = np.concatenate([rows * ((FULL - blind) / FULL), dark], axis=1)
    likely: Floats = rows.reshape(begins, count, -1)
    likely.setflags(write=False)
    return likely


#: The tick from which on nothing begins any more.
_LATEST: Final = tick_of(INSTANTS)


def _likeliest_and_rest(rows: Floats) -> Floats:
    """The likeliest outcomes (C, O), and in the last column all others, which tell little."""
    if rows.shape[1] <= OUTCOMES:
        return rows
    order = np.argsort(-rows.max(axis=0), kind="stable")
    kept, others = order[:OUTCOMES], order[OUTCOMES:]
    return np.concatenate([rows[:, kept], rows[:, others].sum(axis=1, keepdims=True)], axis=1)


@lru_cache(maxsize=1 << 14)
def _likelihood(reader: Reader, sort: str, outcome: Outcome, now: int) -> Longs:
    """The likelihood (C, O) of what a look at an instant shows, in units of 2**-16.

    Usual so far; and each token, begun with the trouble or at another time, such as with a remedy.
    """
    fits = fitting(reader, sort, outcome) >> 12  # so that sums times 2**16 fit
    if outcome.begin:
        shown = fits[:, :, 0]
        never = np.zeros_like(shown[:, 1:])
        table = np.concatenate([shown[:, :1], never, shown[:, 1:]], axis=1)
    else:
        begin = trouble(reader.setting)
        onset = np.arange(fits.shape[2])
        by_now = onset <= now
        along = by_now & (begin <= onset) & (onset < begin + len(RAMP))
        usual = fits[:, 0].sum(axis=1) + fits[:, 1:, ~by_now].sum(axis=(1, 2))
        table = np.concatenate(
            [
                usual[:, np.newaxis],
                fits[:, 1:, along].sum(axis=2),
                fits[:, 1:, by_now & ~along].sum(axis=2),
            ],
            axis=1,
        )
    whole = np.maximum(table.sum(axis=1, keepdims=True), 1)
    shares: Longs = table * FULL // whole
    return shares
