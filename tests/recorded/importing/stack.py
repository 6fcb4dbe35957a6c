"""A captured stack for tests: six minutes of shop → payments → a database that sends no spans."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: 2031-05-06T10:00:00Z, in seconds; payments breaks three minutes later.
START = 1_935_828_000
BREAKS, OPENED, LENGTH = 180, 240, 360
LABELS = (
    "id,opened,root_cause,kind,baseline_start,baseline_end,fault_class\n"
    "mine/1,2031-05-06T10:04:00Z,payments,overload,2031-05-06T10:00:00Z,2031-05-06T10:03:00Z,"
    "resource\n"
)


def nano(second: float) -> str:
    return str(int((START + second) * 1000) * 1_000_000)


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def resource(service: str, **others: str) -> dict[str, Any]:
    found = {"service.name": service, **others}
    return {"attributes": [attribute(key, value) for key, value in found.items()]}


def log_line(second: float, service: str, severity: int, body: str, trace: str) -> dict[str, Any]:
    record = {
        "timeUnixNano": nano(second), "severityNumber": severity, "body": {"stringValue": body},
        "traceId": trace,
    }  # fmt: skip
    scope = {"scope": {}, "logRecords": [record]}
    return {"resourceLogs": [{"resource": resource(service), "scopeLogs": [scope]}]}


def span(
    second: float, ms: float, kind: int, trace: str, own: str, parent: str = "", **others: Any
) -> dict[str, Any]:
    return {
        "traceId": trace, "spanId": own, "parentSpanId": parent, "name": "op", "kind": kind,
        "startTimeUnixNano": nano(second), "endTimeUnixNano": nano(second + ms / 1000), **others,
    }  # fmt: skip


def spans_line(spans: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    rows = [
        {"resource": resource(service), "scopeSpans": [{"scope": {"name": "t"}, "spans": [one]}]}
        for service, one in spans
    ]
    return {"resourceSpans": rows}


def metrics_line(service: str, *metrics: dict[str, Any], **others: str) -> dict[str, Any]:
    scope = {"scope": {}, "metrics": list(metrics)}
    return {"resourceMetrics": [{"resource": resource(service, **others), "scopeMetrics": [scope]}]}


def point(second: float, **fields: Any) -> dict[str, Any]:
    return {"timeUnixNano": nano(second), "startTimeUnixNano": nano(-1000), **fields}


def request(second: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The log lines and the spans of one order."""
    trace, broken = f"{second + 1:032x}", second >= BREAKS
    slow = 900 if broken else 0
    status = {"status": {"code": 2}} if broken else {}
    peer = {"attributes": [attribute("db.system", "postgresql"), attribute("server.address", "db")]}
    ids = [f"{16 * second + one + 1:016x}" for one in range(4)]
    spans = [
        ("shop", span(second, 60 + slow, 2, trace, ids[0])),
        ("shop", span(second, 40 + slow, 3, trace, ids[1], ids[0])),
        ("payments", span(second, 35 + slow, 2, trace, ids[2], ids[1], **status)),
        ("payments", span(second, 10, 3, trace, ids[3], ids[2], **peer)),
    ]
    said = (17, f"cannot charge order {second}") if broken else (9, f"order {second} charged")
    logs = [
        log_line(second, "shop", 9, f"order {second} placed", trace),
        log_line(second, "payments", *said, trace),
    ]
    return logs, spans_line(spans)


def write_lines(path: Path, lines: Iterable[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")


def write_stack(folder: Path) -> Path:
    """Logs, spans, metrics and labels below a folder."""
    logs, spans, metrics = [], [], []
    for second in range(0, LENGTH, 2):
        said, traced = request(second)
        logs += said
        spans.append(traced)
        if second % 30 == 0:
            share = 0.97 if second >= BREAKS else 0.04
            gauge = {"dataPoints": [point(second, asDouble=share)]}
            total = {
                "aggregationTemporality": 2,
                "isMonotonic": True,
                "dataPoints": [point(second, asInt=str(10 * second))],
            }
            metrics.append(
                metrics_line(
                    "payments",
                    {"name": "process.cpu.utilization", "unit": "1", "gauge": gauge},
                    {"name": "orders", "unit": "{order}", "sum": total},
                )
            )
    write_lines(folder / "logs.jsonl", logs)
    write_lines(folder / "deep" / "traces.json", spans)
    write_lines(folder / "metrics.jsonl", metrics)
    (folder / "labels.csv").write_text(LABELS, encoding="utf-8")
    return folder
