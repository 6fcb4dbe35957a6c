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
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.errors import BundleError, LogTriageError, UnknownName
from logtriage.recorded.imported import Imported, ImportReport
from logtriage.recorded.measure import record
from logtriage.recorded.names import Names
from logtriage.recorded.paths import inside
from logtriage.recorded.petshop_files import MOST_SECONDS, graph, metrics, normal
from logtriage.recorded.records import RecordedAlert, RecordedIncident
from logtriage.recorded.rows import Rows
from logtriage.recorded.tally import Tally
from logtriage.recorded.truth import RecordedTruth

ORIGIN: Final = (
    "PetShop data set (https://github.com/amazon-science/petshop-root-cause-analysis), "
    "CC-BY-4.0, copyright Amazon.com, Inc. or its affiliates; M. Hardt et al., CLeaR 2024"
)
TICK_SECONDS: Final = 300
#: The recordings reach two or three ticks beyond the symptom, and answers take two.
HORIZON: Final = 6
SPLITS: Final = ("train", "test")

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
    issues: dict[str, _Issue] = {}
    for one in _issues(root, tally):
        if one.id in issues:
            raise BundleError(
                f"{tally.name(one.folder)}/target.json: field target.timestamp: "
                f"{tally.name(issues[one.id].folder)} has the same second, and so the id {one.id}"
            )
        issues[one.id] = one
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
                usual[issue.scenario] = normal(root, issue.scenario, tally, notes)
            baseline = usual[issue.scenario]
            if not baseline.samples:
                notes.append(f"{name}: no noissue/metrics.csv, baseline is 'none'")
            incidents.append(_incident(root, issue, baseline, tally, notes))
    report = ImportReport(tally.files, tally.rows, (), tuple(notes))
    return Imported(tuple(incidents), report)


def _incident(
    root: Path, issue: _Issue, usual: Rows, tally: Tally, notes: list[str]
) -> RecordedIncident:
    names = Names()
    rows = metrics(root, issue.folder, tally, names, notes)
    calls = tuple(graph(root, issue.scenario, tally, names))
    times = sorted({one.at for one in rows.samples if one.at >= 1000 * issue.seen})
    where = tally.name(issue.folder / "target.json")
    if not times:
        raise BundleError(f"{where}: field target.timestamp: no sample at or after it")
    symptom, cause = names(issue.symptom, where), names(issue.root, where)
    edge = tuple(one for one in rows.usage if one.service == symptom)
    recording = record(
        attrs.evolve(rows, usage=(), edge_usage=edge, graph=calls),
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
            data = json.loads(inside(root, target).read_bytes(), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{where}: not JSON: {error}") from None
        seen = _field(where, data, "target", "timestamp", int)
        if not 0 <= seen < MOST_SECONDS:
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


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _field(where: str, data: Any, part: str, name: str, kind: type) -> Any:
    inner = data.get(part) if isinstance(data, dict) else None
    value = inner.get(name) if isinstance(inner, dict) else None
    if type(value) is not kind:
        raise BundleError(
            f"{where}: field {part}.{name}: must be {kind.__name__}, got {value!r:.80}"
        )
    return value
