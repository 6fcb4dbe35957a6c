"""Protocols of policies: observation and memory in, action and memory out."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from logtriage._lib.grouping import grouped
from logtriage.actions import Action
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.state import State

#: A policy's own notes: any immutable value; None at the start of an episode.
Memory = Any


class Policy(Protocol):
    """Decides on the next action. It is pure: it returns its memory.

    The same observation and memory always give the same action and memory.
    """

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action, and the memory to hand in with the next observation."""


def decision(policy: Policy, seen: Observation, memory: Memory) -> tuple[Action, Memory]:
    """The (action, memory) pair that a policy returns.

    Raises:
        TypeError: if it returns anything else.
    """
    decided: object = policy.act(seen, memory)
    if not isinstance(decided, tuple) or len(decided) != 2:
        raise TypeError(f"act must return (action, memory), got {type(decided).__name__}")
    return decided


@runtime_checkable
class Follower(Protocol):
    """Decides for a role, by the part of the state that the role was shown. It is pure."""

    def act_in(self, state: State, seen: Observation) -> Action:
        """The next action; ``seen`` is the role's slice of the state."""


#: The player of a role in a team.
Player = Policy | Follower

#: Services from the likeliest root cause down; services in a group are equally likely.
#: Services that are left out are not suspected at all.
Ranking = tuple[tuple[str, ...], ...]


def ranked(scores: Mapping[str, Any]) -> Ranking:
    """The ranking of services by their scores, the highest first; equal scores are tied."""
    groups = grouped((score, name) for name, score in scores.items())
    return tuple(tuple(groups[score]) for score in sorted(groups, reverse=True))


@runtime_checkable
class Ranks(Protocol):
    """An optional method of policies: rank the services by how likely each is the root cause."""

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        """The ranking at the end of an episode, from its last observation and memory."""


#: Makes the policy that plays one incident. Only the oracle looks into it; the random
#: policy takes the id for its seed; every other factory ignores it.
PolicyFactory = Callable[[Incident], Policy]
