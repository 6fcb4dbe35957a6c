"""``relay_v1``: two engineers share a shift, as a PettingZoo environment.

``early_0`` plays until half time and leaves; ``late_0`` then has the board and the notebook.
Both see text, write JSON and get the same rewards, which add up to the grade of the shift:
so the note pays its writer. ``parallel_env`` is :class:`Relay`; ``env`` plays it by turns (AEC).
Importing this registers both as ``logtriage/relay-v1``. The version moves when spaces, agents
or rewards do.
"""

import json
from typing import Any, Final

import attrs
import pettingzoo
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.seeding import np_random
from pettingzoo.utils.conversions import parallel_to_aec

from logtriage.actions import all_actions
from logtriage.errors import EpisodeOver, InvalidInput
from logtriage.multi.texts import Replies, Screens
from logtriage.rendering import Reply
from logtriage.shift.grades import grade as grade_shift
from logtriage.shift.grades import reward, shift_grade_to_json
from logtriage.shift.relay import half_time
from logtriage.shift.screens import observe, render, shift_prompt
from logtriage.shift.shifts import SYSTEMS, make_shift, shift_ids
from logtriage.shift.states import On, ShiftState, begin, transition
from logtriage.shift.wires import shift_action_from_wire, shift_action_to_wire, wire_in

__all__ = ["ENV_ID", "Relay", "env", "parallel_env"]

#: What is registered with PettingZoo, in both of its registries.
ENV_ID: Final = "logtriage/relay-v1"
AGENTS: Final = ("early_0", "late_0")
_BEFORE: Final = "You are not on duty yet."
_AFTER: Final = "You have left."
_ROLE: Final = {
    "early_0": "You leave at half time, tick {half}. Another engineer goes on, who sees nothing "
    "of your screens but the board and the notebook.",
    "late_0": "You begin at half time, tick {half}, with the board and the notebook of the "
    "engineer before you.",
}


def _texts() -> list[str]:
    """The JSON of every action on every system that a shift may have."""
    topology = make_shift("quiet_shift-v1/train/0").arrivals[0].incident.topology
    actions = all_actions(topology, hand_over=True)
    wires = [shift_action_to_wire(On(system, action)) for system in SYSTEMS for action in actions]
    return list(map(json.dumps, wires))


class Relay(pettingzoo.ParallelEnv[str, Any, Any]):
    """Two engineers share a shift.

    Args:
        task: a task of shifts.
        split: ``train``, ``val`` or ``test``.
        render_mode: ``ansi`` for the screen of whoever is on duty, or None.

    Raises:
        UnknownName: for a task or a split that does not exist.
        InvalidInput: for another render mode.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo reads it from the class)
        "name": "relay_v1",
        "render_modes": ["ansi"],
        "is_parallelizable": True,
    }

    def __init__(
        self, task: str = "busy_shift-v1", split: str = "train", *, render_mode: str | None = None
    ) -> None:
        shift_ids(task, split, 0)
        if render_mode not in (None, "ansi"):
            raise InvalidInput(f"render_mode must be 'ansi' or None, got {render_mode!r}")
        self._task, self._split, self.render_mode = task, split, render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: Screens() for agent in AGENTS}
        texts = _texts()
        self.action_spaces = {agent: Replies(texts) for agent in AGENTS}
        self._state: ShiftState | None = None
        self._random, _ = np_random()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's screens: always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's replies: always the same object."""
        return self.action_spaces[agent]

    def system_prompt(self, agent: str, reply: Reply = "json") -> str:
        """The rules, for an agent."""
        shift = self.shift_state.shift
        return f"{shift_prompt(shift, reply)}\n{_ROLE[agent].format(half=half_time(shift))}"

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Begin a shift: that of ``options["shift"]``, or the next shift of the split."""
        if seed is not None:
            self._random, _ = np_random(seed)
        drawn = f"{self._task}/{self._split}/{int(self._random.integers(1 << 31))}"
        self._state = begin(make_shift((options or {}).get("shift", drawn)))
        self.agents = list(AGENTS)
        return self._screens(), self._infos()

    @property
    def shift_state(self) -> ShiftState:
        """The state of the shift.

        Raises:
            ResetNeeded: before the first reset.
        """
        if self._state is None:
            raise ResetNeeded("call reset() first")
        return self._state

    def on_duty(self) -> str:
        """The agent whose action counts in this tick."""
        state = self.shift_state
        return AGENTS[state.tick >= half_time(state.shift)]

    def step(
        self, actions: dict[str, str]
    ) -> tuple[
        dict[str, str],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """One tick: the reply of the agent on duty is played, that of the other is not read.

        Raises:
            ResetNeeded: before the first reset.
            EpisodeOver: if the shift is over.
            InvalidInput: for an action on duty that is no text.
        """
        before = self.shift_state
        if not self.agents:
            raise EpisodeOver("the shift is over; reset() begins another")
        reply = actions.get(self.on_duty())
        if not isinstance(reply, str):
            raise InvalidInput(f"action of {self.on_duty()}: expected text, got {reply!r:.80}")
        after = transition(before, shift_action_from_wire(wire_in(reply), before))
        self._state = after
        earned, agents = reward(before, after), self.agents
        if after.is_over:
            self.agents = []
        return (
            self._screens(),
            dict.fromkeys(agents, earned),
            dict.fromkeys(agents, after.is_over),
            dict.fromkeys(agents, False),
            self._infos(),
        )

    def _screens(self) -> dict[str, str]:
        state, half = self.shift_state, half_time(self.shift_state.shift)
        seen = observe(state)
        if state.tick == half:  # what the first engineer looked at last is not on the board
            seen = attrs.evolve(seen, last=None, system=None, screen=None)
        screen = render(seen)
        late = state.tick >= half
        return {"early_0": _AFTER if late else screen, "late_0": screen if late else _BEFORE}

    def _infos(self) -> dict[str, dict[str, Any]]:
        state = self.shift_state
        more = {"grade": shift_grade_to_json(grade_shift(state))} if state.is_over else {}
        return {agent: {"on_duty": agent == self.on_duty(), **more} for agent in AGENTS}

    def render(self) -> str | None:
        """The screen of whoever is on duty."""
        return None if self.render_mode is None else self._screens()[self.on_duty()]

    def close(self) -> None:
        """Nothing is held open."""


parallel_env = Relay


def env(*args: Any, **kwargs: Any) -> pettingzoo.AECEnv[str, Any, Any]:
    """The environment by turns; arguments as :class:`Relay`."""
    return parallel_to_aec(Relay(*args, **kwargs))


pettingzoo.register("parallel", ENV_ID, entry_point=f"{__name__}:parallel_env")
pettingzoo.register("aec", ENV_ID, entry_point=f"{__name__}:env")
