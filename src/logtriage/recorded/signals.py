"""The signals of a recorded service: every figure beside what is usual.

If a service was too quiet in the baseline to have a usual value, the value of the other services
stands in, provided that the figure means the same at each of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import hypot, sqrt
from typing import Final

import attrs

from logtriage.recorded.condensing.service_figures import ENOUGH
from logtriage.recorded.figures import FIGURES, FIRST_TICK, cell
from logtriage.recorded.records import RecordedService
from logtriage.world.telemetry import Signal

#: Figures that mean the same at every service. Traffic and latency do not: they depend on the
#: callers and on the chain of callees.
COMPARABLE: Final = ("error_bp", "self_ms", "network_ms", "cpu_bp")


def length_of(service: RecordedService) -> int:
    """The number of ticks from tick 0 on that the columns of a service cover; at least 1."""
    figures = attrs.astuple(service.series, recurse=False)
    others = (metric.value for metric in service.metrics)
    columns = (*figures, service.new_errors.value, service.events.value, *others)
    return max(1, *(len(column) + FIRST_TICK for column in columns))


def signals_of(
    service: RecordedService, others: Mapping[str, tuple[int, int]], ticks: Iterable[int]
) -> Iterator[tuple[Signal, ...]]:
    """Yield a service's signals at each tick; ``others`` are stand-ins from :func:`borrowed`."""
    usual = {
        name: (getattr(service.baseline, name), getattr(service.spread, name), False)
        for name in FIGURES
    }
    for name, pooled in others.items():
        if usual[name][0] is None:
            usual[name] = (*pooled, True)
    for tick in ticks:
        yield tuple(_at(service, usual, tick))


def _at(
    service: RecordedService, usual: dict[str, tuple[int | None, int | None, bool]], tick: int
) -> Iterator[Signal]:
    for name in FIGURES:
        value = service.series.figure(name, tick)
        if value is not None:
            yield Signal(name, value, *usual[name])
    for name, shift in (("new_errors_bp", service.new_errors), ("events_bp", service.events)):
        value = cell(shift.value, tick)
        if value is not None:
            yield Signal(name, value, cell(shift.usual, tick), cell(shift.spread, tick))
    for metric in service.metrics:
        value = cell(metric.value, tick)
        if value is not None:
            yield Signal(metric.name, value, metric.usual, metric.spread, iqr=metric.iqr)


def borrowed(services: Sequence[RecordedService]) -> dict[str, tuple[int, int]]:
    """(usual value, spread) of each comparable figure, over all services that have it.

    The usual value is the median. The spread is ``hypot`` of the services' median spread and their
    standard deviation about the median: a borrower must stand out from both. Figures of fewer than
    :data:`~logtriage.recorded.condensing.service_figures.ENOUGH` services are left out.
    """
    pooled = {}
    for name in COMPARABLE:
        known = [
            (value, spread)
            for service in services
            if (value := getattr(service.baseline, name)) is not None
            and (spread := getattr(service.spread, name)) is not None
        ]
        if len(known) >= ENOUGH:
            values, spreads = zip(*known, strict=True)
            middle = _middle(values)
            differ = sqrt(sum((value - middle) ** 2 for value in values) / len(values))
            pooled[name] = middle, max(1, round(hypot(_middle(spreads), differ)))
    return pooled


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]
