"""What N systems show at their ticks: levels, readings, alerts, and what the lines say.

The formulas are those of :mod:`logtriage.propagation` and :mod:`logtriage.emission`.
Figures are kept in ``float32``, which holds integers below 2**24 exactly; the largest,
a p99 of some seconds times a per mille, stays below 2**23. A quotient that is no integer
is at least 1/1000 away from one, more than its rounding error, so that a floor is exact.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.emission import AUDIBLE_LEVEL, LOUD_VOICE, WINDOW_LINES
from logtriage.propagation import (
    ALERT_LEVEL,
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
from logtriage.vector import arrays as vec
from logtriage.vector.arrays import Bits, Bools, Ints
from logtriage.vector.episodes import Episodes
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.team_layout import SOURCES

Figures = NDArray[np.float32]
_FULL: Final = np.float32(FULL)


def levels(incidents: IncidentArrays, tick: Ints, fixed_at: Ints) -> Figures:
    """Impact (N, 1 + n) in per mille at the edge and every service; 0 where none reaches."""
    hops = incidents.hops
    seen = np.minimum(tick, fixed_at)
    # What rose since the onset, less what the hops delay, in per mille of the ramp.
    since = (seen - incidents.onset).astype(np.float32)
    risen = hops * -incidents.lag.astype(np.float32)[:, None]
    risen += since[:, None]
    risen *= _FULL
    risen /= incidents.ramp.astype(np.float32)[:, None]
    np.floor(risen, out=risen)
    np.clip(risen, 0, _FULL, out=risen)
    if incidents.benign.any():
        rows = np.flatnonzero(incidents.benign)
        away = (seen[rows] - incidents.peak_tick[rows]).astype(np.int64)
        lost = np.where(away < 0, -away * FULL // BENIGN_RISE, away * FULL // BENIGN_FALL)
        risen[rows] = np.maximum(0, FULL - lost)[:, None]
    healing = np.flatnonzero(tick > fixed_at)
    if len(healing):
        left = np.where(tick[healing] == fixed_at[healing] + 1, RECOVERING, 0)
        risen[healing] = np.floor(risen[healing] * left[:, None].astype(np.float32) / _FULL)
    risen *= hops >= 0
    return risen


def blips(episodes: Episodes, tick: Ints) -> tuple[Ints, Ints, Figures]:
    """Rows, services and per mille of the after-effects of needless restarts."""
    found = []
    for age, share in BLIP_LEFT.items():
        when = tick - age
        rows = np.flatnonzero(when >= 0)
        target = episodes.restarted[rows, when[rows]]
        hit, lane = np.nonzero(target >= 0)
        found.append((rows[hit], target[hit, lane].astype(np.int64), np.full(len(hit), share)))
    rows, services, shares = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, services, shares.astype(np.float32)


def wobble(keys: Bits, columns: Ints, tick: Ints) -> Figures:
    """The noise factor of readings in per mille, for the services of ``columns``."""
    base = keys + vec.offsets_b(tick + TICK_SHIFT)
    bits = vec.draw(base[:, None] + vec.offsets_a(columns))
    bits >>= np.uint64(32)
    bits *= np.uint64(2 * READING_NOISE + 1)
    bits >>= np.uint64(32)
    noise = bits.astype(np.float32)
    noise += np.float32(FULL - READING_NOISE)
    return noise


def measured(base: Figures, rise: Figures, level: Figures, noise: Figures) -> Figures:
    """``(base + rise * level // 1000) * noise // 1000``."""
    figure: Figures = rise * level
    figure /= _FULL
    np.floor(figure, out=figure)
    figure += base
    figure *= noise
    figure /= _FULL
    return np.floor(figure, out=figure)


class Readings:
    """Readings (N, 1 + n) of the edge and all services now: error (bp), p99 and its rise (ms)."""

    def __init__(self, incidents: IncidentArrays, episodes: Episodes) -> None:
        tick = episodes.tick
        earlier = tick - TREND_TICKS
        columns = np.arange(-1, incidents.hops.shape[1] - 1)
        base_error, base_p99, rise_error, rise_p99 = incidents.figures
        self.level = levels(incidents, tick, episodes.fixed_at)
        before = levels(incidents, earlier, episodes.fixed_at)
        noise = wobble(incidents.reading_key, columns, tick)
        self.error = measured(base_error, rise_error, self.level, noise)
        self.p99 = measured(base_p99, rise_p99, self.level, noise)
        noise = wobble(incidents.reading_key, columns, earlier)
        then = measured(base_p99, rise_p99, before, noise)
        _add_blips(then, blips(episodes, earlier), BLIP_P99)
        recent = blips(episodes, tick)
        _add_blips(self.p99, recent, BLIP_P99)
        _add_blips(self.error, recent, BLIP_ERROR)
        self.error[np.unique(recent[0]), 0] += BLIP_EDGE_ERROR
        self.rise = np.subtract(self.p99, then, out=then)

    def worst(self) -> NDArray[np.int8]:
        """Rank of the severity that each panel shows."""
        rank = np.full(len(self.error), len(SEVERITIES) - 1, np.int8)
        for place, (_, error_bp, p99_ms) in reversed(list(enumerate(SEVERITY_RULE))):
            rank[(self.error[:, 0] >= error_bp) | (self.p99[:, 0] >= p99_ms)] = place
        return rank


def _add_blips(figures: Figures, found: tuple[Ints, Ints, Figures], full: int) -> None:
    """Add what restarts leave; two of the same service add up to no more than one in full."""
    rows, services, shares = found
    if not len(rows):
        return
    places, inverse = np.unique(rows * figures.shape[1] + services + 1, return_inverse=True)
    added = np.minimum(np.bincount(inverse, shares), FULL)
    figures.reshape(-1)[places] += np.floor(full * added / FULL).astype(np.float32)


def fault_alerts(incidents: IncidentArrays, level: Figures, tick: Ints) -> Bools:
    """Alerts (N, n) on what a fault or a benign load does; ``level`` (N, n) of services."""
    firing: Bools = level >= ALERT_LEVEL
    firing &= incidents.alert_from >= 0
    firing &= incidents.alert_from <= tick[:, None]
    return firing


def read_window(
    incidents: IncidentArrays, episodes: Episodes, level: Figures, noise: int, loud: bool
) -> None:
    """Note who complains of whom and who names a cause in the lines of this tick.

    ``level`` (N, n) of services; ``noise`` the task's share of lines without signal.
    """
    count, n = level.shape
    tick, hops = episodes.tick, incidents.hops[:, 1:]
    voiced = tick >= incidents.voice_at
    audible = level >= AUDIBLE_LEVEL
    weight = (audible & (hops > 0)).astype(np.int32)
    roots = np.arange(count), incidents.root
    weight[roots] = audible[roots] * voiced * (LOUD_VOICE if loud else 1)
    places = weight.cumsum(axis=1, dtype=np.int32)
    speakers = places[:, -1:]

    base = incidents.window_key + vec.offsets_a(tick)
    bits = vec.draw(base[:, None] + vec.offsets_b(np.arange(WINDOW_LINES)))
    fields = bits.astype(np.uint32)  # the low bits hold all that is asked for here
    signal = (fields & np.uint32(1023)) >= np.uint32(noise * 1024 // FULL)
    signal &= speakers > 0
    # Needless restarts of the last tick speak in the first slots.
    for slot, rows in enumerate(blips_of_last_tick(episodes)):
        signal[rows, slot] = False
    pick = ((fields >> np.uint32(10)) & np.uint32(0xFFFF)).astype(np.int32)
    pick = ((pick * speakers) >> 16).astype(np.int16)
    places = places.astype(np.int16)
    speaker = np.zeros((count, WINDOW_LINES), np.int16)
    for service in range(n):
        speaker += places[:, service : service + 1] <= pick
    told = np.flatnonzero(signal)
    rows, cause = told // WINDOW_LINES, (fields.ravel()[told] >> np.uint32(26)) & np.uint32(1)
    _note(incidents, episodes, rows, speaker.ravel()[told], cause, SOURCES["window"])


def blips_of_last_tick(episodes: Episodes) -> list[Ints]:
    """Rows with at least 1, 2, ... needless restarts in the last tick, as many as have lines."""
    rows = np.flatnonzero(episodes.tick > 0)
    number = (episodes.restarted[rows, episodes.tick[rows] - 1] >= 0).sum(axis=1)
    lanes = min(episodes.restarted.shape[2], WINDOW_LINES)
    return [rows[number > slot] for slot in range(lanes)]


def read_requested(incidents: IncidentArrays, episodes: Episodes, level: Figures) -> None:
    """Note what the services that were asked in the last tick say; ``level`` (N, n)."""
    rows, lane = np.nonzero(episodes.requested >= 0)
    service = episodes.requested[rows, lane]
    speaks = level[rows, service] >= AUDIBLE_LEVEL
    rows, service = rows[speaks], service[speaks]
    cause = np.ones(len(rows), np.uint32)
    _note(incidents, episodes, rows, service, cause, SOURCES["inspection"])


def _note(
    incidents: IncidentArrays,
    episodes: Episodes,
    rows: Ints,
    who: Ints,
    cause: NDArray[np.uint32],
    source: int,
) -> None:
    """Enter lines: callers complain, the root names its cause where ``cause`` is set."""
    bit = np.uint8(source)
    # Flat places: several times faster than pairs of indices.
    n = episodes.asked.shape[1]
    place = rows * n + who
    complains = who != incidents.root[rows]
    at = place[complains]
    episodes.complaining.reshape(-1)[at] |= bit
    blamed = incidents.toward.reshape(-1)[at]
    episodes.blamed.reshape(-1)[rows[complains] * n + blamed] |= bit
    names = ~complains & (cause > 0) & (incidents.kind[rows] >= 0)
    episodes.named.reshape(-1)[place[names]] |= bit
