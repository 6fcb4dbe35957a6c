"""Topologies: which services exist, who calls whom, and who owns what by default.

A topology is data. Nothing in the code knows the seven names of the default one:
others are loaded from JSON (:mod:`logtriage.codec`) or drawn at random
(:func:`logtriage.world.topologies.random_topology`).
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

import attrs

from logtriage.errors import TopologyError, UnknownName

#: The fields that name the team of a class of faults.
_PAGED: Final = {"capacity": "capacity_team", "security": "security_team"}
TIERS: Final = ("edge", "service", "datastore", "queue")


@attrs.frozen
class Service:
    """A unit that fails and emits telemetry.

    ``calls`` names its direct dependencies; ``owner`` the team that owns it unless
    an incident's directory says otherwise.
    """

    name: str
    tier: str
    owner: str
    calls: tuple[str, ...] = ()


def _duplicate(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


@attrs.frozen(cache_hash=True)
class Topology:
    """A directed graph of services, caller to dependency, with its teams.

    ``capacity_team`` is paged for capacity faults and ``security_team`` for
    security faults, whoever owns the service.

    Raises:
        TopologyError: on an empty topology, a duplicate or empty name, a name (also its
            own, where a recording has a ``/`` between two) that is not made of letters,
            digits, ``-``, ``_`` and ``.``, an unknown tier,
            owner or dependency, a self-call, no edge service, or a service that no
            edge service reaches.
    """

    name: str
    teams: tuple[str, ...]
    services: tuple[Service, ...]
    capacity_team: str = "sre-team"
    security_team: str = "security-team"

    @classmethod
    def paging(
        cls,
        name: str,
        teams: tuple[str, ...],
        services: tuple[Service, ...],
        pages: Mapping[str, str],
    ) -> "Topology":
        """A topology on which ``pages`` gives the team of a class of faults, if it names one."""
        named = {field: pages.get(which, teams[0]) for which, field in _PAGED.items()}
        return cls(name, teams, services, **named)

    def pages(self, fault_class: str) -> str | None:
        """The team that it names for a class of faults; None where it leaves that to the world."""
        return getattr(self, _PAGED[fault_class]) if fault_class in _PAGED else None

    def __attrs_post_init__(self) -> None:
        # An incident's id ends in @ and this name, or is it: source/name of a recording.
        for part in self.name.split("/", 1):
            self._check_letters("its name", part)
        self._check_names("team", self.teams)
        self._check_names("service", self.names)
        for field in _PAGED.values():
            if getattr(self, field) not in self.teams:
                raise self._wrong(f"{field} {getattr(self, field)!r} is not one of its teams")
        known = set(self.names)
        for service in self.services:
            if service.tier not in TIERS:
                raise self._wrong(
                    f"service {service.name!r}: tier {service.tier!r} is none of {', '.join(TIERS)}"
                )
            if service.owner not in self.teams:
                raise self._wrong(
                    f"service {service.name!r}: owner {service.owner!r} is not one of its teams"
                )
            twice = _duplicate(service.calls)
            if twice is not None:
                raise self._wrong(f"service {service.name!r}: calls {twice!r} twice")
            for callee in service.calls:
                if callee not in known:
                    raise self._wrong(f"service {service.name!r}: calls unknown {callee!r}")
                if callee == service.name:
                    raise self._wrong(f"service {service.name!r}: calls itself")
        if not self.edges:
            raise self._wrong("no service of tier 'edge'")
        unreached = [n for i, n in enumerate(self.names) if self.depth[i] < 0]
        if unreached:
            raise self._wrong(f"no edge service reaches {', '.join(unreached)}")

    def _check_names(self, what: str, names: tuple[str, ...]) -> None:
        if not names:
            raise self._wrong(f"no {what}s")
        for name in names:
            self._check_letters(f"{what} name {name!r}", name)
            if name.casefold() in ("all", "none"):
                raise self._wrong(f"{what} name {name!r} is reserved")
        twice = _duplicate(names)
        if twice is not None:
            raise self._wrong(f"{what} {twice!r} appears twice")

    def _check_letters(self, what: str, name: str) -> None:
        if not name or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise self._wrong(f"{what} must be letters, digits, '-', '_' and '.' only")

    def _wrong(self, what: str) -> TopologyError:
        return TopologyError(f"topology {self.name!r}: {what}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Service names, in index order."""
        return tuple(service.name for service in self.services)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """The index of a service.

        Raises:
            UnknownName: if there is none of that name.
        """
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
        """Indices of the direct dependencies of each service."""
        return tuple(tuple(self._index[c] for c in s.calls) for s in self.services)

    @cached_property
    def callers(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the direct callers of each service."""
        found: list[list[int]] = [[] for _ in self.services]
        for caller, callees in enumerate(self.calls):
            for callee in callees:
                found[callee].append(caller)
        return tuple(tuple(callers) for callers in found)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """Indices of the services that users reach directly."""
        return tuple(i for i, s in enumerate(self.services) if s.tier == "edge")

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """Calls between the nearest edge service and each service; -1 if unreached."""
        return self._distances(self.edges, self.calls)

    def hops_from(self, root: int) -> tuple[int, ...]:
        """Calls between each service and ``root``; -1 where ``root`` is no dependency."""
        return self._distances((root,), self.callers)

    def _distances(
        self, sources: tuple[int, ...], neighbours: tuple[tuple[int, ...], ...]
    ) -> tuple[int, ...]:
        distance = [-1] * len(self.services)
        frontier = list(sources)
        for source in frontier:
            distance[source] = 0
        for node in frontier:
            for neighbour in neighbours[node]:
                if distance[neighbour] < 0:
                    distance[neighbour] = distance[node] + 1
                    frontier.append(neighbour)
        return tuple(distance)

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """Default owner of each service."""
        return tuple(service.owner for service in self.services)


#: Seven services with the teams of the original: the topology of the ``*-v0`` tasks.
SEVEN_SERVICES: Final = Topology(
    name="seven-services",
    teams=("sre-team", "backend-team", "dba-team", "security-team"),
    services=(
        Service(
            "api-gateway",
            "edge",
            "sre-team",
            ("auth-service", "payment-service", "notification-service"),
        ),
        Service("auth-service", "service", "backend-team", ("user-db",)),
        Service("user-db", "datastore", "dba-team"),
        Service("payment-service", "service", "backend-team", ("payment-db",)),
        Service("payment-db", "datastore", "dba-team"),
        Service("notification-service", "service", "backend-team", ("email-queue",)),
        Service("email-queue", "queue", "sre-team"),
    ),
)

#: The same services with a fifth team: the topology of drawn tasks.
FIVE_TEAMS: Final = attrs.evolve(
    SEVEN_SERVICES,
    name="seven-services-five-teams",
    teams=("sre-team", "backend-team", "dba-team", "platform-team", "security-team"),
)
