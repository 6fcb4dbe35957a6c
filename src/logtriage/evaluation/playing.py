"""One incident, played by whatever can play it."""

from collections.abc import Iterable
from typing import cast

from logtriage.actions import Action
from logtriage.evaluation.episodes import play_episode
from logtriage.incident import Incident
from logtriage.policies import Policy, PolicyFactory
from logtriage.registry import make_policy
from logtriage.state import State, check_incident
from logtriage.transition import play as play_actions


def play(incident: Incident, policy: str | Policy | PolicyFactory | Iterable[Action]) -> State:
    """The state in which a policy leaves an incident, or a list of actions does.

    A policy is its name (``observer``, ``random:7``, ``module:name``), an object with ``act``,
    or a function from the incident to one. It plays until the incident is closed; a list that
    ends early leaves it open, and actions after the closing one are not played.

    Raises:
        UnknownName: for a policy that does not exist, or a service that the incident lacks.
        InvalidInput: for what is no incident, no policy and no list of actions.
        PolicyFailure: if the policy raises, or returns what is no action.
    """
    check_incident(incident)
    if isinstance(policy, str):
        policy = make_policy(policy)
    if callable(policy) and (isinstance(policy, type) or not hasattr(policy, "act")):
        policy = policy(incident)
    if hasattr(policy, "act"):
        return play_episode(incident, cast(Policy, policy))
    return play_actions(incident, cast(Iterable[Action], policy))[0]
