"""Topologies that stand in no file of a world: drawn at random, or somebody's own."""

from bisect import bisect_right
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import accumulate
from typing import Final

from logtriage.errors import InvalidInput, TopologyError, UnknownName, kind_of
from logtriage.rng import Stream, hash_name
from logtriage.topology import Service, Topology
from logtriage.world.default import default_world
from logtriage.world.model import World
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES, OWNER, DrawnTopologies, Layout

TOPOLOGY_STREAM: Final = hash_name("topology")

#: How the names of random topologies begin; a hash of what they hold follows.
RANDOM: Final = "drawn-"


@lru_cache(maxsize=1024)
def random_topology(
    seed: int,
    n_services: int,
    teams: tuple[str, ...] | None = None,
    world: World | None = None,
    held_out: bool = False,
) -> Topology:
    """An acyclic topology of ``n_services`` (5 to 200) services, all reached from one gateway.

    ``teams`` include those that the world pages; None: the world's teams. No service names an
    owner. Each has a technology of its tier; with ``held_out`` a held-out one where there is one.
    The name is a hash of services and teams.

    Raises:
        InvalidInput: if ``n_services`` is out of range, and for a world without topologies to draw.
        TopologyError: if a team is missing.
    """
    if not MIN_SERVICES <= n_services <= MAX_SERVICES:
        raise InvalidInput(
            f"n_services must lie in [{MIN_SERVICES}, {MAX_SERVICES}], got {n_services}"
        )
    world = default_world() if world is None else world
    teams = world.rules.teams if teams is None else teams
    drawn = world.rules.drawn_topologies
    if drawn is None:
        raise InvalidInput(f"world {world.name!r} says in no [drawn_topologies] how to draw one")
    inner = {row.tier: row for row in drawn.tiers}
    calling = {tier.name for tier in world.rules.tiers if tier.calls}
    first = next(row.tier for row in drawn.tiers if row.tier in calling)
    stream = Stream(seed, TOPOLOGY_STREAM)
    names, tiers, depths = [drawn.gateway.name], [drawn.gateway.tier], [0]
    calls: list[list[str]] = [[]]
    taken = {drawn.gateway.name: 1}
    for index in range(1, n_services):
        tier = first if index == 1 else _draw_tier(stream, drawn)
        stem = f"{drawn.nouns[stream.below(len(drawn.nouns))]}-{inner[tier].suffix}"
        taken[stem] = taken.get(stem, 0) + 1
        name = stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"
        # The gateway calls no service that calls nobody.
        parents = [
            i
            for i, t in enumerate(tiers)
            if t in calling and depths[i] < drawn.max_depth and (i > 0 or tier in calling)
        ]
        parent = parents[stream.below(len(parents))]
        calls[parent].append(name)
        if len(parents) > 1 and stream.chance(drawn.second_caller):
            second = parents[stream.below(len(parents))]
            if second != parent:
                calls[second].append(name)
                parent = min(parent, second, key=depths.__getitem__)  # decides the depth
        names.append(name)
        tiers.append(tier)
        depths.append(depths[parent] + 1)
        calls.append([])
    runs_on = partial(world.drawn_technology, held_out=held_out)
    services = tuple(
        # A technology by name and calls, since all drawn topologies have a gateway of one name.
        Service(name, tier, None, tuple(callees), runs_on(" ".join((name, *callees)), tier))
        for name, tier, callees in zip(names, tiers, calls, strict=True)
    )
    return world.topology_of(Layout(_name(teams, services), services, teams))


@lru_cache(maxsize=1024)
def fitting(topology: Topology, world: World) -> Topology:
    """The topology, if incidents of a world can be drawn on it.

    Raises:
        TopologyError: for tiers, technologies, remedies or pages that are not the world's, and for
            what is no topology.
    """
    if not isinstance(topology, Topology):
        raise TopologyError(f"topology: expected a Topology, got {kind_of(topology)}")
    rules = world.rules
    if topology.remedies != rules.remedies:
        remedies, got = ", ".join(rules.remedies), ", ".join(topology.remedies)
        raise _unfit(topology, world, f"remedies: expected {remedies}, got {got}")
    for tier in topology.tiers:
        if tier not in world.topology_tiers:
            tiers = ", ".join(map(str, world.topology_tiers))
            raise _unfit(topology, world, f"tiers: expected some of {tiers}, got {tier}")
    wanted = [row.name for row in rules.classes if row.pages != OWNER]
    paged = [name for name, _ in topology.paged]
    for name in (*wanted, *paged):
        if name not in paged:
            raise _unfit(topology, world, f"paged: class {name!r} has no team here")
        if name not in wanted:
            raise _unfit(topology, world, f"paged: {UnknownName('class', name, wanted)}")
    for kind in world.kinds:
        if kind.pages not in (None, OWNER, *topology.teams):
            raise _unfit(topology, world, f"teams: kind {kind.name!r} pages {kind.pages!r}")
    for service in topology.services:
        known = [row.name for row in world.technologies_at(service.tier)]
        if service.technology is not None and service.technology not in known:
            what = UnknownName(f"technology of tier {service.tier}", service.technology, known)
            raise _unfit(topology, world, f"service {service.name!r}: {what}")
    return topology


def _unfit(topology: Topology, world: World, what: str) -> TopologyError:
    return TopologyError(f"topology {topology.name!r} in world {world.name!r}: {what}")


def _name(teams: tuple[str, ...], services: tuple[Service, ...]) -> str:
    """A name made of what everybody may see: a seed in it would tell an incident's truth."""
    content = repr((teams, [(s.name, s.tier, s.calls, s.technology) for s in services]))
    return RANDOM + blake2b(content.encode(), digest_size=6).hexdigest()


def _draw_tier(stream: Stream, drawn: DrawnTopologies) -> str:
    steps = list(accumulate(row.share for row in drawn.tiers))
    return drawn.tiers[bisect_right(steps, stream.below(100))].tier
