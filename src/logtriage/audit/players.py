"""Policies that only an audit needs, and every script that an audit lets play."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
    Severity,
)
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.playing import play
from logtriage.policies import ExpertPolicy, Memory, Policy, RandomPolicy
from logtriage.policies.first_error import usual_remedy
from logtriage.registry import make_policy
from logtriage.rng import hash_name
from logtriage.state import State
from logtriage.world.runbook import severity_of
from logtriage.world.telemetry import EdgePanel, Reading


def _panel(screen: Observation) -> Reading | EdgePanel | None:
    """The panel of what users see; None if the source has none."""
    return screen.slo if screen.edge is None else screen.edge


@attrs.frozen
class Reflex:
    """Blames the first service that alerts, pages its owner if ``page``, applies a remedy.

    The remedy is the one that mends most kinds of fault.
    """

    page: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action that the first screen triggered; memory is the rest of them."""
        if memory is None:
            memory = self._plan(observation)
        return memory[0], memory[1:]

    def _plan(self, screen: Observation) -> tuple[Action, ...]:
        panel, page = _panel(screen), self.page and bool(screen.directory)
        edge = screen.topology.names[screen.topology.edges[0]]
        service = screen.alerts[0].service if screen.alerts else edge
        return (
            *([ClassifySeverity(severity_of(panel, screen.world))] if panel else []),
            IdentifyRootCause(service),
            *([Escalate(screen.directory[screen.topology.index(service)])] if page else []),
            Remediate(usual_remedy(screen), service),
            Resolve(),
        )


#: A panel is getting better if it fell to this share of its latency, or of its errors: readings
#: wobble by less, and a needless restart adds less.
_BETTER_P99: Final = 0.7
_BETTER_ERRORS: Final = 0.5


@attrs.frozen
class _Treatment:
    """The memory of a :class:`PanelWatcher`: the last panel, and the treatments."""

    shown: Reading | EdgePanel
    untried: tuple[tuple[str, str], ...]
    tried: tuple[str, str] | None = None
    cured: str | None = None


@attrs.frozen
class PanelWatcher:
    """Reads no log line: tries remedies one after another until the panel gets better.

    It begins with the services that alert while nothing that they call does, then those that they
    call; for each service the remedies that mend most kinds of fault of its tier come first. It
    blames the service that it treated when the panel got better, and pages its owner if ``page``.
    If no user is hurt at first, it dismisses if ``dismiss``.
    """

    page: bool = True
    dismiss: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Classify by the panel, then treat and watch, then blame the service that was cured."""
        panel = _panel(observation)
        if panel is None:  # there is nothing to watch
            return Resolve(), memory
        if memory is None:
            memory = _Treatment(panel, _treatments(observation))
            return ClassifySeverity(severity_of(panel, observation.world)), memory
        first = severity_of(memory.shown, observation.world)
        if self.dismiss and memory.tried is None and first is Severity.P3:
            return Ignore(), memory
        if (
            memory.cured is None
            and memory.tried is not None
            and _has_helped(observation, panel, memory.shown)
        ):
            memory = attrs.evolve(memory, cured=memory.tried[1])
        if memory.cured is not None:
            return self._said(observation, memory.cured), memory
        if not memory.untried or observation.ticks_left <= 1:
            return Resolve(), memory
        remedy, service = memory.untried[0]
        after = _Treatment(panel, memory.untried[1:], (remedy, service))
        return Remediate(remedy, service), after

    def _said(self, screen: Observation, service: str) -> Action:
        if screen.root_cause is None:
            return IdentifyRootCause(service)
        if self.page and screen.directory and not screen.pages:
            return Escalate(screen.directory[screen.topology.index(service)])
        return Resolve()


def _treatments(screen: Observation) -> tuple[tuple[str, str], ...]:
    topology = screen.topology
    alerting = {topology.index(alert.service) for alert in screen.alerts}
    deepest = [place for place in sorted(alerting) if alerting.isdisjoint(topology.calls[place])]
    below = [called for place in deepest for called in topology.calls[place]]
    order = dict.fromkeys((*deepest, *below, *sorted(alerting), *range(len(topology))))
    world = screen.world  # a recording has none, and so no table of faults
    return tuple(
        (remedy, topology.names[place])
        for place in order
        for remedy in (
            topology.remedies
            if world is None
            else world.likely_remedies(topology.services[place].tier)
        )
    )


def _has_helped(screen: Observation, now: Reading | EdgePanel, before: Reading | EdgePanel) -> bool:
    """Whether the last remedy worked: the screen says so, or else the panel."""
    if screen.edge is not None:
        return any(eased for _, _, eased in screen.effects)
    fewer = (now.error_bp or 0) < _BETTER_ERRORS * (before.error_bp or 0)
    return now.p99_ms < _BETTER_P99 * before.p99_ms or fewer


#: By name, every script that plays: reflexes to the first screen first.
REFLEXES: Final[Mapping[str, Callable[[Incident], Policy]]] = MappingProxyType(
    {
        "first alerter": lambda _: Reflex(),
        "first alerter, no page": lambda _: Reflex(page=False),
        "first error": make_policy("first_error"),
    }
)
WATCHERS: Final[Mapping[str, Callable[[Incident], Policy]]] = MappingProxyType(
    {
        "treat and watch": lambda _: PanelWatcher(),
        "treat and watch, no page": lambda _: PanelWatcher(page=False),
        "treat and watch, dismiss nothing": lambda _: PanelWatcher(dismiss=False),
        "treat and watch, no page, dismiss nothing": lambda _: PanelWatcher(
            page=False, dismiss=False
        ),
    }
)
SCRIPTED: Final[Mapping[str, Callable[[Incident], Policy]]] = MappingProxyType(
    {
        **REFLEXES,
        **WATCHERS,
        "random": lambda incident: RandomPolicy(hash_name(f"audit {incident.id}")),
        "expert": lambda _: ExpertPolicy(),
    }
)


def played(name: str, incident: Incident) -> State:
    """The end of an incident that a script of :data:`SCRIPTED` plays."""
    return play(incident, SCRIPTED[name](incident))
