"""Draws the visible side of an incident: impacts, alerts, distractors, changes.

The truth comes first (:mod:`logtriage.generator`); a scenario is drawn to fit it,
so that the severity can be read off the edge panel with a margin at every tick.
"""

from collections.abc import Container
from enum import IntEnum
from typing import Final

import attrs

from logtriage.actions import Severity
from logtriage.faults import FaultKind
from logtriage.phrases import BENIGN, DISTRACTORS
from logtriage.propagation import Affected, Distractor, Impact, Mode, Scenario, resting
from logtriage.rng import Draws, between, hash_name
from logtriage.telemetry import Change
from logtriage.topology import Topology

#: Ranges (low, high) of the edge peak by severity, for the figure that the fault drives.
#: With 70 % of the peak at tick 0 and 3 % noise, every reading stays clear of the
#: thresholds in :data:`logtriage.runbook.SEVERITY_RULE`.
EDGE_ERROR: Final = {Severity.P1: (900, 3000), Severity.P2: (185, 350), Severity.P3: (25, 55)}
EDGE_P99: Final = {Severity.P1: (3200, 6000), Severity.P2: (1300, 1550), Severity.P3: (300, 520)}
#: The other figure, which must not lift the severity.
EDGE_ERROR_ASIDE: Final = {Severity.P1: (40, 300), Severity.P2: (20, 60), Severity.P3: (20, 40)}
EDGE_P99_ASIDE: Final = {Severity.P1: (400, 1200), Severity.P2: (300, 600), Severity.P3: (260, 420)}
#: What a hop leaves of the impact below it, per mille.
ATTENUATION: Final = {Severity.P1: 800, Severity.P2: 650, Severity.P3: 400}

#: Of the root's own peak, by whether the fault fails requests (True) or slows them (False).
ROOT_ERROR: Final = {True: (1500, 5000), False: (100, 400)}
ROOT_P99: Final = {True: (300, 700), False: (1500, 4000)}
BENIGN_P99: Final = (700, 2200)
#: The edge at rest.
EDGE_BASE_ERROR: Final = (5, 20)
EDGE_BASE_P99: Final = (160, 240)
#: Ticks: by how many the onset varies; ramps, and first tick of the root's voice, by mode.
EXTRA_TICKS: Final = 3
LOUD_LEAD: Final = 3
RAMP: Final = {Mode.LOUD: (2, 2), Mode.CASCADE: (2, 4), Mode.DRIFT: (24, 40)}
VOICE: Final = {Mode.LOUD: (0, 0), Mode.CASCADE: (3, 6), Mode.DRIFT: (2, 5)}
PEAK_TICK: Final = (-1, 2)
#: How far a fault has come by tick 0 wherever it shows, in tenths of its ramp.
SHOWN: Final = {Mode.CASCADE: 10, Mode.DRIFT: 7}
#: Callers besides the first that alert, per mille; and on average no more than this many.
CALLER_ALERTS: Final = 600
MEAN_CALLER_ALERTS: Final = 2
#: Distractors that have an alert fire it, per mille.
DISTRACTOR_ALERT: Final = 500
DISTRACTOR_COUNT: Final = {Mode.LOUD: 1, Mode.CASCADE: 2, Mode.DRIFT: 3, Mode.BENIGN: 3}
INNOCENT_CHANGES: Final = 2
#: Most, but not all, faults with a change behind them show that change.
RELATED_SHOWN: Final = 850
CHANGE_KINDS: Final = ("deploy", "config", "traffic", "advisory")
RELATED_CHANGE: Final = {
    "bad_deploy": "deploy",
    "compromised_release": "deploy",
    "config_drift": "config",
    "saturation": "traffic",
    "traffic_flood": "traffic",
    "session_abuse": "advisory",
    "malicious_query": "advisory",
}
SCENARIO_STREAM: Final = hash_name("scenario")


class Slot(IntEnum):
    """The draws of a scenario; those marked so have an index."""

    EXTRA_TICKS = 0
    RAMP = 1
    VOICE = 2
    PEAK_TICK = 3
    EDGE_BASE_ERROR = 4
    EDGE_BASE_P99 = 5
    EDGE_PEAK_ERROR = 6
    EDGE_PEAK_P99 = 7
    ROOT_ERROR = 8
    ROOT_P99 = 9
    FIRST_ALERT = 10
    ALERT = 11  # by service
    DISTRACTOR_RANK = 12  # by service
    DISTRACTOR_ROW = 13  # by service
    DISTRACTOR_ALERT = 14  # by service
    CHANGE_KIND = 15  # by change
    CHANGE_SERVICE = 16  # by change
    CHANGE_AGE = 17  # by change
    CHANGE_DETAIL = 18  # by change
    RELATED_SHOWN = 19
    BENIGN_ROW = 20


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
    version = _version(draws, "config" if kind.name == "config_drift" else "deploy", _RELATED)
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
        changes=_changes(draws, topology, root, kind, version),
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
        changes=_changes(draws, topology, service, None, ""),
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


#: The place of the change behind the fault, after the innocent ones.
_RELATED: Final = INNOCENT_CHANGES


def _changes(
    draws: Draws, topology: Topology, root: int, kind: FaultKind | None, version: str
) -> tuple[Change, ...]:
    """Some innocent changes, and mostly the one behind the fault; newest first."""
    changes = []
    for place in range(INNOCENT_CHANGES):
        innocent = CHANGE_KINDS[draws.below(len(CHANGE_KINDS), Slot.CHANGE_KIND, place)]
        service = topology.names[draws.below(len(topology), Slot.CHANGE_SERVICE, place)]
        release = _version(draws, innocent, place)
        changes.append(_change(draws, service, innocent, release, place))
    related = None if kind is None else RELATED_CHANGE.get(kind.name)
    if related is not None and draws.chance(RELATED_SHOWN, Slot.RELATED_SHOWN):
        changes.append(_change(draws, topology.names[root], related, version, _RELATED))
    changes.sort(key=lambda one: (one.minutes_ago, one.service, one.detail))
    return tuple(changes)


def _version(draws: Draws, change: str, place: int) -> str:
    """A release number, or a config revision."""
    bits = draws.bits(Slot.CHANGE_DETAIL, place)
    if change == "config":
        return f"r{between(bits, 100, 999)}"
    return f"{1 + bits % 9}.{(bits >> 8) % 30}.{(bits >> 16) % 10}"


def _change(draws: Draws, service: str, kind: str, version: str, place: int) -> Change:
    bits = draws.bits(Slot.CHANGE_DETAIL, place)
    match kind:
        case "deploy":
            detail = f"release {version}"
        case "config":
            detail = f"config {version}"
        case "traffic":
            detail = f"traffic +{between(bits, 5, 60)}%"
        case _:
            detail = f"advisory LT-{between(bits, 100, 999)}"
    return Change(service, kind, draws.between(4, 170, Slot.CHANGE_AGE, place), detail)
