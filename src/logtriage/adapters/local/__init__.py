"""Language models in this process: loaded by transformers, played in batches.

``logtriage eval hf:DIR`` plays a model through this package, and so do the recipes in
``training``. Needs the extra ``train``.

>>> from logtriage.adapters.local.player import LocalPlayer
>>> player = LocalPlayer("runs/sft")  # doctest: +SKIP
"""
