"""Incidents as a structure of arrays: drawn for thousands of ids without a Python loop.

Row by row the numbers are those that :func:`logtriage.generator.make_incident` and
:func:`logtriage.scenarios.draw_scenario` draw for the same id; a law holds it.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import REMEDIES, SEVERITIES, Severity
from logtriage.emission import WINDOW_STREAM
from logtriage.faults import FaultClass
from logtriage.generator import (
    BENIGN_STREAM,
    DIRECTORY_STREAM,
    OVERRIDE_SHARE,
    TRUTH_STREAM,
    TruthSlot,
)
from logtriage.propagation import READING_STREAM
from logtriage.rng import hash_name
from logtriage.scenario_ranges import CHANGE_KINDS
from logtriage.tasks import TaskSpec
from logtriage.vector import arrays as vec
from logtriage.vector.arrays import Bits, Bools, Ints
from logtriage.vector.scenarios import draw_scenarios
from logtriage.vector.seeds import seeds_of, strata_of
from logtriage.vector.tables import KIND_CLASS, KIND_REMEDIES, Choices, Graph, mode_of

Shorts = NDArray[np.int16]
P3 = SEVERITIES.index(Severity.P3)


@attrs.define(eq=False)
class IncidentArrays:
    """N incidents of one task on one topology of n services and m teams.

    Truth: ``benign`` (N,); ``root`` (N,) the service at fault, or under the benign
    load; ``kind`` (N,) row of the fault table, -1 if benign; ``severity`` (N,) rank;
    ``team`` (N,) the accepted team, -1 if none; ``remedies`` (N, 5) accepted ones, on
    the root. World: ``owners`` (N, n) team of each service; ``changes`` (N, 4 n)
    which services saw each kind of change, kind by kind. Scenario: timing (N,) in ticks;
    ``figures`` (4, N, 1 + n) base error, base p99, rise of error and of p99 to the
    peak, of the edge panel (column 0) and the services;
    ``alert_from`` (N, n) first tick of the alert, -1 if none; ``distractor_alerts`` (N, n)
    where a distractor's alert fires. Topology, seen
    from the root: ``hops`` (N, 1 + n) calls down to it, -1 where there is no way, the
    edge panel in column 0; ``toward`` (N, n) the dependency on that way.
    """

    index: Ints
    benign: Bools
    root: Shorts
    kind: Shorts
    severity: Shorts
    team: Shorts
    remedies: Bools
    owners: Shorts
    changes: Bools
    onset: Shorts
    ramp: Shorts
    lag: Shorts
    peak_tick: Shorts
    voice_at: Shorts
    figures: NDArray[np.float32]
    alert_from: Shorts
    distractor_alerts: Bools
    hops: Shorts
    toward: Shorts
    window_key: Bits
    reading_key: Bits

    @classmethod
    def empty(cls, count: int, n: int) -> "IncidentArrays":
        """Room for so many, in the types that all engines share."""

        def shorts(*shape: int) -> Shorts:
            return np.empty((count, *shape), np.int16)

        return cls(
            index=np.empty(count, np.int64),
            benign=np.empty(count, bool),
            root=shorts(),
            kind=shorts(),
            severity=shorts(),
            team=shorts(),
            remedies=np.empty((count, len(REMEDIES)), bool),
            owners=shorts(n),
            changes=np.empty((count, len(CHANGE_KINDS) * n), bool),
            onset=shorts(),
            ramp=shorts(),
            lag=shorts(),
            peak_tick=shorts(),
            voice_at=shorts(),
            figures=np.empty((4, count, 1 + n), np.float32),
            alert_from=shorts(n),
            distractor_alerts=np.empty((count, n), bool),
            hops=shorts(1 + n),
            toward=shorts(n),
            window_key=np.empty(count, np.uint64),
            reading_key=np.empty(count, np.uint64),
        )

    def put(self, rows: Ints, new: "IncidentArrays") -> None:
        """Replace some rows by the incidents of ``new``."""
        for field in attrs.fields(IncidentArrays):
            if field.name == "figures":
                self.figures[:, rows] = new.figures
            else:
                getattr(self, field.name)[rows] = getattr(new, field.name)

    def view(self, rows: slice) -> "IncidentArrays":
        """Some neighbouring rows; what is written there is written here."""
        given = {field.name: getattr(self, field.name) for field in attrs.fields(IncidentArrays)}
        figures = given.pop("figures")
        return IncidentArrays(
            figures=figures[:, rows], **{name: array[rows] for name, array in given.items()}
        )


def draw_incidents(
    task: TaskSpec, split: str, index: Ints, graph: Graph, choices: Choices
) -> IncidentArrays:
    """The incidents of ``index`` (N,) of a split, on the topology of ``graph``."""
    count, n = len(index), graph.n
    seeds = seeds_of(task.id, split, index)
    truth = vec.subkey(seeds, TRUTH_STREAM)
    benign = benign_of(task, split, index)
    owners = _owners(seeds, graph)
    pick = vec.below(vec.at(truth, TruthSlot.ROOT), len(choices.roots))
    root = np.where(benign, vec.below(vec.at(truth, TruthSlot.ROOT), n), choices.roots[pick])
    klass = vec.weighted(vec.at(truth, TruthSlot.FAULT_CLASS), choices.weights[pick])
    place = vec.below(vec.at(truth, TruthSlot.KIND), choices.counts[pick, klass])
    kind = np.where(benign, -1, choices.kinds[pick, klass, place])
    weights = np.broadcast_to(np.array(task.severity_weights), (count, len(SEVERITIES)))
    severity = np.where(benign, P3, vec.weighted(vec.at(truth, TruthSlot.SEVERITY), weights))
    rows = np.arange(count)
    team = _responsible(kind, owners[rows, root], graph)
    return IncidentArrays(
        index=index.copy(),
        benign=benign,
        root=root,
        kind=kind,
        severity=severity,
        team=np.where(benign, -1, team),
        remedies=KIND_REMEDIES[kind] & ~benign[:, None],
        owners=owners,
        window_key=vec.subkey(seeds, WINDOW_STREAM),
        reading_key=vec.subkey(seeds, READING_STREAM),
        **draw_scenarios(seeds, mode_of(task), graph, benign, root, kind, severity),
    )


def benign_of(task: TaskSpec, split: str, index: Ints) -> Bools:
    """Which incidents of a split have no fault behind them (N,)."""
    if not task.benign:
        return np.zeros(len(index), bool)
    block = 1000 // task.benign
    found: Bools = strata_of(split, index, block, hash_name(task.id) ^ BENIGN_STREAM) == 0
    return found


def _owners(seeds: Bits, graph: Graph) -> Ints:
    key = vec.subkey(seeds, DIRECTORY_STREAM)
    bits = vec.draw(key[:, None] + vec.offsets_a(np.arange(graph.n)))
    owners = np.broadcast_to(graph.owners, bits.shape)
    if graph.m > 1:
        moved = (bits & np.uint64(0xFFFF)).astype(np.int64) * 1000 >> 16 < OVERRIDE_SHARE
        pick = vec.below(bits, graph.m - 1)
        owners = np.where(moved, pick + (pick >= owners), owners)
    return owners


def _responsible(kind: Ints, owner: Ints, graph: Graph) -> Ints:
    """As :func:`logtriage.runbook.responsible_team`."""
    classes, teams = tuple(FaultClass), graph.topology.teams
    capacity = teams.index(graph.topology.capacity_team)
    security = teams.index(graph.topology.security_team)
    klass = KIND_CLASS[kind]
    team = np.where(klass == classes.index(FaultClass.CAPACITY), capacity, owner)
    return np.where(klass == classes.index(FaultClass.SECURITY), security, team)
