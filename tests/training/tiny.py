"""A small random model of SmolLM2's architecture, tokenizer kind and template, made once."""

import tempfile
from functools import cache
from pathlib import Path

from training import weights


@cache
def tiny_model() -> str:
    """The directory of the model."""
    out = Path(tempfile.mkdtemp(prefix="logtriage-tiny-"), "model")
    weights.write("tiny", out)
    return str(out)
