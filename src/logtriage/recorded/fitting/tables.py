"""Counts of labelled recordings, and the shares of tokens by condition: counts, smoothed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from math import exp, log
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.recorded.bundle import as_incident
from logtriage.recorded.fitting.signs import SORTS, signs_of
from logtriage.recorded.records import RecordedIncident
from logtriage.world.conditions import reachable
from logtriage.world.model import HEALTHY, WAITING, World
from logtriage.world.schema.parts import Shares, Signature

#: The class of a fault if its record names no class.
UNCLASSED: Final = "other"
#: The kind for faults that no recording has: it shows the average of all kinds.
ANOTHER: Final = "another"
#: The least share of a token.
_LEAST: Final = 0.01
#: The prior weight of a rare token, beside 1 for the ordinary token.
_RARE: Final = 0.02
#: The most background in a reading, in per cent.
_MOST_FOG: Final = 40

#: Shares of all tokens of a sort, which sum to 1.
_Row = Mapping[str, float]


@attrs.frozen(eq=False)
class Counts:
    """Counts of some recordings; counts of several recordings add up.

    ``signs`` counts (condition, sort, token): each service has one sign a sort, its most frequent
    reading; a token such as ``calls`` stands without its dependency. ``readings`` counts (sort,
    token) of all readings, and ``strayed`` of the readings that differ from their sign. ``kinds``
    counts (kind, class) of incidents, and ``calm`` incidents without a fault.
    """

    signs: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    readings: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    strayed: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    kinds: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    calm: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.signs + other.signs,
            self.readings + other.readings,
            self.strayed + other.strayed,
            self.kinds + other.kinds,
            self.calm + other.calm,
        )


def counted(record: RecordedIncident) -> Counts:
    """The counts of one recording, over all its screens.

    The condition of the root cause is its kind. Its callers, direct or not, are ``waiting``; every
    other service is ``healthy``.
    """
    incident, kind = as_incident(record), record.truth.kind
    counts = Counts(calm=int(not record.truth.root_causes))
    if record.truth.root_causes:
        counts.kinds[kind, str(record.truth.category or UNCLASSED)] += 1
    topology = incident.topology
    roots = tuple(topology.index(name) for name in record.truth.root_causes)
    waiting = set(reachable(topology.callers, roots))
    by_cell: dict[tuple[int, str], list[str]] = {}
    for sign in signs_of(incident, incident.horizon - 1):
        by_cell.setdefault((sign.service, sign.sort), []).append(sign.token.partition(":")[0])
    for (service, sort), tokens in by_cell.items():
        condition = kind if service in roots else WAITING if service in waiting else HEALTHY
        (shown, _), *_ = Counter(tokens).most_common(1)
        counts.signs[condition, sort, shown] += 1
        counts.readings.update((sort, token) for token in tokens)
        counts.strayed.update((sort, token) for token in tokens if token != shown)
    return counts


@attrs.frozen
class Smoothing:
    """Settings of a fit that are chosen and not counted.

    In the row of a kind, the average of all kinds weighs as much as ``strength`` recordings.
    ``temperature`` is the share of each log-likelihood ratio that stays, since signs of services
    depend on each other and a world takes them as independent. Each row moves towards the healthy
    row along the geometric path, so that the belief of the world stays exact.
    """

    strength: float = 2.0
    temperature: float = 1.0


@attrs.frozen(eq=False)
class Tables:
    """Shares of tokens by condition, smoothed."""

    counts: Counts
    world: World
    smoothing: Smoothing

    def signature(self, condition: str) -> Signature:
        """The shares of tokens under a condition, in whole per cent."""
        listed = {sort: self._shown(condition, sort) for sort in self.sorts}
        return MappingProxyType(
            {
                sort: _percent(self.row(condition, sort), tokens)
                for sort, tokens in listed.items()
                if tokens
            }
        )

    @property
    def sorts(self) -> tuple[str, ...]:
        """The sorts that a recording can show and the world has."""
        return tuple(sort for sort in SORTS if sort in self.world.ordinary)

    def row(self, condition: str, sort: str) -> _Row:
        """The shares of a condition, moved towards the healthy row."""
        healthy = self._smoothed(HEALTHY, sort)
        if condition == HEALTHY:
            return healthy
        own, part = self._smoothed(condition, sort), self.smoothing.temperature
        moved = {
            token: exp(part * log(own[token]) + (1 - part) * log(healthy[token]))
            for token in healthy
        }
        whole = sum(moved.values())
        return {token: share / whole for token, share in moved.items()}

    def _smoothed(self, condition: str, sort: str) -> _Row:
        tokens, strength = self._tokens(sort), self.smoothing.strength
        if condition == HEALTHY:
            prior = dict.fromkeys(tokens, _RARE)
            prior[tokens[0]] = 1.0
            return _mixed(self._counted([HEALTHY], sort, tokens), prior, 1.0)
        healthy = self._smoothed(HEALTHY, sort)
        if condition == WAITING:
            return _mixed(self._counted([WAITING], sort, tokens), healthy, strength)
        every = [kind for kind, _ in self.counts.kinds]
        average = _mixed(self._counted(every, sort, tokens), healthy, strength)
        if condition == ANOTHER:
            return average
        return _mixed(self._counted([condition], sort, tokens), average, strength)

    def background(self) -> Signature:
        """The shares of tokens that any service might show: those of readings unlike their sign."""
        shares = dict(self.world.background)
        for sort in self.sorts:
            tokens = self._tokens(sort)
            strayed = {token: self.counts.strayed[sort, token] + 1.0 for token in tokens}
            whole = sum(strayed.values())
            row = {token: count / whole for token, count in strayed.items()}
            shares[sort] = _percent(row, tokens[1:])
        kept = {sort: row for sort, row in shares.items() if sort in self.world.ordinary}
        return MappingProxyType(kept)

    def read_error(self) -> int:
        """The share of readings that differ from their sign, in whole per cent from 1 on."""
        readings = sum(self.counts.readings.values())
        share = round(100 * sum(self.counts.strayed.values()) / max(1, readings))
        return min(_MOST_FOG, max(1, share))

    def _counted(self, conditions: Sequence[str], sort: str, tokens: Sequence[str]) -> _Row:
        said = {SORTS[sort][0]: tokens[0]}
        counts = dict.fromkeys(tokens, 0.0)
        for condition, token in product(conditions, SORTS[sort]):
            name = said.get(token, token)
            if name in counts:
                counts[name] += self.counts.signs[condition, sort, token]
        return counts

    def _tokens(self, sort: str) -> tuple[str, ...]:
        """The ordinary token of a sort, then all others that the world has."""
        others = dict.fromkeys(token.name for token in self.world.sorts[sort])
        return (self.world.ordinary[sort], *others)

    def _shown(self, condition: str, sort: str) -> tuple[str, ...]:
        """The tokens in the row of a condition; only ``waiting`` may name a dependency."""
        naming = () if condition == WAITING else self.world.naming_tokens(sort)
        return tuple(token for token in self._tokens(sort)[1:] if token not in naming)


def _mixed(counted: _Row, prior: _Row, strength: float) -> _Row:
    """The mean of the posterior under a Dirichlet prior of a strength, each share at least 1 %.

    A world's tables say no less than 1 %.
    """
    scale, whole = sum(prior.values()), sum(counted.values()) + strength
    shares = {
        token: max(_LEAST, (n + strength * prior[token] / scale) / whole)
        for token, n in counted.items()
    }
    return {token: share / sum(shares.values()) for token, share in shares.items()}


def _percent(row: _Row, shown: Sequence[str]) -> Shares:
    """The shares of the listed tokens in whole per cent, each at least 1, together at most 99."""
    shares = {token: max(1, round(100 * row[token])) for token in shown}
    while sum(shares.values()) > 99:
        shares[max(shares, key=shares.__getitem__)] -= 1
    return MappingProxyType(shares)
