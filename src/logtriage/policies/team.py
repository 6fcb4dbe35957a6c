"""Teams: the observations of all roles in, an action for each role out."""

from collections.abc import Callable, Iterable
from typing import Protocol, cast

import attrs
from attrs.converters import optional

from logtriage.actions import (
    HAND_OVER_TYPES,
    Action,
    Malformed,
    Report,
    RequestMoreLogs,
    Wait,
    action_name,
    check_action,
    describe,
)
from logtriage.dynamics import transition_jointly
from logtriage.errors import InvalidInput, LogTriageError, told_of
from logtriage.incident import Incident
from logtriage.joint import requests_left
from logtriage.observation import Observation
from logtriage.policies.base import Follower, Memory, Player, Policy, decision
from logtriage.roles import Role, RoleSplit, as_allowed, is_request, may_ask
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import State, initial_state


class TeamPolicy(Protocol):
    """Decides for all roles of a split in one tick. It is pure: it returns its memory.

    Observations and actions stand in the order of the roles. The same observations and
    memory always give the same actions and memory.
    """

    def act(
        self, observations: tuple[Observation, ...], memory: Memory
    ) -> tuple[tuple[Action, ...], Memory]:
        """One action for each role, and the memory to hand in with the next observations."""


#: Makes the team that plays one incident.
TeamFactory = Callable[[Incident], TeamPolicy]
#: Makes the player of one role of a split on one incident.
RoleFactory = Callable[[Incident, RoleSplit, Role], Player]


class RoleFailure(LogTriageError):
    """The policy of one role raised; ``number`` is its place in the split."""

    def __init__(self, number: int, cause: str) -> None:
        self.number = number
        self.cause = cause
        super().__init__(f"role {number}: {cause}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.number, self.cause)


def _as_players(players: Iterable[Player]) -> tuple[Player, ...]:
    return tuple(players)


@attrs.frozen
class RolePolicies:
    """A team of one player for each role, in role order.

    Each has its own observation and memory, and knows of the others by their reports alone. One
    observation shows the readings of one tick, but a belief rests on all readings so far and on the
    actions of others. So a :class:`~logtriage.policies.Follower` gets the state, too; it may look
    only at what its role was shown. A team with followers needs ``incident`` and ``split``.
    Memory is (state after the last joint actions, memories of the players).
    """

    players: tuple[Player, ...] = attrs.field(converter=_as_players)
    incident: Incident | None = None
    split: RoleSplit | None = attrs.field(default=None, converter=optional(get_role_split))

    def act(
        self, observations: tuple[Observation, ...], memory: Memory
    ) -> tuple[tuple[Action, ...], Memory]:
        """The action of each player, from its observation and, for followers, the state.

        Raises:
            InvalidInput: if there are not as many observations as players.
            RoleFailure: if a player raises, or its action does not fit the topology; the
                exception is the cause.
        """
        if len(observations) != len(self.players):
            raise InvalidInput(f"{len(self.players)} policies for {len(observations)} roles")
        begun = None if self.incident is None else initial_state(self.incident)
        state, memories = memory or (begun, (None,) * len(self.players))
        parts = zip(self.players, observations, memories, strict=True)
        decided = [_ask(number, *part, state) for number, part in enumerate(parts)]
        actions = tuple(action for action, _ in decided)
        if state is not None and self.split is not None:
            state = transition_jointly(state, as_taken(actions, self.split, state))
        return actions, (state, tuple(own for _, own in decided))


def _ask(
    number: int, player: Player, seen: Observation, memory: Memory, state: State | None
) -> tuple[Action, Memory]:
    """(action, memory) of a player; RoleFailure if it raises or its action does not fit."""
    try:
        if state is not None and isinstance(player, Follower):
            action, memory = player.act_in(state, seen), None
        else:
            action, memory = decision(cast(Policy, player), seen, memory)
        check_action(action, seen.topology)
        return action, memory
    except Exception as error:
        raise RoleFailure(number, told_of(error)) from error


def idle(role: Role) -> Action:
    """The action of a role with nothing to do: it waits, or looks around if it may not wait.

    If it may do neither, it still says ``wait``, which :func:`as_taken` makes malformed:
    that changes nothing either.
    """
    if "wait" not in role.may and "request_more_logs" in role.may:
        return RequestMoreLogs(None)
    return Wait()


def may_take(role: Role, action: Action, observation: Observation) -> bool:
    """Whether a role may take an action now: by its kind, its service and the requests left."""
    if action_name(action) not in role.kinds or not may_ask(role, action, observation.topology):
        return False
    return not (observation.requests_left == 0 and is_request(action))


def as_taken(
    actions: tuple[Action, ...], split: SplitLike, state: State | None = None
) -> tuple[Action, ...]:
    """The actions that count when the roles of a split decide for ``actions``.

    An action that a role may not take becomes a :class:`Malformed`, whose reason names the actions
    that it may. If ``state`` is given, so does a request about a service that the role does not
    watch, or beyond its budget. Reports and malformed actions get the name of their role as ``by``;
    a role that plays alone needs no name.

    Raises:
        InvalidInput: if there is not one action for each role.
        TypeError: if the value is not an action.
    """
    split = get_role_split(split)
    if len(actions) != len(split):
        raise InvalidInput(f"{len(actions)} actions for the roles {', '.join(split.names)}")
    if state is not None:
        actions = tuple(
            as_allowed(action, role, state.incident.topology, requests_left(state, split, role))
            for action, role in zip(actions, split.roles, strict=True)
        )
    alone = len(split) == 1
    return tuple(
        as_taken_by(action, role, alone=alone)
        for action, role in zip(actions, split.roles, strict=True)
    )


def as_taken_by(action: Action, role: Role, *, alone: bool = False) -> Action:
    """The action that counts when a role decides for this one; see :func:`as_taken`.

    Raises:
        TypeError: if the value is not an action.
    """
    by = None if alone else role.name
    if not isinstance(action, Action):
        raise TypeError(f"{role.name} must return an action, got {type(action).__name__}")
    if isinstance(action, Malformed):
        return action if by is None else attrs.evolve(action, by=by)
    name = action_name(action)
    if name not in role.kinds:
        may = ", ".join(sorted(role.offered(HAND_OVER_TYPES)))
        return Malformed(describe(action), f"{role.name} may not {name}; it may: {may}", by)
    return attrs.evolve(action, by=role.name) if isinstance(action, Report) else action
