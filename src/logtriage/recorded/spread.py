"""How far figures stray without a fault: the unit in which a deviation is told.

Estimated from the baseline alone. The floors say what is too small a change to matter,
however steady a figure is: a point of CPU, a tenth of the latency that raises an alert.
"""

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import pstdev
from typing import Final

from logtriage.recorded.figures import Measure
from logtriage.recorded.rows import Call, Usage

#: An alert on latency takes at least so much more than usual.
ALERT_LATENCY_MS: Final = 100
#: Fewer measurements than this have no median worth the name.
ENOUGH: Final = 3
FLOOR_CPU_BP: Final = 100
FLOOR_MS: Final = ALERT_LATENCY_MS // 10
#: Of a normal distribution this many standard deviations lie between median and p90.
_P90_SIGMAS: Final = 1.2816


def spread_of(calls: Sequence[Call], usage: Sequence[Usage], usual: Measure) -> Measure:
    """The spread of each figure of a baseline; None where it is not known.

    CPU: the standard deviation of its samples. Latencies: that of single requests,
    from median to p90, so that one slow request in ten makes a service no suspect.
    Counts: chance alone (Poisson, and a share's binomial over two minutes). The p99
    of a minute is one request or two: it has no spread worth the name.
    """
    cpu = [row.cpu_bp for row in usage if row.cpu_bp is not None]
    share = None if usual.error_bp is None else (usual.error_bp * len(calls) / 10_000 + 1)
    return Measure(
        calls=None if usual.calls is None else round(sqrt(2 * usual.calls)) + 1,
        error_bp=None if share is None else _binomial(share / (len(calls) + 2), len(calls)),
        self_ms=_upper(call.self_us for call in calls),
        p50_ms=_upper(call.latency_us for call in calls),
        network_ms=_upper(call.network_us for call in calls),
        cpu_bp=max(FLOOR_CPU_BP, round(pstdev(cpu))) if cpu else None,
    )


def _binomial(share: float, count: int) -> int:
    return max(1, round(10_000 * sqrt(share * (1 - share) * 2 / count)))


def _upper(values: Iterable[int | None]) -> int | None:
    """From median to p90 in standard deviations, of microseconds, in milliseconds."""
    known = sorted(value for value in values if value is not None)
    if len(known) < ENOUGH:
        return None
    middle, high = (known[(len(known) * percent + 99) // 100 - 1] for percent in (50, 90))
    return max(FLOOR_MS, round((high - middle) / _P90_SIGMAS / 1000))
