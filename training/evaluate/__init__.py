"""Measure an agent on incidents that it never saw: ``python -m training.evaluate``.

Before and after training, on the same held-out incidents, and beside scripted policies:

>>> from training.evaluate import card, compare, held_out, scripted
>>> before = held_out(model, tokenizer, "all", 300)  # doctest: +SKIP
>>> after = held_out(model, tokenizer, "all", 300)  # doctest: +SKIP
>>> results = compare(before, after, [scripted("expert", "all", 300)])  # doctest: +SKIP
"""

from training.evaluate.card import card
from training.evaluate.evaluation import Evaluation, Judge, held_out, scripted
from training.evaluate.results import compare
from training.evaluate.tables import markdown, tables

__all__ = ["Evaluation", "Judge", "card", "compare", "held_out", "markdown", "scripted", "tables"]
