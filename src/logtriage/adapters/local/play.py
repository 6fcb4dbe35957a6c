"""Play many incidents at once with a loaded model.

An episode ends when its incident does. A reply that cannot be read is a malformed action and costs
its tick. When the model fails, the episode is unscored with the cause: nobody acts in its place.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

import attrs
import numpy as np
import torch
from numpy.typing import NDArray

from logtriage._lib.progress import OnProgress
from logtriage.adapters.episode import Episode
from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.generation import Batch
from logtriage.errors import InvalidInput
from logtriage.evaluation.usage import Usage
from logtriage.incident import Incident
from logtriage.rng import hash_name
from logtriage.transcript import Transcript

_CAUSE: Final = 500  # characters of the cause of a failure


@attrs.frozen
class Decoding:
    """How replies are chosen.

    Attributes:
        temperature: 0 for the likeliest token.
        seed: of an episode's draws, together with its incident and attempt.
        batch: episodes played at once.
        max_tokens: the longest reply; in notation a reply is one token.
        max_context: the longest conversation in tokens; None for the model's own.

    Raises:
        InvalidInput: if a number makes no sense.
    """

    temperature: float = 0.0
    seed: int = 0
    batch: int = 16
    max_tokens: int = 128
    max_context: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.temperature < 0 or self.batch < 1 or self.max_tokens < 1:
            raise InvalidInput(
                "temperature must be at least 0, batch and max_tokens at least 1, got "
                f"{self.temperature}, {self.batch} and {self.max_tokens}"
            )

    def draws(self, incident: str, attempt: int, turn: int, limit: int) -> NDArray[np.float64]:
        """The draws (limit,) of one turn."""
        key = hash_name(f"{self.seed} {incident} {attempt} {turn}")
        return np.random.default_rng(key).random(limit)


@attrs.define(eq=False)
class Attempt:
    """One attempt at an incident, as far as it was played; ``number`` chooses its draws.

    ``ids`` follow the ids of the ``prompt``; ``wrote`` marks those that the model wrote.
    ``cut_off`` counts replies that ended at the limit. ``barred``: the hand-over token is never
    chosen. ``full``: the model's context is full.
    """

    episode: Episode
    number: int
    prompt: list[int]
    ids: list[int] = attrs.field(factory=list)
    wrote: list[bool] = attrs.field(factory=list)
    replies: list[str] = attrs.field(factory=list)
    cut_off: int = 0
    barred: bool = False
    full: bool = False

    def add(self, ids: Sequence[int], *, wrote: bool) -> None:
        """Append ids that the model wrote, or that answered it."""
        self.ids += ids
        self.wrote += [wrote] * len(ids)

    @property
    def over(self) -> bool:
        """Whether there is nothing more to play."""
        return self.full or self.episode.done

    @property
    def usage(self) -> Usage:
        """The usage, a request for each reply. A token that was read counts once."""
        wrote = sum(self.wrote)
        read = len(self.prompt) + len(self.ids) - wrote
        return Usage(len(self.replies), read, wrote, self.cut_off)

    def transcript(self, agent: str) -> Transcript:
        """The transcript, with usage and replies."""
        transcript = self.episode.transcript(agent)
        extra = {**transcript.extra, **attrs.asdict(self.usage), "replies": self.replies}
        return attrs.evolve(transcript, extra=extra)


def context_of(model: Any) -> int:
    """The most tokens that the model can read."""
    longest: int = model.config.get_text_config().max_position_embeddings
    return longest


def play(
    model: Any,
    chat: Chat,
    incidents: Sequence[tuple[Incident, int]],
    decoding: Decoding,
    *,
    barred: Callable[[str], bool] = lambda _: False,
    on_progress: OnProgress | None = None,
) -> list[Attempt]:
    """Play (incident, attempt number) pairs; returns their attempts in the same order.

    An episode also ends when the model's context is full; it is graded as it stands. ``barred``
    tells by an incident's id whether its hand-over token is never chosen.

    Raises:
        InvalidInput: if an incident is barred and the model, not of notation, has no such token.
    """
    if not chat.is_notation and any(barred(incident.id) for incident, _ in incidents):
        raise InvalidInput("barred: only a model of notation has a token that hands over")
    training = model.training
    # In evaluation bitsandbytes packs 4-bit weights for a CPU, and then they pass no gradient.
    if not (training and getattr(model, "is_loaded_in_4bit", False)):
        model.eval()
    played: list[Attempt] = []
    # Batches keep the order: incidents of a task have one horizon, and so waste little padding.
    try:
        for start in range(0, len(incidents), decoding.batch):
            attempts = []
            for incident, number in incidents[start : start + decoding.batch]:
                episode, opening = chat.begin(incident)
                attempts.append(Attempt(episode, number, opening, barred=barred(incident.id)))

            def tell(count: int, before: int = start) -> None:
                if on_progress is not None:
                    on_progress(before + count, len(incidents))

            _play_together(model, chat, attempts, decoding, tell)
            played += attempts
            tell(len(attempts))
    finally:
        model.train(training)
    return played


def _play_together(
    model: Any, chat: Chat, attempts: list[Attempt], decoding: Decoding, tell: Callable[[int], None]
) -> None:
    """Play the attempts of one batch to their ends; ``tell`` gets the number that ended."""
    limit = 1 if chat.is_notation else decoding.max_tokens
    longest = min(context_of(model), decoding.max_context or context_of(model))
    playing, turn = list(attempts), 0
    try:
        table = Batch(model, [attempt.prompt for attempt in playing], chat.stops)
        for turn in count():
            for attempt, ids in zip(playing, table.ids, strict=True):
                attempt.full = len(ids) + limit > longest
            rows = [row for row, attempt in enumerate(playing) if not attempt.over]
            tell(len(attempts) - len(rows))
            if not rows:
                return
            table.select(rows)
            playing = [playing[row] for row in rows]
            draws = np.stack(
                [
                    decoding.draws(attempt.episode.incident.id, attempt.number, turn, limit)
                    for attempt in playing
                ]
            )
            replies = table.reply(draws, limit, decoding.temperature, _barred(model, chat, playing))
            for row, (attempt, reply) in enumerate(zip(playing, replies, strict=True)):
                attempt.add(reply, wrote=True)
                attempt.cut_off += reply[-1] not in table.stops and not chat.is_notation
                text, _, following = chat.play(attempt.episode, reply)
                attempt.replies.append(text)
                attempt.add(following, wrote=False)
                table.append(row, following)
    except Exception as error:  # in the turn of ``playing``, some of which may be over
        cause = f"model failed in turn {turn + 1}: {type(error).__name__}: {error}"[:_CAUSE]
        stopped = [attempt for attempt in playing if not attempt.over]
        if not stopped:
            raise  # no episode would say so
        for attempt in stopped:
            attempt.episode.fail(cause)


def _barred(model: Any, chat: Chat, playing: Sequence[Attempt]) -> torch.Tensor | None:
    """The tokens (rows, vocabulary) that are never chosen: in notation, all but actions."""
    if not chat.is_notation:
        return None
    width = model.get_output_embeddings().weight.shape[0]
    barred = torch.ones(len(playing), width, dtype=torch.bool, device=model.device)
    barred[:, list(chat.actions)] = False
    rows = [row for row, attempt in enumerate(playing) if attempt.barred]
    barred[rows, chat.hand_over] = True
    return barred
