"""An agent's own words: what it wrote and thought beside its actions.

A transcript keeps them under :data:`~logtriage.transcript.WORDS`, a text or null for each action.
Grades and digests ignore them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Final

from logtriage.conversations.blocks import objects
from logtriage.conversations.messages import Message, is_from_agent, text_of
from logtriage.conversations.wires import Step, turns_of
from logtriage.transcript import WORDS, Transcript

#: Longer texts are cut, with a mark.
MOST: Final = 20_000
CUT: Final = "… (cut)"
#: Fields of a message that hold thoughts; no server takes them back.
THOUGHTS: Final = ("reasoning_content", "reasoning")
_BLOCKS: Final = ("thinking", "reasoning")
_WIRE: Final = frozenset({"action_type", "value", "confidence", "system", "ticks"})

#: The words beside each action; None if there are none.
Words = tuple[str | None, ...]


def own_words(messages: Iterable[Message]) -> str | None:
    """The agent's words in a turn: thoughts, then text; None if there is nothing but an action."""
    parts = [part for message in messages if is_from_agent(message) for part in _parts(message)]
    words = "\n\n".join(part.strip() for part in parts if part.strip())
    return None if not words or _is_action(words) else cut(words)


def cut(text: str) -> str:
    """A text of at most :data:`MOST` characters."""
    return text if len(text) <= MOST else f"{text[: MOST - len(CUT)]}{CUT}"


def beside(words: str | None, actions: int) -> Words:
    """The words of a turn, beside the first of its ``actions``; None beside the others."""
    return (words, *(None,) * (actions - 1)) if actions else ()


def words_beside(messages: Sequence[Message], steps: Iterable[Step]) -> Words:
    """The words of each turn beside the first of its steps."""
    turn_of = {place: turn for turn, _ in turns_of(messages) for place in turn}
    words: list[str | None] = []
    last: list[int] | None = None
    for step in steps:
        turn = turn_of[step.place]
        words.append(None if turn is last else own_words(messages[place] for place in turn))
        last = turn
    return tuple(words)


def kept(words: Sequence[str | None]) -> dict[str, Any]:
    """The field in which a transcript keeps the words; no field if there are none."""
    return {WORDS: list(words)} if any(words) else {}


def words_of(transcript: Transcript) -> Words:
    """The words beside each action of a transcript, or else the action's own ``reasoning``."""
    kept_words = transcript.extra.get(WORDS)
    rows = chain(kept_words if isinstance(kept_words, list) else (), repeat(None))
    texts = [
        words if isinstance(words, str) else wire.get("reasoning")
        for words, wire in zip(rows, transcript.actions, strict=False)
    ]
    return tuple(text if isinstance(text, str) and text else None for text in texts)


def _parts(message: Message) -> Iterable[str]:
    for field in THOUGHTS:
        if isinstance(thought := message.get(field), str):
            yield thought
    for block in objects(message.get("content")):
        if block.get("type") in _BLOCKS:
            texts = (block.get(kind) for kind in (*_BLOCKS, "text"))
            yield next((text for text in texts if isinstance(text, str)), "")
    yield text_of(message)


def _is_action(words: str) -> bool:
    """Whether a text is nothing but actions in JSON, or a single word, which may be an action."""
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        return len(words.split()) == 1
    rows = value if isinstance(value, list) else [value]
    return all(isinstance(row, Mapping) and _WIRE.issuperset(row) for row in rows)
