"""How a tokenizer's model plays: the style of its screens, and its tokens for actions.

In notation each action is one added token, of any tokenizer, and a reply is that token. The choice
is kept in the tokenizer's configuration, so it stays with the model.
"""

from collections.abc import Iterable
from typing import Any, Final

import attrs

from logtriage.actions import ACTION_NAMES, all_actions
from logtriage.errors import InvalidInput
from logtriage.parsing import render_action
from logtriage.rendering import Style, check_style
from logtriage.topology import Topology

#: The token after a screen in notation: the next token is the model's action.
CUE: Final = "<|act|>"
#: The keys of a tokenizer's configuration.
_STYLE, _RULES = "logtriage_style", "logtriage_rules"
#: Screens and replies follow each other without roles; the rules come first, if there are any.
NOTATION_TEMPLATE: Final = (
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{% generation %}{{ message['content'] }}{% endgeneration %}"
    "{%- elif message['role'] == 'system' -%}{{ message['content'] + '\n' }}"
    f"{{%- else -%}}{{{{ message['content'] + '{CUE}' }}}}"
    "{%- endif -%}{%- endfor -%}"
)


@attrs.frozen
class Manner:
    """How screens are written for a model, and whether the rules are in its prompt."""

    style: Style = "text"
    rules: bool = True


def manner_of(tokenizer: Any) -> Manner:
    """The manner in a tokenizer's configuration; by default, text with rules."""
    options = tokenizer.init_kwargs
    return Manner(check_style(options.get(_STYLE, "text")), bool(options.get(_RULES, True)))


def set_manner(tokenizer: Any, manner: Manner) -> None:
    """Keep the manner in the tokenizer's configuration, which ``save_pretrained`` writes."""
    tokenizer.init_kwargs[_STYLE] = manner.style
    tokenizer.init_kwargs[_RULES] = manner.rules


def words_of(topologies: Iterable[Topology]) -> tuple[str, ...]:
    """The one-word form of every action on these topologies, each once."""
    return tuple(
        dict.fromkeys(
            render_action(action, "word")
            for topology in topologies
            for action in all_actions(topology, hand_over=True)
        )
    )


def token_of(word: str) -> str:
    """The token of an action's word."""
    return f"<|{word}|>"


def actions_of(tokenizer: Any) -> dict[int, str]:
    """The words of the action tokens by their ids; empty for a tokenizer without any."""
    if CUE not in tokenizer.get_added_vocab():
        return {}
    known = {f"<|{name}" for name in ACTION_NAMES.values()}  # tokens are written by token_of
    return {
        token_id: token[2:-2]
        for token, token_id in tokenizer.get_added_vocab().items()
        if token.removesuffix("|>").partition(":")[0] in known
    }


def add_actions(model: Any, tokenizer: Any, topologies: Iterable[Topology]) -> list[int]:
    """Give a model a token for each action, and :data:`CUE`; returns their ids.

    The embedding of a new token is the mean over the pieces of its word. InvalidInput if a token
    is in the tokenizer for something else.
    """
    import torch
    from transformers import AddedToken

    words = {CUE: "act", **{token_of(word): word for word in words_of(topologies)}}
    taken = set(words) & (set(tokenizer.get_vocab()) - set(tokenizer.get_added_vocab()))
    if taken:
        raise InvalidInput(f"tokens {', '.join(sorted(taken))}: the tokenizer has them already")
    new = {token: word for token, word in words.items() if token not in tokenizer.get_vocab()}
    pieces = {
        token: tokenizer.encode(f" {word.replace('_', ' ')}", add_special_tokens=False)
        for token, word in new.items()
    }
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in new])
    if len(tokenizer) > model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    # Some models have one table for both, whose rows are set only once.
    tables = {id(table): table for table in (
        model.get_input_embeddings().weight, model.get_output_embeddings().weight
    )}  # fmt: skip
    with torch.no_grad():
        for table in tables.values():
            for token, ids in pieces.items():
                table[tokenizer.convert_tokens_to_ids(token)] = table[ids].mean(0)
    tokenizer.chat_template = NOTATION_TEMPLATE
    token_ids: list[int] = tokenizer.convert_tokens_to_ids(list(words))
    return token_ids
