"""Series of metrics, whose meaning is known once everything is read.

Those of OTLP say what they measure; their points come in batches, by scope and by process. Those of
Prometheus do not say whether they count or measure a level. A metric counts if its name ends as
those of counters do, or an exporter is known to count it. Any other counts only if all its series
that move are whole numbers that rise in nearly every interval, by a tenth at most: a leak that is
seen grows faster. What falls at random is a level, whatever its name: a counter falls to about 0
alone.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from statistics import median
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.log_heads import SERVER_ERROR
from logtriage.recorded.condensing.raw_rows import Sample, Scraped, Usage
from logtriage.recorded.condensing.ticks import interval_of
from logtriage.recorded.importing.metric_series import Labels, Metric, Point, SeriesBook

_GROWING: Final = ("_total", "_count", "_sum")
#: Counters whose names have no such ending, as their exporters' sources and the statistics of
#: PostgreSQL, MySQL, Linux, nginx, Envoy, MongoDB and Kafka say.
_COUNTERS: Final = re.compile(
    r"(?:cnpg_)?pg_stat_database_(?!numbackends|stats_reset|datid)\w+"
    r"|pg_stat_bgwriter_(?!stats_reset)\w+"
    r"|pg_stat_\w+_(?:seq_scan|seq_tup_read|idx_scan|idx_tup_(?:read|fetch)|n_tup_\w+)"
    r"|pg_statio_\w+_blks_(?:read|hit)"
    r"|mysql_global_status_(?!threads_(?:connected|running|cached)|open_|max_used|wsrep"
    r"|buffer_pool_(?:dirty_)?pages|innodb_buffer_pool_(?:bytes|pages_(?!\w*flushed))|key_blocks"
    r"|innodb_(?:\w*pending|row_lock_(?:current|time_)|page_size|num_open|history)|last_query"
    r"|qcache_(?:free|queries_in|total)|prepared_stmt_count|\w+_open_temp|rpl_semi)\w+"
    r"|node_netstat_(?!\w+_(?:CurrEstab|Forwarding))\w+|node_vmstat_(?!nr_)\w+"
    r"|nginx_connections_(?:accepted|handled)|kafka_(?:topic_partition|consumergroup)_current_offset"
    r"|envoy_(?:cluster_upstream|http_downstream)_(?:rq|cx)(?!\w*(?:active|buffered|_ms))\w*"
    r"|\w*uptime\w*|node_time_seconds|mongodb_ss_(?:opcounters\w*|network_(?:bytes|num)\w+)"
)
#: Levels whose names end as those of counters do, as the same sources say.
_LEVELS: Final = (
    *("pg_locks_count", "pg_stat_activity_count", "mysql_global_status_prepared_stmt_count"),
)
#: Words in names of levels that may rise for long.
_STATE: Final = re.compile(
    r"(?:^|_)(?:bytes|memory|heap|disk|size|length|depth|used|usage|free|available|lag|backlog|age"
    r"|pending|waiting|queued?|active|open|connections|threads|sessions|goroutines)(?:_|$)"
)
#: Labels of counters with the status of an answer, and the status of a failed span.
_STATUSES: Final = (
    *("code", "status", "status_code", "http_code", "http_status", "http_status_code"),
    *("http_response_status_code", "response_code", "otel_status_code"),
)
_SPAN_FAILED: Final = ("ERROR", "STATUS_CODE_ERROR")
#: Labels that tell targets of Prometheus apart: all series of a target are scraped together.
_TARGET: Final = ("cluster", "namespace", "job", "instance", "pod")
#: The two counters of a distribution.
_PAIR: Final = ("sum", "count")
#: Intervals that are enough to tell how a metric moves.
_ENOUGH: Final = 10
#: Scrapes that are enough to tell their interval.
_FEW: Final = 5
_SHOWN: Final = 10


@attrs.define
class _Moves:
    """How a series moves: counts of intervals, how far it rises in all, and its highest value."""

    intervals: int = 0
    rises: int = 0
    falls: int = 0
    #: Falls to about 0, after which a counter counts anew.
    restarts: int = 0
    risen: float = 0
    highest: float = 0
    is_whole: bool = True

    def add(self, values: Sequence[float]) -> None:
        """Add values in order of time."""
        steps = [after - before for before, after in pairwise(values)]
        rises = [step for step in steps if step > 0]
        risen, usual = sum(rises), median(rises) if rises else 0
        for before, after in pairwise(values):
            # After a restart, a counter has at most what it counts in an interval.
            anew = 0 <= after <= max(before / 10, 2 * usual)
            self.restarts += after < before and anew
            self.falls += after < before and not anew
        self.intervals += len(steps)
        self.rises += sum(step > 0 for step in steps)
        self.risen += risen
        self.highest = max(self.highest, *values)
        self.is_whole = self.is_whole and all(map(float.is_integer, values))

    @property
    def moved(self) -> int:
        """Intervals in which the value changes."""
        return self.rises + self.falls + self.restarts

    @property
    def is_steady(self) -> bool:
        """Whether the series counts, to all appearance."""
        rises = not self.falls and 10 * self.rises >= 9 * self.intervals >= 9 * _ENOUGH
        return rises and self.is_whole and 10 * self.risen <= self.highest


def _falls_at_random(every: Sequence[_Moves]) -> bool:
    """Whether series of a metric fall as those of no counter do."""
    moved, restarts = sum(one.moved for one in every), sum(one.restarts for one in every)
    return 10 * sum(one.falls for one in every) > moved or 4 * restarts > max(moved, 8)


def _target(labels: Labels) -> tuple[str, ...]:
    every = dict(labels)
    return tuple(every.get(key, "") for key in _TARGET)


def _repeats(changed: Mapping[int, bool]) -> frozenset[int]:
    """The times at which an answer has the values of the scrape before once more.

    ``changed`` are all times of a target, and whether any of its values is a new one. If the step
    of a query is shorter than the interval of scrapes, that is so at every second or third time.
    """
    times, fresh = sorted(changed), sorted(at for at in changed if changed[at])
    step, interval = interval_of(times), interval_of(fresh)
    if step is None or interval is None or len(fresh) < _FEW or interval < 2 * step:
        return frozenset()
    every = round(interval / step)
    places = {at: round((at - times[0]) / step) % every for at in times}
    place, count = Counter(places[at] for at in fresh).most_common(1)[0]
    is_regular = 10 * count >= 9 * len(fresh)
    return frozenset(at for at in times if is_regular and places[at] != place)


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


def _named(series: Answered | Series) -> tuple[str, bool]:
    """The name of a series' metric, and whether it is the metric's own."""
    if isinstance(series, Series):
        return series.metric.name, True
    return series.name, series.is_named


@attrs.define
class ScrapedBook:
    """The series of all documents, each by its number."""

    _series: list[Answered | Series] = attrs.Factory(list)
    _numbers: dict[Answered | Series, int] = attrs.Factory(dict)
    _moves: defaultdict[int, _Moves] = attrs.Factory(lambda: defaultdict(_Moves))
    #: The metrics' own names.
    _named: set[str] = attrs.Factory(set)
    #: Rows by number.
    _rows: Counter[int] = attrs.Factory(Counter)
    #: By target of Prometheus and time: whether any of its values changed.
    _scrapes: defaultdict[tuple[str, ...], dict[int, bool]] = attrs.Factory(
        lambda: defaultdict(dict)
    )

    def rows(self, series: Answered | Series, values: Mapping[int, float]) -> Iterator[Scraped]:
        """Yield the values of a series by Unix ms; how they move tells what they are."""
        number, times = self._number(series), sorted(values)
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
        counters = self._counters(metric_of, note)
        for number, series in enumerate(self._series):
            kind = Kind.COUNT if _named(series) in counters else Kind.LEVEL
            if isinstance(series, Series):
                service = names.get(series.metric.service, series.metric.service)
                metric = attrs.evolve(series.metric, service=service)
                self._series[number] = attrs.evolve(series, metric=metric, kind=series.kind or kind)
            elif number in metric_of:
                self._series[number] = Series(*metric_of[number], kind, series.where)
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
        repeats = {target: _repeats(times) for target, times in self._scrapes.items()}
        skipped = {
            number: repeats[target]
            for series, number in self._numbers.items()
            if isinstance(series, Answered) and repeats[target := _target(series.labels)]
        }
        if skipped:
            book.left_out.note(
                "a query's step is shorter than the interval of scrapes: repeats are left out of "
                "rates"
            )
        failing = {
            (series.metric.service, series.metric.name)
            for series in self._series
            if isinstance(series, Series) and _is_failed(series.labels)
        }
        apart, unclear = self._writers(rows())
        for (service, name), where in unclear.items():
            book.left_out.add(
                f"{name} of {service} falls without a restart, as counts of several processes do "
                "that have no service.instance.id",
                where,
            )
        for nano, group in groupby(rows(), key=attrgetter("nano")):
            together: defaultdict[tuple[Metric, Kind], list[Point]] = defaultdict(list)
            pairs: defaultdict[tuple[Metric, Labels], dict[str, float]] = defaultdict(dict)
            places: dict[tuple[Metric, Kind], str] = {}
            for row in group:
                series = self._series[row.instance]
                if not isinstance(series, Series):
                    continue
                metric, kind = series.metric, series.kind or Kind.LEVEL
                if (metric.service, metric.name) in unclear:
                    continue
                if kind is Kind.COUNT and row.at in skipped.get(row.instance, ()):
                    continue
                if (metric.service, metric.instance) in apart:
                    metric = attrs.evolve(metric, instance=f"{metric.instance} {row.since}")
                stem, _, end = metric.name.rpartition("_")
                if kind is Kind.COUNT and end in _PAIR and self._is_pair(stem):
                    pairs[attrs.evolve(metric, name=stem), series.labels][end] = row.values[0]
                    if end == "sum":
                        continue
                point = Point(row.nano, row.since, series.labels, row.values, series.scope)
                together[metric, kind].append(point)
                places[metric, kind] = series.where
            for (metric, labels), pair in pairs.items():
                if len(pair) == 2:
                    counts = Point(nano, 0, labels, (pair["count"], pair["sum"]))
                    yield from book.distributions(metric, [counts], counted=False)
            for (metric, kind), points in together.items():
                book.left_out.where = places[metric, kind]
                is_delta = kind in (Kind.DELTA, Kind.SPREAD_DELTA)
                if kind is Kind.LEVEL:
                    yield from book.levels(metric, points)
                elif kind in (Kind.SPREAD, Kind.SPREAD_DELTA):
                    yield from book.distributions(metric, points, delta=is_delta)
                else:
                    fails = (metric.service, metric.name) in failing
                    failed = _is_failed if fails else None
                    yield from book.rates(metric, points, delta=is_delta, failed=failed)

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
            if 10 * count > moved[key] and isinstance(series, Series):
                unclear.setdefault((series.metric.service, series.metric.name), series.where)
        return apart, unclear

    def _is_pair(self, stem: str) -> bool:
        """Whether a metric of Prometheus has both a sum and a count."""
        return all(f"{stem}_{end}" in self._named for end in _PAIR)

    def _is_of_pair(self, name: str) -> bool:
        """Whether a ``_sum`` has its ``_count``, or the reverse; True for any other name."""
        stem, _, end = name.rpartition("_")
        return end not in _PAIR or self._is_pair(stem) or f"{stem}_bucket" in self._named

    def _counters(self, kept: Iterable[int], note: Callable[[str], None]) -> set[tuple[str, bool]]:
        """The metrics that count: their names, and whether these are their own."""
        counters = set[tuple[str, bool]]()
        told = defaultdict[str, list[str]](list)
        unknown = (n for n, one in enumerate(self._series) if getattr(one, "kind", "") is None)
        every = grouped((_named(self._series[n]), n) for n in (*kept, *unknown))
        for (name, is_named), numbers in sorted(every.items(), key=itemgetter(0)):
            moving = [moves for number in numbers if (moves := self._moves[number]).moved]
            rises = bool(moving) and all(2 * one.rises > one.intervals >= _ENOUGH for one in moving)
            rises = rises and not any(one.falls for one in moving)
            named = is_named and name.endswith(_GROWING)
            ends = named and (self._is_of_pair(name) or not _STATE.search(name))
            is_known = is_named and _COUNTERS.fullmatch(name) is not None
            if ends or is_known:
                counts = name not in _LEVELS and not _falls_at_random(moving)
            else:
                steady = is_named and rises and all(one.is_steady for one in moving)
                counts = steady and not _STATE.search(name)
            if counts:
                counters.add((name, is_named))
            if counts and not ends:
                told["taken for counters, and shown per second"].append(name)
            elif (named or is_known) and not counts:
                told["taken for levels, though named like counters"].append(name)
            elif not counts and rises:
                told["taken for levels that only rise (query the rate of a counter)"].append(name)
        for what, names in told.items():
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            note(f"{what}: {', '.join(names[:_SHOWN])}{more}")
        return counters
