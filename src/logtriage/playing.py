"""Play an incident with a policy, or with a list of actions."""

from collections.abc import Generator, Iterable
from typing import Final, cast

from logtriage._lib.printable import spelled
from logtriage.actions import Action
from logtriage.dynamics import play as play_actions
from logtriage.dynamics import transition
from logtriage.errors import LogTriageError, told_of
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.policies import Memory, Policy, PolicyFactory
from logtriage.policies.base import decision
from logtriage.registry import make_policy
from logtriage.state import State, check_incident, initial_state

#: The most characters of a cause.
_CAUSE: Final = 500


class PolicyFailure(LogTriageError):
    """A policy raised, or returned no action; ``state`` is the last state of the episode."""

    def __init__(self, cause: str, state: State) -> None:
        self.cause = cause
        self.state = state
        super().__init__(cause)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.cause, self.state)


def play(incident: Incident, policy: str | Policy | PolicyFactory | Iterable[Action]) -> State:
    """Play an incident with a policy or a list of actions; return the last state.

    A policy is a name (``observer``, ``random:7``, ``module:name``), an object with ``act``, or a
    function that makes it from the incident. A list that ends early leaves the incident open, and
    actions after the closing action are not played.

    Raises:
        UnknownName: for a policy that does not exist, or a service that the incident lacks.
        InvalidInput: if ``incident`` is not an incident, or ``policy`` not a policy or a list.
        PolicyFailure: if the policy raises, or returns a value that is not an action.
    """
    check_incident(incident)
    if isinstance(policy, str):
        policy = make_policy(policy)
    # A class has act, but only what it makes can act. An object with act may be callable, too.
    if callable(policy) and (isinstance(policy, type) or not hasattr(policy, "act")):
        policy = policy(incident)
    if hasattr(policy, "act"):
        *_, last = steps(incident, cast(Policy, policy))
        return last
    return play_actions(incident, cast(Iterable[Action], policy))[0]


def steps(incident: Incident, policy: Policy) -> Generator[State, None, Memory]:
    """Every state of an episode, from the first to the closed state.

    The generator's return value is what the policy remembers at the end.

    Raises:
        PolicyFailure: if the policy raises, or returns a value that is not an action here.
    """
    state, memory = initial_state(incident), None
    yield state
    while not state.is_closed:
        try:
            action, memory = decision(policy, observe(state), memory)
            if not isinstance(action, Action):
                raise TypeError(f"a policy must return an action, got {type(action).__name__}")
            after = transition(state, action)
        except Exception as error:
            raise failure_of(state, error) from error
        state = after
        yield state
    return memory


def failure_of(state: State, cause: Exception | str) -> PolicyFailure:
    """The error for a policy that failed in a state; it names tick, error and place."""
    reason = cause if isinstance(cause, str) else told_of(cause)
    return PolicyFailure(spelled(f"policy failed in tick {state.tick}: {reason}")[:_CAUSE], state)
