"""Draws the visible side of an incident: impacts, alerts, distractors, changes.

The truth comes first (:mod:`logtriage.generator`); a scenario is drawn to fit it,
so that the severity can be read off the edge panel with a margin at every tick.
"""

from typing import Final

import attrs

from logtriage.actions import Severity
from logtriage.faults import FaultKind
from logtriage.phrases import BENIGN, DISTRACTORS
from logtriage.propagation import Affected, Distractor, Impact, Mode, Scenario, resting
from logtriage.rng import Stream, hash_name
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

MAX_CALLER_ALERTS: Final = 3
SCENARIO_STREAM: Final = hash_name("scenario")


@attrs.frozen
class _Timing:
    onset: int
    ramp: int
    lag: int
    peak_tick: int
    voice_at: int


def _timing(mode: Mode, stream: Stream, hops_to_show: int) -> _Timing:
    """When the fault began, so that what must show at tick 0 is at 70 % by then."""
    extra = stream.below(3)
    match mode:
        case Mode.LOUD:
            return _Timing(-3 - extra, 2, 0, 0, 0)
        case Mode.CASCADE:
            ramp = stream.between(2, 4)
            onset = -(hops_to_show + ramp + extra)
            return _Timing(onset, ramp, 1, 0, stream.between(3, 6))
        case Mode.DRIFT:
            ramp = stream.between(24, 40)
            onset = -(hops_to_show + -(-7 * ramp // 10) + extra)
            return _Timing(onset, ramp, 1, 0, stream.between(2, 5))
        case Mode.BENIGN:
            return _Timing(0, 1, 0, stream.between(-1, 2), 0)


def draw_scenario(
    seed: int,
    topology: Topology,
    mode: Mode,
    root: int,
    kind: FaultKind,
    severity: Severity,
) -> Scenario:
    """A scenario for a fault of ``kind`` at service index ``root``, seen as ``severity``."""
    stream = Stream(seed, SCENARIO_STREAM)
    hops = topology.hops_from(root)
    edge_hops = min(hops[edge] for edge in topology.edges if hops[edge] >= 0)
    reached = [service for service, distance in enumerate(hops) if distance >= 0]
    # What drifts, drifts in latency: a silent fault fails no requests early on.
    errors = kind.errors and mode is not Mode.DRIFT
    slo = _edge_impact(stream, errors, severity)
    timing = _timing(mode, stream, max(hops))
    alerting = _alerting(stream, mode, topology, hops, timing.voice_at)
    peak_error = stream.between(1500, 5000) if errors else stream.between(100, 400)
    peak_p99 = stream.between(300, 700) if errors else stream.between(1500, 4000)
    affected = []
    for service in reached:
        distance = hops[service]
        if topology.services[service].tier == "edge":
            impact = slo
        else:
            rest = resting(seed, service)
            error, p99 = peak_error, peak_p99
            for _ in range(distance):
                error = error * ATTENUATION[severity] // 1000
                p99 = p99 * ATTENUATION[severity] // 1000
            impact = Impact(
                rest.base_error, rest.base_p99, rest.base_error + error, rest.base_p99 + p99
            )
        affected.append(
            Affected(
                service,
                distance,
                _toward(topology, hops, service),
                impact,
                alerting.get(service, -1),
            )
        )
    version = _version(stream, "config" if kind.name == "config_drift" else "deploy")
    return Scenario(
        seed=seed,
        mode=mode,
        affected=tuple(affected),
        slo=slo,
        edge_hops=edge_hops,
        onset=timing.onset,
        ramp=timing.ramp,
        lag=timing.lag,
        peak_tick=timing.peak_tick,
        voice_at=timing.voice_at,
        distractors=_distractors(stream, mode, topology, frozenset(reached)),
        changes=_changes(stream, topology, root, kind, version),
        version=version,
    )


def draw_benign_scenario(seed: int, topology: Topology, service: int) -> Scenario:
    """A load that settles by itself at ``service``."""
    stream = Stream(seed, SCENARIO_STREAM)
    timing = _timing(Mode.BENIGN, stream, 0)
    rest = resting(seed, service)
    peak = Impact(
        rest.base_error, rest.base_p99, rest.base_error, rest.base_p99 + stream.between(700, 2200)
    )
    return Scenario(
        seed=seed,
        mode=Mode.BENIGN,
        affected=(Affected(service, 0, -1, peak, 0),),
        slo=Impact(*_edge_rest(stream), 0, 0),
        edge_hops=0,
        onset=timing.onset,
        ramp=timing.ramp,
        lag=timing.lag,
        peak_tick=timing.peak_tick,
        voice_at=timing.voice_at,
        distractors=_distractors(stream, Mode.DRIFT, topology, frozenset((service,))),
        changes=_changes(stream, topology, service, None, ""),
        version="",
        benign_row=stream.below(len(BENIGN)),
    )


def _edge_rest(stream: Stream) -> tuple[int, int]:
    return stream.between(5, 20), stream.between(160, 240)


def _edge_impact(stream: Stream, errors: bool, severity: Severity) -> Impact:
    base_error, base_p99 = _edge_rest(stream)
    error = (EDGE_ERROR if errors else EDGE_ERROR_ASIDE)[severity]
    p99 = (EDGE_P99_ASIDE if errors else EDGE_P99)[severity]
    return Impact(base_error, base_p99, stream.between(*error), stream.between(*p99))


def _toward(topology: Topology, hops: tuple[int, ...], service: int) -> int:
    """The dependency through which the fault reaches a service."""
    return next(
        (
            callee
            for callee in topology.calls[service]
            if hops[callee] >= 0 and hops[callee] == hops[service] - 1
        ),
        -1,
    )


def _alerting(
    stream: Stream, mode: Mode, topology: Topology, hops: tuple[int, ...], voice_at: int
) -> dict[int, int]:
    """Which affected services have an alert, and from which tick on."""
    root = hops.index(0)
    callers = [service for service, distance in enumerate(hops) if distance > 0]
    if mode is Mode.DRIFT:
        reached = [root, *callers]
        return {reached[stream.below(len(reached))]: 0}
    chosen: dict[int, int] = {}
    if mode is Mode.LOUD:
        chosen[root] = 0
        direct = [service for service in callers if hops[service] == 1]
        chosen.update({s: 0 for s in direct[:MAX_CALLER_ALERTS] if stream.chance(500)})
        return chosen
    inner = [s for s in callers if topology.services[s].tier != "edge"] or callers
    first = stream.below(len(inner))
    for step in range(min(len(inner), MAX_CALLER_ALERTS)):
        if step == 0 or stream.chance(700):
            chosen[inner[(first + step) % len(inner)]] = 0
    chosen[root] = voice_at
    return chosen


def _distractors(
    stream: Stream, mode: Mode, topology: Topology, taken: frozenset[int]
) -> tuple[Distractor, ...]:
    """Unrelated telemetry, on services that the fault does not reach where there are any."""
    free = [service for service in range(len(topology)) if service not in taken]
    wanted = {Mode.LOUD: 1, Mode.CASCADE: 2}.get(mode, 3)
    chosen: list[Distractor] = []
    for _ in range(min(wanted, len(free))):
        service = free.pop(stream.below(len(free)))
        row = stream.below(len(DISTRACTORS))
        chosen.append(Distractor(service, row, bool(DISTRACTORS[row][0]) and stream.chance(500)))
    return tuple(chosen)


def _version(stream: Stream, change: str) -> str:
    """A release number, or a config revision."""
    if change == "config":
        return f"r{stream.between(100, 999)}"
    return f"{stream.between(1, 9)}.{stream.below(30)}.{stream.below(10)}"


_RELATED_CHANGE: Final = {
    "bad_deploy": "deploy",
    "compromised_release": "deploy",
    "config_drift": "config",
    "saturation": "traffic",
    "traffic_flood": "traffic",
    "session_abuse": "advisory",
    "malicious_query": "advisory",
}
_CHANGE_KINDS: Final = ("deploy", "config", "traffic", "advisory")
#: Most, but not all, faults with a change behind them show that change.
_RELATED_SHOWN: Final = 850


def _changes(
    stream: Stream, topology: Topology, root: int, kind: FaultKind | None, version: str
) -> tuple[Change, ...]:
    """Two innocent changes, and mostly the one behind the fault; newest first."""
    related = None if kind is None else _RELATED_CHANGE.get(kind.name)
    changes = []
    for _ in range(2):
        innocent = _CHANGE_KINDS[stream.below(len(_CHANGE_KINDS))]
        service = topology.names[stream.below(len(topology))]
        changes.append(_change(stream, service, innocent, _version(stream, innocent)))
    if related is not None and stream.chance(_RELATED_SHOWN):
        changes.append(_change(stream, topology.names[root], related, version))
    changes.sort(key=_age)
    return tuple(changes)


def _age(change: Change) -> tuple[int, str, str]:
    return change.minutes_ago, change.service, change.detail


def _change(stream: Stream, service: str, kind: str, version: str) -> Change:
    minutes = stream.between(4, 170)
    match kind:
        case "deploy":
            detail = f"release {version}"
        case "config":
            detail = f"config {version}"
        case "traffic":
            detail = f"traffic +{stream.between(5, 60)}%"
        case _:
            detail = f"advisory LT-{stream.between(100, 999)}"
    return Change(service, kind, minutes, detail)
