"""The likelihood of edge panels: a sum over the tokens that the edge may keep.

The edge keeps one token until the last fix, and one from then on.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from logtriage.beliefs.fixedpoint import NEVER, Longs, log2, log_sums
from logtriage.world.channels import Evidence
from logtriage.world.edge import edge_reading, edge_signs
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import CALM, RECOVERED

#: (whether errors lead (None: benign), panels before the last fix, panels after it).
Shown = tuple[bool | None, Sequence[Evidence], Sequence[Evidence]]


def kept_edges(setting: Setting, shown: Sequence[Shown]) -> Longs:
    """The logarithms (G, 3) of the likelihoods of G series of panels under each severity."""
    rows = []
    for errors_first, before, after in shown:
        # A benign incident looks the same whatever its severity.
        severities = (CALM,) * 3 if errors_first is None else range(3)
        rows += [kept_row(setting, severity, errors_first, before) for severity in severities]
        rows.append(kept_row(setting, RECOVERED, errors_first, after))
    terms = np.full((max(map(len, rows)), len(rows)), NEVER, np.int64)
    for number, row in enumerate(rows):
        terms[: len(row), number] = row
    sums = log_sums(terms).reshape(-1, 4)  # three severities, then the time after the fix
    return sums[:, :3] + sums[:, 3:]


def kept_row(
    setting: Setting, severity: int, errors_first: bool | None, panels: Sequence[Evidence]
) -> Longs:
    """The logarithms (R,) of the weights of the R tokens that the edge may keep, given panels."""
    total = _prior(setting, severity, errors_first)
    for panel in panels:
        # From severity_from on the tick makes no difference: one entry of the cache serves all.
        start = min(panel.start, setting.severity_from)
        # Not +=, which would change the array in the cache.
        total = total + _column(setting, severity, errors_first, start, panel.token)
    return total


@lru_cache(maxsize=256)
def _prior(setting: Setting, severity: int, errors_first: bool | None) -> Longs:
    """:func:`kept_row` without panels."""
    _, weights = edge_signs(setting, severity, errors_first)
    return np.array([log2(weight) - log2(FULL) for weight in weights], np.int64)


@lru_cache(maxsize=4096)
def _column(
    setting: Setting, severity: int, errors_first: bool | None, start: int, token: str
) -> Longs:
    """What a panel adds to :func:`kept_row`."""
    tokens, _ = edge_signs(setting, severity, errors_first)
    index = setting.world.edge_tokens.index(token)
    weights = [edge_reading(setting, severity, sign, start)[index] for sign in tokens]
    return np.array([log2(weight) - log2(FULL) for weight in weights], np.int64)
