"""The edge panel, which shows what users see: it draws one token by severity and keeps it."""

from functools import lru_cache

from logtriage.rng import draw, hash_name, subkey
from logtriage.world.model import World
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import CALM, P3, Weights, certain_edge_weights, picked

EDGE_STREAM = hash_name("edge sign")


@lru_cache(maxsize=64)
def edge_signs(
    setting: Setting, severity: int, errors_first: bool | None
) -> tuple[tuple[str, ...], Weights]:
    """(tokens that the edge panel may draw and keep, their weights).

    ``severity`` is 0, 1, 2 for P1, P2, P3, or ``CALM`` or ``RECOVERED``.
    """
    certain = certain_edge_weights(setting, severity, errors_first)
    possible = [row for row in zip(setting.world.edge_tokens, certain, strict=True) if row[1]]
    tokens, weights = zip(*possible, strict=True)
    return tokens, weights


def drawn_edge_sign(
    setting: Setting, seed: int, severity: int, errors_first: bool | None, begin: int
) -> str:
    """The token that the edge keeps from tick ``begin`` on."""
    tokens, row = edge_signs(setting, severity, errors_first)
    return tokens[picked(row, draw(subkey(seed, EDGE_STREAM), begin) >> 48)]


def read_edge(setting: Setting, severity: int, sign: str, start: int, point: int) -> str:
    """The token at tick ``start`` of a panel that keeps ``sign``; ``point`` is below 65,536."""
    row = edge_reading(setting, severity, sign, start)
    return setting.world.edge_tokens[picked(row, point)]


def edge_reading(setting: Setting, severity: int, sign: str, start: int) -> Weights:
    """The weights of the world's ``edge_tokens`` at ``start`` for a panel that keeps ``sign``.

    Before the task's ``severity_from`` the panel may be one severity milder, or calm.
    """
    return _edge_reading(setting, severity, sign, start < setting.severity_from)


@lru_cache(maxsize=4096)
def _edge_reading(setting: Setting, severity: int, sign: str, early: bool) -> Weights:
    world = setting.world
    tokens, edge = world.edge_tokens, world.rules.edge
    row = [0] * len(tokens)
    if early:
        calm = FULL * edge.early_calm // 100
        row = [weight * calm // FULL for weight in certain_edge_weights(setting, CALM, None)]
        milder = (FULL - sum(row)) * edge.early_milder // 100
        row[tokens.index(_milder_sign(world, severity, sign))] += milder
    row[tokens.index(sign)] += FULL - sum(row)
    return tuple(row)


def _milder_sign(world: World, severity: int, sign: str) -> str:
    """The token one severity milder than ``sign``, with the same lead (errors or latency)."""
    bands = tuple(world.bands)  # usual, slight, P2, P1
    if severity >= P3:
        return sign
    own = bands[-1 - severity]
    if severity + 1 < P3:
        return "/".join(bands[-2 - severity] if band == own else band for band in sign.split("/"))
    # A P3 only moves what leads, or both, to slight: band 1.
    errors, p99 = (bands.index(band) for band in sign.split("/"))
    return f"{bands[errors >= p99]}/{bands[p99 >= errors]}"
