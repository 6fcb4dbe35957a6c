"""A chat model that calls tools, as a policy: one call is one action.

>>> from logtriage.adapters.endpoint import ChatEndpoint
>>> from logtriage.adapters.toolchat import ToolChatPolicies
>>> ask = ChatEndpoint("my-model", base_url="http://127.0.0.1:8000/v1")  # doctest: +SKIP
>>> policies = ToolChatPolicies(ask.with_tools)  # doctest: +SKIP
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from logtriage.actions import Action
from logtriage.adapters.turns import Message, answer_to
from logtriage.conversations.messages import text_of
from logtriage.conversations.tools import openai_tools
from logtriage.conversations.wires import calls_of, no_call, wire_of
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.parsing import action_from_wire
from logtriage.policies import Memory
from logtriage.rendering import render_observation, system_prompt

#: Asks a model: the messages so far, and the tools on offer, to its message.
AskWithTools = Callable[[Sequence[Message], Sequence[Message]], Message]


@attrs.frozen
class _Talk:
    """The conversation, the calls still to be played, and the call played last."""

    messages: tuple[Message, ...] = ()
    waiting: tuple[Any, ...] = ()
    played: Any = None


@attrs.frozen
class ToolChatPolicy:
    """The policy of a model that answers with tool calls, as OpenAI's chat API writes them.

    Several calls in one message are as many actions, in order. A message without a call
    is a malformed action: it costs its tick, and the next screen says so. An exception of
    ``ask`` passes through, so that a runner marks the episode as unscored.

    Args:
        ask: asks the model.
        rules: the system prompt (:func:`logtriage.rendering.system_prompt`).
        tools: those on offer (:func:`logtriage.conversations.tools.openai_tools`).
    """

    ask: AskWithTools
    rules: str
    tools: tuple[Message, ...]

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Show the screen as the answer to the last call, and play the next one."""
        talk: _Talk = memory or _Talk()
        messages = (*talk.messages, answer_to(talk.played, render_observation(observation)))
        waiting = talk.waiting
        if not waiting:
            reply = self.ask([{"role": "system", "content": self.rules}, *messages], self.tools)
            messages = (*messages, reply)
            waiting = tuple(calls_of(reply))
            if not waiting:
                silent = action_from_wire(no_call(text_of(reply)), observation.topology)
                return silent, _Talk(messages)
        call, *others = waiting
        action = action_from_wire(wire_of(call), observation.topology)
        return action, _Talk(messages, tuple(others), call)


@attrs.frozen
class ToolChatPolicies:
    """The factory of :class:`ToolChatPolicy` for incidents; picklable if ``ask`` is."""

    ask: AskWithTools

    def __call__(self, incident: Incident) -> ToolChatPolicy:
        """The policy that plays one incident."""
        tools = tuple(openai_tools(incident))
        return ToolChatPolicy(self.ask, system_prompt(incident, "tools"), tools)
