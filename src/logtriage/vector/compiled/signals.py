"""Levels, readings and lines of one row, as :mod:`logtriage.vector.signals` has them for many.

The integers of :mod:`logtriage.propagation`, and draws only for what can be seen.
"""

from typing import Any, Final

import numpy as np

from logtriage.emission import AUDIBLE_LEVEL, WINDOW_LINES
from logtriage.jit import kernel
from logtriage.propagation import (
    BENIGN_FALL,
    BENIGN_RISE,
    BLIP_EDGE_ERROR,
    BLIP_ERROR,
    BLIP_LEFT,
    BLIP_P99,
    FULL,
    READING_NOISE,
    RECOVERING,
    TICK_SHIFT,
)
from logtriage.runbook import SEVERITY_RULE
from logtriage.telemetry import TREND_TICKS
from logtriage.vector.compiled.draws import Int, between, draw
from logtriage.vector.compiled.fields import TaskFields
from logtriage.vector.episodes import Episodes
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.tables import Graph
from logtriage.vector.team_layout import SOURCES

#: Thresholds of error (bp) and p99 (ms), the severest first.
_RULE: Final = tuple((error_bp, p99_ms) for _, error_bp, p99_ms in SEVERITY_RULE)
_BLIPS: Final = tuple(BLIP_LEFT.items())
_NOISE: Final = (-READING_NOISE, READING_NOISE)
_10: Final = np.uint64(10)
_26: Final = np.uint64(26)
_SHARE: Final = np.uint64(1023)
_PICK: Final = np.uint64(0xFFFF)
_1: Final = np.uint64(1)
_WINDOW: Final = np.uint8(SOURCES["window"])
_INSPECTION: Final = np.uint8(SOURCES["inspection"])


@kernel
def _level_at(row: Int, hops: Int, tick: Int, incidents: IncidentArrays, episodes: Episodes) -> Int:
    """As :func:`logtriage.propagation.level`."""
    fixed_at = np.int64(episodes.fixed_at[row])
    seen = min(tick, fixed_at)
    if incidents.benign[row]:
        away = seen - incidents.peak_tick[row]
        lost = -away * FULL // BENIGN_RISE if away < 0 else away * FULL // BENIGN_FALL
        level = max(0, FULL - lost)
    else:
        ramp = np.int64(incidents.ramp[row])
        passed = seen - incidents.onset[row] - incidents.lag[row] * hops
        # In floats, whose division is several times faster; the quotient's floor is exact.
        share = np.float32(min(max(passed, 0), ramp) * FULL) / np.float32(ramp)
        level = np.int64(share)
    if tick > fixed_at:
        return level * RECOVERING // FULL if tick == fixed_at + 1 else 0
    return level


@kernel
def fill_levels(
    row: Int, graph: Graph, incidents: IncidentArrays, episodes: Episodes, levels: Any
) -> None:
    """Levels at ``hops + 1``, now in ``levels[0]``, and when trends begin in ``levels[1]``.

    ``levels`` (2, n + 1) begins with a zero, where hops of -1 point to: what nothing reaches.
    """
    now = np.int64(episodes.tick[row])
    for hops in range(graph.reach[incidents.root[row]] + 1):
        at = np.uint64(hops + 1)
        levels[0, at] = _level_at(row, hops, now, incidents, episodes)
        levels[1, at] = _level_at(row, hops, now - TREND_TICKS, incidents, episodes)


@kernel
def level_of(row: Int, panel: Int, incidents: IncidentArrays, levels: Any) -> Int:
    """The level of a panel now: 0 is the edge, ``s + 1`` service ``s``, both unsigned."""
    return levels[0, np.uint64(incidents.hops[row, panel] + 1)]


@kernel
def any_blip(row: Int, episodes: Episodes) -> bool:
    """Whether a needless restart still shows, or did when trends begin."""
    tick = np.int64(episodes.tick[row])
    for age, _ in _BLIPS:
        for since in (age, age + TREND_TICKS):
            if tick >= since:
                for lane in range(episodes.restarted.shape[2]):
                    if episodes.restarted[row, tick - since, lane] >= 0:
                        return True
    return False


@kernel
def _blip(row: Int, service: Int, tick: Int, episodes: Episodes) -> Int:
    """Per mille of what restarts left; ``service`` -1 stands for any."""
    total = 0
    for age, share in _BLIPS:
        if tick >= age:
            for lane in range(episodes.restarted.shape[2]):
                restarted = episodes.restarted[row, tick - age, lane]
                if restarted >= 0 and (restarted == service or service < 0):
                    total += share
    return min(total, FULL)


@kernel
def _wobble(key: np.uint64, service: Int, tick: Int) -> Int:
    return FULL + between(draw(key, service, tick + TICK_SHIFT), _NOISE)


@kernel
def read(
    row: Int,
    panel: Int,
    incidents: IncidentArrays,
    episodes: Episodes,
    levels: Any,
    blips: Any,
) -> tuple[Int, Int, Int]:
    """Error (bp), p99 and its rise (ms) now; ``panel`` as in :func:`level_of`.

    ``levels`` as :func:`fill_levels` leaves them; ``blips`` as :func:`any_blip` says.
    """
    key, service = np.uint64(incidents.reading_key[row]), np.int64(panel) - 1
    reach, tick = np.uint64(incidents.hops[row, panel] + 1), np.int64(episodes.tick[row])
    base_error = np.int64(incidents.figures[0, row, panel])
    base_p99 = np.int64(incidents.figures[1, row, panel])
    rise_error = np.int64(incidents.figures[2, row, panel])
    rise_p99 = np.int64(incidents.figures[3, row, panel])
    wobble = _wobble(key, service, tick)
    error = (base_error + rise_error * levels[0, reach] // FULL) * wobble // FULL
    p99 = (base_p99 + rise_p99 * levels[0, reach] // FULL) * wobble // FULL
    then = base_p99 + rise_p99 * levels[1, reach] // FULL
    then = then * _wobble(key, service, tick - TREND_TICKS) // FULL
    if blips:
        recent = _blip(row, service, tick, episodes)
        if service < 0:
            error += BLIP_EDGE_ERROR if recent > 0 else 0
        else:
            error += BLIP_ERROR * recent // FULL
            p99 += BLIP_P99 * recent // FULL
            then += BLIP_P99 * _blip(row, service, tick - TREND_TICKS, episodes) // FULL
    return error, p99, p99 - then


@kernel
def worst_of(error: Int, p99: Int) -> Int:
    """As :func:`logtriage.runbook.severity_of`, as a rank."""
    rank = 0
    for error_bp, p99_ms in _RULE:
        if error >= error_bp or p99 >= p99_ms:
            return rank
        rank += 1
    return rank


@kernel
def _note(
    row: Int,
    service: Int,
    cause: Any,
    bit: np.uint8,
    incidents: IncidentArrays,
    episodes: Episodes,
) -> None:
    """Enter a line: callers complain, the root names its cause where ``cause`` is set."""
    if service != incidents.root[row]:
        episodes.complaining[row, service] |= bit
        episodes.blamed[row, incidents.toward[row, service]] |= bit
    elif cause and incidents.kind[row] >= 0:
        episodes.named[row, service] |= bit


@kernel
def read_window(
    row: Int,
    incidents: IncidentArrays,
    episodes: Episodes,
    graph: Graph,
    task: TaskFields,
    levels: Any,
    heard: Any,
) -> None:
    """Note what the lines of this tick say; ``heard`` (n + 2,) is room to work in.

    Lines that could only say what is noted already are not drawn.
    """
    tick, root, speakers = np.int64(episodes.tick[row]), incidents.root[row], 0
    news: Any = False
    for service in range(np.uint64(graph.n)):
        if level_of(row, service + _1, incidents, levels) < AUDIBLE_LEVEL:
            continue
        if service != root:
            heard[speakers] = service
            speakers += 1
            news |= not episodes.complaining[row, service] & _WINDOW
        elif tick >= incidents.voice_at[row]:
            for _ in range(task.loud_voice):
                heard[speakers] = service
                speakers += 1
            news |= incidents.kind[row] >= 0 and not episodes.named[row, service] & _WINDOW
    if not news:
        return
    key = np.uint64(incidents.window_key[row])
    # Needless restarts of the last tick speak in the first slots.
    first = 0
    for lane in range(episodes.restarted.shape[2]):
        if tick > 0 and episodes.restarted[row, tick - 1, lane] >= 0:
            first += 1
    for slot in range(first, WINDOW_LINES):
        bits = draw(key, tick, slot)
        if np.int64(bits & _SHARE) >= task.noisy:
            pick = np.int64((bits >> _10) & _PICK) * speakers >> 16
            cause = (bits >> _26) & _1 > 0
            _note(row, heard[pick], cause, _WINDOW, incidents, episodes)


@kernel
def read_requested(row: Int, incidents: IncidentArrays, episodes: Episodes, levels: Any) -> None:
    """Note what the services say that were asked in the last tick."""
    for lane in range(episodes.requested.shape[1]):
        service = episodes.requested[row, lane]
        if service < 0:
            continue
        if level_of(row, np.uint64(service) + _1, incidents, levels) >= AUDIBLE_LEVEL:
            _note(row, service, True, _INSPECTION, incidents, episodes)
