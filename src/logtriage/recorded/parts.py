"""The rows of a recording by service, and what a stretch of them says: one arithmetic.

The same for an incident and for its baseline. Times are Unix milliseconds.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

import attrs

from logtriage.recorded.events import ERROR_LEVELS
from logtriage.recorded.figures import Measure
from logtriage.recorded.rows import NOWHERE, Call, Coverage, LogRow, Rows, Sample, Usage
from logtriage.recorded.spread import ENOUGH

#: Figures are taken over the minute before a tick; counts are told for a minute.
SPAN_MS: Final = 60_000
Timed = TypeVar("Timed", Call, LogRow, Usage, Sample)


@attrs.frozen
class Part:
    """The rows that concern one service, or the edge, sorted by time."""

    calls: tuple[Call, ...] = ()
    usage: tuple[Usage, ...] = ()
    logs: tuple[LogRow, ...] = ()
    samples: tuple[Sample, ...] = ()
    #: The requests in which it logged an error.
    failed: frozenset[str] = frozenset()
    #: When calls, and logs, of any service were recorded: elsewhere nothing is known.
    traced: Coverage = NOWHERE
    logged: Coverage = NOWHERE


def by_service(rows: Rows) -> Mapping[str, Part]:
    """The rows of each service; an empty part for any other name."""
    calls, usage = _by(rows.calls, "callee"), _by(rows.usage, "service")
    logs, samples = _by(rows.logs, "service"), _by(rows.samples, "service")
    traced, logged = covered(rows)
    parts: defaultdict[str, Part] = defaultdict(lambda: Part(traced=traced, logged=logged))
    for name in calls.keys() | usage.keys() | logs.keys() | samples.keys():
        parts[name] = Part(
            tuple(calls[name]),
            tuple(usage[name]),
            tuple(logs[name]),
            tuple(samples[name]),
            _failed(logs[name]),
            traced,
            logged,
        )
    return parts


def _by(rows: Iterable[Timed], name: str) -> defaultdict[str, list[Timed]]:
    """Rows by one of their fields, in order of time."""
    found: defaultdict[str, list[Timed]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.at):
        found[getattr(row, name)].append(row)
    return found


def edge_of(rows: Rows) -> Part:
    """What users see: the requests from outside."""
    calls = sorted((call for call in rows.calls if call.caller is None), key=lambda call: call.at)
    usage = sorted(rows.edge_usage, key=lambda row: row.at)
    return Part(tuple(calls), tuple(usage), (), (), _failed(rows.logs), *covered(rows))


def covered(rows: Rows) -> tuple[Coverage, Coverage]:
    """When calls, and when logs, of any service were recorded."""
    return Coverage.of(call.at for call in rows.calls), Coverage.of(row.at for row in rows.logs)


def _failed(logs: Iterable[LogRow]) -> frozenset[str]:
    return frozenset(row.trace for row in logs if row.trace and row.level in ERROR_LEVELS)


def figures_of(part: Part, since: int, until: int, calls: Sequence[Call]) -> dict[str, int | None]:
    """What the calls of one stretch of time say; all None where none were recorded."""
    recorded = part.traced.overlap(since, until)
    if not part.calls or not recorded:
        return {}
    heard = 2 * part.logged.overlap(since, until) >= until - since
    traces = {call.trace for call in calls if call.at in part.logged} if heard else set()
    latencies = sorted(call.latency_us for call in calls)
    network = sorted(call.network_us for call in calls if call.network_us is not None)
    own = sorted(call.self_us for call in calls if call.self_us is not None)
    return {
        "calls": round(len(calls) * SPAN_MS / recorded),
        "error_bp": _errors(calls, traces, part.failed),
        "self_ms": _rank(own, 50) if len(own) >= ENOUGH else None,
        "p50_ms": _rank(latencies, 50),
        "p99_ms": _rank(latencies, 99),
        "network_ms": _rank(network, 50) if len(network) >= ENOUGH else None,
    }


def _errors(calls: Sequence[Call], heard: set[str], failed: frozenset[str]) -> int | None:
    """How many of 10,000 requests failed: by what the callee says, or else by its log.

    ``heard`` are the requests while logs were recorded, ``failed`` those with an ERROR.
    """
    if heard:
        said = {call.trace for call in calls if call.failed and call.trace in heard}
        return 10_000 * len(heard & failed | said) // len(heard)
    known = [call.failed for call in calls if call.failed is not None]
    return 10_000 * sum(known) // len(known) if known else None


def _rank(ordered: Sequence[int], percent: int) -> int | None:
    """The nearest-rank percentile of sorted microseconds, in milliseconds."""
    if not ordered:
        return None
    return (ordered[(len(ordered) * percent + 99) // 100 - 1] + 500) // 1000


def _median(values: Iterable[int | None]) -> int | None:
    known = sorted(value for value in values if value is not None)
    return known[(len(known) - 1) // 2] if known else None


def overall(part: Part) -> Measure:
    """The figures of a baseline over its whole length; of resource use the median sample."""
    ends = part.traced.stretches
    figures = figures_of(part, ends[0][0], ends[-1][1] + 1, part.calls) if ends else {}
    if figures:
        figures["calls"] = len(part.calls) // max(1, round(part.traced.length / SPAN_MS))
    else:
        figures = {name: _median(_samples(part.usage, name)) for name in ("calls", "p99_ms")}
    return Measure(**figures, cpu_bp=_median(row.cpu_bp for row in part.usage))


def _samples(usage: Iterable[Usage], name: str) -> Iterable[int | None]:
    return (getattr(row, name) for row in usage)
