"""Topologies: which services exist, who calls whom, who owns what, and what can be named.

A topology is a file of a world (:attr:`logtriage.world.model.World.topologies`), JSON
(:mod:`logtriage.codec`), or drawn (:func:`logtriage.world.topologies.random_topology`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Final

import attrs

from logtriage._lib.names import MAX_NAME, is_name
from logtriage.errors import TopologyError, UnknownName

#: The team that owns every service of a recording, where nobody recorded teams.
NO_TEAM: Final = "unknown"


@attrs.frozen
class Tier:
    """A layer of services. ``entry``: users reach it; ``calls``: its services call others."""

    name: str
    entry: bool = False
    calls: bool = False


@attrs.frozen
class Service:
    """A unit that fails and emits telemetry; ``calls`` names its direct dependencies.

    ``owner`` is its team in every incident; None if each incident draws one. ``technology`` is what
    it runs on, which decides the wording of its logs; None if a hash of its name picks one.
    """

    name: str
    tier: str
    owner: str | None = None
    calls: tuple[str, ...] = ()
    technology: str | None = None


def _duplicate(names: Iterable[str]) -> str | None:
    """The first name that appears twice; None if none does."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    return twice[0] if twice else None


def _as_pairs(paged: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(dict(paged).items()))


@attrs.frozen(cache_hash=True)
class Topology:
    """A directed graph of services, caller to dependency, with all that actions can name.

    Attributes:
        name: what ids of incidents on a topology of your own end in.
        teams: the teams that can be paged.
        services: the services, in the order of their indices.
        tiers: every tier that a service may have.
        remedies: what can be done to a service.
        paged: the team paged for each class of faults that does not page the owner of the service;
            a mapping, kept as sorted pairs.

    Raises:
        TopologyError: on an empty topology, a duplicate name, a name (also its own, where a
            recording has a ``/`` between two) that is not made of letters of one script, digits,
            ``-``, ``_`` and ``.``, an unknown tier, owner, paged team or dependency, a self-call,
            no service that users reach, or a service that none of those reaches.
    """

    name: str
    teams: tuple[str, ...]
    services: tuple[Service, ...]
    tiers: tuple[Tier, ...]
    remedies: tuple[str, ...]
    paged: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_as_pairs)

    def pages(self, fault_class: str) -> str:
        """The team paged for a class of faults; TopologyError lists the classes with a team."""
        for name, team in self.paged:
            if name == fault_class:
                return team
        raise self._wrong(str(UnknownName("class in paged", fault_class, dict(self.paged))))

    def __attrs_post_init__(self) -> None:
        # An incident's id ends in @ and this name, or is it: source/name of a recording.
        for part in self.name.split("/", 1):
            self._check_letters("its name", part)
        tiers = tuple(tier.name for tier in self.tiers)
        self._check_names("tier", tiers)
        self._check_names("remedy", self.remedies, "remedies")
        self._check_names("team", self.teams)
        self._check_names("service", self.names)
        for fault_class, team in self.paged:
            self._check_known(f"paged: {fault_class}: ", "team", team, self.teams)
        for service in self.services:
            where = f"service {service.name!r}: "
            self._check_known(where, "tier", service.tier, tiers)
            if service.owner is not None:
                self._check_known(f"{where}owner: ", "team", service.owner, self.teams)
            twice = _duplicate(service.calls)
            if twice is not None:
                raise self._wrong(f"{where}calls {twice!r} twice")
            for callee in service.calls:
                self._check_known(f"{where}calls: ", "service", callee, self._index)
                if callee == service.name:
                    raise self._wrong(f"{where}calls itself")
        if not self.edges:
            entries = ", ".join(tier.name for tier in self.tiers if tier.entry)
            such = f"such are: {entries}" if entries else "no tier has it"
            raise self._wrong(f"no service of a tier with entry, which users reach; {such}")
        unreached = [n for i, n in enumerate(self.names) if self.depth[i] < 0]
        if unreached:
            raise self._wrong(f"no call from an entry reaches {', '.join(unreached)}")

    def _check_names(self, what: str, names: tuple[str, ...], several: str | None = None) -> None:
        if not names:
            raise self._wrong(f"no {several or f'{what}s'}")
        for name in names:
            self._check_letters(f"{what} name {name!a:.{MAX_NAME}}", name)
            if name.casefold() in ("all", "none"):
                raise self._wrong(f"{what} name {name!r} is reserved")
        twice = _duplicate(names)
        if twice is not None:
            raise self._wrong(f"{what} {twice!r} appears twice")

    def _check_known(self, where: str, what: str, name: str, known: Collection[str]) -> None:
        if name not in known:
            raise self._wrong(f"{where}{UnknownName(what, name, known)}")

    def _check_letters(self, what: str, name: str) -> None:
        if not is_name(name):
            raise self._wrong(
                f"{what} must be letters of one script, digits, '-', '_' and '.' only, "
                f"at most {MAX_NAME}"
            )

    def _wrong(self, what: str) -> TopologyError:
        return TopologyError(f"topology {self.name!a:.{MAX_NAME}}: {what}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Service names, in index order."""
        return tuple(service.name for service in self.services)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def tier_of(self, service: Service) -> Tier:
        """The tier of a service of the topology."""
        return self._tiers[service.tier]

    @cached_property
    def _tiers(self) -> dict[str, Tier]:
        return {tier.name: tier for tier in self.tiers}

    def index(self, name: str) -> int:
        """The index of a service; UnknownName if there is none of that name."""
        try:
            return self._index[name]
        except KeyError:
            raise UnknownName("service", name, self.names) from None

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __len__(self) -> int:
        return len(self.services)

    @cached_property
    def calls(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each service's direct dependencies."""
        return tuple(tuple(self._index[c] for c in s.calls) for s in self.services)

    @cached_property
    def callers(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each service's direct callers."""
        calling: list[list[int]] = [[] for _ in self.services]
        for caller, callees in enumerate(self.calls):
            for callee in callees:
                calling[callee].append(caller)
        return tuple(tuple(callers) for callers in calling)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The indices of the services that users reach directly."""
        return tuple(i for i, s in enumerate(self.services) if self.tier_of(s).entry)

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """The fewest calls from a service in :attr:`edges` to each service; -1 if unreached."""
        return self._distances(self.edges, self.calls)

    def hops_from(self, root: int) -> tuple[int, ...]:
        """The fewest calls from each service to ``root``; -1 if the service does not reach it."""
        return self._distances((root,), self.callers)

    def _distances(
        self, sources: tuple[int, ...], neighbours: tuple[tuple[int, ...], ...]
    ) -> tuple[int, ...]:
        distance = [-1] * len(self.services)
        frontier = list(sources)
        for source in frontier:
            distance[source] = 0
        for node in frontier:  # it grows on the way: nearer services come first
            for neighbour in neighbours[node]:
                if distance[neighbour] < 0:
                    distance[neighbour] = distance[node] + 1
                    frontier.append(neighbour)
        return tuple(distance)
