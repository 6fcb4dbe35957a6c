"""Log events that appear or vanish against the baseline, tested request by request.

An *event* is a kind of log line (:func:`~logtriage.recorded.condensing.log_text.template`). Its
share of a service's requests counts, as their number differs from minute to minute. Shares are
compared by the two-proportion test: with x of n requests now and y of m in the baseline, the spread
of the difference is sqrt(p (1 - p) (1/n + 1/m)), where p = (x + y + 1)/(n + m + 2) is the pooled
share with one request added on either side, so that it is never 0.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from math import sqrt
from typing import Final

import attrs

from logtriage.recorded.condensing.raw_rows import Call, Coverage, LogRow

ERROR_LEVELS: Final = ("ERROR", "FATAL")

#: (value, usual value, spread), in basis points of the requests.
Shifted = tuple[int, int, int]


@attrs.frozen
class Requests:
    """Requests to one service, each with its time and the events in its log lines."""

    at: tuple[int, ...] = ()
    events: tuple[frozenset[str], ...] = ()

    def between(self, since: int, until: int) -> list[frozenset[str]]:
        """The events of the requests with ``since <= at < until``."""
        return [
            events for at, events in zip(self.at, self.events, strict=True) if since <= at < until
        ]


def requests_of(
    service: str,
    calls: Iterable[Call],
    logs: Sequence[LogRow],
    covered: Coverage,
    *,
    traced: bool,
    sampled: bool = False,
) -> Requests:
    """The requests to a service, in ``covered`` time; if not ``traced``, each line as a request.

    If ``traced``, lines that name no request are left out. If ``sampled``, most requests
    left no span (:func:`are_sampled`): those that only lines name count as well.
    """
    if not traced:
        events_of_lines = tuple(frozenset((row.event,)) for row in logs)
        return Requests(tuple(row.at for row in logs), events_of_lines)
    events: defaultdict[str, set[str]] = defaultdict(set)
    first: dict[str, int] = {}
    for row in logs:
        # A line without a request says nothing about the share of requests.
        if row.trace:
            events[row.trace].add(row.event)
            if sampled:
                first[row.trace] = min(row.at, first.get(row.trace, row.at))
    for call in calls:
        if call.callee == service and call.trace and call.at in covered:
            first[call.trace] = min(call.at, first.get(call.trace, call.at))
    return Requests(tuple(first.values()), tuple(frozenset(events[trace]) for trace in first))


def can_be_traced(calls: Sequence[Call], logs: Sequence[LogRow]) -> bool:
    """Whether at least half of the lines of a service name their request."""
    traced = sum(bool(row.trace) for row in logs)
    return any(call.trace for call in calls) and 2 * traced >= len(logs)


def are_sampled(calls: Iterable[Call], logs: Sequence[LogRow]) -> bool:
    """Whether fewer than half of the requests in a service's lines have spans."""
    spans = {call.trace for call in calls if call.trace}
    lines = {row.trace for row in logs if row.trace}
    return 2 * len(lines & spans) < len(lines)


def level_of_event(event: str) -> str:
    """The level that a template begins with."""
    return event.partition(" ")[0]


def new_errors(now: Sequence[frozenset[str]], usual: Requests) -> Shifted | None:
    """The share of requests with an error of a kind that the baseline never had."""
    if not now or not usual.events:
        return None
    known = frozenset().union(*usual.events)
    hit = 0
    for events in now:
        new_levels = {level_of_event(event) for event in events - known}
        hit += not new_levels.isdisjoint(ERROR_LEVELS)
    return _shifted(hit, len(now), 0, len(usual.events))


def most_shifted(now: Sequence[frozenset[str]], usual: Requests) -> Shifted | None:
    """The event whose share changed most: a complaint that appears, or an INFO that vanishes.

    A fault adds complaints and cuts work short. A system that is used in other ways does the
    opposite: complaints end, and new work is done. Shares are compared and not presence, since
    a fault may begin within the minute.
    """
    if not now or not usual.events:
        return None
    here = Counter(chain.from_iterable(now))
    there = Counter(chain.from_iterable(usual.events))
    best: tuple[float, Shifted] | None = None
    for event in sorted(here.keys() | there.keys()):
        shifted = _shifted(here[event], len(now), there[event], len(usual.events))
        value, before, spread = shifted
        more = (value - before) / spread
        # The change in the direction in which a fault moves it, in spreads.
        size = -more if level_of_event(event) == "INFO" else more
        if size > 0 and (best is None or size > best[0]):
            best = size, shifted
    if best is not None:
        return best[1]
    if not here and not there:
        return None
    return _shifted(0, len(now), 0, len(usual.events))  # no event moved as a fault moves it


def _shifted(x: int, n: int, y: int, m: int) -> Shifted:
    """The shares of x of n requests now and y of m in the baseline, as the module says."""
    pooled = (x + y + 1) / (n + m + 2)
    spread = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return 10_000 * x // n, 10_000 * y // m, max(1, round(10_000 * spread))
