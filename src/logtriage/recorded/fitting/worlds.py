"""A world of counts: its signatures are shares of signs in labelled recordings."""

from collections import Counter
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.errors import WorldError
from logtriage.recorded.condensing.call_graph import BACKGROUND
from logtriage.recorded.fitting.signs import SORTS
from logtriage.recorded.fitting.tables import ANOTHER, UNCLASSED, Counts, Smoothing, Tables
from logtriage.recorded.importing.topology import without_circles
from logtriage.topology import Topology
from logtriage.world.loading import build
from logtriage.world.model import HEALTHY, WAITING, World
from logtriage.world.schema.canonical import document_of
from logtriage.world.schema.forms import Figure, Range
from logtriage.world.schema.parts import (
    OWNER,
    Affected,
    Benign,
    FaultClass,
    Fog,
    Kind,
    Layout,
    NounPhrases,
    Phrasings,
    Rules,
    Signature,
    Task,
    Technology,
    Topic,
)
from logtriage.world.schema.tokens import Gauge, Metric, Reading, Token, Tokens
from logtriage.world.vocabulary import CHANGE, LOG

#: The share of kind :data:`~.tables.ANOTHER` among faults, in per cent.
ANOTHER_SHARE: Final = 10
#: The task of a fitted world.
TASK: Final = "recorded"
#: A benign kind must exist; it looks healthy.
_QUIET: Final = "quiet"
#: Users see errors first from this share of own errors on, in per cent.
_SHOWS: Final = 50

_NETWORK: Final = Gauge(
    name="network",
    ordinary="usual",
    tokens=(Token("high", "slow network"),),
    readings=(
        Reading(
            label="network ms",
            shows=MappingProxyType({"usual": "usual", "high": "high"}),
            metric=Metric("network.delay", "ms"),
        ),
    ),
    figures=MappingProxyType(
        {
            "usual": Figure("usual", Range(1, 5), "network usual"),
            "high": Figure("high", Range(60, 400), "network high"),
        }
    ),
)
#: Lines that are new, more frequent or rarer than in the baseline, by topic.
_LINES: Final = {
    "exceptions": ("~new error", "ERROR", "a kind of error that is new"),
    "risen": ("~risen", "WARN", "a complaint that is more frequent than usual"),
    "vanished": ("~vanished", "INFO", "work as usual, in fewer requests than before"),
}


def fitted_world(
    counts: Counts, like: World, topology: Topology, name: str, smoothing: Smoothing
) -> World:
    """The world of some counts: kinds, signatures, fog and topology; the rest is ``like``'s.

    Kinds are those of the recordings and :data:`ANOTHER`. Shares are whole per cent and at least
    1, so that no sign rules a condition out. Gauges that no recording can show are left out.

    Raises:
        WorldError: for recordings without a fault, kinds that a world cannot have, or a world
            that lacks a tier of the recordings.
    """
    _check_kinds(counts, name)
    tokens = _tokens(like)
    topics = _topics(like)
    technologies = _technologies(like, topics)
    base = attrs.evolve(like, tokens=tokens, topics=topics, technologies=technologies)
    tables = Tables(counts, base, smoothing)
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
        layouts=(_layout(_as_in_worlds(topology), like),),
    )
    return build(document_of(world), name)


def _check_kinds(counts: Counts, name: str) -> None:
    if not counts.kinds:
        raise WorldError(f"{name}: no recording has a fault: there is nothing to fit")
    taken = (ANOTHER, HEALTHY, WAITING, _QUIET)
    classes: dict[str, str] = {}
    for kind, of in sorted(counts.kinds):
        if kind in taken:
            raise WorldError(
                f"{name}: a fitted world has {', '.join(taken)} of its own; call the "
                f"recorded kind {kind!r} something else"
            )
        if classes.setdefault(kind, of) != of:
            raise WorldError(
                f"{name}: kind {kind!r} is of class {classes[kind]!r} in one recording and "
                f"{of!r} in another; a kind has one class"
            )


def _tokens(like: World) -> Tokens:
    """The tokens of the world without gauges that no recording can show, with the network's."""
    tokens = like.tokens
    gauges = tuple(gauge for gauge in tokens.gauges if gauge.name in SORTS)
    if not any(gauge.name == _NETWORK.name for gauge in gauges):
        gauges += (_NETWORK,)
    measured = [*(gauge.name for gauge in gauges), *(span.name for span in tokens.spans)]
    kept = {*measured, CHANGE, LOG}
    order = [sort for sort in tokens.runbook_order if sort in kept]
    return attrs.evolve(
        tokens,
        gauges=gauges,
        runbook_order=tuple(dict.fromkeys([*order, *(gauge.name for gauge in gauges)])),
    )


def _rules(counts: Counts, like: World, topology: Topology, name: str, tables: Tables) -> Rules:
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
        onset=2,
        par=6,
        par_benign=4,
        benign=1000 * counts.calm // (counts.calm + faults),
        severities=(1, 1, 1),
        topology=topology.name,
    )


def _kind(name: str, order: int, of: str, like: World, signature: Signature) -> Kind:
    words = name.replace("_", " ")
    train, test, ood = _worded(words)
    return Kind(
        name=name,
        order=order,
        fault_class=of,
        tiers=tuple(tier.name for tier in like.rules.tiers),
        remedies=like.rules.remedies[:1],
        errors_first=bool(signature.get("errors", {}).get("itself", 0) > _SHOWS),
        drifts=False,
        summary=f"recorded: {words}",
        signature=signature,
        names=_phrasings("ERROR", f"the cause is {words}"),
        past=NounPhrases((train,), (test,), (ood,)),
    )


def _as_in_worlds(topology: Topology) -> Topology:
    """The topology with edges for what works in the background, of which worlds know nothing."""
    services = (
        attrs.evolve(row, tier="edge") if row.tier == BACKGROUND else row
        for row in topology.services
    )
    return attrs.evolve(topology, services=tuple(services))


def _layout(topology: Topology, like: World) -> Layout:
    """The services of a recording, without calls that would close a circle."""
    missing = {row.tier for row in topology.services}.difference(like.tier_names)
    if missing:
        raise WorldError(
            f"world {like.name!r} has no tier {', '.join(sorted(missing))}, which the recordings "
            f"have; it has {', '.join(like.tier_names)}"
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
        tuple(attrs.evolve(row, owner=None, calls=calls[row.name]) for row in topology.services),
    )


# --- words -------------------------------------------------------------------------------


def _topics(like: World) -> tuple[Topic, ...]:
    """The ordinary topic of a world, and those that a recording can show."""
    ordinary = next(topic for topic in like.topics if topic.ordinary)
    tiers = tuple(tier.name for tier in like.rules.tiers)
    return (
        attrs.evolve(ordinary, order=0),
        *(
            Topic(name, order, tiers, word, phrasings=_phrasings(level, text))
            for order, (name, (word, level, text)) in enumerate(_LINES.items(), start=1)
        ),
    )


def _technologies(like: World, topics: tuple[Topic, ...]) -> tuple[Technology, ...]:
    """The technologies of a world, which word the ordinary topic alone."""
    ordinary = {topic.name for topic in topics if topic.ordinary}
    return tuple(
        attrs.evolve(
            row, topics={name: row.topics[name] for name in row.topics if name in ordinary}
        )
        for row in like.technologies
    )


def _phrasings(level: str, text: str) -> Phrasings:
    """A line in the three groups of phrasings."""
    train, test, ood = _worded(text)
    return Phrasings(((level, train),), ((level, test),), ((level, ood),))


def _worded(text: str) -> tuple[str, str, str]:
    """A text in three wordings, since no text may stand in two groups of phrasings."""
    return text, f"{text}, seen", f"{text}, noted"
