"""What supervised learning is given: a row of tokens for each episode or drill.

A row has the columns ``input_ids``, ``labels``, ``weights``, ``read``, ``positions`` and
``branches``, a number for each token. Only what the teacher said is learnt, and of drills the
answers; a screen's token counts little, since a model that foretells screens, which repeat names
and lines, learns to copy; answers alone, one token in fifteen, teach it that slowly.

An episode of the model's own has the teacher's replies as branches, as a drill has: each follows
what the episode shows before that turn, and sees nothing after it. So one row teaches all of its
turns.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import torch
from datasets import Dataset
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from training.tiny.demonstrations import Conversation
from training.tiny.drills import Drill
from training.tiny.notes import SUSPECT
from training.tiny.own_play import Corrected
from training.tiny.reading import readings
from training.tiny.tokenizer import CALL, tokens_said

#: The label of what is not learnt: all that the teacher did not say.
IGNORED: Final = -100

Row = dict[str, list[Any]]


def rows_of(
    tokenizer: PreTrainedTokenizerFast,
    screens: float,
    conversations: Iterable[Conversation] = (),
    drills: Iterable[Drill] = (),
    played: Iterable[Corrected] = (),
) -> Dataset:
    """Rows of demonstrations, of drills and of the model's own episodes, in this order.

    Tokenised here, since a table of conversations would give every call the arguments of all
    the others.

    Args:
        tokenizer: one of :mod:`training.tiny.tokenizer`.
        screens: the weight of a token that is not learnt; one that is has 1. What the model
            itself said has none.
        conversations: demonstrations.
        drills: drills.
        played: corrected episodes.
    """
    rows = []
    for one in conversations:
        ids, said = tokens_said(tokenizer, one)
        learnt = _as_taught(tokenizer, one, ids, said)
        rows.append(_row(ids, learnt, readings(tokenizer, ids, said), screens))
    for drill in drills:
        row = _row(drill.ids, drill.asked, drill.read, screens)
        rows.append(_branched(tokenizer, row, drill.said, drill.replies))
    rows += [_corrected_row(tokenizer, one, screens) for one in played]
    return Dataset.from_list(rows)


def seen(positions: Tensor, branches: Tensor) -> Tensor:
    """Which tokens each token of a row sees: bools of shape (tokens, tokens).

    Those before it in its own branch, and of the episode (branch 0) those before the branch.
    """
    count = len(positions)
    starts = torch.full((count,), count, device=positions.device)
    starts = starts.scatter_reduce(0, branches, positions, "amin")
    starts[0] = count
    own = branches[:, None] == branches
    before = (branches == 0) & (positions < starts[branches][:, None])
    return (own | before).tril()


def _as_taught(
    tokenizer: PreTrainedTokenizerFast,
    conversation: Conversation,
    ids: Sequence[int],
    said: Sequence[int],
) -> list[int]:
    """The same mask without what the teacher would not have said: that counts as a screen."""
    (suspect,) = tokenizer.encode(f" {SUSPECT}")
    (call,) = tokenizer.encode(CALL)
    starts = {None: None, "suspect": suspect, "call": call}
    left_out = iter(
        [starts[one.get("unlearnt")] for one in conversation if one["role"] == "assistant"]
    )
    learnt, start, silent = list(said), None, False
    for place, token in enumerate(ids):
        if said[place] and not (place and said[place - 1]):
            start, silent = next(left_out), False
        silent = silent or token == start
        if silent:
            learnt[place] = 0
    return learnt


def _row(ids: Sequence[int], learnt: Sequence[int], read: Sequence[int], screens: float) -> Row:
    labels = [token if one else IGNORED for token, one in zip(ids, learnt, strict=True)]
    return {
        "input_ids": list(ids),
        "labels": labels,
        "weights": [1.0 if one else screens for one in learnt],
        "read": list(read),
        "positions": list(range(len(ids))),
        "branches": [0] * len(ids),
    }


def _corrected_row(tokenizer: PreTrainedTokenizerFast, one: Corrected, screens: float) -> Row:
    ids, said = tokens_said(tokenizer, one.said)
    row = _row(ids, [0] * len(ids), readings(tokenizer, ids, said), screens)
    row["weights"] = [0.0 if own else screens for own in said]
    return _branched(tokenizer, row, said, one.replies)


def _branched(
    tokenizer: PreTrainedTokenizerFast, row: Row, said: Sequence[int], replies: Sequence[Any]
) -> Row:
    """The row, and behind it replies as branches, one for each turn in which something is said.

    A branch begins with the token that asks for a reply once more, by which its first word is
    told.
    """
    ids = list(row["input_ids"])
    turns = [at for at in range(1, len(ids)) if said[at] and not said[at - 1]]
    for number, (turn, reply) in enumerate(zip(turns, replies, strict=True), start=1):
        branch, learnt = tokens_said(tokenizer, [reply])
        read = readings(tokenizer, [*ids[: turn - 1], *branch], [*said[: turn - 1], *learnt])
        part = _row(branch, learnt, read[turn - 1 :], 0.0)
        part["positions"] = [turn - 1 + place for place in part["positions"]]
        part["branches"] = [number] * len(branch)
        for name, column in part.items():
            row[name] += column
    return row
