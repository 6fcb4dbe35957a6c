"""What simulated incidents show: the edge panel, gauges, traces."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

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
    return _by_service("METRICS", gauges, lambda row: f"{titles.get(row.name, '')} ".lstrip())


def traces(spans: Iterable[Trace]) -> Iterator[str]:
    """Where each service that was asked for spends its time, and where its errors start."""
    return _by_service(
        "TRACES", spans, lambda row: f"{'slowest requests' if row.name == SPANS[0] else 'errors'}: "
    )


Read = TypeVar("Read", Gauge, Trace)


def _by_service(
    heading: str, readings: Iterable[Read], title: Callable[[Read], str]
) -> Iterator[str]:
    for service, rows in groupby(readings, key=lambda row: row.service):
        first, *others = rows
        if is_down(first.tokens):
            yield f"{heading} {service}: {NOT_COLLECTED}"
            continue
        ticks = " ".join(map(str, first.starts))
        yield f"{heading} {service} (at tick{'s' * (len(first.starts) > 1)} {ticks}):"
        yield from (f"{title(row)}{row.text}" for row in (first, *others))
