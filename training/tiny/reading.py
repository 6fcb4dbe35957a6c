"""What the first layer of a model is to have read: the words that a look-up depends on.

Of an owner, the layers above then need no more than to find the suspect's own name in DIRECTORY.
"""

from collections.abc import Sequence
from typing import Final

from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from logtriage.world.loading import load_world
from training.tiny.notes import OWNER

FIVE_TEAMS = load_world("oncall").topologies["seven-services-five-teams"]

#: For a token at which nothing need be told.
NOTHING: Final = -100
#: Words of a suspect behind its owner that are looked up by its name: its alert, its change.
LOOKED_UP: Final = 2


def readings(
    tokenizer: PreTrainedTokenizerFast, ids: Sequence[int], said: Sequence[int]
) -> list[int]:
    """For each token of a conversation a word that the first layer is to tell, or :data:`NOTHING`.

    On a screen, at a service of DIRECTORY it is its team, and at one of ALERTS its alert. Before
    a team or a service that the assistant says it is the service said last, and so before the
    alert and the change of a suspect.

    Args:
        tokenizer: one of :mod:`training.tiny.tokenizer`, to which names are single tokens.
        ids: the tokens.
        said: 1 where the assistant speaks.
    """
    teams = set(tokenizer.convert_tokens_to_ids(list(FIVE_TEAMS.teams)))
    services = set(tokenizer.convert_tokens_to_ids(list(FIVE_TEAMS.names)))
    (end,), (of,) = tokenizer.encode("\n"), tokenizer.encode(f" {OWNER}")
    titles = [(one.name, one.title) for one in load_world("oncall").alerts.values()]
    alerts = {name: tokenizer.encode(f" {token}")[0] for token, name in titles}
    read = [NOTHING] * len(ids)
    told = last = NOTHING
    ahead = 0
    for place, token in enumerate(ids):
        if not said[place]:
            if token in teams:
                told = token
            elif token == end:
                told = NOTHING
            elif token in services:
                read[place] = told
            else:
                text = tokenizer.decode([token])
                told = next((one for name, one in alerts.items() if name in text), told)
            continue
        if token in teams or token == last or ahead:
            read[place - 1] = last
        if token in teams:
            ahead = LOOKED_UP * (of in ids[place - 2 : place])
        elif token in services:
            last = token
        else:
            ahead = max(0, ahead - 1)
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
