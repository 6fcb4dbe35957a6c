"""A captured stack: files of OpenTelemetry, Prometheus and Alertmanager become an incident.

Real files would come from a collector's file exporter, from Prometheus' query API and from a
webhook. Here the same shop is written down for six minutes; in the fourth, payments get slow
and fail.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from logtriage.evaluation import RunSpec, evaluate
from logtriage.recorded import dump_bundle, import_capture, load_bundle

START = datetime(2031, 5, 6, 10, 0, tzinfo=UTC)
BREAKS, LENGTH = 180, 360
LABELS = """\
id,opened,root_cause,kind,baseline_start,baseline_end
shop/2031-05-06,2031-05-06T10:04:00Z,payments,overload,2031-05-06T10:00:00Z,2031-05-06T10:03:00Z
"""


def nano(second: float) -> str:
    return str(int(START.timestamp() + second) * 10**9 + round(second % 1 * 1000) * 10**6)


def resource(service: str) -> dict[str, Any]:
    return {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}


def said(second: int, service: str, severity: int, text: str) -> dict[str, Any]:
    """A log record: what the exporter ``file/logs`` writes in a line."""
    record = {
        "timeUnixNano": nano(second),
        "severityNumber": severity,
        "body": {"stringValue": text},
        "traceId": f"{second + 1:032x}",
    }
    return {
        "resourceLogs": [{"resource": resource(service), "scopeLogs": [{"logRecords": [record]}]}]
    }


def spans(second: int, slow: int) -> dict[str, Any]:
    """A request at the shop that calls payments, which call the ledger."""
    found = []
    path = (("shop", 2, 60), ("shop", 3, 45), ("payments", 2, 40), ("payments", 3, 12))
    for number, (service, kind, took) in enumerate((*path, ("ledger", 2, 10))):
        one = {
            "traceId": f"{second + 1:032x}",
            "spanId": f"{8 * second + number + 1:016x}",
            "parentSpanId": f"{8 * second + number:016x}" if number else "",
            "kind": kind,
            "startTimeUnixNano": nano(second),
            "endTimeUnixNano": nano(second + (took + slow * (number < 3)) / 1000),
        }
        found.append({"resource": resource(service), "scopeSpans": [{"spans": [one]}]})
    return {"resourceSpans": found}


def answer() -> dict[str, Any]:
    """What Prometheus answers to a query over the six minutes."""
    series = []
    for service in ("shop", "payments", "ledger"):
        busy = [
            [
                START.timestamp() + second,
                "37" if second >= BREAKS and service == "payments" else "4",
            ]
            for second in range(0, LENGTH, 15)
        ]
        series.append({"metric": {"__name__": "threads_busy", "app": service}, "values": busy})
    return {"status": "success", "data": {"resultType": "matrix", "result": series}}


def notification() -> dict[str, Any]:
    """What Alertmanager sends."""
    alert = {
        "status": "firing",
        "labels": {"alertname": "ShopSlow", "service": "shop"},
        "startsAt": (START + timedelta(seconds=BREAKS + 40)).isoformat(),
    }
    return {"version": "4", "status": "firing", "receiver": "webhook", "alerts": [alert]}


def lines() -> Iterator[dict[str, Any]]:
    for second in range(LENGTH):
        broken = second >= BREAKS
        yield said(second, "shop", 9, f"order {second} placed")
        what = (17, f"cannot charge order {second}") if broken else (9, f"order {second} charged")
        yield said(second, "payments", *what)


def write(path: Path, documents: Iterable[Any]) -> None:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in documents), encoding="utf-8")


def capture(folder: Path) -> None:
    """Six minutes of one order a second."""
    write(folder / "logs.jsonl", lines())
    write(
        folder / "traces.jsonl",
        (spans(second, 900 if second >= BREAKS else 0) for second in range(LENGTH)),
    )
    write(folder / "metrics.json", [answer()])
    write(folder / "alerts.jsonl", [notification()])
    (folder / "labels.csv").write_text(LABELS, encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture(folder)
        dump_bundle(import_capture(folder), folder / "shop.jsonl.gz")
        for incident in load_bundle(folder / "shop.jsonl.gz"):
            print(f"{incident.id}: {', '.join(incident.topology.names)}")
        spec = RunSpec(["combined", "n_sigma", "random"], ["recorded"])
        for row in evaluate(spec, folder / "run", bundle=folder / "shop.jsonl.gz"):
            print(f"{row.policy:12} AC@1 {row.located[0].ac1:.2f}")


if __name__ == "__main__":
    main()
