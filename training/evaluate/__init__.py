"""How good an agent is on incidents that it never saw: ``python -m training.evaluate``.

>>> from training.evaluate import held_out
>>> before = held_out(model, tokenizer, ["single_crash-v1"], 300)  # doctest: +SKIP
"""

from training.evaluate.evaluation import Evaluation, held_out, scripted

__all__ = ["Evaluation", "held_out", "scripted"]
