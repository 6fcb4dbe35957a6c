"""A world: everything that is simulated, as one immutable value.

A world is loaded from a folder (:func:`logtriage.world.loading.load_world`) and holds no code.
Two worlds are equal if their contents are, whatever their files look like; the *fingerprint*
is a hash of the content. Questions that several modules ask are answered here, once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final, TypeVar

import attrs

from logtriage.errors import UnknownName
from logtriage.topology import Topology
from logtriage.world.channels import about_kind
from logtriage.world.schema import canonical
from logtriage.world.schema.parts import (
    OWNER,
    Band,
    Benign,
    FaultClass,
    Kind,
    Layout,
    Phrase,
    Rules,
    Signature,
    Task,
    Topic,
)
from logtriage.world.schema.tokens import (
    AlertToken,
    ChangeToken,
    Gauge,
    Reading,
    Span,
    Token,
    Tokens,
)

#: Conditions of services that no file names: unaffected, calling a sick service, under load.
HEALTHY: Final = "healthy"
WAITING: Final = "waiting"
LOADED: Final = "loaded"
#: Sorts of cells that are no gauge and no half of a trace.
ALERT: Final = "alert"
CHANGE: Final = "change"
LOG: Final = "log"
#: Shares of 65,536 stand for whole ones in all tables that draws read.
FULL: Final = 65_536
AnyToken = Token | AlertToken | ChangeToken | Topic
_Row = TypeVar("_Row", Kind, Topic, Gauge, Span, FaultClass, Task)


@attrs.frozen(eq=False, repr=False)
class World:
    """All of a world's folder; each attribute is a file, or the files of a folder.

    ``kinds``, ``benign`` and ``topics`` stand in the order of their ``order``, ``layouts`` by
    name. Hashing and comparing are cheap: they go by the fingerprint.
    """

    rules: Rules
    tokens: Tokens
    kinds: tuple[Kind, ...]
    benign: tuple[Benign, ...]
    topics: tuple[Topic, ...]
    layouts: tuple[Layout, ...]

    # --- what it is --------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name that ids begin with."""
        return self.rules.name

    @cached_property
    def content(self) -> bytes:
        """The canonical form: equal contents have equal bytes, whatever the files look like."""
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

    def __reduce__(self) -> tuple[Callable[..., "World"], tuple[object, ...]]:
        from logtriage.world import loading  # which builds worlds, and so imports this module

        return loading.restored, (loading.pickled(self),)

    # --- tiers, teams, classes ---------------------------------------------------------

    @cached_property
    def tier_names(self) -> tuple[str, ...]:
        """The tiers in order."""
        return tuple(tier.name for tier in self.rules.tiers)

    @cached_property
    def entry_tiers(self) -> frozenset[str]:
        """The tiers that users reach."""
        return frozenset(tier.name for tier in self.rules.tiers if tier.entry)

    @cached_property
    def classes(self) -> Mapping[str, FaultClass]:
        """The classes of faults by name, in order."""
        return _by_name(self.rules.classes)

    def pages(self, kind: str) -> str | None:
        """The team that is paged for a kind whoever owns the service; None: its owner is."""
        row = self.kind(kind)
        pages = row.pages or self.classes[row.fault_class].pages
        return None if pages == OWNER else pages

    def team_of(self, directory: Sequence[str], kind: str, service: int) -> str:
        """Who must be paged for a fault of ``kind`` at the service of that index."""
        return self.pages(kind) or directory[service]

    def owning_teams(self, teams: Sequence[str]) -> tuple[str, ...]:
        """Those of a topology's teams that an incident's directory is drawn from."""
        return tuple(team for team in teams if team in self.rules.owners) or tuple(teams)

    # --- kinds -------------------------------------------------------------------------

    @cached_property
    def _kinds(self) -> Mapping[str, Kind]:
        return _by_name(self.kinds)

    @cached_property
    def kind_names(self) -> tuple[str, ...]:
        """The fault kinds in order."""
        return tuple(self._kinds)

    def kind(self, name: str) -> Kind:
        """The fault kind of that name.

        Raises:
            UnknownName: if there is none.
        """
        return _named("fault kind", name, self._kinds)

    def kinds_at(self, tier: str) -> tuple[Kind, ...]:
        """The fault kinds that can strike a tier, in order."""
        return tuple(kind for kind in self.kinds if tier in kind.tiers)

    def benign_at(self, tier: str) -> tuple[Benign, ...]:
        """The benign kinds that can look ill at a tier, in order."""
        return tuple(kind for kind in self.benign if tier in kind.tiers)

    # --- signatures --------------------------------------------------------------------

    @cached_property
    def signatures(self) -> Mapping[str, Signature]:
        """What every condition shows, by its name: kinds, affected, benign, distracted, healthy.

        Shares are per cent; what a row leaves is the ordinary token's. Shares that no file
        of the condition names are the ``common`` ones.
        """
        rules = self.rules
        own = {
            **{kind.name: kind.signature for kind in self.kinds},
            WAITING: rules.affected.waiting,
            LOADED: rules.affected.loaded,
            **{kind.name: kind.signature for kind in self.benign},
            **{one.name: one.signature for one in rules.distractions},
            HEALTHY: rules.healthy,
        }
        return MappingProxyType({name: self._with_common(row) for name, row in own.items()})

    def _with_common(self, own: Signature) -> Signature:
        common = self.rules.common
        sorts = (*common, *(sort for sort in own if sort not in common))
        return MappingProxyType(
            {
                sort: MappingProxyType({**common.get(sort, {}), **own.get(sort, {})})
                for sort in sorts
            }
        )

    # --- sorts and tokens --------------------------------------------------------------

    @cached_property
    def gauges(self) -> Mapping[str, Gauge]:
        """The gauges by name, in the order of their slots."""
        return _by_name(self.tokens.gauges)

    @cached_property
    def spans(self) -> Mapping[str, Span]:
        """The halves of a trace by name, in the order of their slots."""
        return _by_name(self.tokens.spans)

    @cached_property
    def changes(self) -> Mapping[str, ChangeToken]:
        """What a recent change can be, by its token."""
        return MappingProxyType({one.name: one for one in self.tokens.change.tokens})

    @cached_property
    def alerts(self) -> Mapping[str, AlertToken]:
        """What an alert can be, by its token."""
        return MappingProxyType({one.name: one for one in self.tokens.alert.tokens})

    @cached_property
    def bands(self) -> Mapping[str, Band]:
        """The bands of the edge panel by name, the most harmless first."""
        return MappingProxyType({band.name: band for band in self.rules.edge.bands})

    @property
    def measured(self) -> tuple[Gauge | Span, ...]:
        """The gauges, then the halves of a trace."""
        return (*self.tokens.gauges, *self.tokens.spans)

    def readings_at(self, gauge: str, tier: str) -> tuple[Reading, ...]:
        """The lines of a gauge at a tier."""
        return self._readings[gauge, tier]

    @cached_property
    def _readings(self) -> Mapping[tuple[str, str], tuple[Reading, ...]]:
        return {
            (gauge.name, tier): tuple(
                one for one in gauge.readings if one.tiers is None or tier in one.tiers
            )
            for gauge in self.tokens.gauges
            for tier in self.tier_names
        }

    @cached_property
    def _topics(self) -> Mapping[str, Topic]:
        return _by_name(self.topics)

    def topic(self, name: str) -> Topic:
        """The log topic of that name.

        Raises:
            UnknownName: if there is none.
        """
        return _named("log topic", name, self._topics)

    @cached_property
    def phrases(self) -> Mapping[tuple[str, str], tuple[tuple[Phrase, ...], ...]]:
        """What a line says about a topic or, outright, a kind at a tier; by index of the group."""
        return {
            **{
                (topic.name, tier): topic.said_at(tier).groups
                for topic in self.topics
                for tier in topic.tiers
            },
            **{
                (about_kind(kind.name), tier): kind.names.groups
                for kind in self.kinds
                for tier in kind.tiers
            },
        }

    @cached_property
    def ordinary(self) -> Mapping[str, str]:
        """The token of each sort that takes what a row leaves, for all sorts in order."""
        return MappingProxyType(
            {
                ALERT: self.tokens.alert.ordinary,
                CHANGE: self.tokens.change.ordinary,
                LOG: next(topic.name for topic in self.topics if topic.ordinary),
                **{row.name: row.ordinary for row in self.measured},
            }
        )

    @cached_property
    def sorts(self) -> Mapping[str, tuple[AnyToken, ...]]:
        """By sort, its tokens without the ordinary one, in the order that draws depend on."""
        tokens = self.tokens
        rows: dict[str, tuple[AnyToken, ...]] = {
            ALERT: tokens.alert.tokens,
            CHANGE: tokens.change.tokens,
            LOG: tuple(topic for topic in self.topics if not topic.ordinary),
        }
        rows |= {row.name: row.tokens for row in self.measured}
        return MappingProxyType(rows)

    def tokens_at(self, sort: str, tier: str) -> tuple[str, ...]:
        """The tokens of a sort that make sense at a tier and name no dependency.

        The ordinary token stands first. Draws depend on this order.
        """
        return self._alphabets[sort, tier]

    @cached_property
    def _alphabets(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        return {
            (sort, tier): (
                self.ordinary[sort],
                *(
                    one.name
                    for one in rows
                    if not one.dependency and (one.tiers is None or tier in one.tiers)
                ),
            )
            for sort, rows in self.sorts.items()
            for tier in self.tier_names
        }

    def naming_tokens(self, sort: str) -> tuple[str, ...]:
        """The tokens of a sort that name a dependency."""
        return tuple(one.name for one in self.sorts[sort] if one.dependency)

    @cached_property
    def words(self) -> Mapping[str, Mapping[str, str]]:
        """The runbook's short names of tokens, by sort, in the order of the runbook."""
        return MappingProxyType(
            {
                sort: MappingProxyType({one.name: one.word for one in self.sorts[sort]})
                for sort in self.tokens.runbook_order
            }
        )

    @cached_property
    def gauges_of_a_tier(self) -> frozenset[str]:
        """The gauges that say something else at each tier."""
        return frozenset(
            gauge.name
            for gauge in self.tokens.gauges
            if any(token.tiers is not None for token in gauge.tokens)
        )

    @cached_property
    def board_words(self) -> tuple[str, ...]:
        """What can be reported of a service in a word: a topic, a gauge that is not as usual."""
        shared = (gauge for gauge in self.tokens.gauges if gauge.name not in self.gauges_of_a_tier)
        own = (
            token
            for tier in self.tier_names
            for gauge in self.tokens.gauges
            if gauge.name in self.gauges_of_a_tier
            for token in self.tokens_at(gauge.name, tier)[1:]
        )
        return (
            *(topic.name for topic in self.topics if not topic.ordinary and not topic.dependency),
            *(f"{gauge.name}_{token.name}" for gauge in shared for token in gauge.tokens),
            *dict.fromkeys(own),
        )

    # --- fog, topologies, tasks --------------------------------------------------------

    @cached_property
    def fog_weights(self) -> tuple[int, ...]:
        """Of 65,536: how far signatures are mixed with the background, by level of fog."""
        return tuple(_weight(level.background) for level in self.rules.fog)

    @cached_property
    def naming_weights(self) -> tuple[int, ...]:
        """Of 65,536: how often the root's own lines name their cause, by level of fog."""
        return tuple(_weight(level.named) for level in self.rules.fog)

    @cached_property
    def topologies(self) -> Mapping[str, Topology]:
        """The topologies by name."""
        return MappingProxyType({one.name: self.topology_of(one) for one in self.layouts})

    def topology_of(self, layout: Layout) -> Topology:
        """The topology of a layout.

        Raises:
            TopologyError: if it breaks a rule of topologies.
        """
        teams = self.rules.teams if layout.teams is None else layout.teams
        # A topology still names two teams of its own, until paging asks the world alone.
        paged = [row.pages for row in self.rules.classes if row.pages in teams] or [teams[0]]
        return Topology(layout.name, teams, layout.services, paged[0], paged[-1])

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks by name, in order."""
        return _by_name(self.rules.tasks)


def _weight(percent: int) -> int:
    return (percent * FULL + 50) // 100


def _by_name(rows: tuple[_Row, ...]) -> Mapping[str, _Row]:
    return MappingProxyType({row.name: row for row in rows})


def _named(what: str, name: str, rows: Mapping[str, _Row]) -> _Row:
    try:
        return rows[name]
    except KeyError:
        raise UnknownName(what, name, rows) from None
