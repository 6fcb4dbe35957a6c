"""Screens row by row, as :mod:`logtriage.vector.screens` reads and writes them for many."""

from typing import Any, Final

import numpy as np

from logtriage.actions import REMEDIES
from logtriage.jit import kernel
from logtriage.propagation import ALERT_LEVEL
from logtriage.scenario_ranges import CHANGE_KINDS
from logtriage.vector.compiled.draws import Int
from logtriage.vector.compiled.fields import ColumnFields, TaskFields
from logtriage.vector.compiled.signals import (
    any_blip,
    fill_levels,
    level_of,
    read,
    read_requested,
    read_window,
    worst_of,
)
from logtriage.vector.episodes import OPEN, Episodes
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.layout import ERROR_WHOLE, P99_HALF, TREND_HALF
from logtriage.vector.tables import Graph

_CHANGE_KINDS: Final = np.uint64(len(CHANGE_KINDS))
_REMEDIES: Final = np.uint64(len(REMEDIES))
_0: Final = np.uint64(0)
_1: Final = np.uint64(1)
_2: Final = np.uint64(2)
_WHOLE: Final = np.float32(ERROR_WHOLE)
_P99_HALF: Final = np.float32(P99_HALF)
_TREND_HALF: Final = np.float32(TREND_HALF)
_ONE: Final = np.float32(1)


@kernel
def _read_screen(
    row: Int,
    incidents: IncidentArrays,
    episodes: Episodes,
    graph: Graph,
    task: TaskFields,
    levels: Any,
    room: Any,
    blips: Any,
) -> tuple[Int, Int, Int]:
    """Note what the screen says; fill ``levels``, return the reading of the edge."""
    fill_levels(row, graph, incidents, episodes, levels)
    read_window(row, incidents, episodes, graph, task, levels, room)
    read_requested(row, incidents, episodes, levels)
    edge = read(row, _0, incidents, episodes, levels, blips)
    episodes.worst[row] = min(np.int64(episodes.worst[row]), worst_of(edge[0], edge[1]))
    return edge


@kernel
def _write_reading(
    out: Any, error: Int, p99: Int, trend: Int, figures: tuple[Int, Int, Int]
) -> None:
    """Write a reading, scaled, to three columns of ``out`` (D,)."""
    e, p, d = np.float32(figures[0]), np.float32(figures[1]), np.float32(figures[2])
    out[error] = min(e / _WHOLE, _ONE)
    out[p99] = p / (p + _P99_HALF)
    out[trend] = d / (abs(d) + _TREND_HALF)


# Flags are copied where they are, not set where they hold: a branch that cannot be
# foretold costs more than ten stores. Places are unsigned, for Numba lets negative ones
# count from the end, and what it adds for that keeps loops from being vectorised.


@kernel
def _write_readings(
    row: Int,
    incidents: IncidentArrays,
    episodes: Episodes,
    graph: Graph,
    to: ColumnFields,
    levels: Any,
    room: Any,
    blips: Any,
    out: Any,
) -> None:
    """Write alerts, and the readings of services that are known, to ``out`` (D,)."""
    tick, count = episodes.tick[row], 0
    for service in range(np.uint64(graph.n)):
        start = incidents.alert_from[row, service]
        level = level_of(row, service + _1, incidents, levels)
        alert = (start >= 0) & (start <= tick) & (level >= ALERT_LEVEL)
        other = incidents.distractor_alerts[row, service]
        known = alert | other | episodes.asked[row, service]
        out[to.fault_alert + service] = alert
        out[to.other_alert + service] = other
        out[to.known + service] = known
        room[count] = service
        count += known
    for place in range(count):
        chosen = np.uint64(room[place])
        _write_reading(
            out,
            to.error + chosen,
            to.p99 + chosen,
            to.trend + chosen,
            read(row, chosen + _1, incidents, episodes, levels, blips),
        )


@kernel
def _write_services(
    row: Int,
    incidents: IncidentArrays,
    episodes: Episodes,
    graph: Graph,
    to: ColumnFields,
    out: Any,
) -> None:
    """Write what was noted of services, and what is public of them, to ``out`` (D,)."""
    one, now, n = incidents, episodes, np.uint64(graph.n)
    for service in range(n):
        out[to.asked + service] = now.asked[row, service]
        out[to.blamed + service] = now.blamed[row, service] > 0
        out[to.complaining + service] = now.complaining[row, service] > 0
        out[to.named + service] = now.named[row, service] > 0
        out[to.remedied + service] = now.remedied[row, service]
        out[to.owners + np.uint64(one.owners[row, service]) * n + service] = _ONE
    for place in range(_CHANGE_KINDS * n):
        out[to.changes + place] = one.changes[row, place]
    # The root alone names a cause.
    root = np.uint64(one.root[row])
    if now.named[row, root]:
        out[to.kind + np.uint64(one.kind[row])] = _ONE
        out[to.named_owner + np.uint64(one.owners[row, root])] = _ONE


@kernel
def _write_rest(
    row: Int, episodes: Episodes, graph: Graph, task: TaskFields, to: ColumnFields, out: Any
) -> None:
    """Write what was declared and done to ``out`` (D,)."""
    now = episodes
    if now.root_cause[row] >= 0:
        out[to.declared + np.uint64(now.root_cause[row])] = _ONE
    if now.severity[row] >= 0:
        out[to.severity + np.uint64(now.severity[row])] = _ONE
    out[to.time] = np.float32(now.tick[row]) / np.float32(task.horizon)
    out[to.worst + np.uint64(now.worst[row])] = _ONE
    for team in range(np.uint64(graph.m)):
        out[to.paged + team] = now.paged[row, team]
    for remedy in range(_REMEDIES):
        out[to.applied + remedy] = now.applied[row, remedy]
    out[to.closed] = now.closing[row] != OPEN


@kernel
def observe_rows(
    start: Int,
    stop: Int,
    incidents: IncidentArrays,
    episodes: Episodes,
    graph: Graph,
    task: TaskFields,
    to: ColumnFields,
    levels: Any,
    room: Any,
    out: Any,
) -> None:
    """Read the screens of the rows from ``start`` to ``stop``, and write them to ``out`` (N, D).

    ``levels`` (2, n + 1), all zero, and ``room`` (n + 2,) are room to work in.
    """
    for row in range(np.uint64(start), np.uint64(stop)):
        blips = any_blip(row, episodes)
        edge = _read_screen(row, incidents, episodes, graph, task, levels, room, blips)
        written = out[row]
        written[:] = 0
        _write_readings(row, incidents, episodes, graph, to, levels, room, blips, written)
        _write_services(row, incidents, episodes, graph, to, written)
        _write_reading(written, to.slo, to.slo + _1, to.slo + _2, edge)
        _write_rest(row, episodes, graph, task, to, written)
