"""Importer for the published layout of the PetShop data set.

::

    <scenario>/graph.csv                        who calls whom, as an adjacency matrix
    <scenario>/noissue/metrics.csv              without a fault
    <scenario>/{train,test}/issue_N/metrics.csv the minutes around an issue
    <scenario>/{train,test}/issue_N/target.json the symptom, when it was seen, and the root cause

Each CSV file may be gzipped. Metrics of every component every five minutes: latency, requests
and availability; no logs and no traces. The incident is opened with the first sample at or
after the moment at which the symptom was seen. A scenario without ``noissue`` has no baseline.

Issues have no class of fault, so only ``recorded/1`` plays them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.measure import condensed
from logtriage.recorded.names import Names
from logtriage.recorded.petshop_files import MOST_SECONDS, graph, metrics, normal
from logtriage.recorded.reading import inside, parsed
from logtriage.recorded.records import RecordedAlert, RecordedIncident
from logtriage.recorded.rows import Rows
from logtriage.recorded.spot import Spot
from logtriage.recorded.tally import Imported, Tally
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
    """An issue: its folder, service, time and metric of its symptom, and its root cause."""

    id: str
    folder: Path
    scenario: Path
    seen: int
    symptom: str
    metric: str
    root: str


def import_petshop(directory: str | Path) -> Imported:
    """Import a directory of the published layout.

    Args:
        directory: holds the scenarios.

    Raises:
        BundleError: naming the file and what was expected, if there is no issue, or a file is
            not of the layout.
    """
    root, tally = Path(directory), Tally(Path(directory))
    issues: dict[str, _Issue] = {}
    for issue in _issues(root, tally):
        before = issues.setdefault(issue.id, issue)
        if before is not issue:
            raise BundleError(
                f"{tally.name(issue.folder)}/target.json: field target.timestamp: "
                f"{tally.name(before.folder)} has the same second, and so the id {issue.id}"
            )
    if not issues:
        raise BundleError(f"{root}: no <scenario>/train/issue_N/target.json found")
    notes: list[str] = []
    usual: dict[Path, Rows] = {}
    incidents = []
    for _, issue in sorted(issues.items()):
        if issue.scenario not in usual:
            usual[issue.scenario] = normal(root, issue.scenario, tally, notes)
        baseline = usual[issue.scenario]
        if not baseline.samples:
            notes.append(f"{issue.id}: no noissue/metrics.csv, baseline is 'none'")
        incidents.append(_incident(root, issue, baseline, tally, notes))
    return tally.imported(incidents, notes)


def _incident(
    root: Path, issue: _Issue, usual: Rows, tally: Tally, notes: list[str]
) -> RecordedIncident:
    names = Names()
    rows = metrics(root, issue.folder, tally, names, notes)
    calls = tuple(graph(root, issue.scenario, tally, names))
    times = [row.at for row in rows.samples if row.at >= 1000 * issue.seen]
    where = tally.name(issue.folder / "target.json")
    if not times:
        raise BundleError(f"{where}: field target.timestamp: no sample at or after it")
    symptom, cause = names(issue.symptom, where), names(issue.root, where)

    def of_edge(rows: Rows) -> Rows:
        edge = tuple(row for row in rows.usage if row.service == symptom)
        return attrs.evolve(rows, usage=(), edge_usage=edge)

    return condensed(
        attrs.evolve(of_edge(rows), graph=calls),
        of_edge(usual),
        RecordedTruth((cause,), issue.metric),
        where=where,
        name=issue.id,
        opened=min(times),
        baseline="fault-free" if usual.samples else "none",
        task="recorded_petshop",
        horizon=HORIZON,
        origin=ORIGIN,
        tick_seconds=TICK_SECONDS,
        alerts=(RecordedAlert(symptom, _ALERTS[issue.metric], 0),),
    )


# --- issues ------------------------------------------------------------------------------


def _issues(root: Path, tally: Tally) -> Iterator[_Issue]:
    targets = [
        target for split in SPLITS for target in sorted(root.glob(f"*/{split}/issue_*/target.json"))
    ]
    for target in targets:
        where = tally.name(target)
        data = Spot(parsed(inside(root, target).read_bytes(), where), where)
        symptom = data["target"]
        seen = symptom["timestamp"].at("seconds")
        if seen >= MOST_SECONDS:
            raise symptom["timestamp"].bad("Unix seconds")
        if symptom["metric"].text not in _ALERTS:
            raise symptom["metric"].bad(" or ".join(_ALERTS))
        yield _Issue(
            f"petshop/{datetime.fromtimestamp(seen, tz=UTC):%Y-%m-%dT%H%M%S}",
            target.parent,
            target.parent.parent.parent,
            seen,
            symptom["node"].needed,
            symptom["metric"].text,
            data["root_cause"]["node"].needed,
        )
