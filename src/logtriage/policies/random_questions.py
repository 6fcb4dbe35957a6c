"""Asks at random, then decides by the belief: what the choice of questions is worth."""

from typing import Final

import attrs

from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.belief import belief
from logtriage.evidence import simulation_of
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.policies.observer import followed
from logtriage.rng import Stream, hash_name, mix

QUESTION_STREAM: Final = hash_name("random-questions")
#: Page, severity, root cause, remedy and resolve: what a response needs besides questions.
_STEPS: Final = 5
_KINDS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)


def affordable(incident: Incident, questions: int | None = None) -> int:
    """How often to ask: ``questions``, or if None as often as the task's par leaves time for.

    Raises:
        InvalidInput: for an incident that no belief is defined for.
    """
    if questions is not None:
        return questions
    return simulation_of(incident).setting.par - _STEPS


@attrs.frozen
class RandomQuestionsPolicy:
    """Draws its questions uniformly, then plays the best plan given what they told.

    It is given the incident to know the evidence, as
    :class:`~logtriage.policies.observer.ObserverPolicy` is; the truth it never reads.

    Args:
        incident: the one to be played.
        seed: of the draws, which depend on it and on the tick.
        questions: how often it asks; None for as often as the task's par leaves time for.

    Raises:
        InvalidInput: for an incident that no belief is defined for.
    """

    incident: Incident
    seed: int = 0
    questions: int | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A random question, or the next step of the best plan; memory is the state before."""
        state = followed(self.incident, observation, memory)
        if observation.tick < affordable(self.incident, self.questions):
            return self._question(observation), state
        return belief(state).best().actions[0], state

    def _question(self, observation: Observation) -> Action:
        stream = Stream(mix(self.seed) ^ mix(observation.tick), QUESTION_STREAM)
        names = observation.topology.names
        kind = _KINDS[stream.below(len(_KINDS))]
        return kind(names[stream.below(len(names))])
