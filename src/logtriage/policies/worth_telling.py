"""What a token is worth to somebody who is told it: how far it moves a belief, in bits."""

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

    The divergence of the belief after the token from ``held``, whose evidence it is no
    part of. What else is known of the token's service is left out of account.
    """
    prior = np.array(held.probabilities)
    found = []
    for one in tokens:
        likely = _likelihoods(held, one)
        whole = float(prior @ likely)
        after = prior * likely / whole
        ratio = np.where(after > 0, likely / whole, 1.0)
        found.append(round(float(after @ np.log2(ratio)) * _ROUND) / _ROUND)
    return found


def _likelihoods(held: Belief, one: Evidence) -> Floats:
    """How likely a token is under each hypothesis (H,), up to a factor."""
    if one.channel is Channel.EDGE:
        return _panel(held, one)
    if one.service < 0:  # notes and effects tell hypotheses apart by what was done
        return np.ones(len(held.weights))
    reader, places = held.posterior.at_service(one.service)
    sort = held.world.sort_of(one.channel, one.slot)
    column = np.exp2(reader.column(sort, one.start, one.token) / _UNIT)
    shares = np.exp2(np.array(held.model.shares[one.service]) / _UNIT)
    return np.where(places == NONE, float(shares @ column[: len(shares)]), column[places])


def _panel(held: Belief, one: Evidence) -> Floats:
    setting = held.model.setting
    token = setting.world.edge_tokens.index(one.token)
    likely: dict[bool | None, float] = {
        None: float(edge_weights(setting, CALM, None, one.start)[token])
    }
    for first in (False, True):
        likely[first] = sum(
            share * edge_weights(setting, severity, first, one.start)[token]
            for severity, share in enumerate(setting.severities)
        ) / sum(setting.severities)
    first_seen = (errors_first(setting.world, row) for row in held.hypotheses)
    return np.array([max(likely[first], 1e-9) for first in first_seen])
