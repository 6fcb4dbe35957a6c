"""A turn of an episode: the messages of a reply, and what the agent is told then."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from logtriage._lib.jsonvalues import json_kind
from logtriage.conversations.wires import is_in_text
from logtriage.errors import InvalidInput
from logtriage.parsing.calls import Wire

Message = Mapping[str, Any]


@attrs.frozen
class Turn:
    """What one reply led to.

    Attributes:
        messages: what the agent is told, as chat messages: one of role ``tool`` for each
            call, or one of role ``user`` where it called nothing.
        reward: what the reply earned: the difference of the two grades.
        done: whether the episode has stopped.
        actions: the wire actions that the reply was read as.
    """

    messages: tuple[dict[str, Any], ...]
    reward: float
    done: bool
    actions: tuple[Wire, ...]

    @property
    def text(self) -> str:
        """What the agent is told, as one text."""
        return "\n\n".join(one["content"] for one in self.messages)


def messages_of_turn(reply: object) -> Sequence[Message]:
    """The messages of a reply: of its text, of one, or of several.

    Raises:
        InvalidInput: for what is neither text nor messages.
    """
    if isinstance(reply, str):
        return ({"role": "assistant", "content": reply},)
    given = (reply,) if isinstance(reply, Mapping) else reply
    if not isinstance(given, Sequence) or not all(isinstance(one, Mapping) for one in given):
        raise InvalidInput(f"a reply: expected text or messages, got {json_kind(reply)}")
    return given


def answer_to(call: Any, told: str) -> dict[str, Any]:
    """The message that tells an agent what its call led to: of the tool, if it has an id."""
    number = None if call is None or is_in_text(call) else call.get("id")
    if number is None:
        return {"role": "user", "content": told}
    return {"role": "tool", "tool_call_id": number, "content": told}
