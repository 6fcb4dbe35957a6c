"""What a question tells about several faults, in bits, and what it is worth."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from logtriage.belief.beliefs import Belief
from logtriage.belief.plans import Floats
from logtriage.belief.questions import Request, Worth, information, likelihoods, told_by
from logtriage.belief.set_case import Longs, SetCase
from logtriage.belief.set_plans import portfolio
from logtriage.belief.sets import NONE, Chosen
from logtriage.belief.stakes import UNIT
from logtriage.world.conditions import Hypothesis, accepted_remedies, team_of, unaffected
from logtriage.world.outcomes import condition_at, left_at

#: Hypotheses below this share of the belief (1 in so many) are left out, but not the likeliest.
NEGLIGIBLE: Final = 1000
LEAST: Final = 250


class Asking:
    """A belief over sets compiled for questions: the hypotheses that matter, as arrays."""

    def __init__(self, belief: Belief) -> None:
        self.belief = belief
        self.case = SetCase.of(belief, negligible=NEGLIGIBLE, least=LEAST)
        self.rows, self.weights = self.case.rows, self.case.weights
        model = belief.model
        assert isinstance(model, Chosen)  # every belief over sets is of such a model
        self.places = model.reached_by(self.rows)
        self.answers = self._answers()

    def _answers(self) -> Longs:
        """Hypotheses that ask for the same response have the same number."""
        held, known = self.belief, dict[object, int]()
        topology, doings = held.topology, held.standing.doings
        found = []
        for row in self.rows:
            one = held.model.hypothesis(row)
            left = left_at(topology, one, doings, held.standing.stakes.horizon + 1)
            faults = () if left is None else left.faults
            asks = frozenset(
                (
                    service,
                    team_of(topology, held.directory, kind, service),
                    accepted_remedies(topology, Hypothesis(((kind, service),))),
                )
                for kind, service in faults
            )
            found.append(known.setdefault((bool(one.faults), asks), len(known)))
        return np.array(found)

    def outcomes(self, request: Request) -> Floats | None:
        """The likelihood (O, H) of each outcome, in units of 2**-16; None if nothing is new."""
        held = self.belief
        told = told_by(held, request, held.standing.tick + 1)
        if told is None:
            return None
        service, sorts, start = told
        model, topology, doings = held.model, held.topology, held.standing.doings
        conditions = model.conditions[service]
        rows = likelihoods(model.setting, model.places[service], conditions, sorts, start)
        own = held.posterior.own[service]
        count = len(unaffected(topology.services[service].tier))
        shares = np.zeros(len(conditions))
        shares[:count] = [one * 65_536 // sum(own) for one in own]
        found = np.repeat(np.floor(shares @ rows / 65_536)[:, np.newaxis], len(self.rows), axis=1)
        index = {condition: place for place, condition in enumerate(conditions)}
        columns = np.flatnonzero(self.places[:, service] != NONE)
        places = self.places[columns, service]
        if doings.remedies:
            for number, column in enumerate(columns.tolist()):
                one = model.hypothesis(self.rows[column])
                left = left_at(topology, one, doings, start)
                own = conditions[places[number]]
                places[number] = index[condition_at(topology, one, left, service, own)]
        found[:, columns] = rows[places].T
        return found

    def worths(self, requests: Sequence[Request]) -> tuple[Worth, ...]:
        """What each request is worth, and how much it tells about what is to be done."""
        held = self.belief
        late = held.standing.tick + 1 >= held.standing.stakes.horizon
        tables = [None if late else self.outcomes(request) for request in requests]
        graded = [self.case.grades_now_and_later(one.actions) for one in portfolio(self.case)]
        now, after = np.stack([one for one, _ in graded]), np.stack([one for _, one in graded])
        value = float((now @ self.weights).max())
        idle = float((after @ self.weights).max()) - value
        told = [table for table in tables if table is not None]
        rises: Iterator[float] = iter(())
        bits: Iterator[float] = iter(())
        if told:
            joint = np.floor(np.concatenate(told) * self.weights / 65_536)
            first = np.cumsum([0, *(len(table) for table in told[:-1])])
            best = (joint @ after.T).max(axis=1)
            rises = iter((np.add.reduceat(best, first) - value).tolist())
            bits = iter(information(self.answers, joint, first))
        whole = float(self.weights.sum())
        return tuple(
            Worth(request, round(idle / whole * UNIT) / UNIT, 0.0)
            if table is None
            else Worth(request, round(next(rises) / whole * UNIT) / UNIT, next(bits))
            for request, table in zip(requests, tables, strict=True)
        )


def set_worths(belief: Belief, requests: Sequence[Request]) -> tuple[Worth, ...]:
    """What each request is worth where several faults are possible.

    As for one, but the plans that may follow are those of
    :func:`logtriage.belief.set_plans.portfolio`, fixed before the answer is known.

    Raises:
        InvalidInput: for a look at all services, whose outcomes are too many.
    """
    return Asking(belief).worths(requests)
