"""Policies that decide by the exact belief.

The observer asks the question that is worth most. It chooses questions greedily, so it is a
reference and not a bound. The top suspect policy asks by a fixed rule, for comparison.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.beliefs import Belief, belief
from logtriage.beliefs.model import NONE
from logtriage.beliefs.questions import Asked, Request, Worth
from logtriage.dynamics import transition
from logtriage.evidence import simulation_of
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.state import State, initial_state

#: The steps of a response besides questions: page, severity, root cause, remedy, resolve.
_STEPS: Final = 5
#: Above this many services, it asks only about the most uncertain ones.
MOST_SERVICES: Final = 10


@attrs.frozen
class BeliefPolicy:
    """Plays one incident by the belief: it asks, then follows the best plan.

    It holds the incident, as an environment does, to know the evidence; it never reads the
    truth. Memory is the state before its last action.
    """

    incident: Incident

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A question, or the first action of the best plan.

        Raises:
            InvalidInput: for an incident that no belief is defined for.
        """
        state = followed(self.incident, observation, memory)
        held = belief(state)
        return self.question(state, held) or held.best().actions[0], state

    def question(self, state: State, held: Belief) -> Action | None:
        """What to ask in a state, whose belief is ``held``; None to carry on with the plan."""
        raise NotImplementedError


@attrs.frozen
class ObserverPolicy(BeliefPolicy):
    """Asks what is worth most; ``questions`` limits how often (None: as long as it pays)."""

    questions: int | None = None

    def question(self, state: State, held: Belief) -> Action | None:
        """The request that is worth most; None if none is worth its tick."""
        asked = state.facts.doings
        count = len(asked.logs) + len(asked.metrics) + len(asked.traces)
        asks = self.questions is None or count < self.questions
        return best_question(held) if asks else None


@attrs.frozen
class TopSuspectPolicy(BeliefPolicy):
    """Asks about the likeliest root cause, channel by channel, then plays the best plan.

    ``questions`` is how often it asks; None for as often as the task's par leaves time for.
    """

    questions: int | None = None

    def question(self, state: State, held: Belief) -> Action | None:
        """The request about the likeliest root cause that was made least often."""
        questions = self.questions
        if questions is None:
            questions = simulation_of(state.incident).setting.par - _STEPS
        if state.tick >= questions:
            return None
        suspect = next(iter(held.root_causes), held.topology.names[0])
        looks = [kind(suspect) for kind in (RequestMetrics, RequestTraces, RequestMoreLogs)]
        return min(looks, key=state.actions.count)


def next_action(held: Belief) -> Action:
    """The question that is worth most, or else the first action of the best plan."""
    return best_question(held) or held.best().actions[0]


def followed(incident: Incident, observation: Observation, memory: Memory) -> State:
    """The state behind a screen: the one before, in the memory, after the last action."""
    if memory is None:
        return initial_state(incident)
    (last,) = observation.last_actions
    state: State = transition(memory, last)
    return state


def best_question(held: Belief, requests: Sequence[Request] | None = None) -> Action | None:
    """The request that is worth most, by grade and then by bits; None if none is worth its tick.

    It is one of ``requests`` (None: :func:`requests_in_doubt`).
    """
    requests = requests_in_doubt(held) if requests is None else requests
    if not requests or (held.fixed and held.standing.doings.pages):
        return None
    asked = Asked.of(held, requests)
    return best_of(held, asked.worths(), asked)


def best_of(held: Belief, rows: Sequence[Worth], asked: Asked) -> Action | None:
    """:func:`best_question` among ``rows``, whose requests were weighed in ``asked``.

    If a hand-over is worth more whatever the next answer says, no single request raises the
    grade, though several might. So the requests are then weighed again as if nobody took the
    incident over.
    """
    if not rows or (held.fixed and held.standing.doings.pages):
        return None
    request = _worth_most(rows)
    if request is None and held.standing.may_hand_over:
        known = {row.request for row in rows}
        alone = asked.worths(hand_over=False)
        request = _worth_most([row for row in alone if row.request in known])
    return request


def _worth_most(rows: Sequence[Worth]) -> Action | None:
    """The first request of the highest worth; None if that is no rise of the grade."""
    best = max(rows, key=lambda row: (row.grade, row.bits))
    return best.request if best.grade > 0 else None


def requests_in_doubt(held: Belief) -> tuple[Request, ...]:
    """The requests to weigh: on every service, or on the most uncertain of many."""
    topology = held.topology
    names = list(topology.names)
    if len(names) > MOST_SERVICES:
        names = [names[place] for place in sorted(_most_in_doubt(held)[:MOST_SERVICES])]
    return tuple(
        kind(name) for kind in (RequestMoreLogs, RequestMetrics, RequestTraces) for name in names
    )


def _most_in_doubt(held: Belief) -> list[int]:
    """The services, the most uncertain first."""
    posterior, shares = held.posterior, np.array(held.posterior.weights) / held.total
    listed = posterior.listed
    reaching, reached = np.nonzero(listed.place[posterior.rows] != NONE)
    services = listed.model.single_service[listed.members[posterior.rows]]
    faulty, members = np.nonzero(services != NONE)
    # The probability of being reached plus that of being at fault: 0 and 2 are certain.
    doubt = np.bincount(
        np.concatenate([reached, services[faulty, members]]),
        weights=shares[np.concatenate([reaching, faulty])],
        minlength=len(held.topology),
    ).tolist()
    return sorted(range(len(doubt)), key=lambda place: -min(doubt[place], 2.0 - doubt[place]))
