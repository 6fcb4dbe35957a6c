"""The likelihood of what the edge panel kept: a sum over its rows, by severity and lead."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from logtriage.belief.fixedpoint import Longs, log2, log_sums_of
from logtriage.world.channels import Evidence
from logtriage.world.setting import FULL, Setting
from logtriage.world.signs import edge_reading, edge_signs
from logtriage.world.tables import CALM, RECOVERED


def kept_edge(
    setting: Setting,
    errors_first: bool | None,
    before: Sequence[Evidence],
    after: Sequence[Evidence],
) -> tuple[int, ...]:
    """The logarithm of the likelihood of panels under each severity.

    ``after`` are those from which on everything was fixed. ``errors_first`` is None of a benign
    incident, in which severities look the same.
    """
    recovered = log_sums_of(kept_row(setting, RECOVERED, errors_first, after))
    shown = (CALM,) if errors_first is None else range(3)
    logs = [kept_row(setting, one, errors_first, before) for one in shown]
    found = [int(log_sums_of(row) + recovered) for row in logs]
    return tuple(found * 3 if errors_first is None else found)


def kept_row(
    setting: Setting, severity: int, errors_first: bool | None, panels: Sequence[Evidence]
) -> Longs:
    """The logarithm of the weight of each row that the edge may keep, given the panels (R,)."""
    total = _prior(setting, severity, errors_first)
    for panel in panels:
        early = min(panel.start, setting.severity_from)
        total = total + _column(setting, severity, errors_first, early, panel.token)
    return total


@lru_cache(maxsize=256)
def _prior(setting: Setting, severity: int, errors_first: bool | None) -> Longs:
    _, weights = edge_signs(setting, severity, errors_first)
    return np.array([log2(weight) - log2(FULL) for weight in weights], np.int64)


@lru_cache(maxsize=4096)
def _column(
    setting: Setting, severity: int, errors_first: bool | None, start: int, token: str
) -> Longs:
    tokens, _ = edge_signs(setting, severity, errors_first)
    index = setting.world.edge_tokens.index(token)
    weights = [edge_reading(setting, severity, sign, start)[index] for sign in tokens]
    return np.array([log2(weight) - log2(FULL) for weight in weights], np.int64)
