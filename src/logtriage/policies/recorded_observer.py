"""The observer of recordings: it decides by the belief of a world fitted to other recordings."""

from typing import Final, NamedTuple

import attrs

from logtriage.actions import (
    Action,
    ClassifyFault,
    FaultCategory,
    HandOver,
    IdentifyRootCause,
    Ignore,
    RequestMetrics,
    RequestMoreLogs,
    Resolve,
)
from logtriage.beliefs import Belief, belief
from logtriage.grading.recordings import WEIGHTS
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Ranking, ranked
from logtriage.policies.inquiry import Asked, InquiryPolicy
from logtriage.policies.observer import followed
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.state import State
from logtriage.world.model import World

#: Ticks kept for the answer: name a service, say the class, resolve.
RESERVE: Final = 3


class Answer(NamedTuple):
    """The best answer by a belief, and its expected grade: ``root_cause`` None is no fault."""

    root_cause: str | None
    worth: float


@attrs.frozen
class RecordedObserverPolicy:
    """Watches the dashboard, or asks as ``inquiry`` does, then answers or hands over.

    It never reads the truth. Memory is the state before its last action, and the memory of
    ``inquiry``.
    """

    incident: Incident
    world: World

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Look while there is time, then take the action that is worth most."""
        before, asked = (None, None) if memory is None else memory
        state: State = followed(self.incident, observation, before)
        action, asked = self._look(observation, asked)
        if action is None:
            action = self._answer(state)
        return action, (state, asked)

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        """Every service by its probability, equals together."""
        state = followed(self.incident, observation, memory[0] if memory else None)
        causes = belief(state, world=self.world).root_causes
        return ranked({name: causes.get(name, 0.0) for name in observation.topology.names})

    def _look(
        self, observation: Observation, asked: Asked | None
    ) -> tuple[Action | None, Asked | None]:
        if observation.root_cause is not None or observation.ticks_left <= RESERVE:
            return None, asked
        telemetry = self.incident.telemetry
        if not (isinstance(telemetry, RecordedTelemetry) and telemetry.on_request):
            return RequestMoreLogs(None), asked
        action, asked = InquiryPolicy().act(observation, asked)
        return (action if isinstance(action, RequestMetrics) else None), asked

    def _answer(self, state: State) -> Action:
        facts, worth = state.facts, self.incident.worth_of_hand_over
        if facts.root_cause is not None and facts.fault_category is not None:
            return Resolve()
        held = belief(state, world=self.world)
        if facts.root_cause is not None:
            classes = _classes(held, facts.root_cause)
            return ClassifyFault(max(classes, key=classes.__getitem__)) if classes else Resolve()
        answer = best_answer(held)
        if worth is not None and worth >= answer.worth:
            return HandOver()
        return Ignore() if answer.root_cause is None else IdentifyRootCause(answer.root_cause)


def best_answer(held: Belief) -> Answer:
    """The answer that earns most by a belief; a wrong root cause earns nothing."""
    of_root = WEIGHTS["root_cause"]
    best = Answer(None, held.benign)
    for name, share in held.root_causes.items():
        both = max(_classes(held, name).values(), default=0.0)
        worth = of_root * share + (1.0 - of_root) * both
        if worth > best.worth:
            best = Answer(name, worth)
    return best


def _classes(held: Belief, service: str) -> dict[FaultCategory, float]:
    """The probabilities of the classes of a fault at a service that can be declared."""
    shares: dict[FaultCategory, float] = {}
    for (kind, name), share in held.faults.items():
        of = held.world.kind(kind).fault_class
        if name == service and of in set(FaultCategory):
            category = FaultCategory(of)
            shares[category] = shares.get(category, 0.0) + share
    return shares
