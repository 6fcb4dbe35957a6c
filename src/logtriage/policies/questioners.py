"""Baselines that ask by a fixed rule and decide by the belief: the worth of good questions."""

from typing import Final

import attrs

from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.beliefs import Belief
from logtriage.evidence import simulation_of
from logtriage.policies.observer import BeliefPolicy
from logtriage.rng import Stream, hash_name, mix
from logtriage.state import State

QUESTION_STREAM: Final = hash_name("random-questions")
#: Page, severity, root cause, remedy and resolve: the steps of a response besides questions.
_STEPS: Final = 5
_KINDS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)


def _asks(state: State, questions: int | None) -> bool:
    """Whether there are questions left; None for as many as the task's par leaves time for."""
    if questions is None:
        questions = simulation_of(state.incident).setting.par - _STEPS
    return state.tick < questions


@attrs.frozen
class RandomQuestionsPolicy(BeliefPolicy):
    """Draws its questions uniformly, then plays the best plan given the answers.

    Args:
        incident: the incident to play.
        seed: of the draws, which depend on it and on the tick; None for one of the incident.
        questions: how often it asks; None for as often as the task's par leaves time for.
    """

    seed: int | None = None
    questions: int | None = None

    def question(self, state: State, held: Belief) -> Action | None:
        """A random channel of a random service."""
        if not _asks(state, self.questions):
            return None
        seed = hash_name(self.incident.id) if self.seed is None else self.seed
        stream = Stream(mix(seed) ^ mix(state.tick), QUESTION_STREAM)
        kind, names = _KINDS[stream.below(len(_KINDS))], held.topology.names
        return kind(names[stream.below(len(names))])


@attrs.frozen
class TopSuspectPolicy(BeliefPolicy):
    """Asks about the likeliest root cause, channel by channel, then plays the best plan.

    ``questions`` are as of :class:`RandomQuestionsPolicy`.
    """

    questions: int | None = None

    def question(self, state: State, held: Belief) -> Action | None:
        """The channel of the top suspect that was asked for the least often."""
        if not _asks(state, self.questions):
            return None
        suspect = next(iter(held.root_causes), held.topology.names[0])
        looks: tuple[Action, ...] = (
            RequestMetrics(suspect),
            RequestTraces(suspect),
            RequestMoreLogs(suspect),
        )
        return min(looks, key=state.actions.count)
