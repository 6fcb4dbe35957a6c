"""Baselines that ask by a fixed rule and decide by the belief: the worth of good questions."""

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
from logtriage.state import State

QUESTION_STREAM: Final = hash_name("random-questions")
#: Page, severity, root cause, remedy and resolve: the steps of a response besides questions.
_STEPS: Final = 5


def _ask_or_act(
    policy: "RandomQuestionsPolicy | TopSuspectPolicy", observation: Observation, memory: Memory
) -> tuple[Action, Memory]:
    """A question while there are some left, then the next step of the best plan.

    Raises:
        InvalidInput: for an incident that no belief is defined for.
    """
    state = followed(policy.incident, observation, memory)
    count = policy.questions
    if count is None:
        count = simulation_of(policy.incident).setting.par - _STEPS
    if observation.tick < count:
        return policy.question(state), state
    return belief(state).best().actions[0], state


@attrs.frozen
class RandomQuestionsPolicy:
    """Draws its questions uniformly, then plays the best plan given the answers.

    It is given the incident to know the evidence, as
    :class:`~logtriage.policies.observer.ObserverPolicy` is; it never reads the truth.

    Args:
        incident: the incident to play.
        seed: of the draws, which depend on it and on the tick.
        questions: how often it asks; None for as often as the task's par leaves time for.
    """

    incident: Incident
    seed: int = 0
    questions: int | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A random question, or the next step of the plan; memory is the state before."""
        return _ask_or_act(self, observation, memory)

    def question(self, state: State) -> Action:
        """A random channel of a random service."""
        stream = Stream(mix(self.seed) ^ mix(state.tick), QUESTION_STREAM)
        kinds, names = (
            (RequestMoreLogs, RequestMetrics, RequestTraces),
            state.incident.topology.names,
        )
        kind = kinds[stream.below(len(kinds))]
        return kind(names[stream.below(len(names))])


@attrs.frozen
class TopSuspectPolicy:
    """Asks about the likeliest root cause, channel by channel, then plays the best plan.

    ``incident`` and ``questions`` are those of :class:`RandomQuestionsPolicy`.
    """

    incident: Incident
    questions: int | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A question to the suspect, or the next step of the plan; memory is the state before."""
        return _ask_or_act(self, observation, memory)

    def question(self, state: State) -> Action:
        """The channel of the top suspect that was asked for the least often."""
        held = belief(state)
        suspect = next(iter(held.root_causes), held.topology.names[0])
        looks: tuple[Action, ...] = (
            RequestMetrics(suspect),
            RequestTraces(suspect),
            RequestMoreLogs(suspect),
        )
        return min(looks, key=state.actions.count)
