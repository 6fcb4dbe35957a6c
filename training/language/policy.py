"""A transformers model as a policy: for one incident at a time, alone or in a role."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from logtriage.actions import Action
from logtriage.conversations.wires import calls_of, is_in_text, no_call, wire_of
from logtriage.errors import LogTriageError
from logtriage.observation import Observation
from logtriage.parsing import action_from_wire
from logtriage.policies import Memory
from logtriage.rendering import render_observation
from training.language.chat import Chat
from training.language.episodes import Decoding, context_of, stops_of
from training.language.generation import Batch


class ContextFull(LogTriageError):
    """A conversation is longer than what the model can read."""


def reply_to(model: Any, chat: Chat, ids: list[int], draws: Any, decoding: Decoding) -> list[int]:
    """The model's reply to these ids.

    Raises:
        ContextFull: if there is no room for a reply.
    """
    longest = context_of(model)
    if len(ids) >= longest:
        raise ContextFull(f"{len(ids)} tokens; the model reads at most {longest}")
    table = Batch(model, 1, stops_of(model, chat), grammar=chat.grammar)
    table.append(0, ids)
    limit = min(decoding.max_new_tokens, longest - len(ids))
    return table.reply(draws[None], limits=[limit], temperature=decoding.temperature)[0]


@attrs.define
class Count:
    """The number of a model's replies, and how many were cut off at the limit."""

    replies: int = 0
    cut_off: int = 0

    def add(self, *, whole: bool) -> None:
        """One more."""
        self.replies += 1
        self.cut_off += not whole


@attrs.frozen
class _Talk:
    """All ids so far, those of the latest message, and calls that are still to be played."""

    ids: tuple[int, ...]
    waiting: tuple[Any, ...] = ()
    answers: tuple[Mapping[str, Any], ...] = ()
    played: str | None = None
    turn: int = 0


@attrs.frozen(eq=False)
class ModelPolicy:
    """Plays by tool calls, in the protocol of :func:`play_incidents`.

    Attributes:
        name: of the incident; by it and ``decoding.seed`` replies are drawn.
        sample: which attempt it is.
        count: of its replies, whatever the incident.
    """

    model: Any
    chat: Chat
    decoding: Decoding
    rules: str
    name: str
    sample: int = 0
    count: Count = attrs.field(factory=Count)

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Answer the last call with the screen, and play the next one."""
        screen = render_observation(observation)
        if memory is None:
            before = self.chat.opening(
                [{"role": "system", "content": self.rules}, {"role": "user", "content": screen}]
            )
            return self._ask(_Talk(tuple(before)), before, observation)
        talk: _Talk = memory
        answer: dict[str, str] = {"role": "user", "content": screen}
        if talk.played is not None:
            answer = {"role": "tool", "name": talk.played, "content": screen}
        talk = attrs.evolve(talk, answers=(*talk.answers, answer))
        if talk.waiting:
            return _play(talk, observation)
        before = self.chat.following(talk.answers)
        talk = attrs.evolve(talk, ids=(*talk.ids, *before), answers=())
        return self._ask(talk, before, observation)

    def _ask(
        self, talk: _Talk, before: list[int], observation: Observation
    ) -> tuple[Action, Memory]:
        draws = self.decoding.draws(self.name, self.sample, talk.turn)
        reply = reply_to(self.model, self.chat, list(talk.ids), draws, self.decoding)
        calls = tuple(calls_of(self.chat.read(reply, before)))
        ended = reply[-1] in stops_of(self.model, self.chat)
        self.count.add(whole=ended)
        end = () if ended else (self.chat.tokenizer.eos_token_id,)
        talk = _Talk((*talk.ids, *reply, *end), calls, turn=talk.turn + 1)
        if not calls:
            silent = no_call(self.chat.text(reply))
            return action_from_wire(silent, observation.topology), talk
        return _play(talk, observation)


def _play(talk: _Talk, observation: Observation) -> tuple[Action, _Talk]:
    call, *others = talk.waiting
    action = action_from_wire(wire_of(call), observation.topology)
    name = None if is_in_text(call) else call["function"]["name"]
    return action, attrs.evolve(talk, waiting=tuple(others), played=name)


@attrs.frozen(eq=False)
class TextModel:
    """Asks a model for text: the ``complete`` of :class:`logtriage.policies.ChatPolicy`.

    Replies are drawn by the seed, the attempt and the conversation, and counted.
    """

    model: Any
    chat: Chat
    decoding: Decoding
    sample: int = 0
    count: Count = attrs.field(factory=Count)

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The model's reply.

        Raises:
            ContextFull: if there is no room for one.
        """
        ids = self.chat.opening(messages, None)
        draws = self.decoding.draws(str(ids), self.sample, 0)
        reply = reply_to(self.model, self.chat, ids, draws, self.decoding)
        self.count.add(whole=reply[-1] in stops_of(self.model, self.chat))
        return self.chat.text(reply)
