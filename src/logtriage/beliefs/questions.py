"""What a request is worth: the rise of the expected grade, and information in bits."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import attrs
import numpy as np

from logtriage.actions import RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.beliefs.beliefs import Belief
from logtriage.beliefs.cases import Floats
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.ledgers import UNIT
from logtriage.beliefs.model import NONE, UNFIXED, Reader, shared_reader
from logtriage.beliefs.outcomes import Outcome, fitting
from logtriage.beliefs.plans import Planner
from logtriage.beliefs.portfolio import Portfolio
from logtriage.beliefs.posterior import fixed_by
from logtriage.errors import InvalidInput
from logtriage.world.channels import Channel
from logtriage.world.histories import INSTANTS, RAMP, instant_of, tick_of, trouble
from logtriage.world.schedule import scrapes
from logtriage.world.setting import FULL
from logtriage.world.vocabulary import LOG

Request = RequestMoreLogs | RequestMetrics | RequestTraces
#: This many outcomes of a request, the likeliest, are told apart; the others count as one.
OUTCOMES: Final = 48
#: From this tick on, no history begins any more.
_LATEST: Final = tick_of(INSTANTS)


@attrs.frozen
class Worth:
    """What a request is worth: the rise of the expected grade, and its information in bits.

    ``grade`` is a multiple of 2**-20, so that comparisons are the same everywhere. It is too low,
    because the shares of outcomes are rounded down: by less than 2**-16 for each outcome of each
    history that the request shows, which was at most 0.0011 on shipped tasks.
    """

    request: Request
    grade: float
    bits: float


@attrs.frozen(eq=False)
class Asked:
    """Q requests and, for those that may show anything new, their outcomes under H hypotheses.

    ``telling`` (Q,) is whether a request may show anything new. ``joint`` (O, H) are the weights of
    hypotheses jointly with each of O outcomes; the last row is for no request. ``first`` are the
    rows where the outcomes of each telling request begin, then the last row; ``bits`` (T,) what
    each of the T telling requests tells.
    """

    planner: Planner | Portfolio
    requests: tuple[Request, ...]
    telling: tuple[bool, ...]
    joint: Floats
    first: Longs
    bits: tuple[float, ...]

    @classmethod
    def of(cls, belief: Belief, requests: Sequence[Request]) -> "Asked":
        """The requests and their outcomes, as a belief expects them.

        Hypotheses below 1 in 1,000 are left out. If several faults are possible, the plans that
        may follow are fixed before the answer is known.

        Raises:
            InvalidInput: for a look at all services, whose outcomes are too many.
        """
        planner = belief.planner(asking=True)
        tables = _tables(belief, planner, requests)
        likely = [table for table in tables if table is not None]
        joint = np.concatenate([*likely, np.full((1, len(planner.weights)), float(FULL))])
        joint *= planner.weights
        joint /= FULL
        joint = np.floor(joint, out=joint)
        first = np.cumsum([0, *map(len, likely)])
        bits = _information(planner.answers, joint[:-1], first[:-1]) if likely else []
        telling = tuple(table is not None for table in tables)
        return cls(planner, tuple(requests), telling, joint, first, tuple(bits))

    def worths(self, *, hand_over: bool = True) -> tuple[Worth, ...]:
        """What each request is worth; without ``hand_over`` as if nobody took the incident over."""
        planner = self.planner
        later = np.add.reduceat(planner.later(self.joint, hand_over=hand_over), self.first)
        now = planner.later(planner.weights[np.newaxis], ticks=0, hand_over=hand_over)
        rises = (later - now[0]).tolist()
        *of_telling, of_none = zip(rises, (*self.bits, 0.0), strict=True)
        left, rows = iter(of_telling), []
        for request, tells in zip(self.requests, self.telling, strict=True):
            rise, bits = next(left) if tells else of_none
            rows.append(Worth(request, round(rise / planner.total) / UNIT, bits))
        return tuple(rows)


def _tables(
    belief: Belief, planner: Planner | Portfolio, requests: Sequence[Request]
) -> list[Floats | None]:
    """For each request, the likelihoods (O, H) of its O outcomes, in units of 2**-16.

    H are the hypotheses of the planner. None for a request without news, or if it is too late.
    """
    held, left = belief.posterior, belief.standing.left
    rows = held.rows[planner.rows]
    places = held.listed.left(rows, planner.fixed)
    begins = _begins(belief, rows)
    latest = scrapes(belief.standing.tick + 1, belief.standing.doings)[-1]
    # The shares of the conditions of services that no fault reaches.
    own = held.own * FULL // held.own.sum(axis=1, keepdims=True)
    return [
        _outcomes(belief, places, begins, own, latest, request) if left > 1 else None
        for request in requests
    ]


def _information(keys: Longs, joint: Floats, first: Longs) -> list[float]:
    """The information in each request about the right response to the incident, in bits.

    ``keys`` (H,) number the responses that hypotheses ask for; ``joint`` and ``first`` are those of
    :class:`Asked`. The result is rounded to 2**-16, so that ties are the same on every machine.
    """
    order = np.argsort(keys, kind="stable")
    table = np.add.reduceat(joint[:, order], np.unique(keys[order], return_index=True)[1], axis=1)
    before = np.add.reduceat(table, first, axis=0)  # (requests, responses)
    whole = before.sum(axis=1)

    def weighed(values: Floats) -> Floats:
        """Values times their logarithm, 0 at 0."""
        return values * np.log2(np.maximum(values, 1.0))

    outcomes = np.add.reduceat(weighed(table.sum(axis=1)), first)
    cells = np.add.reduceat(weighed(table).sum(axis=1), first)
    # The mutual information: the entropies of responses and of outcomes, less that of both.
    gain = np.log2(whole) + (cells - weighed(before).sum(axis=1) - outcomes) / whole
    return [round(float(value) * 65_536) / 65_536 for value in gain]


def _begins(belief: Belief, rows: Longs) -> Longs:
    """The tick (H, n) from which the present condition of each service holds, for ``rows`` (H,)."""
    listed, doings = belief.posterior.listed, belief.standing.doings
    begins = np.zeros((len(rows), len(belief.topology)), np.int64)
    by, _ = fixed_by(listed, rows, doings)
    ticks = np.array([*(when for when, _, _ in doings.remedies), NONE])[by]  # -1: the last
    before = listed.place[rows]
    for tick in np.unique(ticks[by != UNFIXED]).tolist():
        after = listed.left(rows, (by != UNFIXED) & (ticks <= tick))
        begins[before != after] = tick + 1
        before = after
    return begins


def _outcomes(
    belief: Belief, places: Longs, begins: Longs, own: Longs, latest: int, request: Request
) -> Floats | None:
    """The likelihood (O, H) of each outcome, in units of 2**-16; None if nothing is new.

    ``places`` (H, n) are the present conditions of the services, which hold from the ticks
    ``begins`` (H, n); ``own`` (n, U) are shares of conditions where no fault reaches; ``latest``
    is the tick of the last scrape that the answer shows.
    """
    news = _news_of(belief, request, latest)
    if news is None:
        return None
    service, channel, sorts = news
    since = begins[:, service]
    ticks = sorted({0, *since.tolist()}) if since.any() else [0]
    seen = belief.posterior.outcomes
    own_reader = seen.listed.readers[service]
    # The segment that begins at each of these ticks: a remedy was applied in the tick before.
    firsts = [0 if not tick else seen.breaks.index(tick - 1) + 1 for tick in ticks]
    outcomes_by_sort = tuple(
        tuple([seen.outcome(service, sort, first, seen.last).to(own_reader) for first in firsts])
        for sort in sorts
    )
    reader, conditions = shared_reader(own_reader, sorts)
    # The channel may be down as long as nobody has asked.
    blind = 0 if (service, channel) in seen.down else reader.setting.blind_weight
    now = instant_of(min(belief.standing.tick + 1, _LATEST))
    rows = _shown(reader, sorts, outcomes_by_sort, now, blind)[:, conditions]
    count = min(own.shape[1], rows.shape[1])  # ``own`` is padded to the most conditions of any
    aloof = np.floor(own[service, :count] @ rows[0, :count] / FULL)
    # Rows go by tick, then by condition. The last is for a service that no fault reaches, whose
    # place is NONE, -1.
    table = np.concatenate([rows.reshape(-1, rows.shape[2]), aloof[np.newaxis]])
    here = places[:, service]
    if len(ticks) > 1:
        here = np.where(here == NONE, NONE, here + np.searchsorted(ticks, since) * rows.shape[1])
    likely: Floats = table[here].T
    return likely


def _news_of(
    belief: Belief, request: Request, latest: int
) -> tuple[int, Channel, tuple[str, ...]] | None:
    """(service, channel, sorts of histories) that a request would show; None if nothing is new."""
    if request.service is None:
        raise InvalidInput("a look at all services has too many outcomes to be valued")
    service = belief.topology.index(request.service)
    channel = Channel.LOGS
    sorts: tuple[str, ...] = (LOG,)
    if not isinstance(request, RequestMoreLogs):
        channel = Channel.METRICS if isinstance(request, RequestMetrics) else Channel.TRACES
        sorts = belief.world.slots[channel]
    held = belief.posterior
    if (channel, service, 0, latest) in held.seen or held.outcomes.down.get((service, channel)):
        return None
    return service, channel, sorts


@lru_cache(maxsize=1 << 12)
def _shown(
    reader: Reader,
    sorts: tuple[str, ...],
    outcomes_by_sort: tuple[tuple[Outcome, ...], ...],
    now: int,
    blind: int,
) -> Floats:
    """The likelihood (B, C, O) of what sorts may show at instant ``now``, in units of 2**-16.

    ``outcomes_by_sort`` (S, B) is what was seen of histories of S sorts that began in B segments.
    With weight ``blind`` (of 65,536) the channel is down and shows nothing.
    """
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


def _likeliest_and_rest(rows: Floats) -> Floats:
    """The likeliest outcomes (C, O), and in the last column all others, which tell little."""
    if rows.shape[1] <= OUTCOMES:
        return rows
    order = np.argsort(-rows.max(axis=0), kind="stable")
    kept, others = order[:OUTCOMES], order[OUTCOMES:]
    return np.concatenate([rows[:, kept], rows[:, others].sum(axis=1, keepdims=True)], axis=1)


@lru_cache(maxsize=1 << 14)
def _likelihood(reader: Reader, sort: str, outcome: Outcome, now: int) -> Longs:
    """The likelihood (C, O) of what a history shows at instant ``now``, in units of 2**-16.

    Outcomes are: usual so far; each token, begun with the trouble; each token, begun otherwise.
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
