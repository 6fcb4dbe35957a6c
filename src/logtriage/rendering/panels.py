"""What simulated incidents show: the edge panel, gauges, traces."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, TypeVar

from logtriage.world.channels import SPANS
from logtriage.world.figures import NOT_COLLECTED, is_down
from logtriage.world.telemetry import EdgePanel, Gauge, Series, Trace

Read = TypeVar("Read", Gauge, Trace)
#: A screen shows at most this many readings, unless leaving out more would hide a change.
MOST: Final = 12
#: How many of the latest readings of the edge a screen shows.
EDGE: Final = 7


def edge(panel: EdgePanel, readings: int = EDGE) -> str:
    """What users see at the latest ``readings``, beside what they usually see."""
    errors = panel.errors[-readings:] or (panel.error_bp,)
    p99s = panel.p99s[-readings:] or (panel.p99_ms,)
    errors_row = row(Series("errors %", errors, panel.usual_error_bp, hundredths=True))
    return f"EDGE: {errors_row}; {row(Series('p99 ms', p99s, panel.usual_p99_ms))}"


def row(series: Series, places: Sequence[int] | None = None) -> str:
    """The figures of a series at ``places`` (None: all), beside the usual figure."""
    shown = series.values if places is None else [series.values[place] for place in places]
    figures = " ".join(number(series, value) for value in shown)
    mark = f" {series.mark}" if series.mark else ""
    return f"{series.label}  {figures}{mark} (usual {number(series, series.usual)})"


def number(series: Series, value: int) -> str:
    """A figure of a series in its unit."""
    return f"{value / 100:g}" if series.hundredths else str(value)


def metrics(gauges: Iterable[Gauge]) -> Iterator[str]:
    """Lines with the gauges of each service that was asked for."""
    return _by_service("METRICS", gauges, lambda _: "")


def traces(spans: Iterable[Trace]) -> Iterator[str]:
    """Lines that say where services that were asked for spend time, and where errors start."""
    return _by_service(
        "TRACES", spans, lambda span: "slowest requests: " if span.name == SPANS[0] else "errors: "
    )


def _by_service(
    heading: str, readings: Iterable[Read], title: Callable[[Read], str]
) -> Iterator[str]:
    for service, own in groupby(readings, key=lambda reading: reading.service):
        read = tuple(own)
        if is_down(read[0].tokens):
            yield f"{heading} {service}: {NOT_COLLECTED}"
            continue
        places = shown_places(read)
        ticks = " ".join(str(read[0].starts[place]) for place in places)
        left_out = ", between them no change" if len(places) < len(read[0].starts) else ""
        yield f"{heading} {service} (at tick{'s' * (len(places) > 1)} {ticks}{left_out}):"
        for reading in read:
            yield from lines(reading, places) if reading.rows else [title(reading) + reading.text]


def lines(reading: Gauge | Trace, places: Sequence[int]) -> Iterator[str]:
    """The lines of a reading, with its figures at ``places`` (indices of its ticks)."""
    for series in reading.rows:
        text = row(series, places)
        unit = "ms" if reading.name == SPANS[0] else "%"
        for since, goes in reading.parts if isinstance(reading, Trace) else ():
            parts = ", ".join(f"{name} {part}" for name, part in goes)
            text += f"; since tick {since}, {unit}: {parts}"
        yield text


def shown_places(readings: Sequence[Gauge | Trace]) -> list[int]:
    """Indices of the readings of one service that a screen shows, at most :data:`MOST` if possible.

    Indices at which no reading differs from its neighbours are left out; the newest stays.
    """
    shown = list(range(len(readings[0].starts)))
    # Slices, since readings of a recording have no tokens; then all places are alike.
    tokens = [tuple(reading.tokens[place : place + 1] for reading in readings) for place in shown]
    while len(shown) > MOST:
        runs = [list(same) for _, same in groupby(shown, key=lambda place: tokens[place])]
        longest = max(runs, key=len)
        if len(longest) < 3:  # each place is the first or the last of its run
            break
        shown.remove(longest[len(longest) // 2])
    return shown
