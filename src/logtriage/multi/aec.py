"""One agent after another: :class:`pettingzoo.AECEnv` over the same joint play.

PettingZoo's own ``parallel_to_aec`` differs in three ways: agents of a finished incident leave in
alphabetical order, not in role order; a wrong action is refused in the turn of another agent, when
all have acted; and stepping a finished environment does nothing.
"""

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from logtriage.actions import Action
from logtriage.errors import EpisodeOver
from logtriage.multi.parallel import TriageTeam
from logtriage.vector.layout import Floats


class TriageTeamTurns(AECEnv[str, Any, Any]):
    """A :class:`TriageTeam` by turns: actions take effect when all agents have chosen.

    During a tick every agent keeps the observation, reward and info of its beginning. Once the
    incident is closed, each agent in order takes None and leaves.
    """

    def __init__(self, team: TriageTeam) -> None:
        self._team = team
        self.metadata = team.metadata
        self.render_mode = team.render_mode
        self.role_split, self.topology = team.role_split, team.topology
        self.possible_agents = list(team.possible_agents)
        self.agents = []
        self.observation_spaces = team.observation_spaces
        self.action_spaces = team.action_spaces
        self.state_space = team.state_space
        self._observations: dict[str, Any] = {}
        self._acts: list[Action] = []

    def observation_space(self, agent: str) -> Any:
        """As :meth:`TriageTeam.observation_space`."""
        return self._team.observation_space(agent)

    def action_space(self, agent: str) -> Any:
        """As :meth:`TriageTeam.action_space`."""
        return self._team.action_space(agent)

    def system_prompt(self, agent: str) -> str:
        """As :meth:`TriageTeam.system_prompt`."""
        return self._team.system_prompt(agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """As :meth:`TriageTeam.reset`; the first role begins."""
        self._observations, self.infos = self._team.reset(seed, options)
        self.agents = list(self._team.agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._acts = []
        self.agent_selection = self.agents[0]

    def step(self, action: Any) -> None:
        """Take the action of the selected agent: None if the incident is closed.

        Raises:
            EpisodeOver: if all agents have left, or if the incident is closed and the
                action is not None.
            ResetNeeded, InvalidInput: as :meth:`TriageTeam.step`.
        """
        if self.agents and action is None and self._closed():
            self._was_dead_step(None)
            return
        try:
            self._team.check_open()
        except EpisodeOver as error:
            left = "the agents that are left take None" if self.agents else "all agents have left"
            raise EpisodeOver(f"{error}; {left}, got {action!r}") from None
        agent = self.agent_selection
        self._acts.append(self._team.read(agent, action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if len(self._acts) < len(self.agents):
            self.agent_selection = self.agents[len(self._acts)]
            return
        acts, self._acts = self._acts, []
        self._observations, self.rewards, self.terminations, self.truncations, self.infos = (
            self._team.play(acts)
        )
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        """The observation of an agent at the beginning of the tick, or its last one."""
        if agent not in self._observations:
            self._team.observation_space(agent)
            self._team.check_open()
        return self._observations[agent]

    def state(self) -> Floats:
        """As :meth:`TriageTeam.state`."""
        return self._team.state()

    def render(self) -> str | None:
        """As :meth:`TriageTeam.render`."""
        return self._team.render()

    def close(self) -> None:
        """As :meth:`TriageTeam.close`."""
        self._team.close()

    def _closed(self) -> bool:
        agent = self.agent_selection
        return self.terminations[agent] or self.truncations[agent]


class InOrder(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's guard; stepping a finished environment raises."""

    def step(self, action: Any) -> None:
        """As :meth:`TriageTeamTurns.step`."""
        self._has_updated = True
        self.env.step(action)

    def __str__(self) -> str:
        return str(self.env)
