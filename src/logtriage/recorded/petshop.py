"""Importer for the published layout of the PetShop data set.

::

    <scenario>/graph.csv                        who calls whom, as an adjacency matrix
    <scenario>/noissue/metrics.csv              without a fault
    <scenario>/{train,test}/issue_N/metrics.csv the minutes around an issue
    <scenario>/{train,test}/issue_N/target.json the symptom, when it was seen, and the root cause

Each CSV file may be gzipped. Metrics of every component every five minutes: latency, requests
and availability; no logs and no traces. The incident is opened with the first sample at or
after the moment at which the symptom was seen. A scenario without ``noissue`` has no baseline.
"""

import json
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.errors import BundleError, LogTriageError, UnknownName
from logtriage.recorded.csvrecords import read_rows
from logtriage.recorded.csvrows import Tally, find_csv, inside
from logtriage.recorded.imported import Imported, ImportReport
from logtriage.recorded.measure import record
from logtriage.recorded.metrics import in_units
from logtriage.recorded.names import Names
from logtriage.recorded.records import RecordedAlert, RecordedIncident
from logtriage.recorded.rows import Rows, Sample, Usage
from logtriage.recorded.truth import RecordedTruth

ORIGIN: Final = (
    "PetShop data set (https://github.com/amazon-science/petshop-root-cause-analysis), "
    "CC-BY-4.0, copyright Amazon.com, Inc. or its affiliates; M. Hardt et al., CLeaR 2024"
)
TICK_SECONDS: Final = 300
#: The recordings reach two or three ticks beyond the symptom, and answers take two.
HORIZON: Final = 6
SPLITS: Final = ("train", "test")

#: The metrics of the layout by name and statistic, each with its signal and how many of the
#: signal's units are one of its own.
_METRICS: Final = {
    **{
        ("latency", statistic): (f"latency_{statistic.lower()}_us", 1_000_000)
        for statistic in ("Average", "p50", "p90", "p95", "p99")
    },
    ("availability", "Average"): ("availability_bp", 100),
    ("requests", "Sum"): ("requests", 1),
}
#: The year 9999, the last that a date can have.
_MOST_SECONDS: Final = 253_402_300_800
_ALERTS: Final = {"latency": "HighLatency", "availability": "LowAvailability"}


@attrs.frozen
class _Issue:
    """One issue: where it stands, where and when its symptom was seen, and its cause."""

    id: str
    folder: Path
    scenario: Path
    seen: int
    symptom: str
    metric: str
    root: str


def import_petshop(directory: str | Path, *, only: Collection[str] | None = None) -> Imported:
    """Import a directory of the published layout.

    Args:
        directory: holds the scenarios.
        only: ids such as ``petshop/2023-04-13T014908``; all issues if None.

    Raises:
        BundleError: naming the file and what was expected, if there is no issue, or a file is
            not of the layout.
        UnknownName: if ``only`` names an incident that is not there.
    """
    root, tally = Path(directory), Tally(Path(directory), strict=True)
    issues = {one.id: one for one in _issues(root, tally)}
    if not issues:
        raise BundleError(f"{root}: no <scenario>/train/issue_N/target.json found")
    for name in sorted(only or ()):
        if name not in issues:
            raise UnknownName("recorded incident", name, issues)
    notes: list[str] = []
    usual: dict[Path, Rows] = {}
    incidents = []
    for name, issue in sorted(issues.items()):
        if only is None or name in only:
            if issue.scenario not in usual:
                usual[issue.scenario] = _normal(root, issue.scenario, tally)
            baseline = usual[issue.scenario]
            if not baseline.samples:
                notes.append(f"{name}: no noissue/metrics.csv, baseline is 'none'")
            incidents.append(_incident(root, issue, baseline, tally))
    report = ImportReport(tally.files, tally.rows, (), tuple(notes))
    return Imported(tuple(incidents), report)


def _incident(root: Path, issue: _Issue, usual: Rows, tally: Tally) -> RecordedIncident:
    names = Names()
    rows = _metrics(root, issue.folder, tally, names)
    graph = tuple(_graph(root, issue.scenario, tally, names))
    times = sorted({one.at for one in rows.samples if one.at >= 1000 * issue.seen})
    where = tally.name(issue.folder / "target.json")
    if not times:
        raise BundleError(f"{where}: field target.timestamp: no sample at or after it")
    symptom, cause = names(issue.symptom), names(issue.root)
    edge = tuple(one for one in rows.usage if one.service == symptom)
    recording = record(
        attrs.evolve(rows, usage=(), edge_usage=edge, graph=graph),
        attrs.evolve(
            usual,
            usage=(),
            edge_usage=tuple(one for one in usual.usage if one.service == symptom),
        ),
        opened=times[0],
        horizon=HORIZON,
        baseline="fault-free" if usual.samples else "none",
        tick_seconds=TICK_SECONDS,
    )
    alert = RecordedAlert(symptom, _ALERTS[issue.metric], 0)
    try:
        return RecordedIncident(
            id=issue.id,
            opened=f"{datetime.fromtimestamp(times[0] // 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}",
            recording=attrs.evolve(recording, alerts=(alert,)),
            truth=RecordedTruth((cause,), issue.metric),
            task="recorded_petshop",
            horizon=HORIZON,
            origin=ORIGIN,
        )
    except LogTriageError as error:
        raise BundleError(f"{where}: {error}") from None


# --- issues ------------------------------------------------------------------------------


def _issues(root: Path, tally: Tally) -> Iterator[_Issue]:
    targets = [
        target for split in SPLITS for target in sorted(root.glob(f"*/{split}/issue_*/target.json"))
    ]
    for target in targets:
        where = tally.name(target)
        try:
            data = json.loads(inside(root, target).read_bytes())
        except ValueError as error:
            raise BundleError(f"{where}: not JSON: {error}") from None
        seen = _field(where, data, "target", "timestamp", int)
        if not 0 <= seen < _MOST_SECONDS:
            raise BundleError(f"{where}: field target.timestamp: must be Unix seconds, got {seen}")
        metric = _field(where, data, "target", "metric", str)
        if metric not in _ALERTS:
            raise BundleError(
                f"{where}: field target.metric: must be {' or '.join(_ALERTS)}, got {metric!r:.80}"
            )
        yield _Issue(
            f"petshop/{datetime.fromtimestamp(seen, tz=UTC):%Y-%m-%dT%H%M%S}",
            target.parent,
            target.parent.parent.parent,
            seen,
            _field(where, data, "target", "node", str),
            metric,
            _field(where, data, "root_cause", "node", str),
        )


def _field(where: str, data: Any, part: str, name: str, kind: type) -> Any:
    inner = data.get(part) if isinstance(data, dict) else None
    value = inner.get(name) if isinstance(inner, dict) else None
    if type(value) is not kind:
        raise BundleError(
            f"{where}: field {part}.{name}: must be {kind.__name__}, got {value!r:.80}"
        )
    return value


# --- files -------------------------------------------------------------------------------


def _normal(root: Path, scenario: Path, tally: Tally) -> Rows:
    if find_csv(root, scenario / "noissue", "metrics") is None:
        return Rows()
    return _metrics(root, scenario / "noissue", tally, Names())


def _metrics(root: Path, folder: Path, tally: Tally, names: Names) -> Rows:
    """The samples of one file: three header rows, then one row of all metrics at a time."""
    path = find_csv(root, folder, "metrics")
    if path is None:
        raise BundleError(f"{tally.name(folder)}: no metrics.csv")
    name = tally.name(path)
    tally.begin(path)
    lines = read_rows(path, name)
    head = [row for _, row in (next(lines, ("", [""])) for _ in range(4))]
    for row, title in zip(
        head, ("microservice", "metric", "statistic", "unix_timestamp"), strict=True
    ):
        if row[0] != title or len(row) != len(head[0]):
            raise BundleError(
                f"{name}: the first four rows must be microservice, metric, statistic and "
                f"unix_timestamp of {len(head[0])} columns, got {row[0]!r:.40} of {len(row)}"
            )
    columns = [
        (names(service, f"{name}:1"), *_METRICS.get((metric, statistic), (None, 0)))
        for service, metric, statistic in zip(*(row[1:] for row in head[:3]), strict=True)
    ]
    samples: list[Sample] = []
    usage: list[Usage] = []
    for where, row in lines:
        tally.row(name)
        if len(row) != len(head[0]):
            raise BundleError(f"{where}: wrong column count: {len(row)}, not {len(head[0])}")
        at = int(1000 * _number(where, "unix_timestamp", row[0]))
        for (service, signal, factor), text in zip(columns, row[1:], strict=True):
            if signal is None or not text:
                continue
            value = in_units(_number(where, f"{service} {signal}", text), factor)
            samples.append(Sample(at, service, signal, value))
            if signal == "latency_p99_us":
                usage.append(Usage(at, service, p99_ms=max(0, value) // 1000))
    return Rows(usage=tuple(usage), samples=tuple(samples))


def _graph(root: Path, scenario: Path, tally: Tally, names: Names) -> Iterator[tuple[str, str]]:
    """Pairs of caller and callee: a row calls the columns that are not 0."""
    path = find_csv(root, scenario, "graph")
    if path is None:
        raise BundleError(f"{tally.name(scenario)}: no graph.csv")
    name = tally.name(path)
    tally.begin(path)
    lines = read_rows(path, name)
    _, header = next(lines, ("", [""]))
    for where, row in lines:
        tally.row(name)
        if len(row) != len(header):
            raise BundleError(f"{where}: wrong column count: {len(row)}, not {len(header)}")
        for callee, text in zip(header[1:], row[1:], strict=True):
            if _number(where, callee, text):
                yield names(row[0], where), names(callee, where)


def _number(where: str, column: str, text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value.copy_abs() >= Decimal(10) ** 15:
        raise BundleError(f"{where}: column {column}: must be a number, got {text!r:.80}")
    return value
