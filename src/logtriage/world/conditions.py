"""The condition of every service under a hypothesis: faulty, waiting, loaded or unaffected."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

import attrs

from logtriage.topology import Topology
from logtriage.world.model import FULL, HEALTHY, LOADED, WAITING, World


@attrs.frozen(cache_hash=True)
class Condition:
    """The condition of a service; ``name`` is its key in :attr:`World.signatures`.

    ``sick`` has the indices of the sick services that a waiting service calls. ``beside`` marks a
    distraction or a minor fault, which are no part of the trouble.
    """

    name: str
    sick: tuple[int, ...] = ()
    beside: bool = False


@attrs.frozen(cache_hash=True)
class Hypothesis:
    """A possible truth: (kind, service index) of each fault, or of one ``benign`` kind."""

    faults: tuple[tuple[str, int], ...] = ()
    benign: tuple[str, int] | None = None

    @property
    def services(self) -> frozenset[int]:
        """The services with a fault."""
        return frozenset([service for _, service in self.faults])


def errors_first(world: World, hypothesis: Hypothesis) -> bool | None:
    """Whether some fault shows users errors before latency; None if benign."""
    if not hypothesis.faults:
        return None
    return any(world.kind(kind).errors_first for kind, _ in hypothesis.faults)


def brings_about(world: World, topology: Topology, service: int) -> bool:
    """Whether a fault of a service can bring about a secondary fault at its callers."""
    rule = world.rules.secondary_fault
    return rule is not None and topology.services[service].tier in rule.tiers


@lru_cache(maxsize=65_536)
def secondary(world: World, topology: Topology, hypothesis: Hypothesis) -> frozenset[int]:
    """The services whose fault was brought about by a sick service that they call.

    While the callee is sick, such a service waits, like any caller. Its secondary fault stays when
    the callee is well again, and takes its own remedy.
    """
    rule = world.rules.secondary_fault
    if rule is None:
        return frozenset()
    sick = {service for _, service in hypothesis.faults if brings_about(world, topology, service)}
    return frozenset(
        service
        for kind, service in hypothesis.faults
        if kind == rule.kind and not sick.isdisjoint(topology.calls[service])
    )


def without(hypothesis: Hypothesis, fixed: Collection[int]) -> Hypothesis:
    """The hypothesis without the faults at the services in ``fixed``."""
    return Hypothesis(tuple(fault for fault in hypothesis.faults if fault[1] not in fixed))


WELL: Final = Condition(HEALTHY)
_LOADED: Final = Condition(LOADED)


@lru_cache(maxsize=4096)
def affected(world: World, topology: Topology, hypothesis: Hypothesis) -> dict[int, Condition]:
    """The condition of every service that the hypothesis reaches, by index; not to be changed.

    A service that several faults reach is faulty if one of them sits there, else loaded if one of
    them loads it, else waiting. With several faults a loaded service may wait, too, and makes its
    callers wait. A service with a secondary fault (:func:`secondary`) is waiting.
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
    # With one fault, a loaded service waits in a circle of calls alone, and makes nobody wait.
    sick = {*roots, *(waiting if len(shown) == 1 else held_up)}
    for service in waiting:
        callees = tuple(callee for callee in topology.calls[service] if callee in sick)
        conditions[service] = Condition(WAITING, callees)
    return conditions


def reachable(neighbours: tuple[tuple[int, ...], ...], sources: tuple[int, ...]) -> tuple[int, ...]:
    """The services reached from ``sources`` along ``neighbours``, without the sources, sorted."""
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
    """The conditions of unaffected services of a tier, with weights that sum to 65,536."""
    rules, kinds = world.rules, world.kinds_at(tier)
    shares = [
        (Condition(distraction.name, beside=True), distraction.share * FULL // 1000)
        for distraction in rules.distractions
    ]
    # Waiting callers tell a real fault from a minor one; an entry may have no callers.
    if tier not in world.entry_tiers:
        each = rules.minor_faults * FULL // 1000 // len(kinds)
        shares.extend((Condition(kind.name, beside=True), each) for kind in kinds)
    rest = FULL - sum(weight for _, weight in shares)
    return ((WELL, rest), *shares)


@lru_cache(maxsize=65_536)
def accepted_remedies(
    world: World, topology: Topology, hypothesis: Hypothesis
) -> frozenset[tuple[str, str]]:
    """Every (remedy, service name) that fixes a fault of a hypothesis."""
    return frozenset(
        (remedy, topology.names[service])
        for kind, service in hypothesis.faults
        for remedy in world.kind(kind).remedies
    )


def teams_of(
    world: World, topology: Topology, directory: Sequence[str], hypothesis: Hypothesis
) -> tuple[str, ...]:
    """The team to page for each fault of a hypothesis; none if it is benign."""
    return tuple(
        world.team_of(topology, directory, kind, service) for kind, service in hypothesis.faults
    )
