"""A tokenizer for screens and calls: answers are single tokens, phrases are few.

Byte-level BPE, so that any text can be read. Its merges may span words, which log lines
repeat by the thousand, but never a name that can be an answer (service, team, remedy,
severity, tool), a word of a note with the blank before it, a number or the end of a line: the
same name is the same token where it is read and where it is said.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import render_jinja_template

from logtriage.actions import ALL_SERVICES, SEVERITIES
from logtriage.conversations.tools import TOOLS
from logtriage.world.loading import load_world
from training.tiny.notes import note_words

FIVE_TEAMS = load_world("oncall").topologies["seven-services-five-teams"]

PAD, END = "<|pad|>", "<|end|>"
SYSTEM, USER, ASSISTANT, TOOL = "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"
CALL, CALLED = "<tool_call>", "</tool_call>"
SPECIAL: Final = (PAD, END, SYSTEM, USER, ASSISTANT, TOOL, CALL, CALLED)

#: Up to three digits, counted from the right, so that thousands and hundreds stay apart.
#: The 99 of "p99" is no number.
NUMBER: Final = r"(?<!p9)(?<!p)\d{1,3}(?=(?:\d{3})*(?!\d))"
#: So often a tokenizer is shown each answer, beside the conversations.
SURE: Final = 200
#: The model learns the rules from demonstrations: to read them in every prompt would take
#: most of its time. So the template leaves out system messages and the tools.
CHAT_TEMPLATE: Final = """\
{%- for message in messages %}
{%- if message.role == 'user' %}<|user|>{{ message.content }}<|end|>
{%- elif message.role == 'tool' %}<|tool|>{{ message.content }}<|end|>
{%- elif message.role == 'assistant' %}<|assistant|>{% generation %}{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function or call %}<tool_call>{"name": "{{ function.name }}", \
"arguments": {{ function.arguments | tojson }}}</tool_call>
{%- endfor %}<|end|>{% endgeneration %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""

#: How a reply is read back, in the terms of transformers' ``parse_response``.
RESPONSE_TEMPLATE: Final[dict[str, Any]] = {
    "defaults": {"role": "assistant"},
    "start_anchor": ASSISTANT,
    "fields": {
        "tool_calls": {
            "open": CALL,
            "close": CALLED,
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": END, "content": "text"},
    },
}


def tokens_said(
    tokenizer: PreTrainedTokenizerFast, conversation: Sequence[Mapping[str, Any]]
) -> tuple[list[int], list[int]]:
    """The tokens of a conversation, and for each 1 where the assistant speaks, else 0."""
    row = tokenizer.apply_chat_template(
        list(conversation), return_assistant_tokens_mask=True, return_dict=True
    )
    return row["input_ids"], row["assistant_masks"]


def answer_words() -> list[str]:
    """Every name that an answer can consist of, on the default topology."""
    return [
        *FIVE_TEAMS.names,
        *FIVE_TEAMS.teams,
        *map(str, FIVE_TEAMS.remedies),
        *map(str, SEVERITIES),
        *TOOLS,
        ALL_SERVICES,
    ]


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest of those that begin alike."""
    return "|".join(map(re.escape, sorted(words, key=lambda one: (-len(one), one))))


def build_tokenizer(
    conversations: Iterable[Sequence[Mapping[str, Any]]], vocab: int
) -> PreTrainedTokenizerFast:
    """Train a tokenizer on conversations, as :data:`CHAT_TEMPLATE` writes them."""
    words = _any_of(answer_words())
    noted = _any_of(set(note_words()) - set(answer_words()))
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(
                Regex(rf"(?<![\w-])(?:{words})(?![\w-])| (?:{noted})(?![\w-])|{NUMBER}|\n"),
                "isolated",
            ),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    # Special tokens are cut out before a text is read, so merges must not reach over them.
    special = re.compile("|".join(map(re.escape, SPECIAL)))
    texts, _ = render_jinja_template(list(conversations), chat_template=CHAT_TEMPLATE)
    # Some answers are rare in few conversations, and would be left in pieces.
    texts += ["\n".join(answer_words()), " " + " ".join(note_words())] * SURE
    raw.train_from_iterator(
        (piece for text in texts for piece in special.split(text)),
        trainers.BpeTrainer(
            vocab_size=vocab,
            special_tokens=list(SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token=END, pad_token=PAD, padding_side="left"
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.response_template = RESPONSE_TEMPLATE
    return tokenizer
