"""A recording as a source of telemetry.

It is open loop: no remedy changes a recording. After the last recorded window, that window is shown
again, and likewise each figure; a note says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import hypot, sqrt
from statistics import median_high
from typing import ClassVar, Final, TypeVar

import attrs

from logtriage.recorded.condensing.log_text import template
from logtriage.recorded.condensing.service_figures import ENOUGH
from logtriage.recorded.figures import FIGURES, FIRST_TICK, Measure, Series, cell
from logtriage.recorded.figures_in_words import age_notes, figures_line, gauge, time_spent
from logtriage.recorded.records import LogWindow, RecordedChange, RecordedService, Recording
from logtriage.recorded.shown_lines import lines_by_service, overview_of, sample
from logtriage.world.telemetry import (
    TREND_TICKS,
    Alert,
    Change,
    Gauge,
    LogLine,
    Reading,
    Signal,
    Trace,
)

MOST_CHANGES: Final = 12
#: Figures that mean the same at every service. Traffic and latency do not: they depend on the
#: callers and on the chain of callees.
COMPARABLE: Final = ("error_bp", "self_ms", "network_ms", "cpu_bp")
_Shown = TypeVar("_Shown")


@attrs.frozen(cache_hash=True)
class RecordedTelemetry:
    """Telemetry from a recording. Implements :class:`logtriage.world.telemetry.Telemetry`.

    Services are indices into ``recording.services``. Lines are chosen by level, novelty and a hash
    of tick and line, never by the truth, which a :class:`Recording` does not hold.
    With ``on_request``, figures are shown on request alone.
    """

    recording: Recording
    on_request: bool = False

    #: Remedies change nothing in a recording.
    open_loop: ClassVar[bool] = True

    @property
    def tick_seconds(self) -> int:
        """The length of a tick of the recording, in seconds."""
        return self.recording.tick_seconds

    def slo(self, tick: int) -> Reading | None:
        """The edge over the last minute; None if it was not measured."""
        return _reading(self.recording.edge, tick, self.recording.edge_baseline)

    def notes(self, tick: int) -> tuple[str, ...]:
        """Warnings of parts of the screen that are older than this tick, or were not recorded."""
        return tuple(age_notes(self.recording, tick))

    def alerts(self, tick: int) -> tuple[Alert, ...]:
        """Alerts that fire, longest first."""
        firing = (
            Alert(alert.service, alert.name, alert.since)
            for alert in self.recording.alerts
            if alert.since <= tick and (alert.until is None or tick <= alert.until)
        )
        return tuple(sorted(firing, key=lambda alert: (alert.since, alert.service, alert.name)))

    def changes(self, tick: int) -> tuple[Change, ...]:
        """The latest changes until a tick, at most :data:`MOST_CHANGES`, in order of time.

        Changes of one service that say the same are shown as one, with a count.
        """
        now = tick * self.tick_seconds
        merged: dict[tuple[str, str], RecordedChange] = {}
        for row in self.recording.changes:
            if row.second > now:
                continue
            if row.until > now:  # it goes on after now: only its beginning counts
                row = attrs.evolve(row, until=row.second, count=1)
            key = row.service, template(row.kind, row.detail)
            if (before := merged.get(key)) is not None:
                until, count = max(row.until, before.until), row.count + before.count
                row = attrs.evolve(row, until=until, count=count)
            merged[key] = row
        rows = sorted(merged.values(), key=lambda row: (row.until, row.service, row.detail))
        return tuple(_change(row, now) for row in rows[-MOST_CHANGES:])

    def window(self, tick: int) -> tuple[LogLine, ...]:
        """A few lines of one window: :func:`~logtriage.recorded.shown_lines.sample`."""
        return _at(self._windows, tick)

    def overview(self, tick: int) -> tuple[LogLine, ...]:
        """A line of each loudest service: :func:`~logtriage.recorded.shown_lines.overview_of`."""
        return _at(self._overviews, tick)

    def service_logs(self, service: int, tick: int) -> tuple[LogLine, ...]:
        """The loudest and new lines of one service in the last two windows, then its figures."""
        recorded = self.recording.services[service]
        shown = _at(self._service_lines, tick).get(recorded.name, ())
        figures = figures_line(recorded.series.at(tick), recorded.baseline)
        if figures:
            shown += (LogLine(self.tick_seconds * tick, recorded.name, "INFO", figures),)
        return shown

    def health(self, service: int, tick: int) -> Reading | None:
        """Errors (or None) and latency of a service over the last minute; None without latency."""
        recorded = self.recording.services[service]
        return _reading(recorded.series, tick, recorded.baseline)

    def signals(self, tick: int) -> tuple[tuple[Signal, ...], ...]:
        """Each service's figures over the last minute beside the usual; empty if on request."""
        return () if self.on_request else self.figures(tick)

    def figures(self, tick: int) -> tuple[tuple[Signal, ...], ...]:
        """The figures of each service, whether or not a dashboard shows them."""
        return _at(self._signals, tick)

    @property
    def recorded(self) -> int:
        """How many ticks from tick 0 on have figures of their own."""
        return len(self._signals)

    def metrics(self, service: int, tick: int) -> tuple[Gauge, ...]:
        """The signals of one service as gauges, each one reading of the last minute."""
        name = self.recording.services[service].name
        return tuple(gauge(name, tick, signal) for signal in self.figures(tick)[service])

    def traces(self, service: int, tick: int) -> tuple[Trace, ...]:
        """Where one service's time goes by its spans, and what its callees take for all callers."""
        by_name = {row.name: row for row in self.recording.services}
        asked = self.recording.services[service]
        text = time_spent(asked, [by_name[name] for name in asked.calls], tick)
        return (Trace(asked.name, "time", starts=(tick,), tokens=(), text=text),) if text else ()

    @cached_property
    def _signals(self) -> tuple[tuple[tuple[Signal, ...], ...], ...]:
        """The signals by tick, from tick 0 on, and by service."""
        services = self.recording.services
        ticks = range(max(map(length_of, services)))
        stand_ins = borrowed(services)
        by_service = [signals_of(row, stand_ins, ticks) for row in services]
        return tuple(zip(*by_service, strict=True))

    def _window(self, tick: int) -> LogWindow:
        """The window of a tick: empty before the first, the last window after the last."""
        windows = self.recording.windows
        if not windows or tick < windows[0].tick:
            return LogWindow(tick)
        return windows[min(tick - windows[0].tick, len(windows) - 1)]

    @cached_property
    def _recorded_ticks(self) -> range:
        """The ticks from 0 on that have a log window; tick 0 in any case."""
        windows = self.recording.windows
        return range(max(0, windows[-1].tick) + 1 if windows else 1)

    @cached_property
    def _service_lines(self) -> tuple[dict[str, tuple[LogLine, ...]], ...]:
        return tuple(
            lines_by_service((*self._window(tick - 1).lines, *self._window(tick).lines))
            for tick in self._recorded_ticks
        )

    @cached_property
    def _windows(self) -> tuple[tuple[LogLine, ...], ...]:
        return tuple(sample(self._window(tick)) for tick in self._recorded_ticks)

    @cached_property
    def _overviews(self) -> tuple[tuple[LogLine, ...], ...]:
        return tuple(overview_of(self._window(tick)) for tick in self._recorded_ticks)


def _change(row: RecordedChange, now: int) -> Change:
    """The change as it is shown at second ``now``."""
    detail = row.detail if row.count == 1 else f"{row.detail} (x{row.count})"
    minutes = (now - row.until) // 60
    return Change(row.service, row.kind, minutes, detail)


def _at(by_tick: Sequence[_Shown], tick: int) -> _Shown:
    """What is shown at a tick: before tick 0 that of tick 0, after the last that of the last."""
    return by_tick[min(max(tick, 0), len(by_tick) - 1)]


def _reading(series: Series, tick: int, usual: Measure) -> Reading | None:
    """The reading of a tick; None if its latency was not measured."""
    now = series.figure("p99_ms", tick)
    if now is None:
        return None
    earlier = series.figure("p99_ms", tick - TREND_TICKS)
    if earlier is None:
        # The recording does not reach back that far: what is usual stands in.
        earlier = now if usual.p99_ms is None else usual.p99_ms
    return Reading(series.figure("error_bp", tick), now, earlier)


def length_of(service: RecordedService) -> int:
    """The number of ticks from tick 0 on that the columns of a service cover; at least 1."""
    figures = attrs.astuple(service.series, recurse=False)
    others = (metric.value for metric in service.metrics)
    columns = (*figures, service.new_errors.value, service.events.value, *others)
    return max(1, *(len(column) + FIRST_TICK for column in columns))


def signals_of(
    service: RecordedService, stand_ins: Mapping[str, tuple[int, int]], ticks: Iterable[int]
) -> Iterator[tuple[Signal, ...]]:
    """Yield a service's signals at each tick.

    ``stand_ins`` from :func:`borrowed` are, by figure, the usual value and spread of others.
    """
    usual = {  # (usual value, spread, whether they are borrowed)
        name: (getattr(service.baseline, name), getattr(service.spread, name), False)
        for name in FIGURES
    }
    for name, pooled in stand_ins.items():
        if usual[name][0] is None:
            usual[name] = (*pooled, True)
    for tick in ticks:
        yield tuple(_signals_at(service, usual, tick))


def _signals_at(
    service: RecordedService, usual: dict[str, tuple[int | None, int | None, bool]], tick: int
) -> Iterator[Signal]:
    """Yield what was measured; ``usual`` as in :func:`signals_of`, in the order of Signal."""
    for name in FIGURES:
        value = service.series.figure(name, tick)
        if value is not None:
            yield Signal(name, value, *usual[name])
    for name, shift in (("new_errors_bp", service.new_errors), ("events_bp", service.events)):
        value = cell(shift.value, tick)
        if value is not None:
            usually, spread = cell(shift.usual, tick), cell(shift.spread, tick)
            yield Signal(name, value, usually, spread, of_lines=service.of_lines)
    for metric in service.metrics:
        value = cell(metric.value, tick)
        if value is not None:
            yield Signal(metric.name, value, metric.usual, metric.spread, iqr=metric.iqr)


def borrowed(services: Sequence[RecordedService]) -> dict[str, tuple[int, int]]:
    """Pool (usual value, spread) of each comparable figure over the services that have it.

    The usual value is the median. The spread is ``hypot`` of the services' median spread and their
    standard deviation about the median: a borrower must stand out from both. Figures of fewer than
    :data:`~logtriage.recorded.condensing.service_figures.ENOUGH` services are left out.
    """
    pooled = {}
    for name in COMPARABLE:
        pairs = [(getattr(row.baseline, name), getattr(row.spread, name)) for row in services]
        known = [pair for pair in pairs if None not in pair]
        if len(known) >= ENOUGH:
            values, spreads = zip(*known, strict=True)
            middle = median_high(values)
            differ = sqrt(sum((value - middle) ** 2 for value in values) / len(values))
            pooled[name] = middle, max(1, round(hypot(median_high(spreads), differ)))
    return pooled
