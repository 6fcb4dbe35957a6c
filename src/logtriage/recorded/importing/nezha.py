"""Importer for the published layout of the Nezha data set.

::

    rca_data/<date>/<date>-fault_list.json
    rca_data/<date>/{log,trace}/HH_MM_{log,trace}.csv     the minute that ends at HH:MM
    rca_data/<date>/metric/<pod>_metric.csv, front_service.csv
    construct_data/<date>/{log,trace,metric}/…            without a fault

Each CSV file may be gzipped. The files of the minute of a fault and of the next two are read. An
incident opens a minute after the injection, so that the figures at tick 0, taken over the minute
before it, are those of the fault.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.condensing.condense import condensed
from logtriage.recorded.condensing.log_text import read_line
from logtriage.recorded.condensing.raw_rows import Call, LogRow, Rows, Span, Usage
from logtriage.recorded.condensing.spans_to_calls import requests
from logtriage.recorded.importing.csv_rows import read_sound_rows
from logtriage.recorded.importing.fields import Field, scaled
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.source_files import find_csv, inside, listed, name_of, parsed
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.truth import RecordedTruth

ORIGIN: Final = (
    "Nezha data set (https://github.com/IntelligentDDS/Nezha), MIT licence, "
    "copyright (c) 2023 IntelligentDDS; G. Yu et al., ESEC/FSE 2023"
)
HORIZON: Final = 8
#: From injection to the opening of the incident.
DETECTION: Final = timedelta(minutes=1)
#: Files of one fault: the minute of the injection and the next two.
MINUTES: Final = 3
#: A row further than this from its file's minute has a broken clock.
TOLERANCE_MS: Final = 3_600_000
#: Around an injection, resource use does not count as usual: a fault may show early, and takes
#: a while to pass.
BEFORE_MS: Final = 60_000
AFTER_MS: Final = 300_000

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FIELDS: Final = ("inject_time", "inject_pod", "inject_type")
#: A pod of a Deployment (two hashes, in the alphabet that Kubernetes uses for them) or
#: of a StatefulSet (an ordinal).
_POD: Final = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)"
    r"-(?:[bcdfghjklmnpqrstvwxz2456789]{5,10}-[bcdfghjklmnpqrstvwxz2456789]{5}|[0-9]{1,3})"
)
#: Time and pod come first. ``TimeUnixNano`` of logs is not read: it is negative in some rows.
_LOG_COLUMNS: Final = ("Timestamp", "PodName", "TraceID", "Log")
_SPAN_COLUMNS: Final = ("StartTimeUnixNano", "PodName", "TraceID", "SpanID", "ParentID", "Duration")
#: Files with the minute at which each ends.
_Files = list[tuple[Path, datetime]]


def import_nezha(
    directory: str | Path, *, note: Callable[[str], None] = lambda _: None
) -> tuple[RecordedIncident, ...]:
    """Import a directory of the published layout; incidents by id.

    Args:
        directory: holds ``rca_data`` and ``construct_data``.
        note: gets a text about everything that was left out.

    Raises:
        BundleError: if there is no fault list, a file is damaged as a whole, or a path
            leads outside of the directory.
    """
    root = Path(directory)
    left_out = LeftOut()
    injections = _injections(root, left_out)
    source = Source(root, left_out, [milliseconds(row.at) for row in injections.values()])
    records = [_incident(source, injection, note) for _, injection in sorted(injections.items())]
    for text in left_out.notes():
        note(text)
    return tuple(record for record in records if record is not None)


# --- faults ------------------------------------------------------------------------------


@attrs.frozen
class _Injection:
    """An entry of a fault list."""

    id: str
    at: datetime
    service: str
    kind: str
    where: str
    #: The folder that lists it.
    date: str


def _injections(root: Path, left_out: LeftOut) -> dict[str, _Injection]:
    """The faults by id. ``inject_timestamp`` is not read: it is off by hours."""
    folders = root / "rca_data"
    injections: dict[str, _Injection] = {}
    files = [
        file
        for folder in listed(folders)
        if _DATE.fullmatch(folder.name)
        and (file := folder / f"{folder.name}-fault_list.json").is_file()
    ]
    if not files:
        raise BundleError(f"{folders}: no <date>/<date>-fault_list.json found")
    for file in files:
        name = name_of(root, file)
        hours = Field(parsed(inside(root, file).read_bytes(), name), name)
        entries = (entry for hour in hours.fields for entry in hours[hour].items())
        for number, entry in enumerate(entries, 1):
            time, pod, kind = (entry[field].needed for field in _FIELDS)
            try:
                at = datetime.fromisoformat(time).replace(tzinfo=UTC)
            except ValueError:
                raise entry["inject_time"].bad("a time such as 2023-01-29 08:43:04") from None
            service, injection_id = service_of(pod), f"nezha/{at:%Y-%m-%dT%H%M%S}"
            if service is None:
                left_out.add("inject_pod is no pod", f"{name}:{number}")
            elif injection_id in injections:
                left_out.add("a second fault at the same time", f"{name}:{number}")
            else:
                where, date = f"{name}:{number}", file.parent.name
                injections[injection_id] = _Injection(injection_id, at, service, kind, where, date)
    return injections


# --- incidents ---------------------------------------------------------------------------


def _incident(
    source: "Source", injection: _Injection, note: Callable[[str], None]
) -> RecordedIncident | None:
    rows, missing = source.around(injection.at, injection.date)
    usual, baseline, lacking = _baseline(source, injection, rows)
    for text in (*missing, *lacking):
        note(f"{injection.id}: {text}")
    if injection.service not in rows.services | usual.services:
        source.left_out.add("no telemetry of the injected pod", injection.where)
        return None
    trainticket = injection.service.startswith("ts-")
    return condensed(
        rows,
        usual,
        RecordedTruth((injection.service,), injection.kind),
        where=injection.where,
        id=injection.id,
        opened=milliseconds(injection.at + DETECTION),
        horizon=HORIZON,
        baseline=baseline,
        task="recorded_trainticket" if trainticket else "recorded_nezha",
        origin=ORIGIN,
    )


def _baseline(
    source: "Source", injection: _Injection, rows: Rows
) -> tuple[Rows, str, tuple[str, ...]]:
    """The usual rows, what they are, and a note if not all of them are fault-free."""
    usual = source.usual(injection.date)
    kinds = {"log": (usual.logs, rows.logs), "trace": (usual.calls, rows.calls)}
    lacking = [kind for kind, (has, needs) in kinds.items() if needs and not has]
    there = bool(usual.logs or usual.calls)
    if there and not lacking:
        return usual, "fault-free", ()
    # The minute before the fault is the next best thing to a fault-free minute; logs and calls
    # together, since lines belong to requests.
    at = milliseconds(injection.at)
    before = rows.between(at - TOLERANCE_MS, at)
    filled = attrs.evolve(
        before,
        usage=usual.usage or before.usage,
        edge_usage=usual.edge_usage or before.edge_usage,
    )
    baseline = "pre-fault" if filled.logs or filled.calls else "none"
    what = f"{lacking[0]} file" if there else "minute"
    return filled, baseline, (f"no fault-free {what}, baseline is {baseline!r}",)


# --- files -------------------------------------------------------------------------------


class Source:
    """The files of a directory, read on demand; files that incidents share are read once.

    ``injected`` are the times of all faults, in Unix milliseconds.
    """

    def __init__(self, root: Path, left_out: LeftOut, injected: Iterable[int] = ()) -> None:
        self.root = root
        self.left_out = left_out
        self._injected = tuple(injected)
        self._usual: dict[str, Rows] = {}
        self._usage: dict[Path, Rows] = {}

    def around(self, injected: datetime, date: str) -> tuple[Rows, tuple[str, ...]]:
        """The minutes of a fault, with the resource use of their days; and what was missing.

        ``date`` is the folder that lists the fault.
        """
        missing: list[str] = []
        minutes = [injected + timedelta(minutes=n) for n in range(MINUTES)]
        data = self.root / "rca_data"
        files: dict[str, _Files] = {"log": [], "trace": []}
        for kind, minute in product(files, minutes):
            # After midnight, the folder of the next date; the publisher kept some incidents
            # together in the first.
            days = dict.fromkeys((f"{minute:%Y-%m-%d}", date))
            stem = f"{minute:%H_%M}_{kind}"
            paths = (find_csv(self.root, data / day / kind, stem) for day in days)
            path = next(filter(None, paths), None)
            if path is None:
                missing.append(f"no {kind} file for {minute:%H:%M}")
            else:
                files[kind].append((path, minute))
        days = dict.fromkeys((date, *(f"{minute:%Y-%m-%d}" for minute in minutes)))
        used = [self._metrics(data / day / "metric") for day in days]
        rows = Rows(
            logs=self._logs(files["log"]),
            calls=self._calls(files["trace"]),
            usage=tuple(row for day in used for row in day.usage),
            edge_usage=tuple(row for day in used for row in day.edge_usage),
        )
        if not rows.usage:
            missing.append("no metric files")
        at = milliseconds(injected)
        return rows.between(at - TOLERANCE_MS, at + TOLERANCE_MS), tuple(missing)

    def usual(self, date: str) -> Rows:
        """The fault-free rows of a date; empty if there are none."""
        if date not in self._usual:
            folder = self.root / "construct_data" / date
            # The published metrics there are those of the whole day, faults and all.
            used = self._metrics(folder / "metric")
            self._usual[date] = Rows(
                logs=self._logs(self._minutes(folder / "log", date)),
                calls=self._calls(self._minutes(folder / "trace", date)),
                usage=self._quiet(used.usage),
                edge_usage=self._quiet(used.edge_usage),
            )
        return self._usual[date]

    def _quiet(self, usage: Sequence[Usage]) -> tuple[Usage, ...]:
        """The samples that were not taken around a listed fault."""
        return tuple(
            row
            for row in usage
            if not any(-BEFORE_MS < row.at - fault < AFTER_MS for fault in self._injected)
        )

    def _minutes(self, folder: Path, date: str) -> _Files:
        files = []
        for file in listed(folder):
            name = rf"([01]\d|2[0-3])_([0-5]\d)_{folder.name}\.csv(\.gz)?"
            if match := re.fullmatch(name, file.name):
                minute = datetime.fromisoformat(f"{date}T{match[1]}:{match[2]}+00:00")
                files.append((inside(self.root, file), minute))
        return files

    def _sound(
        self, files: _Files, columns: Sequence[str], time: Callable[[str], int | None]
    ) -> Iterator[tuple[str, int, str, list[str]]]:
        """Place, Unix ms, service and columns of each row with a time and a pod."""
        for path, minute in files:
            middle, name = milliseconds(minute), name_of(self.root, path)
            for line, row in read_sound_rows(path, name, columns, self.left_out):
                at, service, where = time(row[0]), service_of(row[1]), f"{name}:{line}"
                if at is None or abs(at - middle) > TOLERANCE_MS:
                    self.left_out.add("impossible time", where)
                elif service is None:
                    self.left_out.add("unknown pod", where)
                else:
                    yield where, at, service, row

    def _logs(self, files: _Files) -> tuple[LogRow, ...]:
        # Neighbouring files overlap by a few rows.
        rows: dict[tuple[str, str, str], LogRow] = {}
        for where, at, service, row in self._sound(files, _LOG_COLUMNS, instant):
            time, pod, trace, log = row
            text = log_text(log)
            if text is None:
                self.left_out.add("broken JSON", where)
                continue
            line = read_line(text)
            if line.message:
                rows.setdefault((time, pod, log), LogRow(at, service, *line, trace))
        return tuple(rows.values())

    def _calls(self, files: _Files) -> tuple[Call, ...]:
        # A parent may stand in another file, and neighbouring files overlap.
        spans: list[Span] = []
        for where, _, service, row in self._sound(files, _SPAN_COLUMNS, _of_nano):
            start, _, trace, span, parent, duration = row
            if (took := whole(duration)) < 0:
                self.left_out.add("impossible time", where)
            else:
                above = "" if parent == "root" else parent
                spans.append(Span(trace, span, above, service, whole(start) // 1000, took))
        return tuple(requests(spans))

    def _metrics(self, folder: Path) -> Rows:
        """The resource use of the pods, and of the front, in one folder."""
        if folder not in self._usage:
            pods: list[Usage] = []
            front: list[Usage] = []
            for file in listed(folder):
                if pod := re.fullmatch(r"(.+)_metric\.csv(\.gz)?", file.name):
                    service, path = service_of(pod[1]), inside(self.root, file)
                    if service is None:
                        self.left_out.add("unknown pod", f"{name_of(self.root, path)}:1")
                        continue
                    columns = ("Time", "CpuUsageRate(%)", "PodServerLatencyP99(s)")
                    for at, (cpu, p99, load) in self._sampled(path, columns, "PodWorkload(Ops)"):
                        # PodSuccessRate(%) is all zero: not published, rather than all failures.
                        pods.append(
                            Usage(at, service, scaled(cpu, 100), latency(p99), scaled(load, 60))
                        )
                elif re.fullmatch(r"front_service\.csv(\.gz)?", file.name):
                    path = inside(self.root, file)
                    for at, (p99,) in self._sampled(path, ("Time", "LatencyP99(s)")):
                        front.append(Usage(at, "", None, latency(p99)))
            self._usage[folder] = Rows(usage=tuple(pods), edge_usage=tuple(front))
        return self._usage[folder]

    def _sampled(
        self, path: Path, columns: Sequence[str], *optional: str
    ) -> Iterator[tuple[int, list[str]]]:
        name = name_of(self.root, path)
        for line, (time, *row) in read_sound_rows(
            path, name, columns, self.left_out, optional=optional
        ):
            at = instant(time)
            if at is None:
                self.left_out.add("impossible time", f"{name}:{line}")
            else:
                yield at, row


# --- fields ------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def service_of(pod: str) -> str | None:
    """The service that a pod belongs to; None if it is not the name of a pod."""
    match = _POD.fullmatch(pod)
    return None if match is None else match[1]


def log_text(log: str) -> str | None:
    """The text in the JSON that the container runtime wraps around a line, or None."""
    try:
        wrapped: Any = json.loads(log)
    except (ValueError, RecursionError):
        return None
    text = wrapped.get("log") if isinstance(wrapped, dict) else None
    return text if isinstance(text, str) else None


def milliseconds(moment: datetime) -> int:
    """A moment in Unix milliseconds, to the second."""
    return int(moment.timestamp()) * 1000


def instant(text: str) -> int | None:
    """Unix milliseconds of ``2023-01-29T08:48:42.425293566Z`` or ``2023-01-29 08:48:42.4…``.

    None for any other text.
    """
    second = _second(text[:19])
    if second is None:
        return None
    digits = text[20:23] if text[19:20] == "." else ""
    return second + int((digits if digits.isdecimal() else "").ljust(3, "0"))


# Rows come in order: nearly every call asks for the same second as the call before.
@lru_cache(maxsize=4096)
def _second(text: str) -> int | None:
    try:
        return milliseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))
    except ValueError:
        return None


def whole(text: str) -> int:
    """A number of up to 19 digits; -1 for any other text."""
    return int(text) if len(text) < 20 and text.isascii() and text.isdecimal() else -1


def _of_nano(text: str) -> int:
    return whole(text) // 1_000_000


def latency(text: str) -> int | None:
    """Seconds in milliseconds; None for 0, which stands for an idle service."""
    return scaled(text, 1000) or None
