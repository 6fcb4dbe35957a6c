"""Turns of an episode: the messages of a reply, the answers to it, and how an episode stops."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Self

import attrs

from logtriage._lib.jsonvalues import json_kind
from logtriage.conversations.messages import text_of
from logtriage.conversations.wires import calls_of, is_in_text, no_call, wire_of
from logtriage.conversations.words import THOUGHTS, Words, beside, own_words
from logtriage.errors import EpisodeOver, InvalidInput
from logtriage.parsing.calls import Wire
from logtriage.parsing.tools import SOLO_TOOLS
from logtriage.rendering import Reply

Message = Mapping[str, Any]
#: The ``stop`` of an episode that must not be scored.
ERROR: Final = "error"
#: The text in place of a screen that is no longer shown.
LEFT_OUT: Final = "(an earlier screen)"
#: The ``stop`` of an episode that has used up its turns while its incident is open.
OUT_OF_TURNS: Final = "out_of_turns"


class Stopping(ABC):
    """An episode that ends or breaks off; after an ``error`` it is unscored, never 0."""

    error: str | None = None

    def fail(self, cause: str) -> None:
        """Break the episode off for a reason that is not the agent's; it has no grade then."""
        if not cause:
            raise InvalidInput("a cause in words is needed")
        self.error = cause

    def fork(self) -> Self:
        """A copy of the episode; the two are played apart from here on."""
        return copy.copy(self)  # enough, since no attribute is ever changed in place

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
    """The result of one reply.

    ``messages`` answer the reply: one of role ``tool`` for each call, or of role ``user`` if it has
    no calls. ``reward`` is the change of the grade; ``actions`` are the reply's wire actions.
    """

    messages: tuple[dict[str, Any], ...]
    reward: float
    done: bool
    actions: tuple[Wire, ...]

    @property
    def text(self) -> str:
        """The answers as one text."""
        return "\n\n".join(message["content"] for message in self.messages)


class TextEpisode(Stopping):
    """An episode of one agent. Subclasses say how replies are read and wire actions are played.

    ``prompt`` opens the episode. ``actions`` are all wire actions so far, also those without
    effect; ``words`` are the agent's own words beside each, ``rewards`` the rewards of each turn.
    """

    reply: Reply
    prompt: tuple[dict[str, str], ...]
    actions: tuple[Wire, ...] = ()
    words: Words = ()
    rewards: tuple[float, ...] = ()
    _exchanged: tuple[Message, ...] = ()  # the conversation after the prompt
    #: The names of the tools whose calls are read.
    _tools: Collection[str] = SOLO_TOOLS
    _screens: int | None = None
    _score: float

    def step(self, reply: str | Message | Sequence[Message]) -> Turn:
        """Play a reply: its text, its message, or the messages of one turn.

        Everything that the agent wrote counts: a reply that cannot be read, or has no call,
        is a malformed action. Actions after the end have no effect.

        Raises:
            EpisodeOver: after an error, or once the turns are used up.
            InvalidInput: if ``reply`` is neither text nor messages.
        """
        messages = messages_of_turn(reply)
        turn = self._turn(*self._read(messages), own_words(messages))
        self._exchanged += (*map(_without_thoughts, messages), *turn.messages)
        return turn

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation to send to the model; :data:`LEFT_OUT` replaces screens too old."""
        shown = [dict(message) for message in (*self.prompt, *self._exchanged)]
        for place in old_screens([message["role"] for message in shown], self._screens):
            shown[place]["content"] = LEFT_OUT
        return shown

    @property
    @abstractmethod
    def tools(self) -> list[dict[str, Any]]:
        """The tools to offer to the agent, as OpenAI's chat API takes them."""

    def act(self, wire: Wire) -> Turn:
        """Play one wire action as a turn; raises EpisodeOver as :meth:`step`."""
        return self._turn([None], [wire])

    def _turn(self, calls: Sequence[Any], wires: Sequence[Wire], words: str | None = None) -> Turn:
        """Play the wire actions of a reply, each with its call (None: it was no tool call)."""
        if self.error is not None or self.stop == OUT_OF_TURNS:
            raise EpisodeOver(f"the episode has stopped ({self.error or self.stop})")
        before = self._score
        answers = tuple(
            answer_to(call, self._play(wire)) for call, wire in zip(calls, wires, strict=True)
        )
        self.actions = (*self.actions, *wires)
        self.words = (*self.words, *beside(words, len(wires)))
        self._score = self._graded()
        earned = self._score - before
        self.rewards = (*self.rewards, earned)
        if not answers:  # an empty plan
            answers = (answer_to(None, self.screen()),)
        return Turn(answers, earned, self.done, tuple(wires))

    def _read(self, messages: Sequence[Message]) -> tuple[Sequence[Any], Sequence[Wire]]:
        """The calls of a reply and their wire actions; the call is None for text."""
        text = "\n".join(filter(None, map(text_of, messages)))
        if self.reply == "tools":
            calls = [call for message in messages for call in calls_of(message)]
            if not calls:
                return [None], [no_call(text)]
            return calls, [wire_of(call, self._tools) for call in calls]
        wires = self._wires_in(text)
        return [None] * len(wires), wires

    @abstractmethod
    def _wires_in(self, text: str) -> Sequence[Wire]:
        """The wire actions in the text of a reply without tool calls."""

    @abstractmethod
    def _play(self, wire: Wire) -> str:
        """Play a wire action; returns the text that the agent reads next."""

    @abstractmethod
    def _graded(self) -> float:
        """The score of what was played so far."""

    @abstractmethod
    def screen(self) -> str:
        """The present screen."""


def _without_thoughts(message: Message) -> Message:
    return {name: value for name, value in message.items() if name not in THOUGHTS}


def named_in(row: Mapping[str, Any], column: str) -> str:
    """The id in a column of a data set's row; InvalidInput if there is none."""
    name = row.get(column)
    if not isinstance(name, str):
        raise InvalidInput(
            f"the row's column {column!r} must be an id, got {name!r}; "
            f"columns: {', '.join(map(str, row)) or 'none'}"
        )
    return name


def old_screens(roles: Sequence[str], screens: int | None) -> Sequence[int]:
    """The indices of messages with a screen, except the latest ``screens`` (None: except all)."""
    places = [place for place, role in enumerate(roles) if role in ("user", "tool")]
    return () if screens is None else places[:-screens]


def messages_of_turn(reply: object) -> Sequence[Message]:
    """The messages of a reply: text, a message or several; InvalidInput for anything else."""
    if isinstance(reply, str):
        return ({"role": "assistant", "content": reply},)
    messages = (reply,) if isinstance(reply, Mapping) else reply
    if not isinstance(messages, Sequence) or not all(isinstance(row, Mapping) for row in messages):
        raise InvalidInput(f"a reply: expected text or messages, got {json_kind(reply)}")
    return messages


def answer_to(call: Any, text: str) -> dict[str, Any]:
    """The message that answers a reply: of role ``tool`` if its call has an id, else ``user``.

    ``call`` is None for a reply without one; calls that stand in a text have no id.
    """
    is_tool_call = isinstance(call, Mapping) and not is_in_text(call)
    call_id = call.get("id") if is_tool_call else None
    if call_id is None:
        return {"role": "user", "content": text}
    return {"role": "tool", "tool_call_id": call_id, "content": text}
