"""A small data set in the published layout: gateway → alpha → beta, and beta breaks.

One request a second. From the injection on beta logs an error in each of them, and is
reached half a second late. Files are damaged by the tests, not here.
"""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from logtriage import Incident
from logtriage.recorded import RecordedTelemetry

INJECTED = datetime(2031, 5, 6, 10, 20, 5, tzinfo=UTC)
ID = "nezha/2031-05-06T102005"

GATEWAY = "ts-gateway-service-6f6cfc45b-h5m2n"
ALPHA = "ts-alpha-service-5b67c48447-mv5hb"
BETA = "ts-beta-service-866bd68c97-xcqfx"
#: Never called by anyone: only its metrics are there.
IDLE = "ts-idle-service-7d97b69596-lmsfv"
PODS = (GATEWAY, ALPHA, BETA, IDLE)

LOG_HEADER = "Timestamp,TimeUnixNano,Node,PodName,Container,TraceID,SpanID,Log"
TRACE_HEADER = (
    "TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration"
)
METRIC_HEADER = "Time,TimeStamp,PodName,CpuUsageRate(%),PodServerLatencyP99(s),PodSuccessRate(%)"
FRONT_HEADER = "Time,TimeStamp,ServiceName,SuccessRate(%),LatencyP99(s)"


def shown_by(incident: Incident) -> RecordedTelemetry:
    """The telemetry of a recorded incident."""
    assert isinstance(incident.telemetry, RecordedTelemetry)
    return incident.telemetry


def log_row(at: datetime, pod: str, level: str, text: str, trace: str = "") -> str:
    """A log line as published: the clock in the text is 8 h off, as it really is."""
    stamp = f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond * 1000:09d}Z"
    local = at + timedelta(hours=8)
    line = f"{local:%H:%M:%S}.000 {level}  {text.replace(' ', f' TraceID: {trace} SpanID: 0a ', 1)}"
    wrapped = json.dumps({"log": line + "\n", "stream": "stdout", "time": stamp})
    quoted = '"' + wrapped.replace('"', '""') + '"'
    return f"{stamp},{_nano(at)},10.0.0.1,{pod},server,{trace},0a,{quoted}"


def span_row(trace: str, span: str, parent: str, pod: str, name: str, at: datetime, us: int) -> str:
    start = _nano(at)
    return f"{trace},{span},{parent},{pod},{name},{start},{start + us * 1000},{us}"


def _nano(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1000


def write_layout(
    root: Path,
    injected: datetime = INJECTED,
    *,
    kind: str = "network_delay",
    zipped: bool = False,
    baseline: bool = True,
) -> Path:
    """Write the data set below ``root`` and return ``root``."""
    date = f"{injected:%Y-%m-%d}"
    for n in range(3):
        minute = injected.replace(second=0) + timedelta(minutes=n)
        _write_minute(root / "rca_data" / f"{minute:%Y-%m-%d}", minute, injected, zipped=zipped)
    if baseline:
        minute = injected.replace(second=0) - timedelta(minutes=15)
        _write_minute(root / "construct_data" / date, minute, None, zipped=zipped)
        _write_metrics(root / "construct_data" / date, minute, 3, None, zipped=zipped)
    _write_metrics(
        root / "rca_data" / date, injected - timedelta(minutes=2), 8, injected, zipped=zipped
    )
    fault = {
        "inject_time": f"{injected:%Y-%m-%d %H:%M:%S}",
        "inject_timestamp": str(int(injected.timestamp()) - 8 * 3600),
        "inject_pod": BETA,
        "inject_type": kind,
    }
    write_faults(root, [fault], date=date)
    return root


def write_faults(root: Path, faults: list[object], date: str = "2031-05-06") -> None:
    path = root / "rca_data" / date / f"{date}-fault_list.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"10": faults}))


def _write_minute(
    folder: Path, minute: datetime, injected: datetime | None, *, zipped: bool
) -> None:
    """The log and trace file of the minute that ends eight seconds after ``minute``."""
    logs, spans = [LOG_HEADER], [TRACE_HEADER]
    for second in range(60):
        at = minute + timedelta(seconds=second - 52)
        broken = injected is not None and at >= injected
        trace = f"{int(at.timestamp()):032x}"
        late = 500_000 if broken else 2_000
        for span, parent, pod, name, us in (
            ("1", "root", GATEWAY, "/*", 30_000 + late),
            ("2", "1", GATEWAY, "HTTP POST", 28_000 + late),
            ("3", "2", ALPHA, "/alpha", 26_000 + late),
            ("4", "3", ALPHA, "HTTP GET", 10_000 + late),
            ("5", "4", BETA, "/beta", 10_000),
        ):
            spans.append(span_row(trace, span, parent, pod, name, at, us))
        logs.append(log_row(at, ALPHA, "INFO", f"a.Control#10 [get][id: {second}]", trace))
        logs.append(log_row(at, BETA, "INFO", "b.Impl#20 [find][start]", trace))
        if broken:
            logs.append(log_row(at, BETA, "ERROR", "b.Impl#23 [find][nothing found]", trace))
    write_csv(folder / "log" / f"{minute:%H_%M}_log.csv", logs, zipped=zipped)
    write_csv(folder / "trace" / f"{minute:%H_%M}_trace.csv", spans, zipped=zipped)


def _write_metrics(
    folder: Path, start: datetime, minutes: int, injected: datetime | None, *, zipped: bool
) -> None:
    times = [start + timedelta(minutes=n) for n in range(minutes)]
    for pod in PODS:
        rows = [METRIC_HEADER]
        for at in times:
            busy = pod == BETA and injected is not None and at >= injected
            time = f"{at:%Y-%m-%d %H:%M:%S}.123456789 +0000 UTC m=+0.5"
            rows.append(f"{time},{int(at.timestamp())},{pod},{90.5 if busy else 1.25},NaN,0")
        write_csv(folder / "metric" / f"{pod}_metric.csv", rows, zipped=zipped)
    rows = [FRONT_HEADER]
    for at in times:
        time = f"{at:%Y-%m-%d %H:%M:%S}.123456789 +0000 UTC m=+0.5"
        rows.append(f"{time},{int(at.timestamp())},Frontend,0,0.9")
    write_csv(folder / "metric" / "front_service.csv", rows, zipped=zipped)


def write_csv(path: Path, rows: list[str], *, zipped: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = ("\n".join(rows) + "\n").encode()
    if zipped:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(data, mtime=0))
    else:
        path.write_bytes(data)


def append(path: Path, *rows: str) -> int:
    """Add rows to a plain file; the line number of the first of them."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{row}\n" for row in rows)
    return len(path.read_text(encoding="utf-8").splitlines()) - len(rows) + 1
