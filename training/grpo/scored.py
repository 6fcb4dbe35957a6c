"""Logits of what the model wrote, and of no screens.

TRL gives every token of an episode a label, lets its head compute log-probabilities of all
of them, and masks screens out of the loss afterwards. They are nine tokens in ten; with a
small model on a CPU, the head takes as long as all layers. (On devices with Triton it leaves
out what has no label, elsewhere nothing.)
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import torch
from torch import Tensor

#: The label of a token that is not scored.
NO_LABEL: Final = -100
#: What the head tells of each token, as far as TRL asked for it.
PER_TOKEN: Final = ("log_probs", "entropy", "log_sum_sq_probs", "mean_logits", "is_top1")


@contextmanager
def said_alone(model: torch.nn.Module, inputs: Mapping[str, Any]) -> Iterator[None]:
    """Let the head of ``model`` score what was written alone; other tokens get zeros.

    ``model`` is the causal language model, without wrappers; ``inputs`` are the batch that
    it is called with inside, with the mask of what was written, ``tool_mask`` (B, C), if
    there is one.
    """
    wrote = inputs.get("tool_mask")
    if wrote is None or not wrote.any():
        yield
        return
    kept: Tensor | None = None

    def choose(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        nonlocal kept
        labels = named.get("labels")
        if labels is None or len(labels) != len(wrote):
            kept = None
            return positional, named
        labels = labels[:, 1:].clone()
        labels[:, -wrote.shape[1] :].masked_fill_(wrote == 0, NO_LABEL)
        kept = labels != NO_LABEL
        return positional, {**named, "labels": None, "shift_labels": labels[kept][None]}

    def narrow(_: Any, __: Any, out: Any) -> Any:
        if kept is not None:
            out.last_hidden_state = out.last_hidden_state[:, :-1][kept][None]
        return out

    def spread(_: Any, __: Any, out: Any) -> Any:
        if kept is not None:
            for name in PER_TOKEN:
                value = getattr(out, name)
                if value is not None:
                    blank = value.new_zeros(kept.shape)
                    setattr(out, name, blank.masked_scatter(kept, value))
            out.label_mask = kept
        return out

    with ExitStack() as hooks:
        for hook in (
            model.register_forward_pre_hook(choose, with_kwargs=True),
            model.base_model.register_forward_hook(narrow),
            model.register_forward_hook(spread),
        ):
            hooks.callback(hook.remove)
        yield
