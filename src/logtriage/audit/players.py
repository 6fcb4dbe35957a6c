"""Policies that only an audit needs, and all scripts that an audit plays."""

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
from logtriage.policies import ExpertPolicy, Memory, Policy, RandomPolicy
from logtriage.policies.first_error import usual_remedy
from logtriage.registry import make_policy
from logtriage.rng import hash_name
from logtriage.world.runbook import severity_of
from logtriage.world.telemetry import EdgePanel, Reading


def _panel(screen: Observation) -> Reading | EdgePanel | None:
    """The figures of users: simulated, recorded, or None if the screen has neither."""
    return screen.slo if screen.edge is None else screen.edge


def _page(screen: Observation, service: str) -> tuple[Action, ...]:
    """The page to the owner of a service; nothing without a directory."""
    owners = screen.directory
    return (Escalate(owners[screen.topology.index(service)]),) if owners else ()


class Reflex:
    """Blames the first service that alerts, pages its owner and applies the usual remedy."""

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action that the first screen triggered; memory is the rest of them."""
        if memory is None:
            panel, topology = _panel(observation), observation.topology
            alerts, entry = observation.alerts, topology.names[topology.edges[0]]
            service = alerts[0].service if alerts else entry
            memory = (
                *([ClassifySeverity(severity_of(panel, observation.world))] if panel else []),
                IdentifyRootCause(service),
                *_page(observation, service),
                Remediate(usual_remedy(observation), service),
                Resolve(),
            )
        return memory[0], memory[1:]


#: In a recording, a remedy has helped if latency or errors on the panel fell below this share of
#: what they were: noise and a needless restart change them by less.
_BETTER_P99: Final = 0.7
_BETTER_ERRORS: Final = 0.5


@attrs.frozen
class _Treatment:
    """The memory of a :class:`PanelWatcher`: its (remedy, service) pairs and its next actions."""

    before: Reading | EdgePanel  #: the panel before ``tried``, at first the first one
    untried: tuple[tuple[str, str], ...]
    tried: tuple[str, str] | None = None
    left: tuple[Action, ...] = ()


@attrs.frozen
class PanelWatcher:
    """Reads no log line: tries remedies one after another until the panel gets better.

    It begins with the deepest services that alert, and blames the service that it treated when the
    panel got better. With ``dismiss`` it ignores an incident that is P3 on the first panel.
    """

    dismiss: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Classify by the panel, then treat and watch, then blame the service that was cured."""
        panel = _panel(observation)
        if panel is None:  # there is nothing to watch
            return Resolve(), memory
        if memory is None:
            memory = _Treatment(panel, _treatments(observation))
            return ClassifySeverity(severity_of(panel, observation.world)), memory
        if memory.left:
            return memory.left[0], attrs.evolve(memory, left=memory.left[1:])
        if memory.tried is None:
            first = severity_of(memory.before, observation.world)
            if self.dismiss and first is Severity.P3:
                return Ignore(), memory
        elif _has_helped(observation, panel, memory.before):
            _, cured = memory.tried
            left = (*_page(observation, cured), Resolve())
            return IdentifyRootCause(cured), attrs.evolve(memory, left=left)
        if not memory.untried or observation.ticks_left <= 1:
            return Resolve(), memory
        remedy, service = memory.untried[0]
        return Remediate(remedy, service), _Treatment(panel, memory.untried[1:], (remedy, service))


def _treatments(screen: Observation) -> tuple[tuple[str, str], ...]:
    """(remedy, service) pairs to try in turn: services that alert and call none that does first."""
    topology, world = screen.topology, screen.world
    alerting = {topology.index(alert.service) for alert in screen.alerts}
    deepest = [place for place in sorted(alerting) if alerting.isdisjoint(topology.calls[place])]
    below = [called for place in deepest for called in topology.calls[place]]
    treatments = []
    for place in dict.fromkeys((*deepest, *below, *sorted(alerting), *range(len(topology)))):
        remedies = topology.remedies  # a recording has no world, and so no table of faults
        if world is not None:
            remedies = world.likely_remedies(topology.services[place].tier)
        treatments += [(remedy, topology.names[place]) for remedy in remedies]
    return tuple(treatments)


def _has_helped(screen: Observation, now: Reading | EdgePanel, before: Reading | EdgePanel) -> bool:
    if screen.edge is not None:  # simulated: the screen says it
        return any(eased for _, _, eased in screen.effects)
    fewer = (now.error_bp or 0) < _BETTER_ERRORS * (before.error_bp or 0)
    return now.p99_ms < _BETTER_P99 * before.p99_ms or fewer


Scripts = Mapping[str, Callable[[Incident], Policy]]
#: Reflexes to the first screen, by name.
REFLEXES: Final[Scripts] = MappingProxyType(
    {"first alerter": lambda _: Reflex(), "first error": make_policy("first_error")}
)
#: Scripts that read no line, by name.
WATCHERS: Final[Scripts] = MappingProxyType(
    {
        "treat and watch": lambda _: PanelWatcher(),
        "treat and watch, dismiss nothing": lambda _: PanelWatcher(dismiss=False),
    }
)
#: Random actions, and the honest script.
CHANCE: Final[Scripts] = MappingProxyType(
    {"random": lambda incident: RandomPolicy(hash_name(f"audit {incident.id}"))}
)
EXPERT: Final[Scripts] = MappingProxyType({"expert": lambda _: ExpertPolicy()})
