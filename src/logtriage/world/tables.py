"""Signatures as whole numbers: the table that draws and beliefs share.

Every distribution is a tuple of weights that sum to 65,536. A draw takes 16 random
bits; the belief takes the same weight. Nothing here is a float.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.topology import Topology
from logtriage.world.channels import (
    ALERT_TOKENS,
    BANDS,
    CALLS,
    CHANGE_TOKENS,
    GAUGE_TOKENS,
    ITSELF,
    LOG_TOKENS,
    NO_NEWS,
    NOWHERE,
    TIER_TOKENS,
    TIMEOUT,
    about,
    about_kind,
)
from logtriage.world.conditions import Condition
from logtriage.world.faults import FAULT_KINDS
from logtriage.world.setting import FOG, FULL, NAMED, Setting
from logtriage.world.signatures import (
    AFFECTED,
    BACKGROUND,
    BENIGN,
    DISTRACTIONS,
    HEALTHY,
    HEALTHY_SIGNATURE,
    KINDS,
    ORDINARY,
    Signature,
)

Weights = tuple[int, ...]
_EVERY: Final[Mapping[str, Signature]] = {
    **KINDS,
    **AFFECTED,
    **BENIGN,
    **DISTRACTIONS,
    HEALTHY: HEALTHY_SIGNATURE,
}
#: What grows in a slow drift, and what a cascade's root hides at first.
_GROWING: Final = frozenset({*KINDS, *AFFECTED, *BENIGN})
_HIDDEN: Final = frozenset(KINDS)
#: The sorts that a root keeps silent about at first. ``window`` is the sort of the lines
#: in the shared window; asked for, a line is of sort ``log``.
_SILENT_SORTS: Final = frozenset({"alert", "window"})


@attrs.frozen(cache_hash=True)
class Place:
    """What of a service decides which tokens make sense there."""

    tier: str
    calls: tuple[int, ...]


@lru_cache(maxsize=4096)
def places(topology: Topology) -> tuple[Place, ...]:
    """The place of every service."""
    return tuple(
        Place(row.tier, calls) for row, calls in zip(topology.services, topology.calls, strict=True)
    )


@lru_cache(maxsize=4096)
def alphabet(sort: str, place: Place, fog: int) -> tuple[str, ...]:
    """The tokens that a cell of this sort can hold at a place; the ordinary one first."""
    match sort:
        case "alert":
            return ALERT_TOKENS
        case "change":
            return CHANGE_TOKENS
        case "time" | "errors":
            return (NOWHERE, ITSELF, *(about(CALLS, one) for one in place.calls))
        case "tier":
            return TIER_TOKENS[place.tier]
        case "log" | "window":
            named = (
                (about_kind(kind.name) for kind in FAULT_KINDS if place.tier in kind.tiers)
                if NAMED[fog]
                else ()
            )
            return (
                *(token for token, tiers in LOG_TOKENS.items() if place.tier in tiers),
                *(about(TIMEOUT, one) for one in place.calls),
                *named,
            )
        case "cpu" | "memory" | "workers" | "traffic":
            return GAUGE_TOKENS[sort]
        case _:
            raise UnknownName("sort of cell", sort, (*ORDINARY, "window"))


def signature_of(condition: str) -> Signature:
    """How often a condition shows what.

    Raises:
        UnknownName: for a condition without a signature: nobody could tell how it looks.
    """
    if condition not in _EVERY:
        raise UnknownName("condition", condition, _EVERY)
    return _EVERY[condition]


def weights(setting: Setting, sort: str, place: Place, condition: Condition, start: int) -> Weights:
    """The weights of :func:`alphabet` for a cell that holds from tick ``start``."""
    return _weights(setting, sort, place, condition, setting.settled(start))


@lru_cache(maxsize=65_536)
def _weights(
    setting: Setting, sort: str, place: Place, condition: Condition, start: int
) -> Weights:
    base = "log" if sort == "window" else sort
    tokens = alphabet(sort, place, setting.fog)
    calm = _common(base, place, setting.fog, calm=True)
    silent = start < setting.root_silent and sort in _SILENT_SORTS and condition.name in _HIDDEN
    signature = HEALTHY_SIGNATURE if silent else signature_of(condition.name)
    row = _shares(base, signature, tokens, place, condition.sick)
    if base == "log" and condition.name in KINDS and not silent and NAMED[setting.fog]:
        named = tuple(FULL * (token == about_kind(condition.name)) for token in tokens)
        row = _mix(row, named, NAMED[setting.fog])
    if condition.name in _GROWING and sort != "change":
        row = _mix(calm, row, setting.strength(start))
    row = _mix(row, _common(base, place, setting.fog, calm=False), setting.fog_weight)
    if sort == "window":
        ordinary = tuple(FULL * (token == tokens[0]) for token in tokens)
        row = _mix(row, ordinary, setting.noise * FULL // 1000)
    return row


def stages(setting: Setting, sort: str) -> int:
    """How many starts have weights of their own: from the last of them on nothing moves."""
    growing = setting.grows_for if sort != "change" else 0
    return 1 + max(growing, setting.root_silent if sort in _SILENT_SORTS else 0)


@lru_cache(maxsize=16_384)
def _common(sort: str, place: Place, fog: int, *, calm: bool) -> Weights:
    """What a healthy service says without fog, or what everyone says."""
    tokens = alphabet(sort, place, fog)
    if calm:
        return _shares(sort, HEALTHY_SIGNATURE, tokens, place, ())
    return _shares(sort, BACKGROUND, tokens, place, place.calls)


@lru_cache(maxsize=16_384)
def _words(tokens: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Tokens as a name and what it is about."""
    return tuple((name, about) for name, _, about in (one.partition(":") for one in tokens))


def _shares(
    sort: str,
    signature: Signature,
    tokens: tuple[str, ...],
    place: Place,
    named: tuple[int, ...],
) -> Weights:
    """A row of per cent as weights; what names a dependency is shared among ``named``."""
    percent = signature.get(sort, {})
    targets = tuple(one for one in named if one in place.calls)
    row = []
    for name, service in _words(tokens):
        share = percent.get(name, 0) * FULL // 100
        if name in (TIMEOUT, CALLS):
            share = share // len(targets) if int(service) in targets else 0
        row.append(share)
    row[tokens.index(ORDINARY[sort])] += FULL - sum(row)
    return tuple(row)


def _mix(first: Weights, second: Weights, share: int) -> Weights:
    """``share`` of 65,536 of the second row, the rest of the first.

    What rounding leaves goes to the ordinary token, which stands first.
    """
    mixed = [(a * (FULL - share) + b * share) // FULL for a, b in zip(first, second, strict=True)]
    mixed[0] += FULL - sum(mixed)
    return tuple(mixed)


# --- the edge panel ------------------------------------------------------------------

#: Errors and p99 in their bands: every token of the panel.
EDGE_TOKENS: Final = tuple(f"{errors}/{p99}" for errors in BANDS for p99 in BANDS)
#: The severities in order, and after them what a benign incident and a recovered one show.
CALM, RECOVERED = 3, 4
_BAND: Final = (3, 2, 1)
#: Shares of 16: which of errors and p99 leads, errors, both, p99, where errors come first.
_LEADS: Final = (8, 5, 3)
#: Of a P3, this share (of 16) moves nothing at the edge.
_UNMOVED: Final = 2


@lru_cache(maxsize=256)
def edge_weights(setting: Setting, severity: int, errors_first: bool | None, start: int) -> Weights:
    """The weights of :data:`EDGE_TOKENS` for a panel that holds from tick ``start``.

    ``severity`` is 0, 1, 2 for P1, P2, P3, or :data:`CALM` or :data:`RECOVERED`. Before
    the task's ``severity_from`` the panel may show it one class too low.
    """
    row = _clear_edge(severity, errors_first)
    if start >= setting.severity_from or severity >= CALM:
        return row
    milder = _clear_edge(min(severity + 1, 2), errors_first)
    calm = _clear_edge(CALM, None)
    return _mix_edge(_mix_edge(row, milder, FULL * 2 // 5), calm, FULL // 5)


def _clear_edge(severity: int, errors_first: bool | None) -> Weights:
    row = dict.fromkeys(EDGE_TOKENS, 0)
    if severity == RECOVERED:
        return _edge_row(row, {(0, 0): 15, (0, 1): 1})
    if severity == CALM:
        return _edge_row(row, {(0, 0): 10, (1, 0): 2, (0, 1): 3, (1, 1): 1})
    errors, both, p99 = _LEADS if errors_first else tuple(reversed(_LEADS))
    band = _BAND[severity]
    if severity == 2:  # a P3 moves the panel a little, or not at all
        left = 16 - _UNMOVED
        return _edge_row(
            row,
            {(0, 0): 16 * _UNMOVED, (1, 0): errors * left, (1, 1): both * left,
             (0, 1): p99 * left},
        )  # fmt: skip
    return _edge_row(
        row, {(band, 1): errors, (band, 0): errors, (band, band): 2 * both,
              (1, band): p99, (0, band): p99}
    )  # fmt: skip


def _edge_row(row: dict[str, int], parts: Mapping[tuple[int, int], int]) -> Weights:
    whole = sum(parts.values())
    for (errors, p99), part in parts.items():
        row[f"{BANDS[errors]}/{BANDS[p99]}"] = part * FULL // whole
    first = next(iter(parts))
    row[f"{BANDS[first[0]]}/{BANDS[first[1]]}"] += FULL - sum(row.values())
    return tuple(row.values())


def _mix_edge(first: Weights, second: Weights, share: int) -> Weights:
    mixed = [(a * (FULL - share) + b * share) // FULL for a, b in zip(first, second, strict=True)]
    mixed[max(range(len(mixed)), key=mixed.__getitem__)] += FULL - sum(mixed)
    return tuple(mixed)


# --- notes ---------------------------------------------------------------------------


@lru_cache(maxsize=512)
def note_weights(kind: str, tier: str, fog: int) -> tuple[tuple[str, int], ...]:
    """What responders see at a root that is theirs.

    Nothing, in as many cases as there is fog, else one of the kind's telling log tokens.
    """
    share = FULL - FOG[fog]
    signs = {
        token: percent
        for token, percent in KINDS[kind]["log"].items()
        if tier in LOG_TOKENS.get(token, ())
    }
    rows = [(token, percent * share // sum(signs.values())) for token, percent in signs.items()]
    return ((NO_NEWS, FULL - sum(weight for _, weight in rows)), *rows)
