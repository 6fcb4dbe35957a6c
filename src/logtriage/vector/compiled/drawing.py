"""Incidents drawn row by row, as :func:`logtriage.vector.incidents.draw_incidents` draws them."""

from typing import Any, Final

import numpy as np

from logtriage.actions import REMEDIES
from logtriage.emission import WINDOW_STREAM
from logtriage.faults import FaultClass
from logtriage.generator import DIRECTORY_STREAM, OVERRIDE_SHARE, TRUTH_STREAM, TruthSlot
from logtriage.jit import kernel
from logtriage.propagation import READING_STREAM
from logtriage.vector.compiled.draws import Int, below, draw, premixed, subkey
from logtriage.vector.compiled.fields import TaskFields
from logtriage.vector.compiled.scenarios import draw_scenario
from logtriage.vector.incidents import P3, IncidentArrays
from logtriage.vector.tables import KIND_CLASS, KIND_REMEDIES, Choices, Graph

_TRUTH: Final = premixed(TRUTH_STREAM)
_DIRECTORY: Final = premixed(DIRECTORY_STREAM)
_WINDOW: Final = premixed(WINDOW_STREAM)
_READING: Final = premixed(READING_STREAM)
_ROOT: Final = int(TruthSlot.ROOT)
_CLASS: Final = int(TruthSlot.FAULT_CLASS)
_KIND: Final = int(TruthSlot.KIND)
_SEVERITY: Final = int(TruthSlot.SEVERITY)
_CAPACITY: Final = tuple(FaultClass).index(FaultClass.CAPACITY)
_SECURITY: Final = tuple(FaultClass).index(FaultClass.SECURITY)
_LOW_BITS: Final = np.uint64(0xFFFF)
_REMEDIES: Final = len(REMEDIES)
_P3: Final = int(P3)


@kernel
def _weighted(bits: np.uint64, weights: Any) -> Int:
    point = below(bits, weights.sum())
    place = 0
    passed = weights[0]
    while point >= passed:
        place += 1
        passed += weights[place]
    return place


@kernel
def _draw_owners(row: Int, seed: np.uint64, one: IncidentArrays, graph: Graph) -> None:
    key = subkey(seed, _DIRECTORY)
    for service in range(graph.n):
        owner = graph.owners[service]
        if graph.m > 1:
            bits = draw(key, service, 0)
            if np.int64(bits & _LOW_BITS) * 1000 >> 16 < OVERRIDE_SHARE:
                pick = below(bits, graph.m - 1)
                owner = pick + (pick >= owner)
        one.owners[row, service] = owner


@kernel
def _draw_truth(
    row: Int,
    seed: np.uint64,
    benign: bool,
    one: IncidentArrays,
    graph: Graph,
    choices: Choices,
    severities: Any,
    task: TaskFields,
) -> None:
    key = subkey(seed, _TRUTH)
    one.benign[row] = benign
    one.remedies[row, :] = False
    if benign:
        one.root[row] = below(draw(key, _ROOT, 0), graph.n)
        one.kind[row] = -1
        one.severity[row] = _P3
        one.team[row] = -1
        return
    pick = below(draw(key, _ROOT, 0), len(choices.roots))
    root = choices.roots[pick]
    klass = _weighted(draw(key, _CLASS, 0), choices.weights[pick])
    kind = choices.kinds[pick, klass, below(draw(key, _KIND, 0), choices.counts[pick, klass])]
    one.root[row] = root
    one.kind[row] = kind
    one.severity[row] = _weighted(draw(key, _SEVERITY, 0), severities)
    if KIND_CLASS[kind] == _CAPACITY:
        one.team[row] = task.capacity_team
    elif KIND_CLASS[kind] == _SECURITY:
        one.team[row] = task.security_team
    else:
        one.team[row] = one.owners[row, root]
    for remedy in range(_REMEDIES):
        one.remedies[row, remedy] = KIND_REMEDIES[kind, remedy]


@kernel
def draw_rows(
    rows: Any,
    index: Any,
    seeds: Any,
    benign: Any,
    one: IncidentArrays,
    graph: Graph,
    choices: Choices,
    severities: Any,
    task: TaskFields,
    ranks: Any,
    left: Any,
) -> None:
    """Draw the incidents ``index`` (R,) into ``rows`` (R,) of ``one``.

    ``seeds`` and ``benign`` (R,) are those of the incidents, ``severities`` (3,) weights;
    ``ranks`` (n,) and ``left`` (2, n + 1) are room to work in.
    """
    for place in range(len(rows)):
        row, seed = np.uint64(rows[place]), seeds[place]
        one.index[row] = index[place]
        one.window_key[row] = subkey(seed, _WINDOW)
        one.reading_key[row] = subkey(seed, _READING)
        _draw_owners(row, seed, one, graph)
        _draw_truth(row, seed, benign[place], one, graph, choices, severities, task)
        draw_scenario(row, seed, one, graph, task, ranks, left)
