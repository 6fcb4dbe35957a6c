"""The files of the published layout, read as rows: see :mod:`logtriage.recorded.nezha`."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from logtriage.recorded.csvfiles import read_sound_rows
from logtriage.recorded.paths import find_csv, inside
from logtriage.recorded.rows import Call, LogRow, Rows, Span, Usage
from logtriage.recorded.spans import requests
from logtriage.recorded.tally import Tally
from logtriage.recorded.text import read_line

#: Files of one fault: the minute of the injection and the next two.
MINUTES: Final = 3
#: A row further than this from its file's minute has a broken clock.
TOLERANCE_MS: Final = 3_600_000

#: Around an injection, resource use is not taken for usual: a fault may show early, and
#: it takes a while to pass.
BEFORE_MS: Final = 60_000
AFTER_MS: Final = 300_000

#: A pod of a Deployment (two hashes, in the alphabet that Kubernetes uses for them) or
#: of a StatefulSet (an ordinal).
_POD: Final = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)"
    r"-(?:[bcdfghjklmnpqrstvwxz2456789]{5,10}-[bcdfghjklmnpqrstvwxz2456789]{5}|[0-9]{1,3})"
)
#: The parent of an outermost span.
_ROOT: Final = "root"

_LOG_COLUMNS: Final = ("Timestamp", "PodName", "TraceID", "Log")
_TRACE_COLUMNS: Final = (
    "TraceID",
    "SpanID",
    "ParentID",
    "PodName",
    "StartTimeUnixNano",
    "Duration",
)
_USAGE_COLUMNS: Final = ("Time", "CpuUsageRate(%)", "PodServerLatencyP99(s)")
_LOAD_COLUMNS: Final = ("PodWorkload(Ops)",)
_FRONT_COLUMNS: Final = ("Time", "LatencyP99(s)")


def listed(folder: Path) -> list[Path]:
    """What a folder holds, by name; nothing where there is no such folder."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


class Source:
    """The files of a directory, read when asked for; what several incidents share, once."""

    def __init__(self, root: Path, tally: Tally, injected: Iterable[int] = ()) -> None:
        self.root = root
        self.tally = tally
        self._injected = tuple(injected)
        self._usual: dict[str, Rows] = {}
        self._usage: dict[Path, tuple[tuple[Usage, ...], tuple[Usage, ...]]] = {}

    def around(self, injected: datetime, date: str) -> tuple[Rows, tuple[str, ...]]:
        """The minutes of a fault and the resource use of its days; and what was missing.

        ``date`` is the folder that lists the fault.
        """
        missing: list[str] = []
        minutes = [injected + timedelta(minutes=n) for n in range(MINUTES)]
        data = self.root / "rca_data"
        found: dict[str, list[tuple[Path, datetime]]] = {"log": [], "trace": []}
        for kind, files in found.items():
            for minute in minutes:
                # After midnight the next date's folder, or, where the publisher kept an
                # incident together, the same one.
                for day in dict.fromkeys((f"{minute:%Y-%m-%d}", date)):
                    folder = data / day / kind
                    file = find_csv(self.root, folder, f"{minute:%H_%M}_{kind}")
                    if file is not None:
                        files.append((file, minute))
                        break
                else:
                    missing.append(f"no {kind} file for {minute:%H:%M}")
        days = dict.fromkeys((date, *(f"{minute:%Y-%m-%d}" for minute in minutes)))
        usage: list[Usage] = []
        front: list[Usage] = []
        for day in days:
            pods, edge = self._metrics(data / day / "metric")
            usage += pods
            front += edge
        if not usage:
            missing.append("no metric files")
        at = milliseconds(injected)
        rows = Rows(
            logs=self._logs(found["log"]),
            calls=self._calls(found["trace"]),
            usage=tuple(usage),
            edge_usage=tuple(front),
        )
        return rows.between(at - TOLERANCE_MS, at + TOLERANCE_MS), tuple(missing)

    def usual(self, date: str) -> Rows:
        """The fault-free rows of a date; empty if there are none."""
        if date not in self._usual:
            folder = self.root / "construct_data" / date
            # The published metrics there are those of the whole day, faults and all.
            usage, front = map(self._quiet, self._metrics(folder / "metric"))
            self._usual[date] = Rows(
                logs=self._logs(self._minutes(folder / "log", date, "log")),
                calls=self._calls(self._minutes(folder / "trace", date, "trace")),
                usage=usage,
                edge_usage=front,
            )
        return self._usual[date]

    def _quiet(self, usage: tuple[Usage, ...]) -> tuple[Usage, ...]:
        """The samples that were not taken around a listed fault."""
        return tuple(
            row
            for row in usage
            if not any(-BEFORE_MS < row.at - fault < AFTER_MS for fault in self._injected)
        )

    def _minutes(self, folder: Path, date: str, kind: str) -> list[tuple[Path, datetime]]:
        found = []
        for file in listed(folder):
            match = re.fullmatch(rf"([01]\d|2[0-3])_([0-5]\d)_{kind}\.csv(\.gz)?", file.name)
            if match is not None:
                minute = datetime.fromisoformat(f"{date}T{match[1]}:{match[2]}+00:00")
                found.append((inside(self.root, file), minute))
        return found

    def _logs(self, files: list[tuple[Path, datetime]]) -> tuple[LogRow, ...]:
        # Neighbouring files overlap by a few rows.
        rows: dict[tuple[str, str, str], LogRow] = {}
        for path, minute in files:
            middle = milliseconds(minute)
            for line, (time, pod, trace, log) in read_sound_rows(path, _LOG_COLUMNS, self.tally):
                # ``Timestamp`` and not ``TimeUnixNano``, which is negative in some rows.
                at, service = instant(time), service_of(pod)
                if at is None or abs(at - middle) > TOLERANCE_MS:
                    self.tally.skip(path, line, "impossible time")
                elif service is None:
                    self.tally.skip(path, line, "unknown pod")
                elif (raw := log_text(log)) is None:
                    self.tally.skip(path, line, "broken JSON")
                else:
                    said = read_line(raw)
                    if said.message:
                        rows.setdefault((time, pod, log), LogRow.of(at, service, said, trace))
        return tuple(rows.values())

    def _calls(self, files: list[tuple[Path, datetime]]) -> tuple[Call, ...]:
        # A parent may stand in another file, and neighbouring files overlap.
        spans: list[Span] = []
        for path, minute in files:
            middle = milliseconds(minute)
            for line, row in read_sound_rows(path, _TRACE_COLUMNS, self.tally):
                trace, span, parent, pod, start, duration = row
                service = service_of(pod)
                at, took = whole(start) // 1000, whole(duration)
                if abs(at // 1000 - middle) > TOLERANCE_MS or took < 0:
                    self.tally.skip(path, line, "impossible time")
                elif service is None:
                    self.tally.skip(path, line, "unknown pod")
                else:
                    outermost = "" if parent == _ROOT else parent
                    spans.append(Span(trace, span, outermost, service, at, took))
        return tuple(requests(spans))

    def _metrics(self, folder: Path) -> tuple[tuple[Usage, ...], tuple[Usage, ...]]:
        """Samples of the pods, and of the front, in one folder."""
        if folder not in self._usage:
            pods: list[Usage] = []
            front: list[Usage] = []
            for file in listed(folder):
                pod = re.fullmatch(r"(.+)_metric\.csv(\.gz)?", file.name)
                if pod is not None:
                    pods += self._pod(inside(self.root, file), pod[1])
                elif re.fullmatch(r"front_service\.csv(\.gz)?", file.name):
                    front += self._front(inside(self.root, file))
            self._usage[folder] = tuple(pods), tuple(front)
        return self._usage[folder]

    def _pod(self, path: Path, pod: str) -> Iterator[Usage]:
        service = service_of(pod)
        if service is None:
            self.tally.skip(path, 1, "unknown pod")
            return
        for line, (time, cpu, p99, load) in read_sound_rows(
            path, _USAGE_COLUMNS, self.tally, optional=_LOAD_COLUMNS
        ):
            at = instant(time)
            if at is None:
                self.tally.skip(path, line, "impossible time")
            else:
                # PodSuccessRate(%) is all zero: not published, rather than all failures.
                yield Usage(at, service, scaled(cpu, 100), latency(p99), scaled(load, 60))

    def _front(self, path: Path) -> Iterator[Usage]:
        for line, (time, p99) in read_sound_rows(path, _FRONT_COLUMNS, self.tally):
            at = instant(time)
            if at is None:
                self.tally.skip(path, line, "impossible time")
            else:
                yield Usage(at, "", None, latency(p99))


# --- fields ------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def service_of(pod: str) -> str | None:
    """The service that a pod belongs to; None if the name is not one of a pod."""
    match = _POD.fullmatch(pod)
    return None if match is None else match[1]


def log_text(log: str) -> str | None:
    """The text in the JSON that the container runtime wraps around each line; None without."""
    try:
        wrapped = json.loads(log)
    except (ValueError, RecursionError):
        return None
    text = wrapped.get("log") if isinstance(wrapped, dict) else None
    return text if isinstance(text, str) else None


def milliseconds(moment: datetime) -> int:
    """A moment in Unix milliseconds, to the second."""
    return int(moment.timestamp()) * 1000


def instant(text: str) -> int | None:
    """Unix milliseconds of ``2023-01-29T08:48:42.425293566Z`` or ``2023-01-29 08:48:42.4…``.

    None for what is no time.
    """
    second = _second(text[:19])
    if second is None:
        return None
    digits = text[20:23] if text[19:20] == "." else ""
    return second + int((digits if digits.isdecimal() else "").ljust(3, "0"))


# Rows come in order: nearly every call asks for the second that the last one asked for.
@lru_cache(maxsize=4096)
def _second(text: str) -> int | None:
    try:
        return milliseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))
    except ValueError:
        return None


def whole(text: str) -> int:
    """A number of up to 19 digits; -1 for anything else."""
    return int(text) if len(text) < 20 and text.isascii() and text.isdecimal() else -1


def latency(text: str) -> int | None:
    """Seconds in milliseconds, or None as :func:`scaled`.

    None for 0 too: that is how an idle service is published, not a latency.
    """
    return scaled(text, 1000) or None


def scaled(text: str, factor: int) -> int | None:
    """A number times a factor, rounded; None for NaN, infinities, negatives and no number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value * factor + 0.5) if 0 <= value < 1e12 else None
