"""What every service is under a hypothesis: root, waiting, loaded, or none of it."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

import attrs

from logtriage.topology import Topology
from logtriage.world.model import FULL, HEALTHY, LOADED, WAITING, World


@attrs.frozen(cache_hash=True)
class Condition:
    """What a service is: the ``name`` of its signature (:attr:`World.signatures`).

    ``sick`` are the indices of the sick services that a waiting one calls, in order. ``beside``
    marks what is no part of the trouble: a distraction or a minor fault.
    """

    name: str
    sick: tuple[int, ...] = ()
    beside: bool = False


@attrs.frozen(cache_hash=True)
class Hypothesis:
    """What may be the matter: (kind, service index) of faults, or of a ``benign`` kind."""

    faults: tuple[tuple[str, int], ...] = ()
    benign: tuple[str, int] | None = None

    @property
    def services(self) -> frozenset[int]:
        """The services with a fault."""
        return frozenset([service for _, service in self.faults])


def errors_first(world: World, hypothesis: Hypothesis) -> bool | None:
    """Whether users see errors before latency: some fault shows errors first. None if benign."""
    if not hypothesis.faults:
        return None
    return any(world.kind(kind).errors_first for kind, _ in hypothesis.faults)


def brings_about(world: World, topology: Topology, service: int) -> bool:
    """Whether a service, once sick, can bring about a fault at its callers."""
    rule = world.rules.secondary_fault
    return rule is not None and topology.services[service].tier in rule.tiers


@lru_cache(maxsize=65_536)
def secondary(world: World, topology: Topology, hypothesis: Hypothesis) -> frozenset[int]:
    """The services with a secondary fault: a sick service that they call brought it about.

    While the callee is sick, such a service waits, like any caller. Its fault stays when the callee
    is well again, and takes its own remedy.
    """
    rule = world.rules.secondary_fault
    if rule is None:
        return frozenset()
    sick = {fault for _, fault in hypothesis.faults if brings_about(world, topology, fault)}
    return frozenset(
        service
        for kind, service in hypothesis.faults
        if kind == rule.kind and not sick.isdisjoint(topology.calls[service])
    )


def without(hypothesis: Hypothesis, fixed: Collection[int]) -> Hypothesis:
    """What is left of a hypothesis once the faults at some services are fixed."""
    return Hypothesis(tuple(fault for fault in hypothesis.faults if fault[1] not in fixed))


WELL: Final = Condition(HEALTHY)
_LOADED: Final = Condition(LOADED)


@lru_cache(maxsize=4096)
def affected(world: World, topology: Topology, hypothesis: Hypothesis) -> dict[int, Condition]:
    """The condition of every service that the hypothesis reaches, by index.

    Where faults overlap, a service looks like a root (of the first fault there), else loaded,
    else waiting. Callers of a loaded service that calls a sick one wait, too. A secondary fault
    hides behind waiting.
    """
    if hypothesis.benign is not None:
        kind, service = hypothesis.benign
        return {service: Condition(kind)}
    hidden = secondary(world, topology, hypothesis) if len(hypothesis.faults) > 1 else ()
    shown = [fault for fault in hypothesis.faults if fault[1] not in hidden]
    conditions: dict[int, Condition] = {}
    for kind, service in shown:
        conditions.setdefault(service, Condition(kind))
    for kind, service in shown:
        if world.kind(kind).pours_load:
            for below in reachable(topology.calls, (service,)):
                conditions.setdefault(below, _LOADED)
    roots = tuple(service for _, service in shown)
    held_up = reachable(topology.callers, roots)
    waiting = [service for service in held_up if service not in conditions]
    sick = {*roots, *(held_up if len(shown) > 1 else waiting)}
    for service in waiting:
        conditions[service] = Condition(
            WAITING, tuple(c for c in topology.calls[service] if c in sick)
        )
    return conditions


def reachable(neighbours: tuple[tuple[int, ...], ...], sources: tuple[int, ...]) -> tuple[int, ...]:
    """Every service reached from the sources by ``neighbours``, without them, in index order."""
    seen = set(sources)
    frontier = list(sources)
    for node in frontier:
        for neighbour in neighbours[node]:
            if neighbour not in seen:
                seen.add(neighbour)
                frontier.append(neighbour)
    return tuple(sorted(seen.difference(sources)))


@lru_cache(maxsize=64)
def unaffected(world: World, tier: str) -> tuple[tuple[Condition, int], ...]:
    """What an unaffected service of a tier may be, with weights that sum to 65,536."""
    rules, kinds = world.rules, world.kinds_at(tier)
    shares = [
        (Condition(distraction.name, beside=True), distraction.share * FULL // 1000)
        for distraction in rules.distractions
    ]
    if tier not in world.entry_tiers:  # where nobody could be seen waiting
        each = rules.minor_faults * FULL // 1000 // len(kinds)
        shares.extend((Condition(kind.name, beside=True), each) for kind in kinds)
    rest = FULL - sum(weight for _, weight in shares)
    return ((WELL, rest), *shares)


@lru_cache(maxsize=65_536)
def accepted_remedies(
    world: World, topology: Topology, hypothesis: Hypothesis
) -> frozenset[tuple[str, str]]:
    """The remedies that fix a hypothesis: (remedy, service name)."""
    return frozenset(
        (remedy, topology.names[service])
        for kind, service in hypothesis.faults
        for remedy in world.kind(kind).remedies
    )


def teams_of(
    world: World, topology: Topology, directory: Sequence[str], hypothesis: Hypothesis
) -> tuple[str, ...]:
    """The teams that it is right to page under a hypothesis; none if it is benign."""
    return tuple(
        world.team_of(topology, directory, kind, service) for kind, service in hypothesis.faults
    )
