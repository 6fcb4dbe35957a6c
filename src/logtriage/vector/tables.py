"""Tables for the batched engine, compiled from what the scalar core reads.

Nothing is restated here: hops and dependencies come from the topology, kinds from the
fault table, candidates and shares from the generator, ranges from those of scenarios.
"""

from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import REMEDIES, SEVERITIES
from logtriage.faults import FAULT_KINDS, FaultClass
from logtriage.generator import candidates, class_weights
from logtriage.phrases import DISTRACTORS
from logtriage.propagation import Mode
from logtriage.scenario_ranges import (
    ATTENUATION,
    CHANGE_KINDS,
    EDGE_ERROR,
    EDGE_ERROR_ASIDE,
    EDGE_P99,
    EDGE_P99_ASIDE,
    RELATED_CHANGE,
)
from logtriage.scenarios import toward
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology

Table = NDArray[Any]


def _table(rows: Any, dtype: Any = np.int64) -> Table:
    table = np.array(rows, dtype)
    table.setflags(write=False)
    return table


@attrs.frozen(eq=False)
class Graph:
    """A topology as arrays. ``n`` services, ``m`` teams; first axis: the root.

    ``hops`` (n, n) calls from each service down to the root, -1 where there is no way;
    ``toward`` (n, n) the dependency on that way; ``edge_hops`` and ``reach`` (n,) the
    hops of the nearest edge and of the farthest caller; ``edge`` (n,) which services
    users reach; ``owners`` (n,) default owners as team indices.
    """

    topology: Topology
    n: int
    m: int
    hops: Table
    toward: Table
    edge_hops: Table
    reach: Table
    edge: Table
    owners: Table


@lru_cache(maxsize=32)
def graph_of(topology: Topology) -> Graph:
    """The arrays of a topology."""
    hops = [topology.hops_from(root) for root in range(len(topology))]
    return Graph(
        topology,
        len(topology),
        len(topology.teams),
        _table(hops),
        _table([[toward(topology, row, s) for s in range(len(topology))] for row in hops]),
        _table([min(row[e] for e in topology.edges if row[e] >= 0) for row in hops]),
        _table([max(row) for row in hops]),
        _table([one.tier == "edge" for one in topology.services], bool),
        _table([topology.teams.index(owner) for owner in topology.owners]),
    )


def mode_of(task: TaskSpec) -> Mode:
    """How incidents of a task of the first world unfold: the engine takes no others."""
    assert task.mode is not None
    return task.mode


@attrs.frozen(eq=False)
class Choices:
    """Where and what a fault can be, for a mode on a topology.

    ``roots`` (R,); ``kinds`` (R, 4, K) rows of the fault table by class, padded with -1;
    ``counts`` (R, 4) how many there are; ``weights`` (R, 4) of the classes.
    """

    roots: Table
    kinds: Table
    counts: Table
    weights: Table


@lru_cache(maxsize=64)
def choices_of(mode: Mode, topology: Topology, ood: bool | None) -> Choices:
    """The candidates of the generator as arrays.

    Raises:
        InvalidInput: if the topology has no place for a fault of this mode.
    """
    roots, kinds = candidates(mode, topology, ood)
    numbers = {kind: number for number, kind in enumerate(FAULT_KINDS)}
    widest = max(len(row) for by_class in kinds for row in by_class)
    return Choices(
        _table(roots),
        _table(
            [
                [[numbers[k] for k in row] + [-1] * (widest - len(row)) for row in by_class]
                for by_class in kinds
            ]
        ),
        _table([[len(row) for row in by_class] for by_class in kinds]),
        _table([class_weights(topology, r, k) for r, k in zip(roots, kinds, strict=True)]),
    )


#: Per fault kind: whether it fails requests, its class, its remedies, its change (-1: none).
KIND_ERRORS: Final = _table([kind.errors for kind in FAULT_KINDS], bool)
KIND_CLASS: Final = _table([tuple(FaultClass).index(kind.fault_class) for kind in FAULT_KINDS])
KIND_REMEDIES: Final = _table([[r in k.remedies for r in REMEDIES] for k in FAULT_KINDS], bool)
KIND_CHANGE: Final = _table(
    [
        CHANGE_KINDS.index(RELATED_CHANGE[kind.name]) if kind.name in RELATED_CHANGE else -1
        for kind in FAULT_KINDS
    ]
)
#: By severity: ranges (low, high) of the edge's peak, second axis: drives it (1) or aside (0).
EDGE_ERROR_RANGE: Final = _table([[EDGE_ERROR_ASIDE[s], EDGE_ERROR[s]] for s in SEVERITIES])
EDGE_P99_RANGE: Final = _table([[EDGE_P99[s], EDGE_P99_ASIDE[s]] for s in SEVERITIES])
ATTENUATIONS: Final = _table([ATTENUATION[s] for s in SEVERITIES])
DISTRACTOR_ALERTS: Final = _table([bool(alert) for alert, _, _ in DISTRACTORS], bool)
