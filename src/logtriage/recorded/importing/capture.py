"""A captured stack: a folder of labels, CSV files, and JSON of the field's formats.

::

    labels.csv            id, opened, root_cause, kind [, baseline_start, baseline_end, fault_class]
    logs.csv, calls.csv, metrics.csv    as in :mod:`~logtriage.recorded.importing.csv_tables`
    *.json, *.jsonl, …    any number, at any depth, gzipped or not, of any shape in the table of
                          :mod:`~logtriage.recorded.importing.shapes`
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from logtriage._lib.printable import counted
from logtriage.errors import BundleError, UnknownName
from logtriage.recorded.condensing.condense import condensed
from logtriage.recorded.condensing.raw_rows import (
    Call,
    ChangeRow,
    Dependency,
    Entry,
    LogRow,
    Rows,
    Scraped,
    Span,
    Usage,
)
from logtriage.recorded.condensing.rows_on_disk import RowStore
from logtriage.recorded.condensing.spans_to_calls import ENTERING, SpanTrees
from logtriage.recorded.condensing.ticks import STALE_MS, interval_of
from logtriage.recorded.importing.alerts import AlertBook, SentAlert
from logtriage.recorded.importing.answered import Answered
from logtriage.recorded.importing.instances import mean_usage, means, without_holes
from logtriage.recorded.importing.labels import Stretch, around_of, labels_of, stretches_of
from logtriage.recorded.importing.left_out import LeftOut, file_of
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.same_lines import without_copies
from logtriage.recorded.importing.shapes import Row, read_folder
from logtriage.recorded.importing.source_files import ENDINGS
from logtriage.recorded.importing.targets import services_of, settled
from logtriage.recorded.records import TASKS, RecordedAlert, RecordedIncident
from logtriage.world.telemetry import TICK_SECONDS

_FILES: Final = f"{', '.join(ENDINGS[:-1])} and {ENDINGS[-1]}"
#: The error for a folder without telemetry gives at most this many reasons.
_REASONS: Final = 5
#: Rows are kept from this long before a stretch: parents of its spans may begin there, and the
#: latest values of instances were taken there.
_SPAN_MARGIN_MS: Final = 60_000
#: The interval of samples is taken from at most this many.
_ENOUGH_SAMPLES: Final = 100_000


def import_capture(
    directory: str | Path,
    *,
    horizon: int = 8,
    tick_seconds: int | None = None,
    models: bool = False,
    service_label: str | None = None,
    skip_bad: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> tuple[RecordedIncident, ...]:
    """Import your own incidents from CSV or the field's formats, and a file of labels.

    Documents are read once (twice for a longer tick) and their rows kept on disk; one incident at a
    time is in memory. Alerts are those that were sent; without any document of alerts, thresholds
    make them.

    Args:
        directory: holds ``labels.csv`` and the rest.
        horizon: ticks of each incident.
        tick_seconds: how long a tick is. None: 30 s, or the interval of the samples if that is
            longer and there are neither log lines nor calls.
        models: make incidents that show figures on request, some of them without a fault.
        service_label: the label that names the service in metrics, logs and alerts; None: the
            first of the usual ones (:data:`~logtriage.recorded.importing.answered.SERVICE_LABELS`).
        skip_bad: count lines and documents that cannot be read, and go on.
        note: gets a text about everything that was left out.

    Raises:
        BundleError: naming file, line and field, for a document that breaks the rules of its format
            or has none of ours, and for a baseline that overlaps its incident; saying what was left
            out, if no document has telemetry of a service.
        OSError: if a file cannot be read.
    """
    root, left_out = Path(directory), LeftOut(skips_bad=skip_bad)
    reader = Reader(left_out, service_label)
    labels = labels_of(root, reader.names)
    tick = tick_seconds or TICK_SECONDS
    stretches = stretches_of(labels, horizon, tick, left_out.note, models=models)
    around = around_of(horizon, tick)
    times = [(row.opened - around, row.opened + around) for row in stretches]
    times += (row.usual for row in stretches if row.usual is not None)
    with RowStore((since - _SPAN_MARGIN_MS, until) for since, until in times) as store:
        capture = _Capture(reader, store, horizon, tick, around)
        unkept = f"rows, all more than {around // 60_000} min from any incident or baseline"
        read_folder(root, reader, capture.keep, unkept)
        services = services_of(reader)
        if store.offered.total() == reader.scraped.rows_without(services):
            where = f"logs.csv, calls.csv, metrics.csv or its {_FILES} files"
            raise BundleError(f"{root}: no telemetry in {where}{_why_nothing(left_out)}")
        if tick_seconds is None and (slower := capture.interval()) > tick:
            return import_capture(
                root, horizon=horizon, tick_seconds=slower, models=models,
                service_label=service_label, skip_bad=skip_bad, note=note,
            )  # fmt: skip
        capture.settle(services)
        try:
            return tuple(capture.incident(stretch) for stretch in stretches)
        finally:  # what was left out may be the reason of an error
            for text in left_out.notes():
                note(text)


def _why_nothing(left_out: LeftOut) -> str:
    """The end of the error if nothing was read; empty if nothing was left out."""
    reasons = list(left_out.notes())
    if len(reasons) > _REASONS:
        reasons[_REASONS:] = [f"and {len(reasons) - _REASONS} more"]
    return "".join(f"; {reason}" for reason in reasons)


@attrs.define
class _Capture:
    """What is kept of a capture; times and ``around`` an opening are in milliseconds."""

    reader: Reader
    store: RowStore
    horizon: int
    tick_seconds: int
    around: int
    alerts: AlertBook = attrs.Factory(AlertBook)
    graph: set[tuple[str, str]] = attrs.Factory(set)
    #: Log lines by service, and whether something says their level.
    lines: Counter[tuple[str, bool]] = attrs.Factory(Counter)
    #: Numbers of the files with log lines.
    files: dict[str, int] = attrs.Factory(dict)
    #: Times of the first samples by service, if it is known by then, and instance or series.
    sampled: defaultdict[tuple[str, int], list[int]] = attrs.Factory(lambda: defaultdict(list))

    def keep(self, row: Row) -> bool:
        """Keep a row; return whether it may belong to an incident."""
        if isinstance(row, SentAlert):
            self.alerts.add(row)
            return True
        if isinstance(row, Dependency):
            self.graph.add((row.caller, row.callee))
            return True
        if isinstance(row, LogRow):
            self.lines[row.service, row.level is not None] += 1
            name = file_of(self.reader.left_out.where)
            row = attrs.evolve(row, file=self.files.setdefault(name, len(self.files)))
        offered = self.store.offered
        if isinstance(row, Usage | Scraped) and offered[Usage] + offered[Scraped] < _ENOUGH_SAMPLES:
            service = row.service if isinstance(row, Usage) else ""  # of series it is not known yet
            self.sampled[service, row.instance].append(row.at)
        return self.store.add(row)

    def interval(self) -> int:
        """The shortest interval of a signal's samples in seconds; 0 with log lines or calls."""
        if any(self.store.offered[kind] for kind in (LogRow, Call, Span)):
            return 0
        intervals = filter(None, map(interval_of, self.sampled.values()))
        return round(min(intervals, default=0) / 1000)

    def incident(self, stretch: Stretch) -> RecordedIncident:
        """The incident of a stretch, with the alerts that were sent."""
        where, until = stretch.where, stretch.opened + self.around
        if stretch.until is not None:
            until = min(until, stretch.until)
        rows, usual = self.between(stretch.id, stretch.opened - self.around, until), Rows()
        if stretch.usual is not None:
            usual = self.between(f"{stretch.id}, baseline", *stretch.usual)
            usual = attrs.evolve(usual, changes=())
        if not rows.services:
            minutes = self.around // 60_000
            raise BundleError(f"{where}: field opened: no rows within {minutes} minutes of it")
        known = sorted(rows.services | usual.services)
        causes = tuple(dict.fromkeys(map(self.reader.names.settled, stretch.truth.root_causes)))
        for name in causes:
            if name not in known:
                unknown = UnknownName("service", name, known)
                raise BundleError(f"{where}: field root_cause: {unknown}")
        if stretch.usual is not None and not usual.services:
            self.reader.left_out.note(
                f"{where}: no rows in the baseline of {stretch.id}: nothing has a usual value"
            )
        return condensed(
            rows,
            usual,
            attrs.evolve(stretch.truth, root_causes=causes),
            where=where,
            id=stretch.id,
            opened=stretch.opened,
            horizon=self.horizon,
            baseline="fault-free" if usual.services else "none",
            task=TASKS[stretch.view],
            origin=stretch.origin,
            view=stretch.view,
            tick_seconds=self.tick_seconds,
            alerts=self.alerts_of(stretch, known) if self.reader.has_alerts else None,
        )

    def alerts_of(self, stretch: Stretch, known: Collection[str]) -> tuple[RecordedAlert, ...]:
        """The alerts of a stretch that were sent for ``known`` services; notes name the others."""
        alerts, unknown, stale = self.alerts.recorded(
            known, stretch.opened, self.around, self.horizon, self.tick_seconds
        )
        if stale:
            self.reader.left_out.note(
                f"{stretch.id}: left out {counted(stale, 'alert')} without an end: begun more than "
                f"{self.around // 60_000} min before it, and nothing shows what still fired"
            )
        for name, count in unknown.items():
            self.reader.left_out.note(
                f"{stretch.label}: alert {name!r:.80} is of no known service "
                f"({counted(count, 'time')}; --service-label takes another label)"
            )
        return alerts

    def settle(self, services: Mapping[Answered, str]) -> None:
        """Settle names and metrics, now that everything is read; note services without levels."""
        names, scraped = self.reader.names, self.reader.scraped
        names.fold()
        scraped.settle(settled(services, self.reader), names.folded)
        for sample in scraped.samples(self.store.scraped):
            self.store.add(sample)
        self.store.names = names.folded
        self.alerts.settle(names)
        pairs = {tuple(map(names.settled, pair)) for pair in self.graph}
        self.graph = {(caller, callee) for caller, callee in pairs if caller != callee}
        lines = Counter[tuple[str, bool]]()
        for (service, is_known), count in self.lines.items():
            lines[names.folded.get(service, service), is_known] += count
        for service in sorted({service for service, _ in lines}):
            if not lines[service, True]:
                self.reader.left_out.note(
                    f"{service}: no level in its {counted(lines[service, False], 'log line')}: "
                    "its errors are unknown, unless spans tell them"
                )

    def between(self, name: str, since: int, until: int) -> Rows:
        """The rows of a stretch of time, with spans joined to calls; notes begin with ``name``."""
        note = self.reader.left_out.note
        spans = SpanTrees.of(self.store.spans(since - _SPAN_MARGIN_MS, until))
        calls = tuple(call for call in spans.requests() if since <= call.at < until)
        if spans.twice:
            note(
                f"{name}: left out {counted(spans.twice, 'span')} with the trace and id of another"
            )
        lost = [span for span in spans.orphans() if span.at >= since]
        if lost:
            entered = sum(span.kind in ENTERING for span in lost)
            note(
                f"{name}: the parent of {counted(len(lost), 'span')} was not captured; of these, "
                f"{entered} of servers and consumers count as requests from outside"
            )
        if silent := sum(span.at >= since for span in spans.unnamed()):
            note(
                f"{name}: {counted(silent, 'span')} of clients whose callee sent no span and is "
                "none of the services: their callers waited, and no call counts (peer.service "
                "names a callee)"
            )
        if alone := sum(call.entry is Entry.BACKGROUND for call in calls):
            note(f"{name}: {counted(alone, 'request')} of jobs, consumers and probes, not of users")
        rows, early = self.store.between(since, until), self.store.between(since - STALE_MS, since)
        usage = mean_usage((*early.usage, *rows.usage))
        samples = means(without_holes((*early.samples, *rows.samples)))
        changes = tuple(self._changes(name, rows.changes))
        # Lines with one key are the same; a line without a key is like no other.
        keyed = {row.key or number: row for number, row in enumerate(rows.logs)}
        logs = tuple(without_copies(tuple(keyed.values())))
        if again := len(rows.logs) - len(logs):
            note(f"{name}: left out {counted(again, 'log line')} that other documents have, too")
        return Rows(
            logs=logs,
            calls=rows.calls + calls,
            usage=tuple(row for row in usage if row.at >= since),
            samples=tuple(row for row in samples if row.at >= since),
            changes=changes,
            graph=tuple(sorted(self.graph)),
        )

    def _changes(self, name: str, reports: Sequence[ChangeRow]) -> Iterator[ChangeRow]:
        """Yield the changes of services, whose names are known by now; note what is left out."""
        note, latest = self.reader.left_out.note, _latest(reports)
        unknown = Counter[str]()
        for row in latest:
            service = self.reader.names.owner(row.service, row.space)
            if service is None:
                unknown[row.service] += 1
            else:
                yield attrs.evolve(row, service=service)
        for other, count in unknown.items():
            times = counted(count, "time")
            note(f"{name}: changes of {other!r:.80}, which is no known service ({times})")
        if again := len(reports) - len(latest):
            note(f"{name}: left out {counted(again, 'earlier report')} of the same changes")


def _latest(changes: Iterable[ChangeRow]) -> Collection[ChangeRow]:
    """The latest report of each change: lists taken at several times have an event again."""
    latest: dict[object, ChangeRow] = {}
    for row in changes:
        same = row.key or (row.at, row.service, row.kind, row.detail)
        before = latest.setdefault(same, row)
        if (row.until, row.count) > (before.until, before.count):
            latest[same] = row
    return latest.values()
