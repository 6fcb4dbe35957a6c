"""Cases in the layout of RCAEval become files that `logtriage import capture` reads.

    python examples/rcaeval_capture.py RE2-OB captured
    logtriage import capture captured --out rcaeval.jsonl.gz

A case is a folder <any folders>/<service>_<fault>/<run> with these files:

    inject_time.txt   Unix seconds
    simple_metrics.csv, simple_data.csv, metrics.csv or data.csv   time, <service>_<metric>, …
    logs.csv          timestamp (ns), container_name, message [, level]
    traces.csv        traceID, spanID, parentSpanID, serviceName, startTime, duration (µs)

The ten minutes before the injection are the baseline; the incident opens a minute after it.
"""

import csv
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

METRICS = ("simple_metrics", "simple_data", "metrics", "data")
DETECTION, BASELINE = 60, 600


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()


def records(path: Path) -> Iterator[dict[str, str]]:
    if path.is_file():
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            yield from csv.DictReader(file)


def label(case: Path) -> dict[str, str]:
    """The answer; the id does not tell it."""
    service, _, fault = case.parent.name.rpartition("_")
    injected = int(float((case / "inject_time.txt").read_text()))
    opened = datetime.fromtimestamp(injected + DETECTION, tz=UTC)
    return {
        "id": f"rcaeval/{case.parents[1].name}-{opened:%Y-%m-%dT%H%M%S}",
        "opened": opened.isoformat(),
        "root_cause": service,
        "kind": fault,
        "baseline_start": moment(injected - BASELINE),
        "baseline_end": moment(injected),
    }


def samples(case: Path) -> Iterator[dict[str, str]]:
    """A row for each service and time; NaN is not measured, and machines are no services."""
    there = (case / f"{name}.csv" for name in METRICS)
    for row in records(next(filter(Path.is_file, there), case / "metrics.csv")):
        by_service: dict[str, dict[str, str]] = {}
        for column, text in row.items():
            service, _, metric = column.partition("_")
            measured = text and text.lower() not in ("nan", "inf", "-inf")
            if metric and measured and not metric.startswith("node-"):
                by_service.setdefault(service, {})[metric] = text
        for service, metrics in by_service.items():
            yield {"time": moment(float(row["time"])), "service": service, **metrics}


def lines(case: Path) -> Iterator[dict[str, str]]:
    for row in records(case / "logs.csv"):
        yield {
            "time": moment(int(float(row["timestamp"])) / 1e9),
            "service": row["container_name"],
            "level": row.get("level") or "",
            "message": row["message"],
        }


def spans(case: Path) -> Iterator[dict[str, object]]:
    """Jaeger's traces, a span each: the import joins them."""
    for row in records(case / "traces.csv"):
        above = {"refType": "CHILD_OF", "traceID": row["traceID"], "spanID": row["parentSpanID"]}
        span = {
            "traceID": row["traceID"],
            "spanID": row["spanID"],
            "references": [above] if row["parentSpanID"] not in ("", "nan") else [],
            "processID": "p",
            "startTime": int(float(row["startTime"])),
            "duration": int(float(row["duration"])),
        }
        yield {"spans": [span], "processes": {"p": {"serviceName": row["serviceName"]}}}


def write(path: Path, rows: list[dict[str, str]], columns: tuple[str, ...]) -> None:
    others = sorted({column for row in rows for column in row} - set(columns))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*columns, *others], restval="")
        writer.writeheader()
        writer.writerows(rows)


def main(data: str, out: str) -> None:
    cases = sorted(path.parent for path in Path(data).resolve().rglob("inject_time.txt"))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "labels.csv", [label(case) for case in cases], ("id", "opened"))
    for name, rows, columns in (
        ("metrics", samples, ("time", "service")),
        ("logs", lines, ("time", "service", "level", "message")),
    ):
        found = [row for case in cases for row in rows(case)]
        if found:
            write(folder / f"{name}.csv", found, columns)
    with (folder / "traces.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(span)}\n" for case in cases for span in spans(case))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        print(__doc__)
