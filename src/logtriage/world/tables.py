"""Signatures as whole numbers: the tables that draws and beliefs share.

Every distribution is a tuple of weights that sum to 65,536.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.topology import Topology
from logtriage.world.channels import NAMES, NO_NEWS, about, about_kind
from logtriage.world.model import HEALTHY
from logtriage.world.schema.parts import EdgeRow, Shares
from logtriage.world.setting import FULL, Setting
from logtriage.world.vocabulary import LOG

Weights = tuple[int, ...]


@attrs.frozen(cache_hash=True)
class Place:
    """The tier and the calls of a service, which decide what tokens make sense there."""

    tier: str
    calls: tuple[int, ...]


@lru_cache(maxsize=4096)
def places(topology: Topology) -> tuple[Place, ...]:
    """The place of every service."""
    return tuple(
        Place(row.tier, calls) for row, calls in zip(topology.services, topology.calls, strict=True)
    )


@lru_cache(maxsize=8192)
def alphabet(setting: Setting, sort: str, place: Place) -> tuple[str, ...]:
    """The tokens of a sort at a place, the ordinary one first; UnknownName for an unknown sort."""
    world = setting.world
    if sort not in world.sorts:
        raise UnknownName("sort of history", sort, world.cell_sorts)
    calls = (about(name, callee) for name in world.naming_tokens(sort) for callee in place.calls)
    tokens = (*world.tokens_at(sort, place.tier), *calls)
    if sort != LOG or not setting.naming_weight:
        return tokens
    return (*tokens, *(about_kind(kind.name) for kind in world.kinds_at(place.tier)))


def picked(row: Weights, point: int) -> int:
    """The index in a row of weights that a point below their sum falls into."""
    return bisect_right(_steps(row), point)


@lru_cache(maxsize=65_536)
def _steps(row: Weights) -> Weights:
    return tuple(accumulate(row))


def only(setting: Setting, place: Place, line: str) -> Weights:
    """The weights of log tokens if the token is ``line`` for certain."""
    return tuple(FULL * (token == line) for token in alphabet(setting, LOG, place))


@lru_cache(maxsize=16_384)
def common(setting: Setting, sort: str, place: Place, *, calm: bool) -> Weights:
    """The weights of a sort's tokens: of a healthy service (``calm``), or of the background."""
    world = setting.world
    row = world.signature(HEALTHY) if calm else world.background
    return shares(setting, sort, place, row.get(sort, {}), () if calm else place.calls)


def shares(
    setting: Setting, sort: str, place: Place, percent: Shares, named: tuple[int, ...]
) -> Weights:
    """The weights of tokens from shares in per cent.

    The share of a token that names a dependency is split evenly among the callees in ``named``, the
    share of :data:`NAMES` among the kinds at the tier.
    """
    targets = tuple(callee for callee in named if callee in place.calls)
    naming = setting.world.naming_tokens(sort)
    row = []
    for token in alphabet(setting, sort, place):
        name, _, callee = token.partition(":")
        share = percent.get(name, 0) * FULL // 100
        if name in naming:
            share = share // len(targets) if int(callee) in targets else 0
        elif name == NAMES:
            share //= len(setting.world.kinds_at(place.tier))
        row.append(share)
    row[0] += FULL - sum(row)
    return tuple(row)


def mix(first: Weights, second: Weights, share: int, rest: int | None = 0) -> Weights:
    """A mixture of two rows of weights: ``share`` of 65,536 from the second, else the first.

    What rounding leaves goes to the token at index ``rest`` (0: the ordinary one), or for None to
    the likeliest.
    """
    mixed = [(a * (FULL - share) + b * share) // FULL for a, b in zip(first, second, strict=True)]
    at = max(range(len(mixed)), key=mixed.__getitem__) if rest is None else rest
    mixed[at] += FULL - sum(mixed)
    return tuple(mixed)


# --- the edge panel ------------------------------------------------------------------

#: The index of severity P3 (after P1 and P2), then the states of benign and recovered incidents.
P3, CALM, RECOVERED = 2, 3, 4
#: A P3 moves nothing at the edge in ``edge.unmoved`` of this many incidents.
UNMOVED_OF: Final = 16


@lru_cache(maxsize=512)
def edge_weights(setting: Setting, severity: int, errors_first: bool | None, start: int) -> Weights:
    """The weights of the world's ``edge_tokens`` for a panel that holds from tick ``start``.

    ``severity`` is 0, 1, 2 for P1, P2, P3, or :data:`CALM` or :data:`RECOVERED`.
    """
    row = certain_edge_weights(setting, severity, errors_first)
    if start >= setting.severity_from or severity >= CALM:
        return row
    edge = setting.world.rules.edge
    milder = certain_edge_weights(setting, min(severity + 1, P3), errors_first)
    calm = certain_edge_weights(setting, CALM, None)
    for other, percent in ((milder, edge.early_milder), (calm, edge.early_calm)):
        row = mix(row, other, FULL * percent // 100, rest=None)
    return row


def certain_edge_weights(setting: Setting, severity: int, errors_first: bool | None) -> Weights:
    """The weights of the world's ``edge_tokens`` for a panel that shows the severity for certain.

    ``edge.leads`` weighs how often errors lead, both move, or p99 leads; without ``errors_first``
    it is read backwards. What leads is in the band of the severity, the other slight or usual. A P3
    only moves to slight, or not at all.
    """
    world = setting.world
    edge, bands = world.rules.edge, tuple(world.bands)  # usual, slight, P2, P1
    if severity >= CALM:
        return _edge_row(setting, edge.calm if severity == CALM else edge.recovered)
    usual, slight, own = bands[0], bands[1], bands[-1 - severity]
    errors_lead, both_move, p99_leads = edge.leads if errors_first else edge.leads[::-1]
    if severity == P3:
        moved = UNMOVED_OF - edge.unmoved
        rows = [
            EdgeRow(usual, usual, sum(edge.leads) * edge.unmoved),
            EdgeRow(slight, usual, errors_lead * moved),
            EdgeRow(slight, slight, both_move * moved),
            EdgeRow(usual, slight, p99_leads * moved),
        ]
    else:
        rows = [
            EdgeRow(own, slight, errors_lead),
            EdgeRow(own, usual, errors_lead),
            EdgeRow(own, own, 2 * both_move),  # twice, as the other two have two rows each
            EdgeRow(slight, own, p99_leads),
            EdgeRow(usual, own, p99_leads),
        ]
    return _edge_row(setting, rows)


def _edge_row(setting: Setting, parts: Sequence[EdgeRow]) -> Weights:
    """The weights of ``edge_tokens``; the first part takes what rounding leaves."""
    row = dict.fromkeys(setting.world.edge_tokens, 0)
    whole = sum(part.weight for part in parts)
    for part in parts:
        row[f"{part.errors}/{part.p99}"] = part.weight * FULL // whole
    row[f"{parts[0].errors}/{parts[0].p99}"] += FULL - sum(row.values())
    return tuple(row.values())


# --- notes ---------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def note_weights(setting: Setting, kind: str, tier: str) -> tuple[tuple[str, int], ...]:
    """(token, weight) of each note that responders may write about a fault of a kind.

    A note has no news as often as there is fog, otherwise a log token of the kind.
    """
    world, share = setting.world, FULL - setting.fog_weight
    here = world.tokens_at(LOG, tier)
    shown = world.kind(kind).signature.get(LOG, {})
    signs = {token: percent for token, percent in shown.items() if token in here}
    rows = [(token, percent * share // sum(signs.values())) for token, percent in signs.items()]
    return ((NO_NEWS, FULL - sum(weight for _, weight in rows)), *rows)
