"""Which metrics count, of those whose format does not say it: Prometheus and tables.

A metric counts if its name ends as those of counters do, or an exporter is known to count it. Any
other counts only if all its series that move are whole numbers that rise in nearly every interval,
by a tenth at most: a leak that is seen grows faster. What falls at random is a level, whatever its
name: a counter falls to about 0 alone.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import median
from typing import Final

import attrs

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
    r"|nginx_(?:connections_(?:accepted|handled)|ingress_controller_requests)|kafka_(?:topic_partition|consumergroup)_current_offset"
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
#: The two counters of a distribution.
PAIR: Final = ("sum", "count")
#: Intervals that are enough to tell how a metric moves.
_ENOUGH: Final = 10
_SHOWN: Final = 10
#: The name of a metric, and whether it is the metric's own.
Named = tuple[str, bool]


@attrs.define
class Moves:
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


def _falls_at_random(every: Sequence[Moves]) -> bool:
    """Whether series of a metric fall as those of no counter do."""
    moved, restarts = sum(one.moved for one in every), sum(one.restarts for one in every)
    # Two restarts are no sign, however short the series.
    return 10 * sum(one.falls for one in every) > moved or 4 * restarts > max(moved, 8)


def counters_of(
    every: Mapping[Named, Sequence[Moves]], names: Collection[str], note: Callable[[str], None]
) -> set[Named]:
    """The metrics that count, given how their series move and the own names of all metrics."""
    counters = set[Named]()
    told = defaultdict[str, list[str]](list)
    for (name, is_named), series in sorted(every.items(), key=itemgetter(0)):
        moving = [moves for moves in series if moves.moved]
        rise = all(2 * one.rises > one.intervals >= _ENOUGH for one in moving)
        only_rises = bool(moving) and rise and not any(one.falls for one in moving)
        stem, _, end = name.rpartition("_")
        has_ending = is_named and name.endswith(_GROWING)
        is_alone = end in PAIR and not {f"{stem}_{half}" for half in PAIR}.issubset(names)
        is_named_so = has_ending and not (is_alone and _STATE.search(name))
        is_known = is_named and _COUNTERS.fullmatch(name) is not None
        if is_named_so or is_known:
            counts = name not in _LEVELS and not _falls_at_random(moving)
        else:
            steady = is_named and only_rises and all(one.is_steady for one in moving)
            counts = steady and not _STATE.search(name)
        if counts:
            counters.add((name, is_named))
        if counts and not is_named_so:
            told["taken for counters, and shown per second"].append(name)
        elif (has_ending or is_known) and not counts:
            told["taken for levels, though named like counters"].append(name)
        elif not counts and only_rises:
            told["taken for levels that only rise (query the rate of a counter)"].append(name)
    for what, found in told.items():
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        note(f"{what}: {', '.join(found[:_SHOWN])}{more}")
    return counters
