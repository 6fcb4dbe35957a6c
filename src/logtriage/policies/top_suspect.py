"""A baseline that asks by a fixed rule and decides by the belief: the worth of good questions."""

from typing import Final

import attrs

from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.beliefs import Belief
from logtriage.evidence import simulation_of
from logtriage.policies.observer import BeliefPolicy
from logtriage.state import State

#: Page, severity, root cause, remedy and resolve: the steps of a response besides questions.
_STEPS: Final = 5


def _asks(state: State, questions: int | None) -> bool:
    """Whether there are questions left; None for as many as the task's par leaves time for."""
    if questions is None:
        questions = simulation_of(state.incident).setting.par - _STEPS
    return state.tick < questions


@attrs.frozen
class TopSuspectPolicy(BeliefPolicy):
    """Asks about the likeliest root cause, channel by channel, then plays the best plan.

    ``questions`` is how often it asks; None for as often as the task's par leaves time for.
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
