"""The model's own episodes, with what the teacher would have said in the model's place.

Whoever has only seen the teacher's episodes never learns what to do after mistakes of its own.
So the model plays, and at each of its turns the teacher says what it would have noted and done
there (DAgger: Ross, Gordon and Bagnell 2011, arXiv:1011.0686).
"""

from collections.abc import Sequence
from typing import Final

import attrs
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from logtriage.adapters.episode import opening
from logtriage.observation import observe
from logtriage.parsing import action_from_wire
from logtriage.policies.notebook import Notebook, write_down
from logtriage.state import initial_state
from logtriage.transcript import COMPLETED
from logtriage.transition import transition
from training.evaluate.phases import Phases
from training.language.chat import Message
from training.language.episodes import Attempt, Decoding, play_attempts
from training.language.sources import Source
from training.tiny.demonstrations import (
    Conversation,
    in_other_words,
    teachers_reply,
    without_logs,
)
from training.tiny.settings import Settings

#: Episodes that are played at a time.
BATCH: Final = 100


@attrs.frozen
class Corrected:
    """An episode of the model, and for each reply of the model's the teacher's."""

    said: Conversation
    replies: Sequence[Message]


def own_episodes(
    model: Qwen2ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    source: Source,
    ids: Sequence[str],
    settings: Settings,
    phases: Phases,
) -> list[Corrected]:
    """Let the model play incidents, by its own notes, and correct every turn.

    Raises:
        RuntimeError: if the model fails.
    """
    phases.begin("own play", len(ids))
    played = play_attempts(
        model,
        tokenizer,
        [(one, 0) for one in ids],
        Decoding(settings.own_temperature, settings.seed, BATCH, settings.own_tokens),
        resolve=source,
        on_progress=lambda done, _: phases.advance(done),
    )
    for one in played:
        if one.status != COMPLETED:
            raise RuntimeError(f"{one.incident.id}: {one.status}")
    return [corrected(one, settings) for one in played]


def corrected(attempt: Attempt, settings: Settings) -> Corrected:
    """The same episode with what the teacher would have said at each turn.

    The teacher has read every screen that the model was shown.
    """
    state, book = initial_state(attempt.incident), Notebook()
    wires = iter(attempt.wires)
    replies: list[Message] = []
    for message in attempt.said[len(opening(attempt.incident, "tools")) :]:
        observation = without_logs(observe(state))
        if message["role"] == "assistant":
            replies.append(teachers_reply(observation, book))
        elif not state.is_closed:
            book = write_down(observation, book)
            state = transition(state, action_from_wire(next(wires), state.incident.topology))
    said = [dict(one) for one in attempt.said]
    return Corrected(in_other_words(said, attempt.incident, settings), replies)
