"""What a request might show next, where signs stay: a second reading tells what is left to tell."""

from functools import lru_cache
from math import comb
from typing import Final

import numpy as np

from logtriage.beliefs.cases import Floats
from logtriage.beliefs.fixedpoint import Longs, exp2
from logtriage.beliefs.pools import LOGS, Pools, Span, sign_matrix
from logtriage.world.channels import Channel
from logtriage.world.setting import FULL
from logtriage.world.signs import Reading, reading
from logtriage.world.tables import alphabet

#: A request with more outcomes than this is valued by the likeliest of them.
OUTCOMES: Final = 256


def outcomes_of(
    pools: Pools, service: int, channel: Channel, sorts: tuple[str, ...], starts: list[int],
    begin: int,
) -> Floats:  # fmt: skip
    """The likelihood (C, O) of what the sorts of a service may show, in units of 2**-16.

    Fresh readings of one sign, those at ``starts``, count as one whose accuracy is that of the
    token that most of them show. ``begin`` is the tick from which the condition holds. The service
    may be blind there, as long as nobody has asked.
    """
    reader = pools.listed.readers[service]
    rows = np.full((len(reader.conditions), 1), float(FULL))
    for sort in sorts:
        row = several(reading(reader.setting, sort, reader.place, starts[-1]), len(starts))
        table = _predicted(pools, service, sort, row, begin)
        rows = (rows[:, :, np.newaxis] * (table[:, np.newaxis, :] / FULL)).reshape(len(rows), -1)
    rows = _gathered(rows)
    blind = 0 if (service, channel) in pools.down else reader.setting.blind_weight
    if not blind:
        return rows
    dark = np.full((len(rows), 1), float(blind))
    return np.concatenate([rows * ((FULL - blind) / FULL), dark], axis=1)


def _gathered(rows: Floats) -> Floats:
    """The likeliest outcomes (C, O), and in the last column all others, which tell little."""
    if rows.shape[1] <= OUTCOMES:
        return rows
    order = np.argsort(-rows.max(axis=0), kind="stable")
    kept, others = order[:OUTCOMES], order[OUTCOMES:]
    return np.concatenate([rows[:, kept], rows[:, others].sum(axis=1, keepdims=True)], axis=1)


def _predicted(pools: Pools, service: int, sort: str, row: Reading, begin: int) -> Longs:
    """The likelihood (C, A) of each token in units of 2**-16, given what was read of its sign.

    The last column is that of a gap, if there may be one.
    """
    reader = pools.listed.readers[service]
    tokens = alphabet(reader.setting, sort, reader.place)
    signs = sign_matrix(reader, sort, hidden=False)
    read = pools.gains(service, sort, Span(begin, None, None))
    posterior = _updated(signs, read, tokens)
    own = pools.gains(service, sort, Span(begin, None, False))
    if own != read:  # who asks never reads what a root hides
        roots = pools.roots(service)
        posterior[roots] = _updated(signs[roots], own, tokens)
    table: Longs = posterior * row.sign // FULL + np.array(row.other)
    if not row.gap:
        return table
    return np.concatenate([table, np.full((len(table), 1), row.gap)], axis=1)


def _updated(signs: Longs, gains: dict[str, int], tokens: tuple[str, ...]) -> Longs:
    """The weights (C, A) of signs, given what was gained for some tokens; they sum to 2**16."""
    if not gains:
        return signs.copy()
    logs = LOGS[signs] + np.array([gains.get(token, 0) for token in tokens])
    weights = exp2(logs - logs.max(axis=1, keepdims=True))
    shares: Longs = weights * FULL // weights.sum(axis=1, keepdims=True)
    return shares


@lru_cache(maxsize=4096)
def several(row: Reading, count: int) -> Reading:
    """The reading that is as accurate as the token which most of ``count`` readings show.

    Readings that do not show the sign are taken to differ from each other, ties to be broken by
    chance. All of several readings are hardly ever gaps: that is left out.
    """
    if count == 1:
        return row
    others = FULL - row.sign - row.gap
    right = missing = 0
    for signs in range(count + 1):
        for wrong in range(count + 1 - signs):
            gaps = count - signs - wrong
            ways = comb(count, signs) * comb(count - signs, wrong)
            share = ways * row.sign**signs * others**wrong * row.gap**gaps
            if signs:
                right += share if signs > 1 or not wrong else share // (1 + wrong)
            elif not wrong:
                missing += share
    unit = FULL ** (count - 1)
    sign = (right + missing * row.sign // FULL) // unit
    left = FULL - sign
    other = [max(1, weight * left // others) for weight in row.other]
    other[0] += left - sum(other)
    return Reading(sign, 0, tuple(other))
