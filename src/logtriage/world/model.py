"""A world: everything that is simulated, as one immutable value.

Two worlds are equal if their contents are, whatever their files look like; the *fingerprint*
is a hash of the content.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final, TypeVar

import attrs

from logtriage.topology import Tier as TopologyTier
from logtriage.topology import Topology
from logtriage.world.schema import canonical
from logtriage.world.schema.parts import (
    OWNER,
    Benign,
    FaultClass,
    Kind,
    Layout,
    Signature,
    Task,
    Tier,
)
from logtriage.world.vocabulary import LOG, Vocabulary, by_name, named

_Kind = TypeVar("_Kind", Kind, Benign)
#: Conditions of services that no file names: unaffected, calling a sick service, under load.
HEALTHY: Final = "healthy"
WAITING: Final = "waiting"
LOADED: Final = "loaded"
#: The weights of a distribution sum to this in all tables that draws read.
FULL: Final = 65_536


@attrs.frozen(eq=False, repr=False)
class World(Vocabulary):
    """All that a world's folder holds; worlds are hashed and compared by their fingerprints."""

    @property
    def name(self) -> str:
        """The name that ids begin with."""
        return self.rules.name

    @cached_property
    def content(self) -> bytes:
        """The canonical form: equal contents have equal bytes."""
        return canonical.encode(canonical.document_of(self))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of :attr:`content`, 32 hexadecimal digits."""
        return canonical.fingerprint_of(self.content)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, World):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<World {self.name} {self.fingerprint}>"

    # --- tiers, teams, classes ---------------------------------------------------------

    @cached_property
    def tiers(self) -> Mapping[str, Tier]:
        """The tiers by name, in order."""
        return by_name(self.rules.tiers)

    @cached_property
    def classes(self) -> Mapping[str, FaultClass]:
        """The classes of faults by name, in order."""
        return by_name(self.rules.classes)

    def page_of(self, kind: str) -> str:
        """Who is paged for a kind: a team, or :data:`OWNER`; UnknownName for an unknown kind."""
        row = self.kind(kind)
        return row.pages or self.classes[row.fault_class].pages

    def pages(self, kind: str, topology: Topology) -> str | None:
        """The team paged for a kind on a topology of the world; None if the owner is paged.

        Raises:
            UnknownName: if the kind is unknown.
            TopologyError: if the topology does not say who is paged for its class.
        """
        if self.page_of(kind) == OWNER:
            return None
        row = self.kind(kind)
        return row.pages or topology.pages(row.fault_class)

    def team_of(self, topology: Topology, directory: Sequence[str], kind: str, service: int) -> str:
        """Who must be paged for a fault of ``kind`` at the service of that index."""
        return self.pages(kind, topology) or directory[service]

    def owning_teams(self, topology: Topology) -> tuple[str, ...]:
        """The teams that may own a service: those that services name, and those that are drawn."""
        owners = {service.owner for service in topology.services}
        drawn = self.drawn_owners(topology) if None in owners else ()
        return tuple(team for team in topology.teams if team in owners or team in drawn)

    def drawn_owners(self, topology: Topology) -> tuple[str, ...]:
        """The teams that may be drawn for services without an owner: the world's ``owners``.

        On a topology with other teams, or other paged ones, they are all teams that no class pages;
        if classes page all of them, all teams.
        """
        rows = [row for row in self.rules.classes if row.pages != OWNER]
        paged = {topology.pages(row.name) for row in rows}
        usual = paged == {row.pages for row in rows} and {*topology.teams} <= {*self.rules.teams}
        owners = self.rules.owners if usual else {*topology.teams} - paged
        return tuple(team for team in topology.teams if team in owners) or topology.teams

    def owner_weights(
        self, topology: Topology, tier: str, owner: str | None = None
    ) -> tuple[int, ...]:
        """The whole weights of :meth:`owning_teams` as owners of a service of a tier.

        An ``owner`` that the service names has all the weight.
        """
        if owner is not None:
            return tuple(int(team == owner) for team in self.owning_teams(topology))
        drawn, row = self.drawn_owners(topology), named("tier", tier, self.tiers)
        rest = len(drawn) - 1
        weights = dict.fromkeys(drawn, 1)
        if row.owner in weights and rest:
            # Per cent times `rest`, so that an even part of `row.others` is whole.
            weights = dict.fromkeys(drawn, row.others) | {row.owner: (100 - row.others) * rest}
        return tuple(weights.get(team, 0) for team in self.owning_teams(topology))

    def usual_owners(self, topology: Topology) -> tuple[str, ...]:
        """The likeliest owner of each service; of equally likely teams, the first."""
        teams, usual = self.owning_teams(topology), []
        for service in topology.services:
            weights = self.owner_weights(topology, service.tier, service.owner)
            usual.append(teams[weights.index(max(weights))])
        return tuple(usual)

    # --- kinds -------------------------------------------------------------------------

    @cached_property
    def _kinds(self) -> Mapping[str, Kind]:
        return by_name(self.kinds)

    @cached_property
    def kind_names(self) -> tuple[str, ...]:
        """The fault kinds in order."""
        return tuple(self._kinds)

    def kind(self, name: str) -> Kind:
        """The fault kind of that name; UnknownName if there is none."""
        return named("fault kind", name, self._kinds)

    def kinds_at(self, tier: str) -> tuple[Kind, ...]:
        """The fault kinds that can strike a tier, in order."""
        return self._kinds_at[tier]

    @cached_property
    def _kinds_at(self) -> Mapping[str, tuple[Kind, ...]]:
        return self._by_tier(self.kinds)

    def _by_tier(self, kinds: Sequence[_Kind]) -> Mapping[str, tuple[_Kind, ...]]:
        return {tier: tuple(row for row in kinds if tier in row.tiers) for tier in self.tier_names}

    def likely_remedies(self, tier: str | None = None) -> tuple[str, ...]:
        """The remedies by how many kinds (at ``tier``, if given) they mend, most first."""
        kinds = self.kinds if tier is None else self.kinds_at(tier)
        mended = Counter(remedy for kind in kinds for remedy in kind.remedies)
        return tuple(remedy for remedy, _ in mended.most_common())

    def benign_at(self, tier: str) -> tuple[Benign, ...]:
        """The benign kinds that can look ill at a tier, in order."""
        return self._benign_at[tier]

    @cached_property
    def _benign_at(self) -> Mapping[str, tuple[Benign, ...]]:
        return self._by_tier(self.benign)

    # --- signatures --------------------------------------------------------------------

    @cached_property
    def signatures(self) -> Mapping[str, Signature]:
        """The signature of every condition by its name, ``common`` shares included, in per cent.

        The ordinary token of a sort has what the others leave of 100.
        """
        rules = self.rules
        own = {
            **{kind.name: kind.signature for kind in self.kinds},
            WAITING: rules.affected.waiting,
            LOADED: rules.affected.loaded,
            **{kind.name: kind.signature for kind in self.benign},
            **{distraction.name: distraction.signature for distraction in rules.distractions},
            HEALTHY: rules.healthy,
        }
        return MappingProxyType({name: _merged(rules.common, row) for name, row in own.items()})

    def signature(self, condition: str) -> Signature:
        """The signature of a condition; UnknownName if there is no condition of that name."""
        return named("condition", condition, self.signatures)

    @cached_property
    def background(self) -> Signature:
        """The shares of coincidences: the rules' background, and that of topics with their own."""
        topics = {topic.name: topic.background for topic in self.topics if topic.background}
        rules = self.rules.background
        return _merged(rules, {LOG: topics}) if topics else rules

    @cached_property
    def unrelated(self) -> frozenset[str]:
        """The conditions that have nothing to do with a fault: healthy, and each distraction."""
        return frozenset([HEALTHY, *(distraction.name for distraction in self.rules.distractions)])

    # --- topologies, tasks -------------------------------------------------------------

    @cached_property
    def topology_tiers(self) -> tuple[TopologyTier, ...]:
        """The tiers, without owners, as topologies take them."""
        return tuple(TopologyTier(row.name, row.entry, row.calls) for row in self.rules.tiers)

    @cached_property
    def topologies(self) -> Mapping[str, Topology]:
        """The topologies by name."""
        return MappingProxyType({layout.name: self.topology_of(layout) for layout in self.layouts})

    def topology_of(self, layout: Layout) -> Topology:
        """The topology of a layout; TopologyError if it breaks a rule of topologies."""
        rules = self.rules
        return Topology(
            name=layout.name,
            teams=rules.teams if layout.teams is None else layout.teams,
            services=layout.services,
            tiers=self.topology_tiers,
            remedies=rules.remedies,
            paged={row.name: row.pages for row in rules.classes if row.pages != OWNER},
        )

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks by name, in order."""
        return by_name(self.rules.tasks)


def _merged(first: Signature, second: Signature) -> Signature:
    """Two signatures in one; where both name a token, the share of the second holds."""
    return MappingProxyType(
        {
            sort: MappingProxyType({**first.get(sort, {}), **second.get(sort, {})})
            for sort in {**first, **second}
        }
    )
