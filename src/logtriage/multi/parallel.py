"""A :class:`pettingzoo.ParallelEnv` in which all roles of a team act in each tick."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.seeding import np_random
from pettingzoo import ParallelEnv

from logtriage._lib.seal import Seal
from logtriage.actions import Action
from logtriage.dynamics import transition_jointly
from logtriage.env.incidents import Incidents, info_of, option
from logtriage.env.spaces import box_of
from logtriage.errors import EpisodeOver, InvalidInput, UnknownName
from logtriage.grading import Rubric, reward
from logtriage.grading.credit import credits_of
from logtriage.grading.rubric import check_rubric
from logtriage.joint import observe_roles, requests_left
from logtriage.multi.seats import OBSERVATIONS, agent_name, seat_for
from logtriage.observation import observe
from logtriage.rendering import public_rules, render_observation
from logtriage.roles import RoleSplit, as_allowed
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import Closing, State, initial_state
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import CREDITS, encode_team_tokens, role_tokens_of
from logtriage.vector.layout import Floats
from logtriage.world.loading import WorldLike

Infos = dict[str, dict[str, Any]]


class TriageTeam(ParallelEnv[str, Any, Any]):
    """A team on one incident: in each tick every agent acts once, then time passes.

    Agents are the roles of the split, ``triage_0`` and so on, in the order in which they
    act; all of them see the beginning of the tick. The action that closes the incident ends the
    episode for all (a termination); actions after it in that tick are not taken. The horizon is a
    truncation. Options, infos and arguments not named here are those of
    :class:`logtriage.env.TriageEnv`.

    Args:
        task: such as ``cascading_failure-v4``, or a :class:`~logtriage.tasks.TaskSpec` of
            your own.
        split: of the incidents, as in :class:`logtriage.env.TriageEnv`.
        role_split: who sees and does what: a built-in name, or a split of your own.
        horizon: in place of the task's, in ticks.
        credit: ``team`` gives every agent the grade difference of the tick;
            ``counterfactual`` gives how much the grade exceeds that if this agent had waited.
            Agents whose actions close the incident alike share that difference.
        observations: ``dict`` (``observation`` float32 and ``action_mask`` int8), ``flat``
            (the array alone; the mask is in the info) or ``text`` (the role's screen;
            actions are texts with one JSON action); or a mapping from agents to these,
            such as ``{"triage_0": "text", "escalation_0": "flat", …}``.
        render_mode: None, ``ansi`` (:meth:`render` returns the whole screen), or ``human``
            (each screen is printed).
        seal: the key of split ``sealed``; by default that of the variable
            ``LOGTRIAGE_SEAL``.

    Raises:
        UnknownName: for a task, split, role split, credit, kind of observations or render
            mode that does not exist.
        InvalidInput: for split ``ood`` or ``fleet_outage`` without a topology, split
            ``sealed`` of a task that has none, a horizon of no ticks, an invalid role split,
            or observations for only some agents.
        SealError: for split ``sealed`` without a key.
    """

    metadata = {  # noqa: RUF012, as PettingZoo declares it
        "name": "triage_team_v1",
        "render_modes": ["human", "ansi"],
        "render_fps": 1,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        task: str | TaskSpec = "cascading_failure-v4",
        split: str = "train",
        *,
        role_split: SplitLike = "trio",
        horizon: int | None = None,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        credit: str = "team",
        observations: str | Mapping[str, str] = "dict",
        render_mode: str | None = None,
        show_id: bool = False,
        seal: Seal | None = None,
        world: WorldLike | None = None,
    ) -> None:
        _check_known("credit", credit, CREDITS)
        if render_mode is not None:
            _check_known("render mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.role_split = get_role_split(role_split)
        kinds = _kinds_of(observations, self.role_split)
        if rubric is not None:
            check_rubric(rubric)
        self._incidents = Incidents(task, split, topology, seal, horizon, world)
        self._rubric, self._credit = rubric, credit
        self.topology = self._incidents.topology
        self._seats = {
            agent: seat_for(role, self.role_split, self._incidents.task, self.topology, kind)
            for role, (agent, kind) in zip(self.role_split.roles, kinds.items(), strict=True)
        }
        self.possible_agents = list(self._seats)
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: seat.observation_space for agent, seat in self._seats.items()
        }
        self.action_spaces = {agent: seat.action_space for agent, seat in self._seats.items()}
        played = self._incidents.task
        self.state_space: spaces.Space[Floats] = box_of(
            role_tokens_of(self.role_split, None, played.setting, self.topology, played.horizon)
        )
        self._has_text = any(kind == "text" for kind in kinds.values())
        self._show_id, self._index = show_id, -1
        self._now: State | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations: always the same object."""
        _check_known("agent", agent, self.possible_agents)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions: always the same object."""
        _check_known("agent", agent, self.possible_agents)
        return self.action_spaces[agent]

    def system_prompt(self, agent: str) -> str:
        """The public rules for the role of an agent, as a language model reads them."""
        _check_known("agent", agent, self.possible_agents)
        task = self._incidents.task
        rubric = task.rubric if self._rubric is None else self._rubric.id
        role = self._seats[agent].role.name
        return public_rules(
            self.topology, task.horizon, rubric, task.setting, split=self.role_split, role=role
        )

    def read(self, agent: str, action: Any) -> Action:
        """An agent's action (integer, text, or core action) as an action of the core.

        Raises:
            UnknownName, InvalidInput: for an unknown agent; for an action it does not have.
        """
        _check_known("agent", agent, self.possible_agents)
        return self._seats[agent].read(action)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Infos]:
        """Begin the incident whose id or index is ``options["id"]``, or the next incident.

        Raises:
            UnknownName, InvalidInput: for an id of another task or split.
            InvalidInput: for another option, and if the seed is not a whole number from 0.
        """
        playlist = self._incidents.playlist
        if seed is not None or not playlist.begun:
            random, _ = np_random(_checked_seed(seed))
            playlist.begin(random)
        # PettingZoo's own tests pass an option named options to every environment.
        known = {name: value for name, value in (options or {}).items() if name != "options"}
        self._index, incident = self._incidents.draw(option(known, "id"))
        self._now = initial_state(incident)
        self.agents = list(self.possible_agents)
        return self._look()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Let every agent act in this tick. After the end, ``step({})`` returns empty dictionaries.

        Raises:
            ResetNeeded: before the first reset.
            EpisodeOver: for actions after the end.
            InvalidInput: for a missing action, one of an unknown agent, or if :meth:`read` refuses.
        """
        if not actions and not self.agents and self.core_state.is_closed:
            return {}, {}, {}, {}, {}
        before, split = self.core_state, self.role_split
        if before.is_closed:
            raise EpisodeOver(f"the incident is closed ({before.closing}): call reset()")
        _check_agents(actions, self.possible_agents)
        chosen = [self.read(agent, actions[agent]) for agent in self._seats]
        acts = [
            as_allowed(act, role, self.topology, requests_left(before, split, role))
            for act, role in zip(chosen, split.roles, strict=True)
        ]
        after = transition_jointly(before, acts)
        self._now = after
        rewards = self._rewards(before, acts, after)
        truncated = after.closing is Closing.OUT_OF_TIME
        terminated = after.is_closed and not truncated
        if after.is_closed:
            self.agents = []
        observations, infos = self._look()
        return (
            observations,
            rewards,
            dict.fromkeys(self._seats, terminated),
            dict.fromkeys(self._seats, truncated),
            infos,
        )

    def state(self) -> Floats:
        """What the roles see together (D,), by ``role_tokens_of`` with the role None."""
        return encode_team_tokens(self.core_state, self.role_split)

    def render(self) -> str | None:
        """Return (``ansi``) or print (``human``) the whole screen."""
        if self.render_mode is None:
            return None
        screen = render_observation(observe(self.core_state))
        if self.render_mode == "ansi":
            return screen
        sys.stdout.write(f"{screen}\n\n")
        return None

    @property
    def core_state(self) -> State:
        """The core's state, which includes the truth: for scripts and graders, not for agents."""
        if self._now is None:
            raise ResetNeeded("no incident is open: call reset() first")
        return self._now

    def _look(self) -> tuple[dict[str, Any], Infos]:
        state = self.core_state
        known = info_of(state, self._index if self._show_id else None, self._rubric)
        slices = observe_roles(state, self.role_split) if self._has_text else ()
        observations, infos = {}, {}
        for agent, seat in self._seats.items():
            observations[agent], more = seat.look(state, slices)
            infos[agent] = more | known
        if self.render_mode == "human":
            self.render()
        return observations, infos

    def _rewards(self, before: State, acts: Sequence[Action], after: State) -> dict[str, float]:
        if self._credit == "team":
            return dict.fromkeys(self._seats, reward(before, after, self._rubric))
        return dict(zip(self._seats, credits_of(before, acts, self._rubric), strict=True))


def _check_known(what: str, name: object, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownName(what, name, known)


def _check_agents(actions: object, agents: Sequence[str]) -> None:
    if not isinstance(actions, Mapping) or actions.keys() != set(agents):
        named = ", ".join(map(str, actions)) if isinstance(actions, Mapping) else repr(actions)
        raise InvalidInput(
            f"actions of {named or 'nobody'}: expected one of each agent: {', '.join(agents)}"
        )


def _kinds_of(observations: object, split: RoleSplit) -> dict[str, str]:
    """The kind of observations of each agent, in the order of the roles."""
    agents = [agent_name(role) for role in split.roles]
    kinds: Mapping[Any, Any] = dict.fromkeys(agents, observations)
    if isinstance(observations, Mapping):
        kinds = observations
    if kinds.keys() != set(agents):
        raise InvalidInput(
            f"observations of {', '.join(map(str, kinds)) or 'nobody'}: "
            f"expected a kind for each agent: {', '.join(agents)}"
        )
    for kind in kinds.values():
        _check_known("kind of observations", kind, OBSERVATIONS)
    return {agent: kinds[agent] for agent in agents}


def _checked_seed(seed: object) -> int | None:
    if seed is None:
        return None
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InvalidInput(f"seed {seed!r}: expected a whole number from 0")
    return int(seed)
