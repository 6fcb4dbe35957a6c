"""Turns of an episode: the messages of a reply, what the agent is told then, and how it stops."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import attrs

from logtriage._lib.jsonvalues import json_kind
from logtriage.conversations.wires import is_in_text
from logtriage.errors import InvalidInput
from logtriage.parsing.calls import Wire

Message = Mapping[str, Any]
#: Why an episode has stopped that must not be scored.
ERROR: Final = "error"


class Stopping(ABC):
    """An episode that is played to its end, or breaks off.

    Attributes:
        error: why the episode must not be scored, or None. That is never a 0.
    """

    error: str | None = None

    def fail(self, cause: str) -> None:
        """Say that the episode broke off for a reason that is not the agents'."""
        if not cause:
            raise InvalidInput("a cause in words is needed")
        self.error = cause

    def fork(self) -> Self:
        """The same episode once more: what one plays from here on, the other does not see."""
        return copy.copy(self)  # every attribute is immutable

    @property
    @abstractmethod
    def stop(self) -> str | None:
        """Why the episode has stopped; None while it goes on."""

    @property
    def done(self) -> bool:
        """Whether the episode has stopped."""
        return self.stop is not None


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
    named = isinstance(call, Mapping) and not is_in_text(call)
    number = call.get("id") if named else None
    if number is None:
        return {"role": "user", "content": told}
    return {"role": "tool", "tool_call_id": number, "content": told}
