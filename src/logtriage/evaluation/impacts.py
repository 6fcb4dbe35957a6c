"""How well the reports of how damage spread were, beside the grades."""

from collections.abc import Iterable
from statistics import fmean

import attrs

from logtriage.grading.impact import reported_impact
from logtriage.state import State


@attrs.frozen
class Impacts:
    """The episodes in which the impact was reported, and means over them.

    ``node_f1`` and ``edge_f1`` are of services and of calls, ``exact_roots`` is the share in
    which the services declared are the root causes, all of them and no others.
    """

    episodes: int
    node_f1: float
    edge_f1: float
    exact_roots: float


def impacts_of(states: Iterable[State]) -> Impacts | None:
    """What was reported in some episodes; None if nothing was."""
    rows = [one for one in map(reported_impact, states) if one is not None]
    if not rows:
        return None
    return Impacts(
        len(rows),
        fmean(one.node_f1 or 0.0 for one in rows),
        fmean(one.edge_f1 or 0.0 for one in rows),
        fmean(one.exact_roots for one in rows),
    )
