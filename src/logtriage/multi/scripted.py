"""Scripted teams that play agents of :mod:`logtriage.multi.triage_team_v1`, all or some."""

from typing import Any

from pettingzoo import AECEnv

from logtriage.actions import Action
from logtriage.joint import observe_roles
from logtriage.multi.parallel import TriageTeam
from logtriage.policies import RolePolicies, TeamFactory, as_taken
from logtriage.policies.base import Memory
from logtriage.registry import make_team
from logtriage.state import State


class ScriptedTeam:
    """Chooses actions for the agents of an environment, by a scripted team.

    >>> from logtriage.multi import ScriptedTeam, triage_team_v1
    >>> env = triage_team_v1.parallel_env()
    >>> team = ScriptedTeam(env, "observer")
    >>> _ = env.reset(options={"id": 42})
    >>> while env.agents:
    ...     mine = {"triage_0": 0}  # an agent of your own; the others are scripted
    ...     _, rewards, *_ = env.step({**team.actions(), **mine})

    The team sees what its roles see in the environment, and so what agents of your own did. A
    new episode makes a new team.

    Args:
        env: by turns or parallel; wrappers do not matter.
        team: a specification such as ``expert`` or ``triage=oracle,escalation=net:DIR,…``
            (:func:`logtriage.registry.make_team`), or a function that makes a team for an incident.

    Raises:
        UnknownName, InvalidInput: for a specification without a team for these roles.
    """

    def __init__(
        self, env: TriageTeam | AECEnv[str, Any, Any], team: str | TeamFactory = "observer"
    ) -> None:
        inner: Any = env.unwrapped
        self._env: TriageTeam = inner
        self._make = make_team(team, inner.role_split) if isinstance(team, str) else team
        self._team: Any = None
        self._memory: Memory = None
        self._state: State | None = None
        self._decided: dict[str, Action] = {}

    def actions(self) -> dict[str, Action]:
        """An action of the core for each agent in this tick; empty once the incident is closed.

        An action that a role may not take becomes a malformed action.

        Raises:
            ResetNeeded: before the first reset.
            RoleFailure: if the policy of a role raises.
        """
        env, state = self._env, self._env.core_state
        if state.is_closed:
            return {}
        if state is not self._state:
            if self._is_new(state):
                self._team, self._memory = self._make(state.incident), None
            if isinstance(self._team, RolePolicies):
                # Its memory is (state, players' memories). It knows only its own actions, but
                # agents of the caller may have acted: so the state is the environment's.
                _, memories = self._memory or (None, (None,) * len(self._team.players))
                self._memory = (state, memories)
            seen = observe_roles(state, env.role_split)
            chosen, self._memory = self._team.act(seen, self._memory)
            taken = as_taken(chosen, env.role_split, state)
            self._decided = dict(zip(env.possible_agents, taken, strict=True))
            self._state = state
        return dict(self._decided)

    def _is_new(self, state: State) -> bool:
        """Whether a state is not of the episode that the team plays."""
        last = self._state
        if last is None or state.incident is not last.incident or not state.history:
            return True
        return state.history[: len(last.history)] != last.history
