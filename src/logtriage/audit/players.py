"""Policies that only an audit needs, and every script that an audit lets play."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
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
from logtriage.audit.subject import Subject
from logtriage.evaluation import play_episode
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies import ExpertPolicy, Memory, Policy, RandomPolicy
from logtriage.policies.first_error import usual_remedy
from logtriage.registry import make_policy
from logtriage.rng import hash_name
from logtriage.state import State
from logtriage.world.model import World
from logtriage.world.runbook import severity_of
from logtriage.world.telemetry import EdgePanel, Reading

#: Shorter words stand in too many lines.
_SHORTEST: Final = 4


@lru_cache(maxsize=64)
def keywords(world: World) -> Mapping[str, str]:
    """What whoever has read the runbook would look for in a log, and would then do.

    Words of what the runbook says of the kinds of fault, each with a remedy that mends all kinds
    of which it is said; without words that no one remedy fits.
    """
    fitting: dict[str, list[str]] = {}
    for kind in world.kinds:
        for word in re.findall(rf"[a-z]{{{_SHORTEST},}}", kind.summary.lower()):
            fitting[word] = [
                remedy for remedy in fitting.get(word, kind.remedies) if remedy in kind.remedies
            ]
    return MappingProxyType({word: remedies[0] for word, remedies in fitting.items() if remedies})


def _panel(screen: Observation) -> Reading | EdgePanel | None:
    """What users see, where the source shows it."""
    return screen.slo if screen.edge is None else screen.edge


def _reflex(screen: Observation, service: str, remedy: str, page: bool) -> tuple[Action, ...]:
    """Everything at once: panel, this service, its owner, this remedy, done."""
    plan: list[Action] = []
    panel = _panel(screen)
    if panel is not None:
        plan.append(ClassifySeverity(severity_of(panel, screen.world)))
    plan.append(IdentifyRootCause(service))
    if page and screen.directory:
        plan.append(Escalate(screen.directory[screen.topology.index(service)]))
    return (*plan, Remediate(remedy, service), Resolve())


def _first_alerting(screen: Observation) -> str:
    if screen.alerts:
        return screen.alerts[0].service
    return screen.topology.names[screen.topology.edges[0]]


@attrs.frozen
class FirstAlerter:
    """Blames the first service that alerts, pages its owner if ``page``, applies a remedy.

    It is the one that mends most kinds of fault.
    """

    page: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of what the first screen triggered; memory is the rest of it."""
        if memory is None:
            service = _first_alerting(observation)
            memory = _reflex(observation, service, usual_remedy(observation), self.page)
        return memory[0], memory[1:]


@attrs.frozen
class Keyword:
    """Takes the first line with one of :func:`keywords`, blames who wrote it, does what fits it."""

    page: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of what the first screen triggered; memory is the rest of it."""
        if memory is None:
            memory = _reflex(observation, *_told(observation), self.page)
        return memory[0], memory[1:]


def _told(screen: Observation) -> tuple[str, str]:
    for line in screen.window:
        for word, remedy in () if screen.world is None else keywords(screen.world).items():
            if word in line.message.lower():
                return line.service, remedy
    return _first_alerting(screen), usual_remedy(screen)


#: A panel that fell to this share of its latency, or of its errors, is getting better: more
#: than readings wobble, and than what a restart without need adds for a while.
_BETTER_P99: Final = 0.7
_BETTER_ERRORS: Final = 0.5


@attrs.frozen
class _Treatment:
    """What a :class:`PanelWatcher` remembers."""

    shown: Reading | EdgePanel
    untried: tuple[tuple[str, str], ...]
    tried: tuple[str, str] | None = None
    cured: str | None = None


@attrs.frozen
class PanelWatcher:
    """Reads no log line: tries remedies one after another until the panel gets better.

    Begins with the services that alert while nothing that they call does, then what those
    call; for each the remedies that mend most kinds of fault of its tier come first. What
    was treated when the panel got better is the root cause; its owner is paged if ``page``.
    Where no user is hurt at first, it dismisses if ``dismiss``.
    """

    page: bool = True
    dismiss: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Classify by the panel, then treat and watch, then say what was cured."""
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
    alerting = {topology.index(one.service) for one in screen.alerts}
    deepest = [one for one in sorted(alerting) if alerting.isdisjoint(topology.calls[one])]
    below = [called for one in deepest for called in topology.calls[one]]
    order = dict.fromkeys((*deepest, *below, *sorted(alerting), *range(len(topology))))
    world = screen.world  # a recording has none, and so no table of faults
    return tuple(
        (remedy, topology.names[one])
        for one in order
        for remedy in (
            topology.remedies
            if world is None
            else world.likely_remedies(topology.services[one].tier)
        )
    )


def _has_helped(screen: Observation, now: Reading | EdgePanel, before: Reading | EdgePanel) -> bool:
    """Whether the last remedy worked: as the screen says it, or else by the panel."""
    if screen.edge is not None:
        return any(eased for _, _, eased in screen.effects)
    fewer = (now.error_bp or 0) < _BETTER_ERRORS * (before.error_bp or 0)
    return now.p99_ms < _BETTER_P99 * before.p99_ms or fewer


#: By name, every script that plays: reflexes to the first screen first.
REFLEXES: Final[Mapping[str, Callable[[Incident], Policy]]] = MappingProxyType(
    {
        "first alerter": lambda _: FirstAlerter(),
        "first alerter, no page": lambda _: FirstAlerter(page=False),
        "keyword": lambda _: Keyword(),
        "keyword, no page": lambda _: Keyword(page=False),
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
        "random": lambda one: RandomPolicy(hash_name(f"audit {one.id}")),
        "expert": lambda _: ExpertPolicy(),
    }
)


def played(subject: Subject, name: str, incident: Incident) -> State:
    """How a script of :data:`SCRIPTED` ends an incident; played once."""
    key = name, incident
    if key not in subject.played:
        subject.played[key] = play_episode(incident, SCRIPTED[name](incident))
    return subject.played[key]
