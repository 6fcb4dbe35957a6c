"""Looks two questions ahead: the worth of an answer depends on the next question.

The observer weighs each question as if it were the last. This policy also weighs the most
promising pairs, so the difference shows the price of asking greedily. It is no bound either: it
follows few pairs, and asks a second question after the likeliest answers alone.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from logtriage.actions import Action
from logtriage.beliefs import Belief
from logtriage.beliefs.cases import Floats
from logtriage.beliefs.plans import Planner
from logtriage.beliefs.questions import Request, Worth, outcomes, worths
from logtriage.beliefs.stakes import UNIT
from logtriage.errors import InvalidInput
from logtriage.policies.observer import BeliefPolicy, best_of, requests_in_doubt
from logtriage.state import State
from logtriage.world.setting import FULL

#: It pairs so many of the best questions.
FIRSTS: Final = 5
#: So many of the likeliest answers to a first question are followed by a second question.
ANSWERS: Final = 12
#: A pair of questions that promises less than this much grade is not asked.
LEAST: Final = 1e-4


@attrs.frozen
class LookaheadPolicy(BeliefPolicy):
    """Asks the first question of the best pair.

    Raises:
        InvalidInput: for an incident of a task with several faults.
    """

    def question(self, _: State, held: Belief) -> Action | None:
        """The first question of the best pair; if no pair is worth it, the observer's."""
        if held.fixed and held.standing.doings.pages:
            return None
        rows = worths(held, requests_in_doubt(held))
        pairs = two_steps(held, rows)
        if pairs:
            value, request = max(pairs, key=lambda pair: pair[0])
            if value > LEAST:
                return request
        return best_of(held, rows)


def two_steps(held: Belief, rows: Sequence[Worth]) -> list[tuple[float, Request]]:
    """(rise of the expected grade, first request) of the most promising pairs of requests.

    Raises:
        InvalidInput: where several faults are possible.
    """
    planner = held.planner(asking=True)
    if not isinstance(planner, Planner):
        raise InvalidInput("looking ahead: several faults at once are not planned for in pairs")
    ranked = sorted(rows, key=lambda row: (-row.grade, -row.bits))
    requests = [row.request for row in ranked[:FIRSTS]]
    tables = [
        (request, table)
        for request, table in zip(requests, outcomes(held, planner, requests), strict=True)
        if table is not None
    ]
    if held.standing.left < 3:
        return []
    return [
        (_rise(planner, table, [other for second, other in tables if second != request]), request)
        for request, table in tables
    ]


def _rise(planner: Planner, first: Floats, seconds: Sequence[Floats]) -> float:
    """The worth of a request with the outcomes ``first`` (O, H) if the best second may follow."""
    joint = np.floor(first * planner.weights / FULL)
    values = planner.later(joint)
    likeliest = np.argsort(-joint.sum(axis=1), kind="stable")[:ANSWERS]
    for table in seconds:
        pairs = np.floor(joint[likeliest][:, np.newaxis] * table / FULL)
        further = planner.later(pairs.reshape(-1, pairs.shape[-1]), 2)
        further = further.reshape(pairs.shape[:2]).sum(axis=1)
        values[likeliest] = np.maximum(values[likeliest], further)
    return float(values.sum() - planner.value) / planner.total / UNIT
