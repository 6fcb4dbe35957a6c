"""How a fault shows: who is affected, how strongly, from when on, and until when.

A :class:`Scenario` holds the few numbers from which every level and reading of a
simulated incident follows in closed form, for any tick, in any order. Levels are
per mille of a service's peak impact.
"""

from enum import StrEnum
from functools import cached_property
from typing import Final

import attrs

from logtriage.rng import between, draw, hash_name, subkey
from logtriage.telemetry import TREND_TICKS, Change, Effects, Reading


class Mode(StrEnum):
    """The way in which an incident unfolds."""

    LOUD = "loud"
    CASCADE = "cascade"
    DRIFT = "drift"
    BENIGN = "benign"


FULL: Final = 1000
#: What is left of the impact one tick after the fix; nothing after two.
RECOVERING: Final = 400
#: From this level on, an affected service's alert fires.
ALERT_LEVEL: Final = 500
#: A benign load climbs for this many ticks to its peak, and is gone that many after it.
BENIGN_RISE: Final = 8
BENIGN_FALL: Final = 5
#: Errors (basis points) and p99 (ms) of a service at rest: the least, and how many values.
REST_ERROR: Final = (3, 16)
REST_P99: Final = (20, 61)
#: Added to ticks where they count a draw, since readings reach back before tick 0.
TICK_SHIFT: Final = 64
#: Readings wobble by at most this much around their true value.
READING_NOISE: Final = 30
#: Extra errors (basis points) and latency (ms) of a service restarted without need.
BLIP_ERROR: Final = 600
BLIP_P99: Final = 300
#: What is left of that by ticks since the restart.
BLIP_LEFT: Final = {1: FULL, 2: FULL // 2}
#: What the edge sees of it, in basis points.
BLIP_EDGE_ERROR: Final = 15

BASE_STREAM: Final = hash_name("base")
READING_STREAM: Final = hash_name("reading")


@attrs.frozen
class Impact:
    """Errors (basis points) and p99 (ms) of something at rest and at the peak."""

    base_error: int
    base_p99: int
    peak_error: int
    peak_p99: int


@attrs.frozen
class Affected:
    """One service that the fault reaches.

    ``hops`` calls away from the root (0: the root itself), ``toward`` the index of
    the dependency that it waits for (-1 for the root), ``alert_from`` the first tick
    at which its alert may fire (-1: it has none).
    """

    service: int
    hops: int
    toward: int
    impact: Impact
    alert_from: int = -1


@attrs.frozen
class Distractor:
    """True telemetry that has nothing to do with the fault (a row of ``DISTRACTORS``)."""

    service: int
    row: int
    alerts: bool


@attrs.frozen(cache_hash=True)
class Scenario:
    """The numbers behind one simulated incident.

    ``onset`` is the tick (negative: before the incident was opened) at which the
    root starts to degrade, ``ramp`` the ticks to full impact, ``lag`` the ticks per
    hop, ``edge_hops`` the calls from the edge to the root, ``peak_tick`` the middle
    of a benign load and ``benign_row`` its explanation. From ``voice_at`` on the root's
    lines reach the shared window.
    """

    seed: int
    mode: Mode
    affected: tuple[Affected, ...]
    slo: Impact
    edge_hops: int
    onset: int
    ramp: int
    lag: int
    peak_tick: int
    voice_at: int
    distractors: tuple[Distractor, ...]
    changes: tuple[Change, ...]
    version: str
    benign_row: int = 0

    @cached_property
    def reading_key(self) -> int:
        """Key of the stream that makes readings wobble."""
        return subkey(self.seed, READING_STREAM)


def level(scenario: Scenario, hops: int, tick: int, effects: Effects) -> int:
    """Impact at ``hops`` calls from the root, in per mille of the peak there."""
    fixed_at = effects.fixed_at
    if fixed_at is None or tick <= fixed_at:
        return _unfixed_level(scenario, hops, tick)
    if tick == fixed_at + 1:
        return _unfixed_level(scenario, hops, fixed_at) * RECOVERING // FULL
    return 0


def _unfixed_level(scenario: Scenario, hops: int, tick: int) -> int:
    if scenario.mode is Mode.BENIGN:
        away = tick - scenario.peak_tick
        lost = -away * FULL // BENIGN_RISE if away < 0 else away * FULL // BENIGN_FALL
        return max(0, FULL - lost)
    risen = (tick - scenario.onset - scenario.lag * hops) * FULL // scenario.ramp
    return 0 if risen < 0 else min(risen, FULL)


def _blip(service: int, tick: int, effects: Effects) -> int:
    """Per mille of a restart's after-effect at ``service``: full, half, gone."""
    total = 0
    for restarted, when in effects.restarts:
        if restarted == service:
            total += BLIP_LEFT.get(tick - when, 0)
    return min(total, FULL)


def resting(seed: int, service: int) -> Impact:
    """What a service measures when nothing is wrong with it."""
    bits = draw(subkey(seed, BASE_STREAM), service)
    error = REST_ERROR[0] + bits % REST_ERROR[1]
    p99 = REST_P99[0] + (bits >> 8) % REST_P99[1]
    return Impact(error, p99, error, p99)


def _wobble(key: int, service: int, tick: int) -> int:
    bits = draw(key, service, tick + TICK_SHIFT)
    return FULL + between(bits, -READING_NOISE, READING_NOISE)


def read(
    scenario: Scenario, impact: Impact, hops: int, service: int, tick: int, effects: Effects
) -> Reading:
    """The noisy reading of a service (``service`` -1: of the edge panel) at a tick.

    ``hops`` -1 means that the fault does not reach it.
    """
    key = scenario.reading_key
    earlier_tick = tick - TREND_TICKS
    now = level(scenario, hops, tick, effects) if hops >= 0 else 0
    before = level(scenario, hops, earlier_tick, effects) if hops >= 0 else 0
    rise_p99 = impact.peak_p99 - impact.base_p99
    rise_error = impact.peak_error - impact.base_error
    p99 = impact.base_p99 + rise_p99 * now // FULL
    error = impact.base_error + rise_error * now // FULL
    earlier = impact.base_p99 + rise_p99 * before // FULL
    wobble = _wobble(key, service, tick)
    p99 = p99 * wobble // FULL
    error = error * wobble // FULL
    earlier = earlier * _wobble(key, service, earlier_tick) // FULL
    if effects.restarts:
        if service >= 0:
            blip = _blip(service, tick, effects)
            error += BLIP_ERROR * blip // FULL
            p99 += BLIP_P99 * blip // FULL
            earlier += BLIP_P99 * _blip(service, earlier_tick, effects) // FULL
        else:
            recent = any(tick - when in BLIP_LEFT for _, when in effects.restarts)
            error += BLIP_EDGE_ERROR if recent else 0
    return Reading(error, p99, earlier)
