"""Many incidents played at once by a transformers model that calls tools.

A reply is one message with one or more tool calls, each of which is an action. A reply
without a call that can be read is a malformed action, costs its tick, and the next
screen says so. When the model fails, the episode is unscored with the cause: nobody acts
in its place.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from logtriage.adapters.episode import answer, opening, reply_in, state_after
from logtriage.adapters.trl import environment_of
from logtriage.conversations.tools import Wire
from logtriage.conversations.wires import calls_of, is_in_text, no_call, wire_of
from logtriage.drawing.generator import make_incident
from logtriage.errors import InvalidInput
from logtriage.grading import Resolver
from logtriage.incident import Incident
from logtriage.rendering import Style
from logtriage.rng import hash_name
from logtriage.transcript import COMPLETED, Transcript
from training.language.chat import Chat, Message
from training.language.generation import Batch

#: The key of a transcript that says which attempt at its incident it is, from 0.
SAMPLE: Final = "sample"
#: The key of a transcript that holds the replies as the model wrote them.
REPLIES: Final = "replies"
#: The key of a transcript that says how many of its replies were cut off at the limit.
CUT_OFF: Final = "cut_off"
#: The key of a transcript whose episode ended before it was closed, and why.
ENDED: Final = "ended"
_CAUSE: Final = 500

#: Called with the episodes that are over and those there are in all.
OnProgress = Callable[[int, int], None]


@attrs.frozen
class Decoding:
    """The decoding of replies.

    ``temperature`` 0 is greedy. ``batch`` episodes are played at once; ``max_new_tokens``
    bounds one reply. Every episode has draws of its own, by ``seed``, incident and attempt.

    Raises:
        InvalidInput: if a number makes no sense.
    """

    temperature: float = 0.0
    seed: int = 0
    batch: int = 64
    max_new_tokens: int = 128

    def __attrs_post_init__(self) -> None:
        if self.temperature < 0 or self.batch < 1 or self.max_new_tokens < 1:
            raise InvalidInput(
                "temperature must be at least 0, batch and max_new_tokens at least 1, got "
                f"{self.temperature}, {self.batch} and {self.max_new_tokens}"
            )

    def draws(self, incident: str, sample: int, turn: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The draws (max_new_tokens,) of one turn."""
        key = hash_name(f"{self.seed} {incident} {sample} {turn}")
        return np.random.default_rng(key).random(self.max_new_tokens)


@attrs.define(eq=False)
class Attempt:
    """One attempt at an incident, as far as it was played.

    Attributes:
        sample: the number of the attempt.
        said: every message so far, from the rules on; replies are as the model wrote them.
        style: how rules and screens are written.
        wires: an action for each answer among them.
        status: :data:`~logtriage.transcript.COMPLETED`, or why the model failed.
    """

    incident: Incident
    sample: int
    said: list[Message]
    before: list[int]
    style: Style = "text"
    wires: list[Wire] = attrs.field(factory=list)
    replies: list[str] = attrs.field(factory=list)
    cut_off: int = 0
    ended: str | None = None
    closed: bool = False
    status: str = COMPLETED

    def take(self, message: Message) -> list[Message]:
        """Play what a reply asks for; the messages that answer it."""
        calls = calls_of(message)
        if not calls:
            self.wires.append(no_call(self.replies[-1]))
            answers: list[Message] = [
                {"role": "user", "content": answer(self.incident, self.wires, self.style)}
            ]
        else:
            answers = [self._call(call) for call in calls]
        self.said += [{"role": "assistant", "content": self.replies[-1]}, *answers]
        self.closed = state_after(self.incident, self.wires)[0].is_closed
        return answers

    @property
    def over(self) -> bool:
        """Whether there is nothing more to play."""
        return self.closed or self.ended is not None

    def _call(self, call: Any) -> Message:
        self.wires.append(wire_of(call))
        content = answer(self.incident, self.wires, self.style)
        if is_in_text(call):
            return {"role": "user", "content": content}
        return {"role": "tool", "name": call["function"]["name"], "content": content}

    def transcript(self, agent: str) -> Transcript:
        """The actions to grade, with the replies."""
        extra: dict[str, Any] = {
            SAMPLE: self.sample,
            REPLIES: self.replies,
            CUT_OFF: self.cut_off,
        }
        if self.ended is not None:
            extra[ENDED] = self.ended
        incident = self.incident
        return Transcript(
            incident.id,
            self.wires,
            self.status,
            agent,
            extra,
            seal=incident.seal,
            world=incident.world_mark,
        )


def play_incidents(
    model: Any,
    tokenizer: Any,
    attempts: Sequence[tuple[str, int]],
    decoding: Decoding | None = None,
    *,
    agent: str = "model",
    resolve: Resolver = make_incident,
    template: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> list[Transcript]:
    """Play incidents, given as (id, number of the attempt); a transcript each, in order.

    An episode ends when its incident is closed, or when the model's context is full: then
    it is graded on what it has earned, as in training. The model is left as it was.
    ``template`` is what the chat template is told beside the messages.

    Raises:
        UnknownName, InvalidInput: for an incident that does not exist, or a tokenizer that
            cannot be used.
    """
    played = play_attempts(
        model, tokenizer, attempts, decoding,
        resolve=resolve, template=template, on_progress=on_progress,
    )  # fmt: skip
    return [episode.transcript(agent) for episode in played]


def play_attempts(
    model: Any,
    tokenizer: Any,
    attempts: Sequence[tuple[str, int]],
    decoding: Decoding | None = None,
    *,
    resolve: Resolver = make_incident,
    template: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> list[Attempt]:
    """The attempts of :func:`play_incidents` with all that was said in them, in order.

    Raises:
        UnknownName, InvalidInput: as :func:`play_incidents`.
    """
    decoding = decoding or Decoding()
    chat = Chat(tokenizer, template)
    training = model.training
    model.eval()
    attempts_done: list[Attempt] = []
    # Incidents of like length together waste less: those of a task have one horizon.
    try:
        for start in range(0, len(attempts), decoding.batch):
            episodes = []
            for incident_id, sample in attempts[start : start + decoding.batch]:
                incident = resolve(incident_id)
                said = opening(incident, reply_in(chat.style), chat.style)
                shown = chat.opening(said, environment_of(incident, chat.style))
                episodes.append(Attempt(incident, sample, [*said], shown, chat.style))

            def over(count: int, before: int = start) -> None:
                if on_progress is not None:
                    on_progress(before + count, len(attempts))

            _play_together(model, chat, episodes, decoding, over)
            attempts_done += episodes
            over(len(episodes))
    finally:
        model.train(training)
    return attempts_done


def _play_together(
    model: Any,
    chat: Chat,
    episodes: list[Attempt],
    decoding: Decoding,
    over: Callable[[int], None],
) -> None:
    turn = 0
    playing = list(episodes)
    try:
        table = Batch(model, len(playing), stops_of(model, chat), grammar=chat.grammar)
        for row, episode in enumerate(playing):
            table.append(row, episode.before)
        longest = context_of(model)
        while True:
            _drop(table, playing, longest)
            if not playing:
                break
            draws = np.stack(
                [decoding.draws(episode.incident.id, episode.sample, turn) for episode in playing]
            )
            limits = [min(decoding.max_new_tokens, longest - len(ids)) for ids in table.ids]
            replies = table.reply(draws, limits=limits, temperature=decoding.temperature)
            turn += 1
            over(len(episodes) - len(playing))
            for row, (episode, reply) in enumerate(zip(playing, replies, strict=True)):
                episode.replies.append(chat.text(reply))
                episode.cut_off += reply[-1] not in table.stops
                answers = episode.take(chat.read(reply, episode.before))
                if not episode.closed:
                    episode.before = chat.following(answers)
                    table.append(row, [*_end(reply, table.stops, chat), *episode.before])
    except Exception as error:
        status = f"model failed in turn {turn + 1}: {type(error).__name__}: {error}"[:_CAUSE]
        stopped = [episode for episode in playing if not episode.over]
        if not stopped:
            raise  # no episode would say so
        for episode in stopped:
            episode.status = status


def _drop(table: Batch, playing: list[Attempt], longest: int) -> None:
    """Leave out the episodes that are over."""
    for episode, ids in zip(playing, table.ids, strict=True):
        if not episode.closed and len(ids) >= longest:
            episode.ended = f"the model's context of {longest} tokens was full"
    rows = [row for row, episode in enumerate(playing) if not episode.over]
    table.select(rows)
    playing[:] = [playing[row] for row in rows]


def _end(reply: list[int], stops: frozenset[int], chat: Chat) -> list[int]:
    """The end of a reply that was cut off."""
    return [] if reply[-1] in stops else [chat.tokenizer.eos_token_id]


def stops_of(model: Any, chat: Chat) -> frozenset[int]:
    """The tokens that end a reply: the tokenizer's, and those that the model names."""
    named = getattr(model.generation_config, "eos_token_id", None)
    own = named if isinstance(named, list) else [] if named is None else [named]
    return frozenset((chat.tokenizer.eos_token_id, *own))


def context_of(model: Any) -> int:
    """The most tokens that the model can read."""
    longest: int = model.config.get_text_config().max_position_embeddings
    return longest
