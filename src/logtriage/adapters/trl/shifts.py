"""TRL's environment of a shift: every tool but two names the system that it is for."""

# mypy: disable-error-code="empty-body"

from collections.abc import Callable, Mapping
from typing import Any, Concatenate

from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.trl.environments import P, S, tool_method
from logtriage.conversations.tools import SHIFT_TOOLS
from logtriage.errors import InvalidInput


def _tool(signature: Callable[Concatenate[S, P], str]) -> Callable[Concatenate[S, P], str]:
    return tool_method(SHIFT_TOOLS[signature.__name__], signature)


class ShiftEnv:
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

    @_tool
    def classify_severity(self, *, system: str, severity: str) -> str: ...  # noqa: D102

    @_tool
    def identify_root_cause(  # noqa: D102
        self, *, system: str, service: str, confidence: float | None = None
    ) -> str: ...

    @_tool
    def escalate(self, *, system: str, team: str) -> str: ...  # noqa: D102

    @_tool
    def remediate(self, *, system: str, remedy: str, service: str) -> str: ...  # noqa: D102

    @_tool
    def request_more_logs(self, *, system: str, service: str = "all") -> str: ...  # noqa: D102

    @_tool
    def request_metrics(self, *, system: str, service: str) -> str: ...  # noqa: D102

    @_tool
    def request_traces(self, *, system: str, service: str) -> str: ...  # noqa: D102

    @_tool
    def resolve(self, *, system: str) -> str: ...  # noqa: D102

    @_tool
    def ignore(self, *, system: str) -> str: ...  # noqa: D102

    @_tool
    def hand_over(self, *, system: str) -> str: ...  # noqa: D102

    @_tool
    def wait(self, *, ticks: int = 1) -> str: ...  # noqa: D102

    @_tool
    def note(self, *, text: str) -> str: ...  # noqa: D102
