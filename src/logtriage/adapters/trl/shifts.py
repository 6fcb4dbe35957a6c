"""TRL's environment of a shift: every tool but two names the system that it is for."""

from collections.abc import Mapping
from typing import Any

from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.trl.environments import Tooled, offers
from logtriage.errors import InvalidInput
from logtriage.parsing.tools import SHIFT_TOOLS


@offers(*SHIFT_TOOLS, tools=SHIFT_TOOLS)
class ShiftEnv(Tooled):
    """One shift as an environment of ``GRPOTrainer(environment_factory=ShiftEnv)``.

    A dataset row names the shift in its column ``shift``. TRL makes a tool of every public
    method but ``reset`` and ``get_reward``.
    """

    def __init__(self) -> None:
        self._episode: ShiftEpisode | None = None

    def reset(self, **row: Any) -> str:
        """Start the shift of a row; returns the rules and the first screen.

        Raises:
            UnknownName, InvalidInput: if the row names no shift that exists.
        """
        self._episode = ShiftEpisode.of_row(row)
        return "\n\n".join(message["content"] for message in self._episode.prompt)

    @property
    def episode(self) -> ShiftEpisode:
        """The episode, with its grade and its rewards by turn.

        Raises:
            InvalidInput: before the first reset.
        """
        if self._episode is None:
            raise InvalidInput("no shift yet: call reset(shift=…) first")
        return self._episode

    def get_reward(self) -> float:
        """The score of what was played so far, in [0, 1]."""
        return self.episode.grade.score

    def _call(self, called: Mapping[str, Any]) -> str:
        return self.episode.step({"role": "assistant", "tool_calls": [called]}).text
