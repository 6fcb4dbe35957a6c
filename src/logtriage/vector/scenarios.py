"""Scenarios of many incidents at once, as :mod:`logtriage.scenarios` draws one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.phrases import DISTRACTORS
from logtriage.propagation import BASE_STREAM, REST_ERROR, REST_P99, Mode
from logtriage.scenario_ranges import (
    BENIGN_P99,
    CALLER_ALERTS,
    CHANGE_KINDS,
    DISTRACTOR_ALERT,
    DISTRACTOR_COUNT,
    EDGE_BASE_ERROR,
    EDGE_BASE_P99,
    EXTRA_TICKS,
    INNOCENT_CHANGES,
    LOUD_LEAD,
    MEAN_CALLER_ALERTS,
    PEAK_TICK,
    RAMP,
    RELATED_SHOWN,
    ROOT_ERROR,
    ROOT_P99,
    SCENARIO_STREAM,
    SHOWN,
    VOICE,
    Slot,
)
from logtriage.vector import arrays as vec
from logtriage.vector.arrays import Bits, Bools, Ints
from logtriage.vector.tables import (
    ATTENUATIONS,
    DISTRACTOR_ALERTS,
    EDGE_ERROR_RANGE,
    EDGE_P99_RANGE,
    KIND_CHANGE,
    KIND_ERRORS,
    Graph,
)


def draw_scenarios(
    seeds: Bits,
    mode: Mode,
    graph: Graph,
    benign: Bools,
    root: Ints,
    kind: Ints,
    severity: Ints,
) -> dict[str, Any]:
    """The scenario's fields of :class:`logtriage.vector.incidents.IncidentArrays`.

    ``seeds``, ``benign``, ``root``, ``kind`` and ``severity`` are (N,), as there.
    """
    key = vec.subkey(seeds, SCENARIO_STREAM)
    hops = np.where(benign[:, None], -1, graph.hops[root])
    hops[np.arange(len(root)), root] = 0
    errors = KIND_ERRORS[kind] & (mode is not Mode.DRIFT)
    timing = _timing(key, mode, graph, benign, root)
    base_error = vec.between(vec.at(key, Slot.EDGE_BASE_ERROR), *EDGE_BASE_ERROR)
    base_p99 = vec.between(vec.at(key, Slot.EDGE_BASE_P99), *EDGE_BASE_P99)
    drives = errors.astype(np.int64)
    peak_error = vec.between(
        vec.at(key, Slot.EDGE_PEAK_ERROR), *EDGE_ERROR_RANGE[severity, drives].T
    )
    peak_p99 = vec.between(vec.at(key, Slot.EDGE_PEAK_P99), *EDGE_P99_RANGE[severity, drives].T)
    slo = np.stack(
        [
            base_error,
            base_p99,
            np.where(benign, base_error, peak_error),
            np.where(benign, base_p99, peak_p99),
        ],
        axis=1,
    ).astype(np.int32)
    impact = _impact(key, seeds, graph, hops, benign, errors, severity, slo)
    figures = np.moveaxis(np.concatenate([slo[:, None, :], impact], axis=1), 2, 0)
    figures[2:] -= figures[:2]
    edge_hops = np.where(benign, -1, graph.edge_hops[root])
    return {
        **timing,
        "figures": np.ascontiguousarray(figures, np.float32),
        "hops": np.concatenate([edge_hops[:, None], hops], axis=1),
        "toward": graph.toward[root],
        "alert_from": _alert_from(key, mode, graph, hops, timing["voice_at"], benign),
        "distractor_alerts": _distractor_alerts(key, mode, hops < 0, benign),
        "changes": _changes(key, graph.n, root, kind),
    }


def _timing(key: Bits, mode: Mode, graph: Graph, benign: Bools, root: Ints) -> dict[str, Ints]:
    extra = vec.below(vec.at(key, Slot.EXTRA_TICKS), EXTRA_TICKS)
    ramp = vec.between(vec.at(key, Slot.RAMP), *RAMP[mode])
    voice = vec.between(vec.at(key, Slot.VOICE), *VOICE[mode])
    if mode is Mode.LOUD:
        onset, lag = -LOUD_LEAD - extra, 0
    else:
        onset, lag = -(graph.reach[root] - (-SHOWN[mode] * ramp // 10) + extra), 1
    return {
        "onset": np.where(benign, 0, onset),
        "ramp": np.where(benign, 1, ramp),
        "lag": np.where(benign, 0, lag),
        "peak_tick": np.where(benign, vec.between(vec.at(key, Slot.PEAK_TICK), *PEAK_TICK), 0),
        "voice_at": np.where(benign, 0, voice),
    }


def _impact(
    key: Bits,
    seeds: Bits,
    graph: Graph,
    hops: Ints,
    benign: Bools,
    errors: Bools,
    severity: Ints,
    slo: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Base and peak of every service; where the fault does not reach, the peak is the base."""
    bits = vec.draw(vec.subkey(seeds, BASE_STREAM)[:, None] + vec.offsets_a(np.arange(graph.n)))
    rest_error = REST_ERROR[0] + (bits % np.uint64(REST_ERROR[1])).astype(np.int64)
    rest_p99 = REST_P99[0] + ((bits >> np.uint64(8)) % np.uint64(REST_P99[1])).astype(np.int64)
    drawn = vec.at(key, Slot.ROOT_ERROR), vec.at(key, Slot.ROOT_P99)
    error = np.where(
        errors, vec.between(drawn[0], *ROOT_ERROR[True]), vec.between(drawn[0], *ROOT_ERROR[False])
    )
    p99 = np.where(
        errors, vec.between(drawn[1], *ROOT_P99[True]), vec.between(drawn[1], *ROOT_P99[False])
    )
    error = np.where(benign, 0, error)
    p99 = np.where(benign, vec.between(drawn[1], *BENIGN_P99), p99)
    impact = np.stack([rest_error, rest_p99, rest_error, rest_p99], axis=2)
    left = ATTENUATIONS[severity]
    for distance in range(int(hops.max(initial=0)) + 1):
        here = hops == distance
        impact[:, :, 2] += here * error[:, None]
        impact[:, :, 3] += here * p99[:, None]
        error, p99 = error * left // 1000, p99 * left // 1000
    at_edge = graph.edge & (hops >= 0) & ~benign[:, None]
    return np.where(at_edge[:, :, None], slo[:, None, :], impact).astype(np.int32)


def _alert_from(
    key: Bits, mode: Mode, graph: Graph, hops: Ints, voice_at: Ints, benign: Bools
) -> Ints:
    """As the scalar ``_alerting``; a benign load alerts at once."""
    callers = hops > 0
    if mode is Mode.DRIFT:
        # The root comes first in the list, then its callers in service order.
        pick = vec.below(vec.at(key, Slot.FIRST_ALERT), callers.sum(axis=1) + 1)
        chosen = (callers & (callers.cumsum(axis=1) == pick[:, None])) | (
            (hops == 0) & (pick == 0)[:, None]
        )
        return np.where(chosen | (benign[:, None] & (hops == 0)), 0, -1)
    if mode is Mode.LOUD:
        others: Bools = hops == 1
        first: Bools = np.zeros_like(callers)
    else:
        inner = callers & ~graph.edge
        others = np.where(inner.any(axis=1, keepdims=True), inner, callers)
        pick = vec.below(vec.at(key, Slot.FIRST_ALERT), others.sum(axis=1))
        first = others & (others.cumsum(axis=1) == pick[:, None] + 1)
    total = np.maximum(1, others.sum(axis=1))
    share = np.minimum(CALLER_ALERTS, 1000 * MEAN_CALLER_ALERTS // total)
    chosen = first | (others & vec.chance(vec.each(key, Slot.ALERT, graph.n), share[:, None]))
    alert_from: Ints = np.where(chosen, 0, -1)
    return np.where(hops == 0, voice_at[:, np.newaxis], alert_from)


def _distractor_alerts(key: Bits, mode: Mode, free: Bools, benign: Bools) -> Bools:
    count, n = free.shape
    rank = vec.each(key, Slot.DISTRACTOR_RANK, n)
    rank[~free] = np.uint64(0xFFFFFFFFFFFFFFFF)
    wanted = np.where(benign, DISTRACTOR_COUNT[Mode.BENIGN], DISTRACTOR_COUNT[mode])
    chosen = np.zeros((count, n), bool)
    rows = np.arange(count)
    for place in range(min(int(wanted.max(initial=0)), n)):
        best = rank.argmin(axis=1)
        chosen[rows, best] |= free[rows, best] & (place < wanted)
        rank[rows, best] = np.uint64(0xFFFFFFFFFFFFFFFF)
    row = vec.below(vec.each(key, Slot.DISTRACTOR_ROW, n), len(DISTRACTORS))
    fires = vec.chance(vec.each(key, Slot.DISTRACTOR_ALERT, n), DISTRACTOR_ALERT)
    alerts: Bools = chosen & fires & DISTRACTOR_ALERTS[row]
    return alerts


def _changes(key: Bits, n: int, root: Ints, kind: Ints) -> Bools:
    count = len(root)
    rows = np.arange(count)
    changes = np.zeros((count, len(CHANGE_KINDS) * n), bool)
    for place in range(INNOCENT_CHANGES):
        service = vec.below(vec.at(key, Slot.CHANGE_SERVICE, place), n)
        change = vec.below(vec.at(key, Slot.CHANGE_KIND, place), len(CHANGE_KINDS))
        changes[rows, change * n + service] = True
    related = np.where(kind >= 0, KIND_CHANGE[kind], -1)
    shown = (related >= 0) & vec.chance(vec.at(key, Slot.RELATED_SHOWN), RELATED_SHOWN)
    changes[rows[shown], related[shown] * n + root[shown]] = True
    return changes
