"""Series of metrics, whose meaning is known once everything is read.

Those of OTLP say what they measure; their points come in batches, by scope and by process. Those of
Prometheus and of tables say neither that nor, alone, whose they are.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.log_heads import SERVER_ERROR
from logtriage.recorded.condensing.raw_rows import Sample, Scraped, Usage
from logtriage.recorded.condensing.ticks import interval_of
from logtriage.recorded.importing.counters import PAIR, Moves, Named, counters_of
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.metric_series import Labels, Metric, Point, SeriesBook

#: Labels of counters with the status of an answer, and the status of a failed span.
_STATUSES: Final = (
    *("code", "status", "status_code", "http_code", "http_status", "http_status_code"),
    *("http_response_status_code", "response_code", "otel_status_code"),
)
_SPAN_FAILED: Final = ("ERROR", "STATUS_CODE_ERROR")
#: Labels that tell targets of Prometheus apart: all series of a target are scraped together.
_TARGET: Final = ("cluster", "namespace", "job", "instance", "pod")
#: Scrapes that are enough to tell their interval.
_FEW: Final = 5
#: More steps of a query than this without a new value are a hole.
_HOLE: Final = 10


def _target(labels: Labels) -> tuple[str, ...]:
    every = dict(labels)
    return tuple(every.get(key, "") for key in _TARGET)


def _scrapes(changed: Mapping[int, bool]) -> dict[int, int]:
    """The times of scrapes among those of a target, and how long each value grew or 0, in ms.

    ``changed`` are all times of a target, and whether any of its values is a new one. If the step
    of a query is shorter than the interval of scrapes, some times have the values of a scrape once
    more. Empty if that is not so.
    """
    times, fresh = sorted(changed), sorted(at for at in changed if changed[at])
    step = interval_of(times)
    if step is None or len(fresh) < _FEW:
        return {}
    steps = [after - before for before, after in pairwise(fresh)]
    whole = [each for each in steps if each <= _HOLE * step]
    interval = sum(whole) / max(1, len(whole))
    is_regular = 10 * sum(abs(each - interval) < step for each in steps) >= 9 * len(steps)
    if 5 * interval < 6 * step or not is_regular:
        return {}
    found: dict[int, int] = {}
    last = times[0]
    for at in times:
        gap = at - last
        if changed[at] or gap >= interval or at == times[0]:
            found[at] = round(interval) if abs(gap - interval) < step else 0
            last = at
    return found


def _is_failed(labels: Labels) -> bool:
    return any(
        key.replace(".", "_") in _STATUSES
        and (value in _SPAN_FAILED or SERVER_ERROR.fullmatch(value) is not None)
        for key, value in labels
    )


class Kind(StrEnum):
    """What the values of a series are."""

    LEVEL = "level"
    #: Counts since a beginning, or since the point before; so do distributions.
    COUNT = "count"
    DELTA = "delta"
    SPREAD = "spread"
    SPREAD_DELTA = "spread delta"
    #: The sum of a distribution, whose count is another metric.
    SUM = "sum"


#: Kinds that count since a process began.
_SINCE_START: Final = (Kind.COUNT, Kind.SPREAD)


@attrs.frozen
class Answered:
    """A series in an answer of Prometheus: ``name`` is the metric's own, or stands in for it."""

    name: str
    labels: Labels
    is_named: bool
    where: str = attrs.field(eq=False)


@attrs.frozen
class Series:
    """A series of OTLP or of a table, or of Prometheus once its service and its place are known.

    ``kind`` is None until it is known how all series of that name move.
    """

    metric: Metric
    labels: Labels
    kind: Kind | None
    where: str = attrs.field(eq=False)
    scope: str = ""


def _named(series: Answered | Series) -> Named:
    """The name of a series' metric, and whether it is the metric's own."""
    if isinstance(series, Series):
        return series.metric.name, True
    return series.name, series.is_named


@attrs.define
class ScrapedBook:
    """The series of all documents, each by its number."""

    _series: list[Answered | Series] = attrs.Factory(list)
    _numbers: dict[Answered | Series, int] = attrs.Factory(dict)
    _moves: defaultdict[int, Moves] = attrs.Factory(lambda: defaultdict(Moves))
    #: The metrics' own names.
    _named: set[str] = attrs.Factory(set)
    #: By number: the first times of answers that begin with it, which may have begun before.
    _starts: defaultdict[int, set[int]] = attrs.Factory(lambda: defaultdict(set))
    #: Services and stems of metrics that are the counts and sums of distributions.
    _distributions: set[tuple[str, str]] = attrs.Factory(set)
    #: Rows by number.
    _rows: Counter[int] = attrs.Factory(Counter)
    #: By target of Prometheus and time: whether any of its values changed.
    _scrapes: defaultdict[tuple[str, ...], dict[int, bool]] = attrs.Factory(
        lambda: defaultdict(dict)
    )

    def rows(
        self, series: Answered | Series, values: Mapping[int, float], start: int = 0
    ) -> Iterator[Scraped]:
        """Yield the values of a series by Unix ms; how they move tells what they are.

        ``start`` is the first time of its document.
        """
        number, times = self._number(series), sorted(values)
        self._starts[number].update(at for at in times[:1] if at <= (start or at))
        if len(values) > 1:
            self._moves[number].add([values[at] for at in times])
        if isinstance(series, Answered):
            scrapes = self._scrapes[_target(series.labels)]
            for before, at in pairwise((times[:1] or [0]) + times):
                scrapes[at] = scrapes.get(at, False) or values[at] != values[before]
        for at, value in values.items():
            self._rows[number] += 1
            yield Scraped(number, 1_000_000 * at, (value,))

    def point(self, series: Series, at: int, since: int, *values: float) -> Scraped:
        """The row of a point of OTLP; times are in Unix ns."""
        number = self._number(series)
        self._rows[number] += 1
        return Scraped(number, at, values, since)

    def _number(self, series: Answered | Series) -> int:
        number = self._numbers.setdefault(series, len(self._series))
        if number == len(self._series):
            self._series.append(series)
            name, is_named = _named(series)
            self._named.update((name,) if is_named else ())
        return number

    @property
    def answered(self) -> dict[int, Answered]:
        """The series of Prometheus by number."""
        every = enumerate(self._series)
        return {number: series for number, series in every if isinstance(series, Answered)}

    def rows_without(self, kept: Iterable[int]) -> int:
        """How many rows have series of Prometheus that are none of ``kept``."""
        return sum(self._rows[number] for number in self.answered.keys() - {*kept})

    def settle(
        self,
        metric_of: Mapping[int, tuple[Metric, Labels]],
        names: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        """Replace the series of Prometheus that have a metric, and give services final names."""
        unknown = (
            number
            for number, series in enumerate(self._series)
            if isinstance(series, Series) and series.kind is None
        )
        moves = grouped((_named(self._series[n]), self._moves[n]) for n in (*metric_of, *unknown))
        counters = counters_of(moves, self._named, note)
        for number, series in enumerate(self._series):
            kind = Kind.COUNT if _named(series) in counters else Kind.LEVEL
            if isinstance(series, Series):
                service = names.get(series.metric.service, series.metric.service)
                metric = attrs.evolve(series.metric, service=service)
                self._series[number] = attrs.evolve(series, metric=metric, kind=series.kind or kind)
            elif number in metric_of:
                self._series[number] = Series(*metric_of[number], kind, series.where)
        halves = defaultdict[tuple[str, str], set[str]](set)
        for series in self._series:
            if isinstance(series, Series) and series.kind is Kind.COUNT:
                stem, _, end = series.metric.name.rpartition("_")
                halves[series.metric.service, stem].add(end)
        self._distributions = {key for key, ends in halves.items() if ends.issuperset(PAIR)}
        counts = (
            (series.metric.name, self._rows[number])
            for number, series in enumerate(self._series)
            if isinstance(series, Series) and series.kind in _SINCE_START
        )
        for name, rows in grouped(counts).items():
            if max(rows) == 1:
                note(f"{name}: a counter needs two values in a series, and has one")

    def samples(
        self, rows: Callable[[], Iterable[Scraped]], book: SeriesBook
    ) -> Iterator[Sample | Usage]:
        """Yield the samples of all rows, which come in order of time."""
        failing = {
            (series.metric.service, series.metric.name)
            for series in self._series
            if isinstance(series, Series) and _is_failed(series.labels)
        }
        places = {
            series.metric: series.where for series in self._series if isinstance(series, Series)
        }
        for at, points in groupby(self._points(rows, book.left_out), key=lambda row: row[2].at):
            pairs = dict[tuple[Metric, Metric], None]()
            for (metric, kind), row in grouped(((m, kind), one) for m, kind, one in points).items():
                book.left_out.where = places.get(metric, "")
                is_delta = kind in (Kind.DELTA, Kind.SPREAD_DELTA)
                fails = (metric.service, metric.name) in failing
                failed = _is_failed if fails else None
                if kind is Kind.LEVEL:
                    yield from book.levels(metric, row)
                elif kind in (Kind.SPREAD, Kind.SPREAD_DELTA):
                    yield from book.distributions(metric, row, delta=is_delta)
                elif kind is Kind.SUM:
                    book.take_in(metric, row)
                else:
                    yield from book.rates(metric, row, delta=is_delta, failed=failed)
                if (pair := self._pair(metric, kind)) is not None:
                    pairs[pair] = None
            for counts, sums in pairs:
                metric = attrs.evolve(counts, name=counts.name.removesuffix("_count"))
                yield from book.means(metric, at, counts, sums)

    def _pair(self, metric: Metric, kind: Kind) -> tuple[Metric, Metric] | None:
        """The count and the sum of the distribution that a metric of Prometheus is half of."""
        stem, _, end = metric.name.rpartition("_")
        if kind not in (Kind.COUNT, Kind.SUM) or (metric.service, stem) not in self._distributions:
            return None
        count, total = (attrs.evolve(metric, name=f"{stem}_{each}") for each in ("count", "sum"))
        return (count, total) if end in PAIR else None

    def _points(
        self, rows: Callable[[], Iterable[Scraped]], left_out: LeftOut
    ) -> Iterator[tuple[Metric, Kind, Point]]:
        """Yield the points of all rows in order of time, with their metrics and what they are."""
        fresh = {target: _scrapes(times) for target, times in self._scrapes.items()}
        kept = {
            number: fresh[target]
            for series, number in self._numbers.items()
            if isinstance(series, Answered) and fresh[target := _target(series.labels)]
            if isinstance(now := self._series[number], Series) and now.kind is Kind.COUNT
        }
        if kept:
            left_out.note(
                "times at which no value of a target changes are taken for repeats of a scrape, "
                "and left out of rates"
            )
        apart, unclear = self._writers(rows())
        for (service, name), where in unclear.items():
            left_out.add(
                f"{name} of {service} falls without a restart, as counts of several processes do "
                "that have no service.instance.id",
                where,
            )
        for row in rows():
            series = self._series[row.instance]
            if not isinstance(series, Series):
                continue
            metric, kind = series.metric, series.kind or Kind.LEVEL
            scrapes = kept.get(row.instance)
            if (metric.service, metric.name) in unclear or not (
                scrapes is None or row.at in scrapes
            ):
                continue
            if (metric.service, metric.instance) in apart:
                metric = attrs.evolve(metric, instance=f"{metric.instance} {row.since}")
            stem, _, end = metric.name.rpartition("_")
            if (
                kind is Kind.COUNT
                and end == "sum"
                and (metric.service, stem) in self._distributions
            ):
                kind = Kind.SUM
            over = 0 if scrapes is None else 1_000_000 * scrapes[row.at]
            is_first = row.at in self._starts[row.instance]
            about = row.nano, row.since, series.labels, row.values
            yield metric, kind, Point(*about, series.scope, over, is_first)

    def _writers(
        self, rows: Iterable[Scraped]
    ) -> tuple[set[tuple[str, str]], dict[tuple[str, str], str]]:
        """Instances of services in which several processes count, and metrics that fall at random.

        Processes are told apart by when they began, if they overlap; the others are (service, name)
        with a place.
        """
        lives: dict[tuple[int, int], tuple[int, int]] = {}
        moved, falls = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        last: dict[tuple[int, int], float] = {}
        for row in rows:
            series = self._series[row.instance]
            if not row.since or not isinstance(series, Series) or series.kind not in _SINCE_START:
                continue
            key, value = (row.instance, row.since), row.values[0]
            lives[key] = lives.get(key, (row.nano, 0))[0], row.nano
            moved[key] += value != last.get(key, value)
            falls[key] += value < last.get(key, value)
            last[key] = value
        apart = set[tuple[str, str]]()
        for (one, (_, until)), (other, (since, _)) in pairwise(sorted(lives.items())):
            series = self._series[one[0]]
            if one[0] == other[0] and since <= until and isinstance(series, Series):
                apart.add((series.metric.service, series.metric.instance))
        unclear: dict[tuple[str, str], str] = {}
        for key, count in falls.items():
            series = self._series[key[0]]
            if count > 1 and 10 * count > moved[key] and isinstance(series, Series):
                unclear.setdefault((series.metric.service, series.metric.name), series.where)
        return apart, unclear
