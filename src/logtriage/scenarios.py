"""Draws the visible side of an incident: impacts, alerts, distractors, changes.

The truth comes first (:mod:`logtriage.generator`); a scenario is drawn to fit it,
so that the severity can be read off the edge panel with a margin at every tick.
"""

from collections.abc import Container

import attrs

from logtriage.actions import Severity
from logtriage.changes import draw_changes, version_behind
from logtriage.faults import FaultKind
from logtriage.phrases import BENIGN, DISTRACTORS
from logtriage.propagation import Affected, Distractor, Impact, Mode, Scenario, resting
from logtriage.rng import Draws
from logtriage.scenario_ranges import (
    ATTENUATION,
    BENIGN_P99,
    CALLER_ALERTS,
    DISTRACTOR_ALERT,
    DISTRACTOR_COUNT,
    EDGE_BASE_ERROR,
    EDGE_BASE_P99,
    EDGE_ERROR,
    EDGE_ERROR_ASIDE,
    EDGE_P99,
    EDGE_P99_ASIDE,
    EXTRA_TICKS,
    LOUD_LEAD,
    MEAN_CALLER_ALERTS,
    PEAK_TICK,
    RAMP,
    ROOT_ERROR,
    ROOT_P99,
    SCENARIO_STREAM,
    SHOWN,
    VOICE,
    Slot,
)
from logtriage.topology import Topology


def draw_scenario(
    seed: int,
    topology: Topology,
    mode: Mode,
    root: int,
    kind: FaultKind,
    severity: Severity,
) -> Scenario:
    """A scenario for a fault of ``kind`` at service index ``root``, seen as ``severity``."""
    draws = Draws(seed, SCENARIO_STREAM)
    hops = topology.hops_from(root)
    # What drifts, drifts in latency: a silent fault fails no requests early on.
    errors = kind.errors and mode is not Mode.DRIFT
    slo = _edge_impact(draws, errors, severity)
    timing = _timing(mode, draws, max(hops))
    alerting = _alerting(draws, mode, topology, hops, timing.voice_at)
    error = draws.between(*ROOT_ERROR[errors], Slot.ROOT_ERROR)
    p99 = draws.between(*ROOT_P99[errors], Slot.ROOT_P99)
    affected = tuple(
        Affected(
            service,
            distance,
            toward(topology, hops, service),
            slo
            if topology.services[service].tier == "edge"
            else _attenuated(resting(seed, service), error, p99, distance, severity),
            alerting.get(service, -1),
        )
        for service, distance in enumerate(hops)
        if distance >= 0
    )
    version = version_behind(draws, kind)
    return Scenario(
        seed=seed,
        mode=mode,
        affected=affected,
        slo=slo,
        edge_hops=min(hops[edge] for edge in topology.edges if hops[edge] >= 0),
        onset=timing.onset,
        ramp=timing.ramp,
        lag=timing.lag,
        peak_tick=timing.peak_tick,
        voice_at=timing.voice_at,
        distractors=_distractors(draws, mode, len(topology), {one.service for one in affected}),
        changes=draw_changes(draws, topology, root, kind, version),
        version=version,
    )


def draw_benign_scenario(seed: int, topology: Topology, service: int) -> Scenario:
    """A load that settles by itself at ``service``."""
    draws = Draws(seed, SCENARIO_STREAM)
    timing = _timing(Mode.BENIGN, draws, 0)
    rest = resting(seed, service)
    peak_p99 = rest.base_p99 + draws.between(*BENIGN_P99, Slot.ROOT_P99)
    peak = Impact(rest.base_error, rest.base_p99, rest.base_error, peak_p99)
    error, p99 = _edge_rest(draws)
    return Scenario(
        seed=seed,
        mode=Mode.BENIGN,
        affected=(Affected(service, 0, -1, peak, 0),),
        slo=Impact(error, p99, error, p99),
        edge_hops=0,
        onset=timing.onset,
        ramp=timing.ramp,
        lag=timing.lag,
        peak_tick=timing.peak_tick,
        voice_at=timing.voice_at,
        distractors=_distractors(draws, Mode.BENIGN, len(topology), {service}),
        changes=draw_changes(draws, topology, service, None, ""),
        version="",
        benign_row=draws.below(len(BENIGN), Slot.BENIGN_ROW),
    )


@attrs.frozen
class _Timing:
    onset: int
    ramp: int
    lag: int
    peak_tick: int
    voice_at: int


def _timing(mode: Mode, draws: Draws, hops_to_show: int) -> _Timing:
    """When the fault began, so that what must show at tick 0 is at 70 % by then."""
    if mode is Mode.BENIGN:
        return _Timing(0, 1, 0, draws.between(*PEAK_TICK, Slot.PEAK_TICK), 0)
    extra = draws.below(EXTRA_TICKS, Slot.EXTRA_TICKS)
    ramp = draws.between(*RAMP[mode], Slot.RAMP)
    voice = draws.between(*VOICE[mode], Slot.VOICE)
    if mode is Mode.LOUD:
        return _Timing(-LOUD_LEAD - extra, ramp, 0, 0, voice)
    lead = -(-SHOWN[mode] * ramp // 10)
    return _Timing(-(hops_to_show + lead + extra), ramp, 1, 0, voice)


def _edge_rest(draws: Draws) -> tuple[int, int]:
    return (
        draws.between(*EDGE_BASE_ERROR, Slot.EDGE_BASE_ERROR),
        draws.between(*EDGE_BASE_P99, Slot.EDGE_BASE_P99),
    )


def _edge_impact(draws: Draws, errors: bool, severity: Severity) -> Impact:
    base_error, base_p99 = _edge_rest(draws)
    error = (EDGE_ERROR if errors else EDGE_ERROR_ASIDE)[severity]
    p99 = (EDGE_P99_ASIDE if errors else EDGE_P99)[severity]
    return Impact(
        base_error,
        base_p99,
        draws.between(*error, Slot.EDGE_PEAK_ERROR),
        draws.between(*p99, Slot.EDGE_PEAK_P99),
    )


def _attenuated(rest: Impact, error: int, p99: int, hops: int, severity: Severity) -> Impact:
    """The impact that is left ``hops`` calls above the root."""
    for _ in range(hops):
        error = error * ATTENUATION[severity] // 1000
        p99 = p99 * ATTENUATION[severity] // 1000
    return Impact(rest.base_error, rest.base_p99, rest.base_error + error, rest.base_p99 + p99)


def toward(topology: Topology, hops: tuple[int, ...], service: int) -> int:
    """The dependency through which the fault reaches a service; -1 for the root."""
    return next(
        (
            callee
            for callee in topology.calls[service]
            if hops[callee] >= 0 and hops[callee] == hops[service] - 1
        ),
        -1,
    )


def _alerting(
    draws: Draws, mode: Mode, topology: Topology, hops: tuple[int, ...], voice_at: int
) -> dict[int, int]:
    """Which affected services have an alert, and from which tick on."""
    root = hops.index(0)
    callers = [service for service, distance in enumerate(hops) if distance > 0]
    if mode is Mode.DRIFT:
        reached = [root, *callers]
        return {reached[draws.below(len(reached), Slot.FIRST_ALERT)]: 0}
    if mode is Mode.LOUD:
        others = [service for service in callers if hops[service] == 1]
        chosen = {root: 0}
    else:
        others = [s for s in callers if topology.services[s].tier != "edge"] or callers
        chosen = {root: voice_at, others[draws.below(len(others), Slot.FIRST_ALERT)]: 0}
    share = min(CALLER_ALERTS, 1000 * MEAN_CALLER_ALERTS // max(1, len(others)))
    chosen.update({s: 0 for s in others if draws.chance(share, Slot.ALERT, s)})
    return chosen


def _distractors(
    draws: Draws, mode: Mode, count: int, taken: Container[int]
) -> tuple[Distractor, ...]:
    """Unrelated telemetry, on services that the fault does not reach where there are any."""
    free = [service for service in range(count) if service not in taken]
    free.sort(key=lambda service: draws.bits(Slot.DISTRACTOR_RANK, service))
    chosen = []
    for service in free[: DISTRACTOR_COUNT[mode]]:
        row = draws.below(len(DISTRACTORS), Slot.DISTRACTOR_ROW, service)
        alerts = bool(DISTRACTORS[row][0]) and draws.chance(
            DISTRACTOR_ALERT, Slot.DISTRACTOR_ALERT, service
        )
        chosen.append(Distractor(service, row, alerts))
    return tuple(chosen)
