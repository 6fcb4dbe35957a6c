"""The mean of a service's instances.

No rate reaches across a hole. The mean of the latest values of all instances counts, once for each
round of them: it is taken when all files are read, in order of time.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import median_low
from typing import Any, TypeVar

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.raw_rows import Sample, Usage
from logtriage.recorded.condensing.ticks import STALE_MS, interval_of, stale_after

Measured = TypeVar("Measured", Sample, Usage)


def without_holes(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield samples without rates over so long a time that the sample before is stale."""
    for rows in grouped(((row.service, row.name, row.instance), row) for row in samples).values():
        stale = stale_after(row.at for row in rows)
        yield from (row for row in rows if row.at - (row.since or row.at) <= stale)


def mean_usage(rows: Sequence[Usage]) -> Iterator[Usage]:
    """Yield the mean CPU of the instances of each service, and by itself their mean latency."""
    for field in ("cpu_bp", "p99_ms"):
        known = (
            Usage(row.at, row.service, instance=row.instance, **{field: value})
            for row in rows
            if (value := getattr(row, field)) is not None
        )
        yield from means(known, field)


def means(rows: Iterable[Measured], field: str = "value") -> Iterator[Measured]:
    """Yield the last row of each round of instances, with the mean (half up) of their latest.

    An instance counts no more once it has missed a value, by the usual interval of its series.
    """
    every = grouped(((row.service, getattr(row, "name", "")), row) for row in rows)
    rounds = (row for series in every.values() for row in _rounds(series, field))
    yield from sorted(rounds, key=lambda row: row.at)


def _rounds(series: Iterable[Measured], field: str) -> Iterator[Measured]:
    """The rows of :func:`means` for one signal of one service."""
    ordered = sorted(series, key=lambda row: row.at)
    times = grouped((row.instance, row.at) for row in ordered).values()
    steps = [step for each in times if (step := interval_of(each))]
    fresh = min(STALE_MS, median_low(steps) * 3 // 2) if steps else STALE_MS
    latest: dict[int, Measured] = {}
    began: int | None = None
    for row in ordered:
        before = latest.get(row.instance)
        if before is not None and began is not None and before.at >= began:  # a new round
            yield _mean(latest.values(), began, fresh, field)
            began = None
        began = row.at if began is None else began
        latest[row.instance] = row
    if began is not None:
        yield _mean(latest.values(), began, fresh, field)


def _mean(last: Collection[Measured], began: int, fresh: int, field: str) -> Measured:
    """The last row of a round, with the mean of the round and of other fresh values."""
    newest = max(last, key=lambda row: row.at)
    since = min(began, newest.at - fresh + 1)
    values: list[int] = [getattr(row, field) for row in last if row.at >= since]
    mean: Any = (2 * sum(values) + len(values)) // (2 * len(values))
    return attrs.evolve(newest, **{field: mean})
