"""The tokenizer of a small model, a token a word, and the grammar of replies."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from torch import Tensor
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from logtriage import make_incident
from logtriage.actions import ACTION_NAMES, HandOver
from logtriage.drawing.ids import incident_ids
from logtriage.dynamics import transition
from logtriage.observation import observe
from logtriage.registry import make_policy
from logtriage.rendering import render_observation
from logtriage.state import initial_state
from logtriage.tasks import TaskSpec
from training.common.settings import TRAIN_SPLIT
from training.tiny.vocabulary import words_of_actions, words_of_screens

PAD, END, UNKNOWN, ACT = "<|pad|>", "<|end|>", "<|unknown|>", "<|act|>"
SPECIAL: Final = (PAD, END, UNKNOWN, ACT)
#: The word of the action that may be barred (:class:`Grammar`).
HAND_OVER: Final = ACTION_NAMES[HandOver]
#: A screen, then ``<|act|>`` and an action, and so on. The rules are learnt by playing.
CHAT_TEMPLATE: Final = """\
{%- for message in messages %}
{%- if message.role == 'assistant' %}<|act|>{% generation %}{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{%- set called = call.function or call %}
{%- if called.name == 'act' %}{{ called.arguments.action or '' }}
{%- else %} {{ called.name }} {{ called.arguments | tojson }} {% endif %}
{%- endfor %}<|end|>{% endgeneration %}
{%- elif message.role != 'system' %}{{ message.content }} {% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|act|>{% endif %}"""
#: How a reply is read back: as a call of the one tool of ``NotationEnv``.
RESPONSE_TEMPLATE: Final[dict[str, Any]] = {
    "defaults": {"role": "assistant"},
    "start_anchor": ACT,
    "fields": {
        "tool_calls": {
            "open_pattern": r"(?P<word>[\w:.-]+)",
            "close": END,
            "repeats": True,
            "transform": {
                "type": "function",
                "function": {"name": "act", "arguments": {"action": "{word}"}},
            },
        },
        "content": {"close": END},
    },
}


#: A word of a text screen: a name, a digit, or a sign.
TEXT_WORD: Final = re.compile(r"[A-Za-z][A-Za-z-]*|\d|\S")
#: The words of text are those on the screens of so many incidents of each task.
READ: Final = 100


def words_of_texts(sheet: TaskSpec) -> Iterable[str]:
    """The words on the text screens that the expert meets in the first incidents of ``train``."""
    for name in incident_ids(sheet.id, TRAIN_SPLIT, READ):
        incident = make_incident(name)
        policy, memory, state = make_policy("expert")(incident), None, initial_state(incident)
        while not state.is_closed:
            seen = observe(state)
            yield from TEXT_WORD.findall(render_observation(seen))
            action, memory = policy.act(seen, memory)
            state = transition(state, action)


def build_tokenizer(sheets: Sequence[TaskSpec], style: str = "notation") -> PreTrainedTokenizerFast:
    """A token for each word of these tasks, which have one topology each.

    In style ``text`` figures are read digit by digit, and rare words are unknown.
    """
    words: dict[str, None] = dict.fromkeys(SPECIAL)
    for sheet in sheets:
        assert sheet.topology is not None  # settings refuse others
        words |= dict.fromkeys(
            (word for word in words_of_texts(sheet) if word not in ACTION_NAMES.values())
            if style == "text"
            else words_of_screens(sheet.world, sheet.topology, sheet.horizon)
        )
        words |= dict.fromkeys(words_of_actions(sheet.topology))
    raw = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=UNKNOWN)
    )
    raw.pre_tokenizer = (
        pre_tokenizers.Split(Regex(TEXT_WORD.pattern), behavior="removed", invert=True)
        if style == "text"
        else pre_tokenizers.WhitespaceSplit()
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token=END,
        pad_token=PAD,
        unk_token=UNKNOWN,
        additional_special_tokens=[ACT],
        padding_side="left",
        style=style,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.response_template = RESPONSE_TEMPLATE
    return tokenizer


class Grammar:
    """The grammar of a reply: an action follows ``<|act|>``, then the end.

    Attributes:
        act, end: the ids of these tokens.
        actions: (V,) bools, the tokens that are actions.
        hand_over: the id of that action.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.act, self.end = tokenizer.convert_tokens_to_ids([ACT, END])
        self.hand_over = int(tokenizer.convert_tokens_to_ids(HAND_OVER))
        self.actions = torch.zeros(len(tokenizer), dtype=torch.bool)
        for word, number in tokenizer.get_vocab().items():
            name, _, value = word.partition(":")
            if name in ACTION_NAMES.values() and (value or word == name):
                self.actions[number] = True

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> "Grammar | None":
        """The grammar of a tokenizer of words; None for any other."""
        return cls(tokenizer) if style_of(tokenizer) == "notation" else None

    def legal(self, barred: Tensor) -> Tensor:
        """The legal actions (B, V) of rows; rows that are ``barred`` (B,) may not hand over."""
        legal = self.actions.to(barred.device).repeat(len(barred), 1)
        legal[barred, self.hand_over] = False
        return legal

    def choose(self, logits: Tensor, barred: NDArray[np.bool_]) -> Tensor:
        """The logits (B, V), with minus infinity for each token that is not an action."""
        legal = self.legal(torch.from_numpy(barred).to(logits.device))
        return logits.masked_fill(~legal, -torch.inf)


def style_of(tokenizer: PreTrainedTokenizerBase) -> str:
    """The style of the screens that a tokenizer encodes."""
    return str(tokenizer.init_kwargs.get("style", "text"))
