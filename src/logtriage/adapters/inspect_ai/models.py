"""The scripted policies as models of Inspect: ``--model logtriage/expert``."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from inspect_ai.util import store_as

from logtriage.actions import Action
from logtriage.adapters.inspect_ai.agent import TriageStore
from logtriage.conversations.tools import call_from_action
from logtriage.dynamics import transition
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import action_from_wire
from logtriage.parsing.calls import Wire
from logtriage.registry import make_policy
from logtriage.state import initial_state


@modelapi("logtriage")
class ScriptedModel(ModelAPI):
    """A policy of the registry that answers with tool calls; plays logtriage samples only."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (Inspect's own signature)
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, api_key_vars=[], config=config)
        self.factory = make_policy(model_name)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002, ARG002
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """The policy's next call; an empty reply once the incident is closed."""
        store = store_as(TriageStore)
        incident = store.current()
        message = ChatMessageAssistant(content="", model=self.model_name, source="generate")
        if not store.is_closed():
            action = self._next(incident, store.actions)
            name, arguments = call_from_action(action)
            number = len(store.actions)
            message.tool_calls = [ToolCall(f"call_{number}", name, arguments)]
        choice = ChatCompletionChoice(message=message, stop_reason="stop")
        return ModelOutput(model=self.model_name, choices=[choice], usage=ModelUsage())

    def _next(self, incident: Incident, actions: Sequence[Wire]) -> Action:
        """The policy's action after ``actions``, played again from the start for its memory."""
        policy, state = self.factory(incident), initial_state(incident)
        action, memory = policy.act(observe(state), None)
        for wire in actions:
            state = transition(state, action_from_wire(wire, incident.topology))
            action, memory = policy.act(observe(state), memory)
        return action
