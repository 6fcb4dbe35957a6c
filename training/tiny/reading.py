"""What the first layer of a model is to have read: the names that an answer depends on.

Of an owner, the layers above then need no more than to find the cause's own name in DIRECTORY.
"""

from collections.abc import Sequence
from typing import Final

from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from logtriage.topology import FIVE_TEAMS

#: For a token at which nothing need be told.
NOTHING: Final = -100


def readings(
    tokenizer: PreTrainedTokenizerFast, ids: Sequence[int], said: Sequence[int]
) -> list[int]:
    """For each token of a conversation a name that the first layer is to tell, or :data:`NOTHING`.

    At a service behind its team's name, as in DIRECTORY, it is that team. Before a team or a
    service that the assistant says, it is the service said last: the cause, when its owner is
    paged or it is repaired.

    Args:
        tokenizer: one of :mod:`training.tiny.tokenizer`, to which names are single tokens.
        ids: the tokens.
        said: 1 where the assistant speaks.
    """
    teams = set(tokenizer.convert_tokens_to_ids(list(FIVE_TEAMS.teams)))
    services = set(tokenizer.convert_tokens_to_ids(list(FIVE_TEAMS.names)))
    (end,) = tokenizer.encode("\n")
    read = [NOTHING] * len(ids)
    team = last = NOTHING
    for place, token in enumerate(ids):
        if not said[place]:
            if token in teams:
                team = token
            elif token == end:
                team = NOTHING
            elif token in services:
                read[place] = team
        elif token in teams or token == last:
            read[place - 1] = last
        elif token in services:
            last = token
    return read


def read_loss(model: Qwen2ForCausalLM, first: Tensor, read: Tensor) -> Tensor:
    """The cross-entropy, in nats, of what the first layer's output tells by the model's words.

    It is 0 where nothing need be told, as on another topology than the default one.

    Args:
        model: whose last norm and head are used.
        first: that output, of shape (rows, tokens, width).
        read: of shape (rows, tokens), from :func:`readings`.
    """
    told = read != NOTHING
    logits = model.lm_head(model.model.norm(first[told]))
    return cross_entropy(logits, read[told], reduction="sum") / told.sum().clamp(min=1)
