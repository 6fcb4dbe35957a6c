"""Signs that stay: drawn once for a condition of a service, and read with error.

A *sign* is what a service's condition shows of a sort (its alert, its loud topic, a gauge, half a
trace, a change). It is drawn once and stays until the condition changes. A *reading* shows the
sign, or a gap, or what any service might say; how often it does so depends on its sort, place and
tick, never on the condition. Whoever draws and whoever believes read these same tables.
"""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Final

import attrs

from logtriage.rng import draw, hash_name, subkey
from logtriage.world.channels import GAP, Channel
from logtriage.world.conditions import Condition
from logtriage.world.model import HEALTHY, World
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import (
    CALM,
    SILENT_SORTS,
    Place,
    Weights,
    alphabet,
    base_of,
    clear_edge,
    common,
    mix,
    only,
    shares,
)
from logtriage.world.vocabulary import ALERT, CHANGE, LOG, WINDOW

SIGN_STREAM: Final = hash_name("sign")
BLIND_STREAM: Final = hash_name("blind")
#: What of a service can be down: the first channel of each row stands for all of them.
_BLINDABLE: Final = {
    Channel.METRICS: Channel.METRICS,
    Channel.TRACES: Channel.TRACES,
    Channel.LOGS: Channel.LOGS,
    Channel.OVERVIEW: Channel.LOGS,
}


@attrs.frozen
class Reading:
    """How a reading comes about: weights that sum to 65,536.

    It shows the ``sign``, a ``gap``, or a token of ``other``, which are in the order of the
    alphabet. None of these is 0.
    """

    sign: int
    gap: int
    other: Weights


def reading(setting: Setting, sort: str, place: Place, start: int) -> Reading:
    """How a reading of a sort comes about at a place from tick ``start`` on."""
    return _reading(setting, sort, place, min(start, setting.grows_for))


@lru_cache(maxsize=65_536)
def _reading(setting: Setting, sort: str, place: Place, start: int) -> Reading:
    signs, base, fog = setting.world.rules.signs, base_of(sort), setting.fog_weight
    clear, gap, noise = FULL - fog, 0, 0
    if base != CHANGE:
        clear = clear * setting.strength(start) // FULL
    if base == LOG:
        clear = clear * signs.about // 100
    elif base not in (ALERT, CHANGE):
        gap = fog * signs.gaps // 100
    if sort == WINDOW:
        noise = setting.noise * FULL // 1000
        clear = clear * (FULL - noise) // FULL
    rest = FULL - clear - gap - noise
    other = [max(1, rest * b // FULL) for b in common(setting, base, place, calm=False)]
    other[0] += noise + rest - sum(other)
    return Reading(clear, gap, tuple(other))


def silent(setting: Setting, sort: str, start: int) -> bool:
    """Whether a root keeps its sign to itself in such a reading, and looks healthy there."""
    return start < setting.root_silent and sort in SILENT_SORTS


def is_root(world: World, condition: Condition) -> bool:
    """Whether a condition is a fault of the service's own, which may be silent at first."""
    return condition.name in world.kind_names


@lru_cache(maxsize=65_536)
def sign_weights(
    setting: Setting, sort: str, place: Place, condition: Condition, *, hidden: bool = False
) -> Weights:
    """The weights of the signs of a sort, in the order of :func:`~.tables.alphabet`.

    ``hidden``: of what a silent root shows instead of its own sign, as a healthy service would.
    """
    world, name = setting.world, HEALTHY if hidden else condition.name
    shown = world.signature(name).get(sort, {})
    row = shares(setting, sort, place, shown, () if hidden else condition.sick)
    if sort == LOG and not hidden and setting.naming_weight and is_root(world, condition):
        row = mix(row, only(setting, place, f"names:{name}"), setting.naming_weight)
    return row


def marginal(
    setting: Setting, sort: str, place: Place, condition: Condition, start: int
) -> Weights:
    """The weights of the alphabet for a reading by itself; a gap takes what they leave."""
    row = reading(setting, sort, place, start)
    hidden = silent(setting, sort, start) and is_root(setting.world, condition)
    weights = sign_weights(setting, base_of(sort), place, condition, hidden=hidden)
    return tuple(
        weight * row.sign // FULL + other for weight, other in zip(weights, row.other, strict=True)
    )


# --- drawing -------------------------------------------------------------------------


def drawn_sign(
    setting: Setting,
    seed: int,
    sort: str,
    service: int,
    place: Place,
    condition: Condition,
    begin: int,
    hidden: bool,
) -> int:
    """The sign of a condition that began at tick ``begin``, as a place in the alphabet."""
    steps = sign_steps(setting, sort, place, condition, hidden=hidden)
    key = subkey(sign_key(seed, sort), service << 1 | hidden)
    return bisect_right(steps, draw(key, begin) >> 48)


def sign_steps(
    setting: Setting, sort: str, place: Place, condition: Condition, *, hidden: bool
) -> Weights:
    """The sums of :func:`sign_weights`."""
    return _steps(sign_weights(setting, sort, place, condition, hidden=hidden))


def sign_key(seed: int, sort: str) -> int:
    """The key of the signs of a sort."""
    return subkey(subkey(seed, SIGN_STREAM), hash_name(sort))


@attrs.frozen(eq=False)
class Readings:
    """All readings of a sort at a place, compiled.

    ``rows`` are the points below which a reading shows its sign, those below which it shows that
    or a gap, and the sums of the weights of the other tokens; by the tick from which it holds,
    the last row for all later ones.
    """

    tokens: tuple[str, ...]
    rows: tuple[tuple[int, int, Weights], ...]

    def token(self, start: int, sign: int, point: int) -> str:
        """The token of a reading that has a sign, by a point below 65,536."""
        rows = self.rows
        clear, gap, steps = rows[start] if start < len(rows) else rows[-1]
        if point < clear:
            return self.tokens[sign]
        return GAP if point < gap else self.tokens[bisect_right(steps, point - gap)]


@lru_cache(maxsize=8192)
def readings(setting: Setting, sort: str, place: Place) -> Readings:
    """The readings of a sort at a place."""
    rows = [reading(setting, sort, place, start) for start in range(setting.grows_for + 1)]
    return Readings(
        alphabet(setting, base_of(sort), place),
        tuple([(row.sign, row.sign + row.gap, _steps(row.other)) for row in rows]),
    )


def picked(row: Weights, point: int) -> int:
    """The place in a row of weights that a point below their sum falls into."""
    return bisect_right(_steps(row), point)


@lru_cache(maxsize=65_536)
def _steps(row: Weights) -> Weights:
    return tuple(accumulate(row))


# --- blind spots ---------------------------------------------------------------------


def blinded(channel: Channel) -> Channel | None:
    """What of a service must be down for a channel to tell nothing; None if it never is."""
    return _BLINDABLE.get(channel)


def is_down(setting: Setting, seed: int, service: int, channel: Channel) -> bool:
    """Whether a channel of a service tells nothing for the whole incident, whatever is true."""
    part = blinded(channel)
    if part is None:
        return False
    bits = draw(subkey(subkey(seed, BLIND_STREAM), hash_name(str(part))), service)
    return bits >> 48 < setting.blind_weight


# --- the edge panel ------------------------------------------------------------------


@lru_cache(maxsize=64)
def edge_signs(
    setting: Setting, severity: int, errors_first: bool | None
) -> tuple[tuple[str, ...], Weights]:
    """The tokens that the edge may keep, and their weights.

    ``severity`` is 0, 1, 2 for P1, P2, P3, or ``CALM`` or ``RECOVERED``.
    """
    row = clear_edge(setting, severity, errors_first)
    kept = [
        (token, share) for token, share in zip(setting.world.edge_tokens, row, strict=True) if share
    ]
    return tuple(token for token, _ in kept), tuple(weight for _, weight in kept)


def drawn_edge_sign(
    setting: Setting, seed: int, severity: int, errors_first: bool | None, begin: int
) -> str:
    """The token that the edge keeps from tick ``begin`` on."""
    tokens, row = edge_signs(setting, severity, errors_first)
    return tokens[picked(row, draw(sign_key(seed, Channel.EDGE), begin) >> 48)]


def read_edge(setting: Setting, severity: int, sign: str, start: int, point: int) -> str:
    """The token of a panel by a point below 65,536."""
    row = edge_reading(setting, severity, sign, start)
    return setting.world.edge_tokens[picked(row, point)]


def edge_reading(setting: Setting, severity: int, sign: str, start: int) -> Weights:
    """The weights of the world's ``edge_tokens`` for a panel that keeps a token.

    Before the task's ``severity_from`` it may show the row one milder of the same lead, or what
    a calm edge shows.
    """
    return _edge_reading(setting, severity, sign, start < setting.severity_from)


@lru_cache(maxsize=4096)
def _edge_reading(setting: Setting, severity: int, sign: str, early: bool) -> Weights:
    world = setting.world
    tokens, edge = world.edge_tokens, world.rules.edge
    row = [0] * len(tokens)
    left = FULL
    if early:
        calm = FULL * edge.early_calm // 100
        row = [weight * calm // FULL for weight in clear_edge(setting, CALM, None)]
        left = FULL - sum(row)
        milder = left * edge.early_milder // 100
        row[tokens.index(_milder(world, severity, sign))] += milder
        left -= milder
    row[tokens.index(sign)] += left
    return tuple(row)


def _milder(world: World, severity: int, sign: str) -> str:
    """The row with the same lead (errors or latency), one severity milder."""
    bands = tuple(world.bands)
    if severity >= CALM - 1:
        return sign
    own = bands[-1 - severity]
    if severity + 1 < CALM - 1:
        return "/".join(bands[-2 - severity] if band == own else band for band in sign.split("/"))
    errors, p99 = (bands.index(band) for band in sign.split("/"))
    return f"{bands[errors >= p99]}/{bands[p99 >= errors]}"
