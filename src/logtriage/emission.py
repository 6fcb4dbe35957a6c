"""Simulated telemetry: turns a scenario into alerts, panels and log lines.

Every line is a function of (seed, tick, slot) or (seed, tick, service): one 64-bit draw
chooses the speaker and, in :mod:`logtriage.speech`, phrase and figures, so that a window
costs one draw a line.
"""

from functools import cached_property
from typing import Final

import attrs

from logtriage import propagation
from logtriage.actions import Severity
from logtriage.faults import FaultKind
from logtriage.phrases import (
    DISTRACTORS,
    DRIFT_ALERT,
    ERROR_ALERT,
    HEALTHY,
    LATENCY_ALERT,
    RESTARTED,
)
from logtriage.propagation import BLIP_LEFT, FULL, Affected, Mode, Scenario, level, read
from logtriage.rng import below, draw, hash_name, subkey
from logtriage.scenarios import draw_benign_scenario, draw_scenario
from logtriage.speech import Speech
from logtriage.telemetry import (
    TICK_SECONDS,
    Alert,
    Change,
    Effects,
    Gauge,
    LogLine,
    Reading,
    Signal,
    Trace,
)
from logtriage.topology import Topology

#: Lines of the shared window per tick, of a service asked by name, of a broad look.
WINDOW_LINES: Final = 6
SERVICE_LINES: Final = 5
OVERVIEW_LINES: Final = 12
#: In a noisy slot, this many of 1,024 are a distractor's lines, the rest everyday ones.
DISTRACTOR_SHARE: Final = 410
#: How often a loud root speaks for each time that a caller does.
LOUD_VOICE: Final = 2
#: Below this level an affected service has nothing to complain of.
AUDIBLE_LEVEL: Final = 100

WINDOW_STREAM: Final = hash_name("window")
SERVICE_STREAM: Final = hash_name("service")
OVERVIEW_STREAM: Final = hash_name("overview")


@attrs.frozen(cache_hash=True)
class SimulatedTelemetry:
    """Telemetry of a simulated incident.

    ``kind`` is None for a benign incident; ``root`` the index of the service at fault
    (or under a benign load); ``noise`` the share of window lines that carry no signal,
    per mille; ``phrasing`` 0 or 1 (split ``ood``). The scenario is drawn when it is
    first looked at, since grading never does; ``given`` replaces it.
    """

    topology: Topology
    seed: int
    mode: Mode
    root: int
    kind: FaultKind | None
    severity: Severity
    noise: int
    phrasing: int = 0
    given: Scenario | None = None

    @cached_property
    def scenario(self) -> Scenario:
        """The numbers behind everything that is emitted."""
        if self.given is not None:
            return self.given
        if self.kind is None:
            return draw_benign_scenario(self.seed, self.topology, self.root)
        return draw_scenario(
            self.seed, self.topology, self.mode, self.root, self.kind, self.severity
        )

    @property
    def on_request(self) -> bool:
        """False: the health panel is there for all services that alert."""
        return False

    @property
    def open_loop(self) -> bool:
        """False: the right remedy ends the impact."""
        return False

    @property
    def tick_seconds(self) -> int:
        """That of the core."""
        return TICK_SECONDS

    @property
    def changes(self) -> tuple[Change, ...]:
        """Recent changes, innocent ones included."""
        return self.scenario.changes

    @cached_property
    def _affected(self) -> dict[int, Affected]:
        return {one.service: one for one in self.scenario.affected}

    @cached_property
    def _soft(self) -> bool:
        return self.mode in (Mode.DRIFT, Mode.BENIGN)

    @cached_property
    def _speech(self) -> Speech:
        return Speech(
            self.topology.names, self.scenario, self.kind, self.phrasing, self._soft, self._affected
        )

    @cached_property
    def _distractors(self) -> dict[int, int]:
        return {one.service: one.row for one in self.scenario.distractors}

    @cached_property
    def _window_key(self) -> int:
        return subkey(self.seed, WINDOW_STREAM)

    # -- panels ---------------------------------------------------------------

    def notes(self, tick: int) -> tuple[str, ...]:  # noqa: ARG002 (the protocol's)
        """None: every screen is of its tick."""
        return ()

    def slo(self, tick: int, effects: Effects) -> Reading:
        """The edge panel."""
        scenario = self.scenario
        hops = -1 if scenario.mode is Mode.BENIGN else scenario.edge_hops
        return read(scenario, scenario.slo, hops, -1, tick, effects)

    def health(self, service: int, tick: int, effects: Effects) -> Reading | None:
        """Health of one service."""
        one = self._affected.get(service)
        if one is None:
            impact = propagation.resting(self.seed, service)
            return read(self.scenario, impact, -1, service, tick, effects)
        return read(self.scenario, one.impact, one.hops, service, tick, effects)

    def signals(
        self,
        tick: int,  # noqa: ARG002 (the protocol's)
        effects: Effects,  # noqa: ARG002
    ) -> tuple[tuple[Signal, ...], ...]:
        """None: what is not inspected stays unknown here."""
        return ()

    def metrics(
        self,
        service: int,  # noqa: ARG002 (the protocol's)
        tick: int,  # noqa: ARG002
        effects: Effects,  # noqa: ARG002
    ) -> tuple[Gauge, ...]:
        """None: the health panel stands for them in the first world."""
        return ()

    def traces(
        self,
        service: int,  # noqa: ARG002 (the protocol's)
        tick: int,  # noqa: ARG002
        effects: Effects,  # noqa: ARG002
    ) -> tuple[Trace, ...]:
        """None: nobody traces the first world."""
        return ()

    def alerts(self, tick: int, effects: Effects) -> tuple[Alert, ...]:
        """Alerts on measured symptoms, and those of distractors; in service order."""
        scenario, names = self.scenario, self.topology.names
        firing: list[tuple[int, Alert]] = []
        for one in scenario.affected:
            start = one.alert_from
            if 0 <= start <= tick and (
                level(scenario, one.hops, tick, effects) >= propagation.ALERT_LEVEL
            ):
                firing.append((one.service, Alert(names[one.service], self._alert_name, start)))
        firing.extend(
            (one.service, Alert(names[one.service], DISTRACTORS[one.row][0], 0))
            for one in scenario.distractors
            if one.alerts
        )
        firing.sort(key=_by_service)
        return tuple(alert for _, alert in firing)

    @cached_property
    def _alert_name(self) -> str:
        if self._soft:
            return DRIFT_ALERT
        return ERROR_ALERT if self.kind is not None and self.kind.errors else LATENCY_ALERT

    # -- logs -----------------------------------------------------------------

    def window(self, tick: int, effects: Effects) -> tuple[LogLine, ...]:
        """:data:`WINDOW_LINES` lines; which service speaks in a slot is drawn anew each tick."""
        key, second, speech = self._window_key, tick * TICK_SECONDS, self._speech
        speakers = self._speakers(tick, effects)
        distractors = self.scenario.distractors
        noisy = self.noise * 1024 // FULL
        count = len(self.topology)
        lines = []
        for slot in range(WINDOW_LINES):
            bits = draw(key, tick, slot)
            second += 1 + (bits >> 61) % 4
            pick = (bits >> 10) & 0xFFFF
            if not speakers or (bits & 1023) < noisy:
                if distractors and ((bits >> 26) & 1023) < DISTRACTOR_SHARE:
                    chosen = distractors[(pick * len(distractors)) >> 16]
                    lines.append(speech.distractor(chosen.service, chosen.row, second, bits))
                else:
                    lines.append(speech.noise((pick * count) >> 16, second, bits))
            else:
                speaker = speakers[(pick * len(speakers)) >> 16]
                lines.append(speech.signal(speaker, tick, second, bits, effects))
        restarted = [service for service, when in effects.restarts if tick - when == 1]
        for slot, service in enumerate(restarted[:WINDOW_LINES]):
            lines[slot] = LogLine(
                lines[slot].second, self.topology.names[service], "WARN", RESTARTED
            )
        return tuple(lines)

    def _speakers(self, tick: int, effects: Effects) -> list[Affected]:
        """Who fills the signal slots: callers always, the root once it has a voice."""
        scenario = self.scenario
        heard = []
        for one in scenario.affected:
            if level(scenario, one.hops, tick, effects) < AUDIBLE_LEVEL:
                continue
            if one.hops > 0:
                heard.append(one)
            elif tick >= scenario.voice_at:
                heard.extend([one] * (LOUD_VOICE if scenario.mode is Mode.LOUD else 1))
        return heard

    def service_logs(self, service: int, tick: int, effects: Effects) -> tuple[LogLine, ...]:
        """What a service says when asked: its cause, its complaint, or that all is well."""
        key, speech = subkey(self.seed, SERVICE_STREAM), self._speech
        draws = [draw(key, tick, service * 8 + slot) for slot in range(SERVICE_LINES)]
        start = tick * TICK_SECONDS - 150
        seconds = [start + 30 * slot + (bits >> 61) for slot, bits in enumerate(draws)]
        one = self._affected.get(service)
        lines = []
        if one is not None and level(self.scenario, one.hops, tick, effects) >= AUDIBLE_LEVEL:
            lines.append(speech.symptom(one, tick, seconds[0], draws[0], effects))
            tell = speech.complaint if one.hops > 0 else speech.cause
            lines.append(tell(one, tick, seconds[1], draws[1], effects))
            lines.append(tell(one, tick, seconds[2], draws[2], effects))
        else:
            text = HEALTHY[draws[0] % len(HEALTHY)]
            lines.append(LogLine(seconds[0], self.topology.names[service], "INFO", text))
            lines.append(speech.noise(service, seconds[1], draws[1]))
            row = self._distractors.get(service)
            if row is not None:
                lines.append(speech.distractor(service, row, seconds[2], draws[2]))
        if any(s == service and tick - when in BLIP_LEFT for s, when in effects.restarts):
            lines.append(LogLine(seconds[3], self.topology.names[service], "WARN", RESTARTED))
        lines.append(self._trend_line(service, tick, seconds[4], effects))
        return tuple(lines)

    def overview(self, tick: int, effects: Effects) -> tuple[LogLine, ...]:
        """One line a service, never a cause; at most :data:`OVERVIEW_LINES`, affected first."""
        key, speech = subkey(self.seed, OVERVIEW_STREAM), self._speech
        count = len(self.topology)
        audible = {
            one.service: one
            for one in self.scenario.affected
            if level(self.scenario, one.hops, tick, effects) >= AUDIBLE_LEVEL
        }
        shown = sorted(audible)[:OVERVIEW_LINES]
        offset = below(draw(key, tick, count), count)
        for step in range(count):
            if len(shown) == min(count, OVERVIEW_LINES):
                break
            service = (offset + step) % count
            if service not in audible:
                shown.append(service)
        lines = []
        for service in sorted(shown):
            bits = draw(key, tick, service)
            second = (tick - 1) * TICK_SECONDS + (bits >> 60)
            if service in audible:
                lines.append(speech.symptom(audible[service], tick, second, bits, effects))
            else:
                lines.append(speech.noise(service, second, bits))
        return tuple(lines)

    def _trend_line(self, service: int, tick: int, second: int, effects: Effects) -> LogLine:
        readings = [self.health(service, tick - back, effects) for back in (6, 4, 2, 0)]
        figures = " ".join(str(one.p99_ms) for one in readings if one is not None)
        message = f"p99 over the last 3 min: {figures} ms"
        return LogLine(second, self.topology.names[service], "INFO", message)


def _by_service(item: tuple[int, Alert]) -> int:
    return item[0]
