"""A world of counts: its signatures are shares of what labelled recordings showed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, log
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.errors import WorldError
from logtriage.recorded.fitting.counts import UNCLASSED, Counts
from logtriage.recorded.fitting.signs import SORTS
from logtriage.recorded.fitting.texts import NETWORK_GAUGE, SHOWS, phrasings, topics_of, worded
from logtriage.recorded.formats.callgraph import without_circles
from logtriage.topology import Topology
from logtriage.world.loading import build
from logtriage.world.model import HEALTHY, WAITING, World
from logtriage.world.schema.canonical import document_of
from logtriage.world.schema.parts import (
    OWNER,
    Affected,
    Benign,
    FaultClass,
    Fog,
    Kind,
    Layout,
    NounPhrases,
    Rules,
    Shares,
    Signature,
    Signs,
    Task,
)
from logtriage.world.schema.tokens import Tokens
from logtriage.world.vocabulary import ALERT, CHANGE, LOG

#: A kind that no recording shows: what all kinds show on average, and its share in per cent.
ANOTHER: Final = "another"
ANOTHER_SHARE: Final = 10
#: The task of a fitted world.
TASK: Final = "recorded"
#: A benign kind must exist; it looks healthy.
_QUIET: Final = "quiet"
#: The least share of a token.
_LEAST: Final = 0.01
#: What a token that was never counted has beside the ordinary token's 1, before counting.
_RARE: Final = 0.02
#: The most that a reading may say what any service might, in per cent.
_MOST_FOG: Final = 40

#: Shares of all tokens of a sort, which sum to 1.
_Row = Mapping[str, float]


@attrs.frozen
class Smoothing:
    """What is chosen and not counted.

    ``strength`` is how many recordings the average of all kinds counts for in the row of a kind.
    ``temperature`` is the share of each log-likelihood ratio that stays: services' signs hang
    together, which a world denies. Each row is moved towards the healthy one, along the
    geometric path, so that the belief of the world stays exact.
    """

    strength: float = 2.0
    temperature: float = 1.0


def fitted_world(
    counts: Counts, like: World, topology: Topology, name: str, smoothing: Smoothing
) -> World:
    """The world of some counts: all but kinds, signatures, fog and topology is that of ``like``.

    Kinds are those of the recordings and :data:`ANOTHER`. Shares are whole per cent and at least
    1, so that no sign rules a condition out. Gauges that no recording can show are left out.

    Raises:
        WorldError: for recordings without a fault, or a world that fits none.
    """
    if not counts.kinds:
        raise WorldError(f"{name}: no recording has a fault: there is nothing to fit")
    tokens = _tokens(like)
    base = attrs.evolve(like, tokens=tokens, topics=topics_of(like))
    tables = _Tables(counts, base, smoothing)
    kinds = tuple(
        _kind(kind, order, of, like, tables.signature(kind))
        for order, (kind, of) in enumerate([*sorted(counts.kinds), (ANOTHER, UNCLASSED)])
    )
    tiers = tuple(tier.name for tier in like.rules.tiers)
    world = attrs.evolve(
        base,
        rules=_rules(counts, like, topology, name, tables),
        kinds=kinds,
        benign=(Benign(_QUIET, 0, tiers, tables.signature(HEALTHY)),),
        layouts=(_layout(topology, like),),
    )
    return build(document_of(world), name)


@attrs.frozen(eq=False)
class _Tables:
    """Shares of tokens by condition, smoothed."""

    counts: Counts
    world: World
    smoothing: Smoothing

    def signature(self, condition: str) -> Signature:
        """What a condition shows, in whole per cent."""
        return MappingProxyType(
            {
                sort: _percent(self.row(condition, sort), self._shown(condition, sort))
                for sort in self.sorts
                if self._shown(condition, sort)
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
        """What any service might say: what readings said that differ from their sign."""
        found = dict(self.world.background)
        for sort in self.sorts:
            tokens = self._tokens(sort)
            strayed = {token: self.counts.strayed[sort, token] + 1.0 for token in tokens}
            whole = sum(strayed.values())
            row = {token: count / whole for token, count in strayed.items()}
            found[sort] = _percent(row, tokens[1:])
        kept = {sort: row for sort, row in found.items() if sort in self.world.ordinary}
        return MappingProxyType(kept)

    def read_error(self) -> int:
        """The share of readings that differ from their sign, in whole per cent from 1 on."""
        readings = sum(self.counts.readings.values())
        share = round(100 * sum(self.counts.strayed.values()) / max(1, readings))
        return min(_MOST_FOG, max(1, share))

    def _counted(self, conditions: Sequence[str], sort: str, tokens: Sequence[str]) -> _Row:
        said = {SORTS[sort][0]: tokens[0]}
        found = dict.fromkeys(tokens, 0.0)
        for condition in conditions:
            for token in SORTS[sort]:
                name = said.get(token, token)
                if name in found:
                    found[name] += self.counts.signs[condition, sort, token]
        return found

    def _tokens(self, sort: str) -> tuple[str, ...]:
        """The ordinary token of a sort, then all others that the world has."""
        others = dict.fromkeys(token.name for token in self.world.sorts[sort])
        return (self.world.ordinary[sort], *others)

    def _shown(self, condition: str, sort: str) -> tuple[str, ...]:
        """The tokens that the row of a condition may list: only who waits names a dependency."""
        naming = () if condition == WAITING else self.world.naming_tokens(sort)
        return tuple(token for token in self._tokens(sort)[1:] if token not in naming)


def _mixed(counted: _Row, prior: _Row, strength: float) -> _Row:
    """The mean of the posterior under a Dirichlet prior of a strength, each share at least 1 %.

    A world's tables say no less than 1 %.
    """
    scale, whole = sum(prior.values()), sum(counted.values()) + strength
    found = {
        token: max(_LEAST, (n + strength * prior[token] / scale) / whole)
        for token, n in counted.items()
    }
    return {token: share / sum(found.values()) for token, share in found.items()}


def _percent(row: _Row, shown: Sequence[str]) -> Shares:
    """Whole per cent of the tokens that are listed, each at least 1, of which 1 is left."""
    found = {token: max(1, round(100 * row[token])) for token in shown}
    while sum(found.values()) > 99:
        found[max(found, key=found.__getitem__)] -= 1
    return MappingProxyType(found)


# --- the rest of the world ---------------------------------------------------------------


def _tokens(like: World) -> Tokens:
    """The tokens of the world without gauges that no recording can show, with the network's."""
    tokens = like.tokens
    gauges = tuple(one for one in tokens.gauges if one.name in SORTS)
    if not any(one.name == NETWORK_GAUGE.name for one in gauges):
        gauges += (NETWORK_GAUGE,)
    measured = [*(one.name for one in gauges), *(one.name for one in tokens.spans)]
    kept = {*measured, ALERT, CHANGE, LOG}
    order = [sort for sort in tokens.runbook_order if sort in kept]
    return attrs.evolve(
        tokens,
        gauges=gauges,
        runbook_order=tuple(dict.fromkeys([*order, *(one.name for one in gauges)])),
        pairs=tuple(pair for pair in tokens.pairs if {sort for sort, _ in pair.signs} <= kept),
    )


def _rules(counts: Counts, like: World, topology: Topology, name: str, tables: _Tables) -> Rules:
    rules, error = like.rules, tables.read_error()
    return attrs.evolve(
        rules,
        name=name,
        title="Fitted to recorded faults",
        teams=rules.owners,
        classes=_classes(counts),
        fog=tuple(
            Fog(error if not level else max(error, row.background), 0, row.blind)
            for level, row in enumerate(rules.fog)
        ),
        signs=Signs(gaps=0, about=99),
        common=MappingProxyType({}),
        healthy=tables.signature(HEALTHY),
        affected=Affected(tables.signature(WAITING), MappingProxyType({})),
        background=tables.background(),
        minor_faults=0,
        distractions=(),
        secondary_fault=None,
        drawn_topologies=None,
        tasks=(_task(counts, topology),),
    )


def _classes(counts: Counts) -> tuple[FaultClass, ...]:
    """The classes with their shares of incidents in whole per cent, :data:`ANOTHER` among them."""
    classes = sorted({of for _, of in counts.kinds} - {UNCLASSED})
    total, left = sum(counts.kinds.values()), 100
    rows = []
    for of in classes:
        count = sum(n for (_, mine), n in counts.kinds.items() if mine == of)
        share = max(1, round((100 - ANOTHER_SHARE) * count / total))
        rows.append(FaultClass(of, share, OWNER))
        left -= share
    return (*rows, FaultClass(UNCLASSED, left, OWNER))


def _task(counts: Counts, topology: Topology) -> Task:
    faults = sum(counts.kinds.values())
    return Task(
        name=TASK,
        title="A recorded fault",
        hard="what real services show when nothing is wrong",
        horizon=8,
        noise=0,
        alert_ticks=(0,),
        onset=2,
        par=6,
        par_benign=4,
        benign=1000 * counts.calm // (counts.calm + faults),
        severities=(1, 1, 1),
        topology=topology.name,
    )


def _kind(name: str, order: int, of: str, like: World, signature: Signature) -> Kind:
    said = name.replace("_", " ")
    train, test, ood = worded(said)
    return Kind(
        name=name,
        order=order,
        fault_class=of,
        tiers=tuple(tier.name for tier in like.rules.tiers),
        remedies=like.rules.remedies[:1],
        errors_first=bool(signature.get("errors", {}).get("itself", 0) > SHOWS),
        drifts=False,
        summary=f"recorded: {said}",
        signature=signature,
        names=phrasings("ERROR", f"the cause is {said}"),
        past=NounPhrases((train,), (test,), (ood,)),
    )


def _layout(topology: Topology, like: World) -> Layout:
    """The services of a recording, without calls that would close a circle."""
    owners = {tier.name: tier.owner or like.rules.owners[0] for tier in like.rules.tiers}
    missing = {row.tier for row in topology.services} - owners.keys()
    if missing:
        raise WorldError(
            f"world {like.name!r} has no tier {', '.join(sorted(missing))}, which the recordings "
            f"have; it has {', '.join(owners)}"
        )
    calls = without_circles(
        [row.name for row in topology.services],
        {row.name: row.tier for row in topology.services},
        {row.name: row.calls for row in topology.services},
        Counter(),
        lambda _: None,
    )
    return Layout(
        topology.name,
        tuple(
            attrs.evolve(row, owner=owners[row.tier], calls=calls[row.name])
            for row in topology.services
        ),
    )
