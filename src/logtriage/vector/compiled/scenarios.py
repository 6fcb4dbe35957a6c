"""Scenarios drawn row by row, as :mod:`logtriage.vector.scenarios` draws many at once."""

from typing import Any, Final

import numpy as np

from logtriage.jit import kernel
from logtriage.phrases import DISTRACTORS
from logtriage.propagation import BASE_STREAM, FULL, REST_ERROR, REST_P99, Mode
from logtriage.scenario_ranges import (
    BENIGN_P99,
    CALLER_ALERTS,
    CHANGE_KINDS,
    DISTRACTOR_ALERT,
    EDGE_BASE_ERROR,
    EDGE_BASE_P99,
    EXTRA_TICKS,
    INNOCENT_CHANGES,
    LOUD_LEAD,
    MEAN_CALLER_ALERTS,
    PEAK_TICK,
    RELATED_SHOWN,
    ROOT_ERROR,
    ROOT_P99,
    SCENARIO_STREAM,
    Slot,
)
from logtriage.vector.compiled.draws import Int, below, between, draw, premixed, subkey
from logtriage.vector.compiled.fields import MODES, TaskFields
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.tables import (
    ATTENUATIONS,
    DISTRACTOR_ALERTS,
    EDGE_ERROR_RANGE,
    EDGE_P99_RANGE,
    KIND_CHANGE,
    KIND_ERRORS,
    Graph,
)

_SCENARIO: Final = premixed(SCENARIO_STREAM)
_BASE: Final = premixed(BASE_STREAM)
_LOUD: Final = MODES.index(Mode.LOUD)
_DRIFT: Final = MODES.index(Mode.DRIFT)

_EXTRA_TICKS: Final = int(Slot.EXTRA_TICKS)
_RAMP: Final = int(Slot.RAMP)
_VOICE: Final = int(Slot.VOICE)
_PEAK_TICK: Final = int(Slot.PEAK_TICK)
_EDGE_BASE_ERROR: Final = int(Slot.EDGE_BASE_ERROR)
_EDGE_BASE_P99: Final = int(Slot.EDGE_BASE_P99)
_EDGE_PEAK_ERROR: Final = int(Slot.EDGE_PEAK_ERROR)
_EDGE_PEAK_P99: Final = int(Slot.EDGE_PEAK_P99)
_ROOT_ERROR: Final = int(Slot.ROOT_ERROR)
_ROOT_P99: Final = int(Slot.ROOT_P99)
_FIRST_ALERT: Final = int(Slot.FIRST_ALERT)
_ALERT: Final = int(Slot.ALERT)
_DISTRACTOR_RANK: Final = int(Slot.DISTRACTOR_RANK)
_DISTRACTOR_ROW: Final = int(Slot.DISTRACTOR_ROW)
_DISTRACTOR_ALERT: Final = int(Slot.DISTRACTOR_ALERT)
_CHANGE_KIND: Final = int(Slot.CHANGE_KIND)
_CHANGE_SERVICE: Final = int(Slot.CHANGE_SERVICE)
_RELATED_SHOWN: Final = int(Slot.RELATED_SHOWN)

_DISTRACTORS: Final = len(DISTRACTORS)
_CHANGE_KINDS: Final = len(CHANGE_KINDS)
#: By whether the fault fails requests (1) or slows them (0).
_ROOT_ERRORS: Final = (ROOT_ERROR[False], ROOT_ERROR[True])
_ROOT_P99S: Final = (ROOT_P99[False], ROOT_P99[True])
_ERROR_LEAST: Final = REST_ERROR[0]
_ERROR_VALUES: Final = np.uint64(REST_ERROR[1])
_P99_LEAST: Final = REST_P99[0]
_P99_VALUES: Final = np.uint64(REST_P99[1])
_8: Final = np.uint64(8)
_TAKEN: Final = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _draw_timing(
    row: Int, key: np.uint64, one: IncidentArrays, graph: Graph, task: TaskFields
) -> None:
    one.onset[row] = 0
    one.ramp[row] = 1
    one.lag[row] = 0
    one.peak_tick[row] = 0
    one.voice_at[row] = 0
    if one.benign[row]:
        one.peak_tick[row] = between(draw(key, _PEAK_TICK, 0), PEAK_TICK)
        return
    extra = below(draw(key, _EXTRA_TICKS, 0), EXTRA_TICKS)
    ramp = between(draw(key, _RAMP, 0), task.ramp)
    one.ramp[row] = ramp
    one.voice_at[row] = between(draw(key, _VOICE, 0), task.voice)
    if task.mode == _LOUD:
        one.onset[row] = -LOUD_LEAD - extra
    else:
        lead = -(-task.shown * ramp // 10)
        one.onset[row] = -(graph.reach[one.root[row]] + lead + extra)
        one.lag[row] = 1


@kernel
def _draw_figures(
    row: Int,
    seed: np.uint64,
    key: np.uint64,
    one: IncidentArrays,
    graph: Graph,
    task: TaskFields,
    left: Any,
) -> None:
    """Base and rise of the edge and every service; ``left`` (2, n + 1) is room to work in."""
    root, kind, severity, benign = one.root[row], one.kind[row], one.severity[row], one.benign[row]
    errors = 0
    if kind >= 0 and task.mode != _DRIFT and KIND_ERRORS[kind]:
        errors = 1
    figures = one.figures
    base_error = between(draw(key, _EDGE_BASE_ERROR, 0), EDGE_BASE_ERROR)
    base_p99 = between(draw(key, _EDGE_BASE_P99, 0), EDGE_BASE_P99)
    rise_error = rise_p99 = 0
    if benign:
        left[0, 0] = 0
        left[1, 0] = between(draw(key, _ROOT_P99, 0), BENIGN_P99)
    else:
        drawn = draw(key, _EDGE_PEAK_ERROR, 0)
        rise_error = between(drawn, EDGE_ERROR_RANGE[severity, errors]) - base_error
        drawn = draw(key, _EDGE_PEAK_P99, 0)
        rise_p99 = between(drawn, EDGE_P99_RANGE[severity, errors]) - base_p99
        left[0, 0] = between(draw(key, _ROOT_ERROR, 0), _ROOT_ERRORS[errors])
        left[1, 0] = between(draw(key, _ROOT_P99, 0), _ROOT_P99S[errors])
        for distance in range(graph.reach[root]):
            for figure in range(2):
                passed = left[figure, distance] * ATTENUATIONS[severity]
                left[figure, distance + 1] = passed // FULL
    figures[0, row, 0] = base_error
    figures[1, row, 0] = base_p99
    figures[2, row, 0] = rise_error
    figures[3, row, 0] = rise_p99
    base = subkey(seed, _BASE)
    for service in range(graph.n):
        hops = one.hops[row, 1 + service]
        at = 1 + service
        if hops >= 0 and graph.edge[service] and not benign:
            for figure in range(4):
                figures[figure, row, at] = figures[figure, row, 0]
            continue
        bits = draw(base, service, 0)
        figures[0, row, at] = _ERROR_LEAST + np.int64(bits % _ERROR_VALUES)
        figures[1, row, at] = _P99_LEAST + np.int64((bits >> _8) % _P99_VALUES)
        figures[2, row, at] = left[0, hops] if hops >= 0 else 0
        figures[3, row, at] = left[1, hops] if hops >= 0 else 0


@kernel
def _draw_alerts(
    row: Int, key: np.uint64, one: IncidentArrays, graph: Graph, task: TaskFields
) -> None:
    """From when on which service alerts."""
    n, hops, alert_from = graph.n, one.hops[row, 1:], one.alert_from[row]
    root = one.root[row]
    callers = inner = near = 0
    for service in range(n):
        alert_from[service] = -1
        if hops[service] > 0:
            callers += 1
            inner += not graph.edge[service]
            near += hops[service] == 1
    if one.benign[row]:
        alert_from[root] = 0
        return
    if task.mode == _DRIFT:
        pick = below(draw(key, _FIRST_ALERT, 0), callers + 1)
        if pick == 0:
            alert_from[root] = 0
        for service in range(n):
            if hops[service] > 0:
                pick -= 1
                if pick == 0:
                    alert_from[service] = 0
        return
    alert_from[root] = one.voice_at[row]
    loud = task.mode == _LOUD
    others = near if loud else inner if inner > 0 else callers
    pick = -1 if loud else below(draw(key, _FIRST_ALERT, 0), others)
    share = min(CALLER_ALERTS, 1000 * MEAN_CALLER_ALERTS // max(1, others))
    for service in range(n):
        if hops[service] <= 0 or (loud and hops[service] != 1):
            continue
        if not loud and inner > 0 and graph.edge[service]:
            continue
        if pick == 0 or below(draw(key, _ALERT, service), 1000) < share:
            alert_from[service] = 0
        pick -= 1


@kernel
def _draw_distractors(
    row: Int, key: np.uint64, one: IncidentArrays, graph: Graph, task: TaskFields, ranks: Any
) -> None:
    """Which distractors alert; ``ranks`` (n,) is room to work in."""
    n, free = graph.n, 0
    for service in range(n):
        one.distractor_alerts[row, service] = False
        ranks[service] = _TAKEN
        if one.hops[row, 1 + service] < 0:
            ranks[service] = draw(key, _DISTRACTOR_RANK, service)
            free += 1
    wanted = task.benign_distractors if one.benign[row] else task.distractors
    for _ in range(min(wanted, free)):
        chosen = 0
        for service in range(1, n):
            if ranks[service] < ranks[chosen]:
                chosen = service
        ranks[chosen] = _TAKEN
        kind = below(draw(key, _DISTRACTOR_ROW, chosen), _DISTRACTORS)
        if DISTRACTOR_ALERTS[kind]:
            fires = below(draw(key, _DISTRACTOR_ALERT, chosen), 1000) < DISTRACTOR_ALERT
            one.distractor_alerts[row, chosen] = fires


@kernel
def _draw_changes(row: Int, key: np.uint64, one: IncidentArrays, graph: Graph) -> None:
    n = graph.n
    one.changes[row, :] = False
    for place in range(INNOCENT_CHANGES):
        service = below(draw(key, _CHANGE_SERVICE, place), n)
        change = below(draw(key, _CHANGE_KIND, place), _CHANGE_KINDS)
        one.changes[row, change * n + service] = True
    kind = one.kind[row]
    if kind < 0 or KIND_CHANGE[kind] < 0:
        return
    if below(draw(key, _RELATED_SHOWN, 0), 1000) < RELATED_SHOWN:
        one.changes[row, KIND_CHANGE[kind] * n + one.root[row]] = True


@kernel
def draw_scenario(
    row: Int,
    seed: np.uint64,
    one: IncidentArrays,
    graph: Graph,
    task: TaskFields,
    ranks: Any,
    left: Any,
) -> None:
    """Draw the scenario of a row whose truth was drawn before."""
    key, root, benign = subkey(seed, _SCENARIO), one.root[row], one.benign[row]
    one.hops[row, 0] = -1 if benign else graph.edge_hops[root]
    for service in range(graph.n):
        reached = service == root or not benign
        one.hops[row, 1 + service] = graph.hops[root, service] if reached else -1
        one.toward[row, service] = graph.toward[root, service]
    _draw_timing(row, key, one, graph, task)
    _draw_figures(row, seed, key, one, graph, task, left)
    _draw_alerts(row, key, one, graph, task)
    _draw_distractors(row, key, one, graph, task, ranks)
    _draw_changes(row, key, one, graph)
