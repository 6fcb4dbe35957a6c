"""Your own incidents: CSV files and a few labels become a bundle that agents triage.

Real files would come out of your log store. Here a shop of three services is written
down for six minutes; in the fourth, payments get slow and fail.
"""

import csv
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from logtriage.evaluation import RunSpec, evaluate
from logtriage.recorded import dump_bundle, import_capture, load_bundle

START = datetime(2031, 5, 6, 10, 0, tzinfo=UTC)
BROKEN = START + timedelta(minutes=3)


def write(path: Path, header: str, rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows)


def record_shop(folder: Path) -> None:
    """Six minutes of one order a second: what a log store would export."""
    logs, calls, metrics = [], [], []
    for second in range(360):
        at = START + timedelta(seconds=second)
        trace, broken = f"order-{second}", at >= BROKEN
        slow = 900 if broken else 0
        calls.append((at, "", "shop", 60 + slow, "", 20, trace))
        calls.append((at, "shop", "payments", 40 + slow, 5, 35 + slow, trace))
        calls.append((at, "payments", "ledger", 10, 2, 8, trace))
        logs.append((at, "shop", "INFO", f"order {second} placed", trace))
        if broken:
            logs.append((at, "payments", "ERROR", f"cannot charge order {second}", trace))
        else:
            logs.append((at, "payments", "INFO", f"order {second} charged", trace))
        if second % 60 == 30:
            for service in ("shop", "payments", "ledger"):
                busy = broken and service == "payments"
                metrics.append((at, service, 97.0 if busy else 4.0))
    write(folder / "logs.csv", "time,service,level,message,trace", logs)
    write(folder / "calls.csv", "time,caller,callee,latency_ms,network_ms,self_ms,trace", calls)
    write(folder / "metrics.csv", "time,service,cpu_percent", metrics)
    write(
        folder / "labels.csv",
        "id,opened,root_cause,kind,baseline_start,baseline_end",
        [("shop/2031-05-06", BROKEN + timedelta(minutes=1), "payments", "overload", START, BROKEN)],
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record_shop(folder)
        dump_bundle(import_capture(folder), folder / "shop.jsonl.gz")
        for incident in load_bundle(folder / "shop.jsonl.gz"):
            print(f"{incident.id}: {', '.join(incident.topology.names)}")
        spec = RunSpec(["combined", "error_count", "random"], ["recorded"])
        for row in evaluate(spec, folder / "run", bundle=folder / "shop.jsonl.gz"):
            print(f"{row.policy:12} AC@1 {row.located[0].ac1:.2f}")


if __name__ == "__main__":
    main()
