"""Asks the top suspect until the time for questions is over, then decides by the belief."""

from typing import Final

import attrs

from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.belief import Belief, belief
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.policies.observer import followed
from logtriage.policies.random_questions import affordable
from logtriage.state import State

#: The channels in the order in which a suspect is asked for them.
_LOOKS: Final = (RequestMetrics, RequestTraces, RequestMoreLogs)


@attrs.frozen
class TopSuspectPolicy:
    """Asks about the likeliest root cause, channel by channel, then plays the best plan.

    It is given the incident to know the evidence, as
    :class:`~logtriage.policies.observer.ObserverPolicy` is; the truth it never reads.
    ``questions`` is how often it asks; None for as often as the task's par leaves time for.

    Raises:
        InvalidInput: for an incident that no belief is defined for.
    """

    incident: Incident
    questions: int | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A question to the suspect, or the next step of the plan; memory is the state before."""
        state = followed(self.incident, observation, memory)
        held = belief(state)
        if observation.tick < affordable(self.incident, self.questions):
            return _question(state, held), state
        return held.best().actions[0], state


def _question(state: State, held: Belief) -> Action:
    """The channel of the top suspect that was asked for the least often."""
    suspect = next(iter(held.root_causes), held.topology.names[0])
    looks = [kind(suspect) for kind in _LOOKS]
    return min(looks, key=state.actions.count)
