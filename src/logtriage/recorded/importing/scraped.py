"""Series of Prometheus, which do not say whether they count or measure a level.

That is known once everything is read. A metric counts if its name ends as those of counters do, or
an exporter is known to count it. Any other counts only if all its series that move are whole
numbers that rise in nearly every interval, by a tenth at most: a leak that is seen grows faster.
What falls at random is a level, whatever its name: a counter falls to about 0 alone.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from statistics import median
from typing import Final

import attrs

from logtriage.recorded.condensing.log_heads import SERVER_ERROR
from logtriage.recorded.condensing.raw_rows import Sample, Scraped, Usage
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
#: Labels of counters with the status of an answer.
_STATUSES: Final = (
    *("code", "status", "status_code", "http_code", "http_status", "http_status_code"),
    *("http_response_status_code", "response_code"),
)
#: Intervals that are enough to tell how a metric moves.
_ENOUGH: Final = 10
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


def _is_failed(labels: Labels) -> bool:
    return any(key in _STATUSES and SERVER_ERROR.fullmatch(value) for key, value in labels)


@attrs.define
class ScrapedBook:
    """The series of all answers of Prometheus, each by its number."""

    #: (metric, labels, whether its name is its own, its place) of each series.
    _series: list[tuple[Metric, Labels, bool, str]] = attrs.Factory(list)
    #: By name, whether that is the metric's own, and series.
    _moves: dict[tuple[str, bool], dict[tuple[Metric, Labels], _Moves]] = attrs.Factory(dict)

    def rows(
        self,
        metric: Metric,
        labels: Labels,
        values: dict[int, float],
        where: str,
        *,
        is_named: bool,
    ) -> Iterator[Scraped]:
        """Yield the values of a series by Unix ms; without ``is_named`` it has no name itself."""
        self._series.append((metric, labels, is_named, where))
        every = self._moves.setdefault((metric.name, is_named), {})
        moves = every.setdefault((metric, labels), _Moves())
        if len(values) > 1:
            moves.add([values[at] for at in sorted(values)])
        for at, value in values.items():
            yield Scraped(at, metric.service, len(self._series), value)

    def samples(self, rows: Iterable[Scraped], book: SeriesBook) -> Iterator[Sample | Usage]:
        """Yield the samples of all rows, which come in order of time; notes say what counts."""
        counters = self._counters(book.left_out.note)
        for at, group in groupby(rows, key=attrgetter("at")):
            together: defaultdict[tuple[Metric, bool], list[Point]] = defaultdict(list)
            for row in group:
                metric, labels, is_named, book.left_out.where = self._series[row.instance - 1]
                point = Point(1_000_000 * at, since=0, labels=labels, values=(row.value,))
                together[metric, is_named and metric.name in counters].append(point)
            for (metric, counts), points in together.items():
                yield from (book.rates if counts else book.levels)(metric, points)
                failed = [point for point in points if counts and _is_failed(point.labels)]
                if failed and not metric.name.endswith("_sum"):
                    yield from book.rates(attrs.evolve(metric, name=f"{metric.name}_5xx"), failed)

    def _is_of_pair(self, name: str) -> bool:
        """Whether a ``_sum`` has its ``_count``, or the reverse; True for any other name."""
        stem, _, end = name.rpartition("_")
        other = {"sum": "count", "count": "sum"}.get(end)
        return other is None or any(
            (f"{stem}_{each}", True) in self._moves for each in (other, "bucket")
        )

    def _counters(self, note: Callable[[str], None]) -> set[str]:
        """The names of metrics that count."""
        counters = set[str]()
        told = defaultdict[str, list[str]](list)
        for (name, is_named), every in sorted(self._moves.items(), key=itemgetter(0)):
            moving = [moves for moves in every.values() if moves.moved]
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
                counters.add(name)
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
