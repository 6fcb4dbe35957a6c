"""Series of metrics, whose meaning is known once everything is read.

Those of OTLP say what they measure; their points come in batches, by scope and by process. Those of
Prometheus and of tables say neither that nor, alone, whose they are.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.log_heads import SERVER_ERROR
from logtriage.recorded.condensing.raw_rows import Sample, Scraped, Usage
from logtriage.recorded.condensing.ticks import interval_of
from logtriage.recorded.importing.answered import Answered
from logtriage.recorded.importing.counters import PAIR, Moves, Named, counters_of
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.metric_series import Labels, Metric, Point, SeriesBook
from logtriage.recorded.importing.signal_names import SignalNames

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
    regular = sum(abs(each - interval) < step for each in steps)
    is_each_step = 5 * interval < 6 * step  # nothing is repeated then
    if is_each_step or 10 * regular < 9 * len(steps):
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
    """Whether a counter with these labels counts failures."""
    statuses = [value for key, value in labels if key.replace(".", "_") in _STATUSES]
    return any(value in _SPAN_FAILED or SERVER_ERROR.fullmatch(value) for value in statuses)


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

    @property
    def named(self) -> Named:
        """The name of the metric, which is always its own."""
        return self.metric.name, True

    @property
    def counts(self) -> bool:
        """Whether it counts since a process began."""
        return self.kind in (Kind.COUNT, Kind.SUM, Kind.SPREAD)


@attrs.define
class _Read:
    """A series, and what was read of it."""

    series: Answered | Series
    #: What it measures, once everything is read; None if it is left out.
    known: Series | None = None
    rows: int = 0
    moves: Moves = attrs.Factory(Moves)
    #: The first times of answers that begin with it, which may have begun before.
    starts: set[int] = attrs.Factory(set)


@attrs.define
class _Life:
    """A process that counts a series: from when until when, and how its count moved."""

    series: Series
    since: int
    until: int
    value: float
    moved: int = 0
    falls: int = 0


@attrs.define
class ScrapedBook:
    """The series of all documents, each by its number."""

    left_out: LeftOut
    signals: SignalNames
    _reads: list[_Read] = attrs.Factory(list)
    _numbers: dict[Answered | Series, int] = attrs.Factory(dict)
    #: Services and stems of metrics that are the counts and sums of distributions.
    _distributions: set[tuple[str, str]] = attrs.Factory(set)
    #: Services and metrics of OTLP with values that are NaN, and the places of the first.
    _nan: dict[tuple[str, str], str] = attrs.Factory(dict)
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
        number, times = self._number_of(series), sorted(values)
        read = self._reads[number]
        read.rows += len(values)
        if times and (not start or times[0] <= start):
            read.starts.add(times[0])
        if len(values) > 1:
            read.moves.add([values[at] for at in times])
        if isinstance(series, Answered):
            scrapes = self._scrapes[series.values(_TARGET)]
            for before, at in pairwise(times[:1] + times):  # the first value is not a new one
                scrapes[at] = scrapes.get(at, False) or values[at] != values[before]
        for at, value in values.items():
            yield Scraped(number, 1_000_000 * at, (value,))

    def point(self, series: Series, at: int, since: int, *values: float) -> Scraped:
        """The row of a point of OTLP; times are in Unix ns."""
        number = self._number_of(series)
        self._reads[number].rows += 1
        return Scraped(number, at, values, since)

    def skip_nan(self, metric: Metric, where: str) -> None:
        """Leave out a value of OTLP that is NaN."""
        self._nan.setdefault(metric.signal, where)

    def _number_of(self, series: Answered | Series) -> int:
        number = self._numbers.setdefault(series, len(self._reads))
        if number == len(self._reads):
            self._reads.append(_Read(series))
        return number

    @property
    def answered(self) -> list[Answered]:
        """The series of Prometheus."""
        return [series for series in self._numbers if isinstance(series, Answered)]

    def rows_without(self, kept: Container[Answered]) -> int:
        """How many rows have series of Prometheus that are none of ``kept``."""
        others = (self._numbers[series] for series in self.answered if series not in kept)
        return sum(self._reads[number].rows for number in others)

    def settle(
        self, metric_of: Mapping[Answered, tuple[Metric, Labels]], names: Mapping[str, str]
    ) -> None:
        """Say what each series measures, given those of Prometheus and final names of services."""
        for read in self._reads:
            series = read.series
            if isinstance(series, Series):
                service = names.get(series.metric.service, series.metric.service)
                metric = attrs.evolve(series.metric, service=service)
                read.known = attrs.evolve(series, metric=metric)
            elif series in metric_of:
                read.known = Series(*metric_of[series], None, series.where)
        known = [(read, read.known) for read in self._reads if read.known is not None]
        valued = {series.metric.signal for _, series in known}
        for (mark, name), where in self._nan.items():
            service = names.get(mark, mark)
            if (service, name) not in valued:
                self.left_out.add(f"{name} of {service}: NaN alone", where)
        unclear = [(read, series) for read, series in known if series.kind is None]
        own = {name for name, is_own in (series.named for series in self._numbers) if is_own}
        moves = grouped((read.series.named, read.moves) for read, _ in unclear)
        counters = counters_of(moves, own, self.left_out.note)
        for read, series in unclear:
            kind = Kind.COUNT if read.series.named in counters else Kind.LEVEL
            read.known = attrs.evolve(series, kind=kind)
        self._settle_distributions()

    def _settle_distributions(self) -> None:
        """Tell the sums of distributions from other counts; note counters with a single value."""
        counting = [(read, read.known) for read in self._reads if read.known and read.known.counts]
        halves = grouped(series.metric.half for _, series in counting if series.kind is Kind.COUNT)
        self._distributions = {key for key, ends in halves.items() if {*ends}.issuperset(PAIR)}
        for read, series in counting:
            key, end = series.metric.half
            if series.kind is Kind.COUNT and end == "sum" and key in self._distributions:
                read.known = attrs.evolve(series, kind=Kind.SUM)
        rows_of = grouped((series.metric.name, read.rows) for read, series in counting)
        for name, rows in rows_of.items():
            if max(rows) == 1:
                self.left_out.note(f"{name}: a counter needs two values in a series, and has one")

    def samples(self, rows: Callable[[], Iterable[Scraped]]) -> Iterator[Sample | Usage]:
        """Yield the samples of all rows, which come in order of time."""
        book = SeriesBook(self.left_out, self.signals)
        known = [read.known for read in self._reads if read.known is not None]
        failing = {series.metric.signal for series in known if _is_failed(series.labels)}
        places = {series.metric: series.where for series in known}
        for at, rows_at in groupby(self._points(rows), key=lambda row: row[2].at):
            by_metric = grouped(((metric, kind), point) for metric, kind, point in rows_at)
            distributions = dict[Metric, None]()  # in order of appearance
            for (metric, kind), points in by_metric.items():
                self.left_out.where = places.get(metric, "")
                if kind is Kind.LEVEL:
                    yield from book.levels(metric, points)
                    continue
                grown = book.grow(metric, points, delta=kind in (Kind.DELTA, Kind.SPREAD_DELTA))
                if kind in (Kind.SPREAD, Kind.SPREAD_DELTA):
                    yield from book.distributions(metric, at, grown)
                elif kind is not Kind.SUM:
                    failed = _is_failed if metric.signal in failing else None
                    yield from book.rates(metric, at, grown, failed)
                key, end = metric.half
                if kind in (Kind.COUNT, Kind.SUM) and key in self._distributions and end in PAIR:
                    distributions[attrs.evolve(metric, name=key[1])] = None
            for metric in distributions:
                yield from book.means(metric, at)

    def _points(
        self, rows: Callable[[], Iterable[Scraped]]
    ) -> Iterator[tuple[Metric, Kind, Point]]:
        """Yield the points of all rows in order of time, with their metrics and what they are."""
        fresh = {target: _scrapes(times) for target, times in self._scrapes.items()}
        scrapes_of: dict[int, Mapping[int, int]] = {}  # by series; empty without repeats
        for number, read in enumerate(self._reads):
            if isinstance(read.series, Answered) and read.known and read.known.counts:
                scrapes_of[number] = fresh[read.series.values(_TARGET)]
        if any(scrapes_of.values()):
            self.left_out.note(
                "times at which no value of a target changes are taken for repeats of a scrape, "
                "and left out of rates"
            )
        apart, falling = self._writers(rows())
        for (service, name), where in falling.items():
            self.left_out.add(
                f"{name} of {service} falls without a restart, as counts of several processes do "
                "that have no service.instance.id",
                where,
            )
        for row in rows():
            read, scrapes = self._reads[row.instance], scrapes_of.get(row.instance, {})
            if (series := read.known) is None or series.metric.signal in falling:
                continue
            if scrapes and row.at not in scrapes:
                continue
            metric, kind = series.metric, series.kind or Kind.LEVEL
            if (metric.service, metric.instance) in apart:
                metric = attrs.evolve(metric, instance=f"{metric.instance} {row.since}")
            over = 1_000_000 * scrapes[row.at] if scrapes else 0
            is_first = row.at in read.starts
            about = row.nano, row.since, series.labels, row.values, series.scope
            yield metric, kind, Point(*about, over, is_first)

    def _writers(
        self, rows: Iterable[Scraped]
    ) -> tuple[set[tuple[str, str]], dict[tuple[str, str], str]]:
        """Instances of services in which several processes count, and metrics that fall at random.

        Processes are told apart by when they began, if they overlap; the others are (service, name)
        with a place.
        """
        lives: dict[tuple[int, int], _Life] = {}
        for row in rows:
            series = self._reads[row.instance].known
            if row.since and series is not None and series.counts:
                value = row.values[0]
                new = _Life(series, row.nano, row.nano, value)
                life = lives.setdefault((row.instance, row.since), new)
                life.moved += value != life.value
                life.falls += value < life.value
                life.until, life.value = row.nano, value
        apart = set[tuple[str, str]]()
        ordered = sorted(lives.items(), key=itemgetter(0))  # by series, then by beginning
        for ((number, _), before), ((next_number, _), after) in pairwise(ordered):
            if number == next_number and after.since <= before.until:
                apart.add((before.series.metric.service, before.series.metric.instance))
        falling: dict[tuple[str, str], str] = {}
        for life in lives.values():
            if life.falls > 1 and 10 * life.falls > life.moved:
                falling.setdefault(life.series.metric.signal, life.series.where)
        return apart, falling
