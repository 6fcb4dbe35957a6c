"""The files of a directory in the layout of the Nezha data set, and the fields of their rows."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Final

from logtriage.recorded.condensing.log_text import read_line
from logtriage.recorded.condensing.raw_rows import Call, LogRow, Rows, Span, Usage
from logtriage.recorded.condensing.spans_to_calls import requests
from logtriage.recorded.importing.csv_rows import read_sound_rows
from logtriage.recorded.importing.fields import scaled
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.source_files import find_csv, inside, listed, name_of

#: Files of one fault: the minute of the injection and the next two.
MINUTES: Final = 3
#: A row further than this from its file's minute has a broken clock.
TOLERANCE_MS: Final = 3_600_000
#: Around an injection, resource use does not count as usual: a fault may show early, and takes
#: a while to pass.
BEFORE_MS: Final = 60_000
AFTER_MS: Final = 300_000

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


class Source:
    """The files of a directory, read on demand and once; ``injected`` are all faults (Unix ms)."""

    def __init__(self, root: Path, left_out: LeftOut, injected: Iterable[int] = ()) -> None:
        self.root = root
        self.left_out = left_out
        self._injected = tuple(injected)
        self._usual: dict[str, Rows] = {}
        self._usage: dict[Path, Rows] = {}

    def around(self, injected: datetime, date: str) -> tuple[Rows, tuple[str, ...]]:
        """(rows of a fault's minutes, with the resource use of their days; notes on missing files).

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
        """The fault-free logs and calls of a date, and its resource use away from faults."""
        if date not in self._usual:
            folder = self.root / "construct_data" / date
            # The published metrics there are those of the whole day, faults and all.
            used = self._metrics(folder / "metric")
            self._usual[date] = Rows(
                logs=self._logs(self._files_by_minute(folder / "log", date)),
                calls=self._calls(self._files_by_minute(folder / "trace", date)),
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

    def _files_by_minute(self, folder: Path, date: str) -> _Files:
        name = rf"([01]\d|2[0-3])_([0-5]\d)_{folder.name}\.csv(\.gz)?"
        return [
            (inside(self.root, file), datetime.fromisoformat(f"{date}T{row[1]}:{row[2]}+00:00"))
            for file in listed(folder)
            if (row := re.fullmatch(name, file.name))
        ]

    def _sound(
        self, files: _Files, columns: Sequence[str], time: Callable[[str], int | None]
    ) -> Iterator[tuple[str, int, str, list[str]]]:
        """Yield (place, Unix ms, service, columns) of each row with a sound time and pod."""
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
            rows.setdefault((time, pod, log), LogRow(at, service, *read_line(text), trace))
        return tuple(rows.values())

    def _calls(self, files: _Files) -> tuple[Call, ...]:
        # A parent may stand in another file, and neighbouring files overlap.
        spans: list[Span] = []
        for where, _, service, row in self._sound(
            files, _SPAN_COLUMNS, lambda nano: natural(nano) // 1_000_000
        ):
            start, _, trace, span, parent, duration = row
            if (took := natural(duration)) < 0:
                self.left_out.add("impossible time", where)
            else:
                above = "" if parent == "root" else parent
                spans.append(Span(trace, span, above, service, natural(start) // 1000, took))
        return tuple(requests(spans, several=True))

    def _metrics(self, folder: Path) -> Rows:
        """The resource use in a folder, of its pods and of the edge."""
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
                    for at, (cpu, p99, load) in self._samples(path, columns, "PodWorkload(Ops)"):
                        # PodSuccessRate(%) is all zero: not published, rather than all failures.
                        cpu_bp, calls = scaled(cpu, 100), scaled(load, 60)
                        pods.append(Usage(at, service, cpu_bp, latency(p99), calls))
                elif re.fullmatch(r"front_service\.csv(\.gz)?", file.name):
                    path = inside(self.root, file)
                    for at, (p99,) in self._samples(path, ("Time", "LatencyP99(s)")):
                        front.append(Usage(at, "", p99_ms=latency(p99)))
            self._usage[folder] = Rows(usage=tuple(pods), edge_usage=tuple(front))
        return self._usage[folder]

    def _samples(
        self, path: Path, columns: Sequence[str], *optional: str
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield (Unix ms, the other columns, then the optional ones) of each row."""
        name = name_of(self.root, path)
        for line, (time, *row) in read_sound_rows(
            path, name, columns, self.left_out, optional=optional
        ):
            at = instant(time)
            if at is None:
                self.left_out.add("impossible time", f"{name}:{line}")
            else:
                yield at, row


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
    """Unix ms of ``2023-01-29T08:48:42.425Z`` or ``2023-01-29 08:48:42.4…``; else None."""
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


def natural(text: str) -> int:
    """A number of up to 19 digits; -1, which no time is, for any other text."""
    return int(text) if len(text) < 20 and text.isascii() and text.isdecimal() else -1


def latency(text: str) -> int | None:
    """Seconds in milliseconds; None for 0, which stands for an idle service."""
    return scaled(text, 1000) or None
