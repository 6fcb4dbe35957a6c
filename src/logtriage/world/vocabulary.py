"""What can be said in a world: its sorts of cells, their tokens, phrasings and short names."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeVar

import attrs

from logtriage.errors import UnknownName
from logtriage.rng import hash_name
from logtriage.topology import Service
from logtriage.world.channels import Channel, about_kind
from logtriage.world.schema.parts import (
    Band,
    Benign,
    Kind,
    Layout,
    Phrase,
    Rules,
    Technology,
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

#: Sorts of histories that are no gauge and no half of a trace.
CHANGE: Final = "change"
LOG: Final = "log"
AnyToken = Token | ChangeToken | Topic
Row = TypeVar("Row", bound=Any)
Named = TypeVar("Named")
#: The sorts of cells that every world has.
PLAIN_SORTS: Final = (CHANGE, LOG)
_SORT_OF: Final = {
    Channel.WINDOW: LOG,
    Channel.CHANGE: CHANGE,
    Channel.LOGS: LOG,
    Channel.OVERVIEW: LOG,
}


@attrs.frozen(eq=False, repr=False)
class Vocabulary:
    """The files of a world, and what follows from them.

    ``kinds``, ``benign``, ``topics`` and ``technologies`` stand in the order of their ``order``,
    ``layouts`` by name.
    """

    rules: Rules
    tokens: Tokens
    kinds: tuple[Kind, ...]
    benign: tuple[Benign, ...]
    topics: tuple[Topic, ...]
    layouts: tuple[Layout, ...]
    technologies: tuple[Technology, ...] = ()

    @cached_property
    def tier_names(self) -> tuple[str, ...]:
        """The tiers in order."""
        return tuple(tier.name for tier in self.rules.tiers)

    @cached_property
    def entry_tiers(self) -> frozenset[str]:
        """The tiers that users reach."""
        return frozenset(tier.name for tier in self.rules.tiers if tier.entry)

    # --- sorts and tokens --------------------------------------------------------------

    @cached_property
    def gauges(self) -> Mapping[str, Gauge]:
        """The gauges by name, in the order of their slots."""
        return by_name(self.tokens.gauges)

    @cached_property
    def spans(self) -> Mapping[str, Span]:
        """The two span sorts of a trace by name, in slot order."""
        return by_name(self.tokens.spans)

    @cached_property
    def changes(self) -> Mapping[str, ChangeToken]:
        """What a recent change can be, by its token."""
        return by_name(self.tokens.change.tokens)

    @cached_property
    def alerts(self) -> Mapping[str, AlertToken]:
        """The alert rules by the token that they show when they fire."""
        return by_name(self.tokens.alert.tokens)

    @cached_property
    def bands(self) -> Mapping[str, Band]:
        """The bands of the edge panel by name, the most harmless first."""
        return by_name(self.rules.edge.bands)

    @cached_property
    def edge_tokens(self) -> tuple[str, ...]:
        """Errors and p99 in their bands: every token of the edge panel."""
        return tuple(f"{errors}/{p99}" for errors in self.bands for p99 in self.bands)

    @property
    def measured(self) -> tuple[Gauge | Span, ...]:
        """The gauges, then the halves of a trace."""
        return (*self.tokens.gauges, *self.tokens.spans)

    def readings_at(self, gauge: str, tier: str) -> tuple[Reading, ...]:
        """The rows of a gauge that are shown at a tier."""
        return self._readings[gauge, tier]

    @cached_property
    def _readings(self) -> Mapping[tuple[str, str], tuple[Reading, ...]]:
        return {
            (gauge.name, tier): tuple(
                row for row in gauge.readings if row.tiers is None or tier in row.tiers
            )
            for gauge in self.tokens.gauges
            for tier in self.tier_names
        }

    @cached_property
    def _topics(self) -> Mapping[str, Topic]:
        return by_name(self.topics)

    def topic(self, name: str) -> Topic:
        """The log topic of that name; UnknownName if there is none."""
        return named("log topic", name, self._topics)

    def phrases(self, about: str, technology: Technology | None) -> tuple[tuple[Phrase, ...], ...]:
        """The phrasings of a topic or a kind's name, by group; a technology's own if it has any."""
        if technology is not None and about in technology.topics:
            return technology.topics[about].groups
        return self._phrases[about]

    @cached_property
    def _phrases(self) -> Mapping[str, tuple[tuple[Phrase, ...], ...]]:
        own = {topic.name: topic.phrasings for topic in self.topics}
        causes = {about_kind(kind.name): kind.names for kind in self.kinds}
        return {about: each.groups for about, each in (own | causes).items() if each is not None}

    # --- technologies ------------------------------------------------------------------

    @cached_property
    def technology_names(self) -> Mapping[str, Technology]:
        """The technologies by name, in order."""
        return by_name(self.technologies)

    def technologies_at(self, tier: str) -> tuple[Technology, ...]:
        """The technologies that a service of a tier can run on, in order."""
        return tuple(row for row in self.technologies if tier in row.tiers)

    def technology_of(self, service: Service) -> Technology | None:
        """The technology of a service: the one it names, or else :meth:`drawn_technology`.

        Raises:
            UnknownName: for a technology that the world does not have.
        """
        if service.technology is not None:
            return named("technology", service.technology, self.technology_names)
        name = self.drawn_technology(service.name, service.tier)
        return None if name is None else self.technology_names[name]

    def drawn_technology(self, name: str, tier: str, *, held_out: bool = False) -> str | None:
        """The technology of a service that names none, by a hash of its name; None if none fits.

        With ``held_out`` it is a held-out technology where the tier has any, else one of the
        others; without, it is one of the others where the tier has any.
        """
        rows = self.technologies_at(tier)
        wanted = [row for row in rows if row.held_out == held_out] or rows
        return wanted[hash_name(name) % len(wanted)].name if wanted else None

    @cached_property
    def ordinary(self) -> Mapping[str, str]:
        """The ordinary token of each sort, in order; it has what the other shares leave of 100."""
        return MappingProxyType(
            {
                CHANGE: self.tokens.change.ordinary,
                LOG: next(topic.name for topic in self.topics if topic.ordinary),
                **{row.name: row.ordinary for row in self.measured},
            }
        )

    @cached_property
    def sorts(self) -> Mapping[str, tuple[AnyToken, ...]]:
        """The tokens of each sort but the ordinary one, in the order that draws depend on."""
        tokens = self.tokens
        rows: dict[str, tuple[AnyToken, ...]] = {
            CHANGE: tokens.change.tokens,
            LOG: tuple(topic for topic in self.topics if not topic.ordinary),
        }
        rows |= {row.name: row.tokens for row in self.measured}
        return MappingProxyType(rows)

    @cached_property
    def cell_sorts(self) -> tuple[str, ...]:
        """The sorts of histories that every service has: changes, logs, gauges, spans."""
        return (*PLAIN_SORTS, *self.gauges, *self.spans)

    @cached_property
    def slots(self) -> Mapping[Channel, tuple[str, ...]]:
        """The sort of each slot, for the channels whose slots differ in sort."""
        return MappingProxyType(
            {
                Channel.ALERT: tuple(rule.watches for rule in self.tokens.alert.tokens),
                Channel.METRICS: tuple(self.gauges),
                Channel.TRACES: tuple(self.spans),
            }
        )

    def sort_of(self, channel: Channel, slot: int) -> str:
        """The sort of a service's cell in a channel and slot."""
        slots = self.slots
        return slots[channel][slot] if channel in slots else _SORT_OF[channel]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The topics of lines that name neither a dependency nor a kind."""
        return tuple(topic.name for topic in self.topics if not topic.dependency)

    def tokens_at(self, sort: str, tier: str) -> tuple[str, ...]:
        """The tokens of a sort at a tier without those that name a dependency, ordinary first.

        Draws depend on this order.
        """
        return self._alphabets[sort, tier]

    @cached_property
    def _alphabets(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        alphabets = {}
        for sort, rows in self.sorts.items():
            plain = [token for token in rows if not token.dependency]
            for tier in self.tier_names:
                here = [row.name for row in plain if row.tiers is None or tier in row.tiers]
                alphabets[sort, tier] = (self.ordinary[sort], *here)
        return alphabets

    def naming_tokens(self, sort: str) -> tuple[str, ...]:
        """The tokens of a sort that name a dependency."""
        return tuple(token.name for token in self.sorts[sort] if token.dependency)

    @cached_property
    def words(self) -> Mapping[str, Mapping[str, str]]:
        """The runbook's short names of tokens, by sort, in the order of the runbook."""
        return MappingProxyType(
            {
                sort: MappingProxyType({token.name: token.word for token in self.sorts[sort]})
                for sort in self.tokens.runbook_order
            }
        )

    @cached_property
    def gauges_of_a_tier(self) -> frozenset[str]:
        """The gauges whose tokens depend on the tier."""
        return frozenset(
            gauge.name
            for gauge in self.tokens.gauges
            if any(token.tiers is not None for token in gauge.tokens)
        )

    @cached_property
    def board_words(self) -> tuple[str, ...]:
        """The words that report a sign at a service: a topic, or a gauge that is not as usual."""
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
            *dict.fromkeys(own),  # tiers may share a token
        )


def by_name(rows: tuple[Row, ...]) -> Mapping[str, Row]:
    """Rows by their names, in order."""
    return MappingProxyType({row.name: row for row in rows})


def named(what: str, name: str, rows: Mapping[str, Named]) -> Named:
    """The row of a name; UnknownName if there is none."""
    try:
        return rows[name]
    except KeyError:
        raise UnknownName(what, name, rows) from None
