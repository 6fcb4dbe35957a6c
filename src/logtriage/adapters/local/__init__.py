"""Language models in this process: loaded by transformers, played in batches.

``logtriage eval hf:DIR`` plays a model through this package, and so do the recipes in
``training``. Needs the extra ``train``.

>>> from logtriage.adapters.local.player import LocalPlayer
>>> player = LocalPlayer.of("hf:runs/sft")  # doctest: +SKIP
"""

from logtriage._lib.extras import imports_of

with imports_of("train", "a model in this process (hf:DIR)", "torch", "transformers"):
    import torch  # noqa: F401 (the modules of this room need both)
    import transformers  # noqa: F401
