"""What a question is worth: the rise of the expected grade, and information in bits."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
)
from logtriage.belief.beliefs import Belief
from logtriage.belief.planner import Planner
from logtriage.belief.plans import Floats, best_values
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput
from logtriage.world.channels import GAUGES, SERIES, SPANS, Channel
from logtriage.world.conditions import Condition, unaffected
from logtriage.world.schedule import epoch_starts
from logtriage.world.setting import Setting
from logtriage.world.tables import Place, weights

#: Planning leaves out hypotheses below this share of the belief (1 in so many).
NEGLIGIBLE: Final = 1000

Request = RequestMoreLogs | RequestMetrics | RequestTraces


@attrs.frozen
class Worth:
    """What asking is worth: the rise of the expected grade, and information in bits.

    ``grade`` is a multiple of 2**-20, so that comparisons are the same everywhere.
    """

    request: Request
    grade: float
    bits: float


def worths(belief: Belief, requests: "tuple[Request, ...]") -> tuple[Worth, ...]:
    """What each request is worth.

    A request for logs is valued by one line, one for metrics or traces by their newest
    reading; hypotheses below 1 in 1,000 are left out while planning. Asking takes a
    tick, which may cost.

    Raises:
        InvalidInput: for a look at all services, whose outcomes are too many.
    """
    if belief.model.setting.several:
        from logtriage.belief.set_questions import set_worths

        return set_worths(belief, requests)
    planner = Planner(belief, negligible=NEGLIGIBLE)
    now, next_tick = planner.value, planner.tick + 1
    late = next_tick >= belief.standing.stakes.horizon
    tables = [None if late else _outcomes(planner, request) for request in requests]
    idle = planner.later() - now
    told = [table for table in tables if table is not None]
    rises: Iterator[float] = iter(())
    bits: Iterator[float] = iter(())
    if told:
        joint = np.floor(np.concatenate(told) * planner.weights / 65_536)
        first = np.cumsum([0, *(len(table) for table in told[:-1])])
        values = best_values(planner.case, joint, next_tick)
        rises = iter(np.add.reduceat(values, first) - now)
        bits = iter(_bits(planner, joint, first))
    return tuple(
        Worth(request, round(idle / planner.total) / UNIT, 0.0)
        if table is None
        else Worth(request, round(float(next(rises)) / planner.total) / UNIT, next(bits))
        for request, table in zip(requests, tables, strict=True)
    )


def worth(belief: Belief, request: Request) -> Worth:
    """What one request is worth; see :func:`worths`."""
    return worths(belief, (request,))[0]


def _bits(planner: Planner, joint: Floats, first: NDArray[np.int64]) -> list[float]:
    """Information of each question about (root, team, remedies), in bits.

    ``first`` are the rows at which the outcomes of a question begin. Rounded to 2**-16,
    so that ties are the same on every machine.
    """
    case = planner.case
    answers = np.column_stack(
        [case.root, case.team, case.hits @ np.arange(1, case.hits.shape[1] + 1)]
    )
    keys = np.unique(answers, axis=0, return_inverse=True)[1].ravel()
    return information(keys, joint, first)


def information(keys: NDArray[np.int64], joint: Floats, first: NDArray[np.int64]) -> list[float]:
    """Information of each question about the answer that each hypothesis asks for, in bits.

    ``keys`` (H,) number the answers, ``joint`` (O, H) are the weights of hypotheses with each
    outcome, ``first`` the rows at which the outcomes of a question begin.
    """
    table = joint @ (keys[:, np.newaxis] == np.arange(keys.max() + 1)).astype(np.float64)
    before = np.add.reduceat(table, first, axis=0)  # (questions, answers)
    whole = before.sum(axis=1)

    def weighed(values: Floats) -> Floats:
        """Values times their logarithm, 0 at 0."""
        return values * np.log2(np.maximum(values, 1.0))

    outcomes = np.add.reduceat(weighed(table.sum(axis=1)), first)
    cells = np.add.reduceat(weighed(table).sum(axis=1), first)
    gain = np.log2(whole) + (cells - weighed(before).sum(axis=1) - outcomes) / whole
    return [round(float(one) * 65_536) / 65_536 for one in gain]


def _outcomes(planner: Planner, request: Request) -> Floats | None:
    """The likelihood (O, H) of each outcome, in units of 2**-16; None if nothing is new."""
    belief = planner.belief
    model = belief.model
    told = told_by(belief, request, planner.tick + 1)
    if told is None:
        return None
    service, sorts, start = told
    rows = likelihoods(
        model.setting, model.places[service], model.conditions[service], sorts, start
    )
    aloof = np.floor(_standing_shares(planner, service) @ rows / 65_536)
    found = np.repeat(aloof[:, np.newaxis], len(planner.places), axis=1)
    for row, number in enumerate(planner.places):
        for one, condition in model.reach[number]:
            if one == service:
                fixed = belief.posterior.fixed[number]
                found[:, row] = rows[0 if fixed else condition]
    return found


def told_by(belief: Belief, request: Request, tick: int) -> tuple[int, tuple[str, ...], int] | None:
    """What a request would newly show at a tick: the service, the sorts of cells, their start.

    One line of logs, the newest reading of gauges or traces; None if nothing is new.

    Raises:
        InvalidInput: for a look at all services, whose outcomes are too many.
    """
    if request.service is None:
        raise InvalidInput("a look at all services has too many outcomes to be valued")
    service = belief.topology.index(request.service)
    if isinstance(request, RequestMoreLogs):
        return service, ("log",), tick
    channel = Channel.METRICS if isinstance(request, RequestMetrics) else Channel.TRACES
    shown = {cell[3] for cell in belief.posterior.seen if cell[0] is channel and cell[1] == service}
    starts = epoch_starts(tick, belief.standing.doings)[-SERIES:]
    fresh = [one for one in starts if one not in shown]
    if not fresh:
        return None
    return service, GAUGES if channel is Channel.METRICS else SPANS, fresh[-1]


@lru_cache(maxsize=4096)
def likelihoods(
    setting: Setting,
    place: Place,
    conditions: tuple[Condition, ...],
    sorts: tuple[str, ...],
    start: int,
) -> Floats:
    """The likelihood (C, O) of every combination of tokens, in units of 2**-16."""
    rows = np.full((len(conditions), 1), 65_536.0)
    for sort in sorts:
        table = np.array(
            [weights(setting, sort, place, one, start) for one in conditions], np.float64
        )
        product = rows[:, :, np.newaxis] * table[:, np.newaxis, :]
        rows = np.floor(product.reshape(len(conditions), -1) / 65_536)
    return rows


def _standing_shares(planner: Planner, service: int) -> Floats:
    """What an unaffected service is, given what it has shown: shares of 65,536 (C,)."""
    posterior, model = planner.belief.posterior, planner.belief.model
    own = posterior.own[service]
    shares = np.zeros(len(model.conditions[service]))
    whole = sum(own)
    count = len(unaffected(planner.belief.topology.services[service].tier))
    shares[:count] = [one * 65_536 // whole for one in own]
    return shares
