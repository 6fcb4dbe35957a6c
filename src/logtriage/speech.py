"""Single lines of simulated logs: who speaks, in which phrase, with which figures.

Bit fields of one 64-bit draw choose phrase and figures.
"""

from collections.abc import Mapping
from functools import cached_property

import attrs

from logtriage.faults import FaultKind
from logtriage.phrases import (
    BENIGN,
    CAUSES,
    COMPLAINTS,
    DISTRACTORS,
    NOISE,
    SLOW_COMPLAINTS,
    SLOW_SYMPTOMS,
    SYMPTOMS,
)
from logtriage.propagation import FULL, Affected, Scenario, level
from logtriage.telemetry import Effects, LogLine


@attrs.frozen(eq=False)
class Speech:
    """How the services of one incident speak.

    ``names`` of the services; ``kind`` None for a benign incident; ``phrasing`` 0 or 1
    (split ``ood``); ``soft`` where nothing is logged as an error; ``affected`` by
    service index.
    """

    names: tuple[str, ...]
    scenario: Scenario
    kind: FaultKind | None
    phrasing: int
    soft: bool
    affected: Mapping[int, Affected]

    @cached_property
    def _grade(self) -> str:
        return "WARN" if self.soft else "ERROR"

    def signal(self, one: Affected, tick: int, second: int, bits: int, effects: Effects) -> LogLine:
        """A line of a speaker: a complaint of a caller, a cause or a symptom of the root."""
        if one.hops > 0:
            return self.complaint(one, tick, second, bits, effects)
        if (bits >> 26) & 1:
            return self.cause(one, tick, second, bits, effects)
        return self.symptom(one, tick, second, bits, effects)

    def cause(self, one: Affected, tick: int, second: int, bits: int, effects: Effects) -> LogLine:
        """The root names its cause, or a benign load what it is."""
        service = one.service
        if self.kind is None:
            text, grade = BENIGN[self.scenario.benign_row][1], "WARN"
        else:
            causes = CAUSES[self.kind.name][self.phrasing]
            text = causes[((bits >> 36) & 1023) % len(causes)]
            grade = self._grade
        return self._line(second, service, grade, text, bits, ms=self._p99(service, tick, effects))

    def complaint(
        self, one: Affected, tick: int, second: int, bits: int, effects: Effects
    ) -> LogLine:
        """A caller complains of the dependency that it waits for."""
        texts = (SLOW_COMPLAINTS if self.soft else COMPLAINTS)[self.phrasing]
        text = texts[((bits >> 36) & 1023) % len(texts)]
        ms, dep = self._p99(one.toward, tick, effects), self.names[one.toward]
        return self._line(second, one.service, self._grade, text, bits, ms=ms, dep=dep)

    def symptom(
        self, one: Affected, tick: int, second: int, bits: int, effects: Effects
    ) -> LogLine:
        """An affected service says what is visible of it."""
        texts = (SLOW_SYMPTOMS if self.soft else SYMPTOMS)[self.phrasing]
        text = texts[((bits >> 36) & 1023) % len(texts)]
        ms, pct = self._p99(one.service, tick, effects), self._error_percent(one, tick, effects)
        return self._line(second, one.service, self._grade, text, bits, ms=ms, pct=pct)

    def distractor(self, service: int, row: int, second: int, bits: int) -> LogLine:
        """A line that has nothing to do with the fault (a row of ``DISTRACTORS``)."""
        _, grade, text = DISTRACTORS[row]
        return self._line(second, service, grade, text, bits, ms=0)

    def noise(self, service: int, second: int, bits: int) -> LogLine:
        """An everyday line."""
        grade, text = NOISE[((bits >> 36) & 1023) % len(NOISE)]
        return self._line(second, service, grade, text, bits, ms=400 + (bits >> 46 & 511))

    def _p99(self, service: int, tick: int, effects: Effects) -> int:
        """The noise-free p99 of an affected service, for figures inside log lines."""
        one = self.affected[service]
        rise = one.impact.peak_p99 - one.impact.base_p99
        return one.impact.base_p99 + rise * level(self.scenario, one.hops, tick, effects) // FULL

    def _error_percent(self, one: Affected, tick: int, effects: Effects) -> int:
        """The noise-free error rate of an affected service in per cent, at least 1."""
        rise = one.impact.peak_error - one.impact.base_error
        return max(1, rise * level(self.scenario, one.hops, tick, effects) // FULL // 100)

    def _line(
        self,
        second: int,
        service: int,
        grade: str,
        text: str,
        bits: int,
        *,
        ms: int,
        dep: str = "",
        pct: int | None = None,
    ) -> LogLine:
        message = text.format(
            dep=dep,
            ms=ms,
            pct=40 + (bits >> 50) % 58 if pct is None else pct,
            n=3 + (bits >> 44) % 57,
            v=self.scenario.version,
        )
        return LogLine(second, self.names[service], grade, message)
