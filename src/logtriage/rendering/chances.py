"""The signature table, in words and figures: what each condition shows, and how often."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.actions import SEVERITIES
from logtriage.topology import Topology
from logtriage.world.channels import NAMES
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.schema.forms import Climb, Range
from logtriage.world.schema.parts import Benign, Kind, Signature
from logtriage.world.schema.tokens import Gauge
from logtriage.world.setting import Setting
from logtriage.world.vocabulary import LOG

#: The name of the row for coincidences: signs that any service can show.
ANY: Final = "ANY"
#: Signs rarer than this, in per cent, are left out.
LEAST: Final = 5
#: The row :data:`ANY` names signs from this share on, and gives a range of shares for the rest.
COMMON: Final = 20
#: With at most this many different shares, that limit follows from them (:func:`_least`).
GRID: Final = 6
#: The words for a line that names its cause.
_NAMED: Final = "its cause"
#: A share and the words of its sign.
Share = tuple[int, str]


def runbook(topology: Topology, setting: Setting) -> Iterator[str]:
    """Lines of the runbook: a legend, then a row for each condition under headings."""
    world, rules = setting.world, setting.world.rules
    yield _legend(setting)
    for group in fault_groups(world, topology):
        yield f"{group.fault_class} (page {group.page}):"
        for kind in group.kinds:
            lead = "!" if kind.errors_first else ""
            star = "*" if is_only_minor(kind, setting) else ""
            remedies = "/".join(kind.remedies)
            heading = f"{kind.name}{lead}{star}{_where(kind, world) or ' any'} {remedies}"
            yield f"{heading}: {_row(world, _untypical(world, kind))}"
    yield "no fault:"
    unharmed = {WAITING: rules.affected.waiting, LOADED: rules.affected.loaded}
    unharmed |= {distraction.words: distraction.signature for distraction in rules.distractions}
    unharmed[HEALTHY] = rules.healthy
    yield from _rows(world, unharmed)
    yield f"benign ({SEVERITIES[-1]}, ignore):"
    benign = {f"{calm.name}{_where(calm, world)}": calm.signature for calm in world.benign}
    yield from _rows(world, benign)
    if rules.common:
        yield f"any service, else: {_row(world, rules.common, least=1)}"
    yield f"{ANY}: {_row(world, world.background, least=_least(world))}{_range(world)}"


@lru_cache(maxsize=64)
def _typical(world: World, errors_first: bool) -> Signature:
    """Signs that all kinds with this ``errors_first`` show, each with its commonest share."""
    rows = [kind.signature for kind in world.kinds if kind.errors_first == errors_first]
    typical: dict[str, dict[str, int]] = {}
    if len(rows) < 2:  # a single kind tells all its signs itself
        return typical
    for sort in (sort for sort in world.tokens.runbook_order if sort != LOG):
        for token in rows[0].get(sort, {}):
            shares = [row.get(sort, {}).get(token, 0) for row in rows]
            if min(shares) >= LEAST:
                typical.setdefault(sort, {})[token] = Counter(shares).most_common(1)[0][0]
    return typical


def _untypical(world: World, kind: Kind) -> Signature:
    """The signs of a kind without those that :func:`_typical` tells with the same share."""
    typical = _typical(world, kind.errors_first)
    return {
        sort: {
            token: share
            for token, share in row.items()
            if typical.get(sort, {}).get(token) != share
        }
        for sort, row in kind.signature.items()
    }


def _least(world: World) -> int:
    """The least share in the row :data:`ANY`: the second smallest of a few, else COMMON."""
    rows = world.background.values()
    shares = sorted({share for row in rows for share in row.values() if share})
    return shares[1] if 1 < len(shares) <= GRID else COMMON


def _range(world: World) -> str:
    """Shares below :func:`_least`, as ``, other signs 3-15, topics 2``; empty if there are none."""
    least = _least(world)
    signs: list[int] = []
    topics: list[int] = []
    for sort, row in world.background.items():
        rare = topics if sort == LOG else signs
        rare += (share for token, share in row.items() if token != NAMES and share < least)
    parts = []
    for what, shares in (("signs", signs), ("topics", topics)):
        if shares:
            low, high = min(shares), max(shares)
            parts.append(f"{what} {low}" if low == high else f"{what} {low}-{high}")
    return f", other {', '.join(parts)}" if parts else ""


def _rows(world: World, signatures: Mapping[str, Signature]) -> Iterator[str]:
    rows = ((name, _row(world, signature)) for name, signature in signatures.items())
    yield from (f"{name}: {row}" for name, row in rows if row)


def _legend(setting: Setting) -> str:
    world = setting.world
    words = "".join(f" {_meaning(gauge)}." for gauge in world.tokens.gauges if gauge.explained)
    rows = _rows(world, {"!": _typical(world, True), "others": _typical(world, False)})
    shared = "; ".join(rows)
    typical = f" Unless said, {shared}." if shared else ""
    creeping = " *: only minor here." if setting.creeping else ""
    return (
        f"RUNBOOK. fault tiers (initials) remedy: % of signs; log topics (from {LEAST} up). "
        "Without a %: as the one before. The rest, or what a tier lacks, is usual. !: see EDGE."
        f"{typical}{words} Calls name a sick service; in {ANY}, any.{creeping}"
    )


def _meaning(gauge: Gauge) -> str:
    rows = []
    for line in gauge.readings:
        meanings = [
            f"{token.word} {_band(gauge, line.shows[token.name])}"
            for token in gauge.tokens
            if token.name in line.shows
        ]
        rows.append(f"{line.label}: {', '.join(meanings)}")
    return "; ".join(rows)


def _band(gauge: Gauge, name: str) -> str:
    match gauge.figures[name].form:
        case Range(low, high) | Climb(low, high):
            return f"{low}-{high}" if low < high else f"{low}"
        case _:
            return "…"


def _where(row: Kind | Benign, world: World) -> str:
    """A blank and the initials of the tiers where a condition can be; empty if at all tiers."""
    everywhere = len(row.tiers) == len(world.tier_names)
    return "" if everywhere else f" {''.join(tier[0] for tier in row.tiers)}"


def _row(world: World, signature: Signature, *, least: int = LEAST) -> str:
    shown: list[Share] = []
    topics: list[Share] = []
    for sort in world.tokens.runbook_order:
        rows = topics if sort == LOG else shown
        for token, share in signature.get(sort, {}).items():
            if share >= least:
                rows.append((share, _word(world, sort, token)))
    columns = [_grouped(shown), _grouped(topics)] if topics else [_grouped(shown)]
    return "; ".join(", ".join(column) for column in columns).strip()


def _grouped(signs: list[Share]) -> Iterator[str]:
    """A text for each share: the figure, then the words of its signs; the greatest share first."""
    ordered = sorted(signs, key=lambda sign: -sign[0])
    for share, rows in groupby(ordered, key=lambda sign: sign[0]):
        yield f"{share} {', '.join(word for _, word in rows)}"


def _word(world: World, sort: str, token: str) -> str:
    """A sign in words; a log topic without its ``~``, since topics stand apart."""
    return _NAMED if token == NAMES else world.words[sort][token].removeprefix("~")


#: The short runbook names signs with at least this share, in per cent.
TELLING: Final = 40


def short_runbook(topology: Topology, world: World) -> Iterator[str]:
    """A row for each kind of fault: where it can be, its remedies, and its most telling signs."""
    yield "RUNBOOK. fault tiers (initials) remedy: signs, likeliest first; log topics"
    for group in fault_groups(world, topology):
        yield f"{group.fault_class} (page {group.page}):"
        for kind in group.kinds:
            columns = map(", ".join, _signs(world, kind.signature))
            signs = "; ".join(column for column in columns if column)
            where = _where(kind, world) or " any"
            yield f"{kind.name}{where} {'/'.join(kind.remedies)}: {signs}"
    benign = ", ".join(calm.name for calm in world.benign)
    if benign:
        yield f"benign ({SEVERITIES[-1]}, ignore): {benign}"


def _signs(world: World, signature: Signature) -> tuple[list[str], list[str]]:
    """(words of the telling signs, words of the telling log topics)."""
    others = [sort for sort in world.tokens.runbook_order if sort != LOG]
    return _telling(world, signature, others), _telling(world, signature, [LOG])


def _telling(world: World, signature: Signature, sorts: Iterable[str]) -> list[str]:
    """Words of the likeliest sign and of all from :data:`TELLING` on, the likeliest first."""
    signs = [
        (share, _word(world, sort, token))
        for sort in sorts
        for token, share in signature.get(sort, {}).items()
        if share
    ]
    ranked = sorted(signs, key=lambda sign: (-sign[0], sign[1]))
    return [word for place, (share, word) in enumerate(ranked) if place == 0 or share >= TELLING]


@attrs.frozen
class FaultGroup:
    """The kinds of fault with the same class and ``page``, which is a team or ``the owner``."""

    fault_class: str
    page: str
    kinds: tuple[Kind, ...]


def fault_groups(world: World, topology: Topology) -> tuple[FaultGroup, ...]:
    """All kinds of fault, grouped by class and by the team to page."""
    groups = grouped(
        ((kind.fault_class, world.pages(kind.name, topology) or "the owner"), kind)
        for kind in world.kinds
    )
    return tuple(FaultGroup(name, page, tuple(kinds)) for (name, page), kinds in groups.items())


def is_only_minor(kind: Kind, setting: Setting) -> bool:
    """Whether a kind of fault occurs in a task only as a minor fault."""
    return setting.creeping and not kind.drifts


def groups_of(world: World) -> dict[str, Mapping[str, Signature]]:
    """Every signature of a world: heading of a group, name of a condition, signature."""
    rules, every = world.rules, world.signatures
    names = {
        "roots and minor faults": world.kind_names,
        "affected by a root": (WAITING, LOADED),
        "benign": tuple(condition.name for condition in world.benign),
        "unaffected": (HEALTHY, *(condition.name for condition in rules.distractions)),
    }
    groups = {title: {name: every[name] for name in row} for title, row in names.items()}
    return {**groups, "fog": {"background": world.background}}


def shares_of(world: World, signature: Signature) -> Iterator[tuple[str, dict[str, int]]]:
    """(sort, per cent of each token) for sorts of a signature; the usual token has the rest."""
    for sort, ordinary in world.ordinary.items():
        shares = dict(signature.get(sort, {}))
        if shares:
            shares[ordinary] = 100 - sum(shares.values())
            yield sort, shares
