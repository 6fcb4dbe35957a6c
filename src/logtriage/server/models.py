"""The OpenEnv models: action, observation and state."""

from typing import Any, Final, Self

from openenv.core.env_server import Action, Observation, State
from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from logtriage.actions import ACTION_TYPES, HAND_OVER_TYPES
from logtriage.actions import Action as Move
from logtriage.parsing import action_from_wire, parse_action
from logtriage.topology import Topology

_WIRE: Final = ("action_type", "value", "confidence", "reason")


class TriageAction(Action):
    """One action: on the wire, or as the text that a model wrote.

    A message of the wrong shape is refused and costs nothing. What has the right shape
    and makes no sense (an unknown service, text without an action) is a malformed step,
    which costs its tick.
    """

    model_config = ConfigDict(strict=True)

    action_type: str | None = Field(
        default=None,
        max_length=200,
        description=f"One of {', '.join((*ACTION_TYPES, *HAND_OVER_TYPES))}",
    )
    value: str | None = Field(
        default=None,
        max_length=2_000,
        description="Severity, service, team, <remedy>:<service> or all; see the prompt",
    )
    confidence: float | None = Field(
        default=None, allow_inf_nan=False, description="With identify_root_cause, in [0, 1]"
    )
    reasoning: str | None = Field(default=None, description="Kept nowhere, graded nowhere")
    reason: str | None = Field(default=None, description="Of a malformed action sent on as such")
    text: str | None = Field(
        default=None, description="A model's reply, in place of action_type: one JSON action in it"
    )

    @model_validator(mode="after")
    def _action_or_text(self) -> Self:
        # The library tries to send a ValueError back as JSON, and fails.
        if (self.text is None) == (self.action_type is None):
            raise PydanticCustomError("action_or_text", "give either action_type or text")
        if self.text is not None and (self.value is not None or self.confidence is not None):
            raise PydanticCustomError("action_or_text", "text comes without value and confidence")
        return self

    def move(self, topology: Topology) -> Move:
        """The action of this message; ``Malformed`` if it makes no sense. Never raises."""
        if self.text is not None:
            return parse_action(self.text, topology)
        return action_from_wire({name: getattr(self, name) for name in _WIRE}, topology)


class TriageObservation(Observation):
    """What the agent sees, what its last action earned and, at the end, its grade."""

    tick: int = Field(description="Ticks that have passed")
    horizon: int = Field(description="The step budget")
    screen: str = Field(description="What the agent sees, as text")
    closing: str | None = Field(default=None, description="Why the episode is closed")
    prompt: str | None = Field(default=None, description="The public rules; after a reset only")
    error: str | None = Field(default=None, description="Why the last action was malformed")
    grade: dict[str, Any] | None = Field(
        default=None, description="The grade with all its reasons; once closed"
    )


class TriageState(State):
    """Where an episode stands, without the truth."""

    horizon: int | None = Field(default=None, description="The step budget")
    closing: str | None = Field(default=None, description="Why the episode is closed")
    actions: list[dict[str, Any]] = Field(
        default_factory=list, description="The actions played, on the wire"
    )
    score: float | None = Field(default=None, description="The final score; once closed")
