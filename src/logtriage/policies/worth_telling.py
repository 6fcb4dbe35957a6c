"""The worth of a token to a listener: how far it moves a belief, in bits."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from logtriage.belief import Belief
from logtriage.belief.model import NONE
from logtriage.world.channels import Channel, Evidence
from logtriage.world.conditions import errors_first
from logtriage.world.tables import CALM, edge_weights

#: Logarithms of the world are in units of 2**-20, worths are rounded to 2**-16: ties are
#: then the same on every machine.
_UNIT = 1 << 20
_ROUND = 1 << 16
Floats = NDArray[np.float64]


def bits_told(held: Belief, tokens: Sequence[Evidence]) -> list[float]:
    """The information (K,) that each of some tokens would bring, by itself.

    It is the divergence of the belief after the token from ``held``, which must not know the token
    yet. Other evidence about the token's service is left out of account.
    """
    prior = np.array(held.probabilities)
    bits = []
    for cell in tokens:
        likely = _likelihoods(held, cell)
        whole = float(prior @ likely)
        after = prior * likely / whole
        ratio = np.where(after > 0, likely / whole, 1.0)
        bits.append(round(float(after @ np.log2(ratio)) * _ROUND) / _ROUND)
    return bits


def _likelihoods(held: Belief, cell: Evidence) -> Floats:
    """How likely a token is under each hypothesis (H,), up to a factor."""
    if cell.channel is Channel.EDGE:
        return _panel(held, cell)
    if cell.service < 0:  # notes and effects tell hypotheses apart by what was done
        return np.ones(len(held.weights))
    reader, places = held.posterior.at_service(cell.service)
    sort = held.world.sort_of(cell.channel, cell.slot)
    column = np.exp2(reader.column(sort, cell.start, cell.token) / _UNIT)
    shares = np.exp2(np.array(held.model.shares[cell.service]) / _UNIT)
    return np.where(places == NONE, float(shares @ column[: len(shares)]), column[places])


def _panel(held: Belief, cell: Evidence) -> Floats:
    setting = held.model.setting
    token = setting.world.edge_tokens.index(cell.token)
    likely: dict[bool | None, float] = {
        None: float(edge_weights(setting, CALM, None, cell.start)[token])
    }
    for first in (False, True):
        likely[first] = sum(
            share * edge_weights(setting, severity, first, cell.start)[token]
            for severity, share in enumerate(setting.severities)
        ) / sum(setting.severities)
    first_seen = (errors_first(setting.world, row) for row in held.hypotheses)
    return np.array([max(likely[first], 1e-9) for first in first_seen])
