"""Playing one incident, with a policy or a list of actions."""

from collections.abc import Iterable
from typing import cast

from logtriage.actions import Action
from logtriage.dynamics import play as play_actions
from logtriage.evaluation.episodes import play_episode
from logtriage.incident import Incident
from logtriage.policies import Policy, PolicyFactory
from logtriage.registry import make_policy
from logtriage.state import State, check_incident


def play(incident: Incident, policy: str | Policy | PolicyFactory | Iterable[Action]) -> State:
    """The last state of an incident that a policy or a list of actions plays.

    A policy is a name (``observer``, ``random:7``, ``module:name``), an object with ``act``, or a
    function that makes such an object from the incident. It plays until the incident is closed. A
    list that ends early leaves it open, and actions after the closing action are not played.

    Raises:
        UnknownName: for a policy that does not exist, or a service that the incident lacks.
        InvalidInput: for what is no incident, or neither a policy nor a list of actions.
        PolicyFailure: if the policy raises, or returns something that is no action.
    """
    check_incident(incident)
    if isinstance(policy, str):
        policy = make_policy(policy)
    if callable(policy) and (isinstance(policy, type) or not hasattr(policy, "act")):
        policy = policy(incident)
    if hasattr(policy, "act"):
        return play_episode(incident, cast(Policy, policy))
    return play_actions(incident, cast(Iterable[Action], policy))[0]
