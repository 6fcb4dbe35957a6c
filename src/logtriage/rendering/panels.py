"""What simulated incidents show: the edge panel, gauges, traces."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from logtriage.world.channels import SPANS
from logtriage.world.figures import NOT_COLLECTED, is_down
from logtriage.world.model import World
from logtriage.world.telemetry import EdgePanel, Gauge, Trace


def edge(panel: EdgePanel) -> str:
    """What users see, beside what they usually see."""
    return (
        f"EDGE: errors {panel.error_bp / 100:.2f}% (usual {panel.usual_error_bp / 100:.2f}%), "
        f"p99 {panel.p99_ms} ms (usual {panel.usual_p99_ms} ms)"
    )


def metrics(gauges: Iterable[Gauge], world: World | None) -> Iterator[str]:
    """The gauges of each service that was asked for; those of a recording have no world."""
    titles = {} if world is None else {row.name: row.title for row in world.tokens.gauges}
    for service, rows in groupby(gauges, key=lambda row: row.service):
        gauge, *others = rows
        if is_down(gauge.tokens):
            yield f"METRICS {service}: {NOT_COLLECTED}"
            continue
        yield f"METRICS {service} ({_readings(gauge.starts)}):"
        yield from (f"{titles.get(row.name, '')} {row.text}".lstrip() for row in (gauge, *others))


def traces(spans: Iterable[Trace]) -> Iterator[str]:
    """Where each service that was asked for spends its time, and where its errors start."""
    for service, rows in groupby(spans, key=lambda row: row.service):
        span, *others = rows
        if is_down(span.tokens):
            yield f"TRACES {service}: {NOT_COLLECTED}"
            continue
        yield f"TRACES {service} ({_readings(span.starts)}):"
        yield from (
            f"{'slowest requests' if row.name == SPANS[0] else 'errors'}: {row.text}"
            for row in (span, *others)
        )


def _readings(starts: tuple[int, ...]) -> str:
    """The ticks of the readings."""
    ticks = " > ".join(map(str, starts))
    return f"read at tick {ticks}" if len(starts) == 1 else f"read at ticks {ticks}"
