"""The options of ``python -m training.evaluate``."""

import attrs

from logtriage.errors import InvalidInput

REPLIES = ("tools", "json")


@attrs.frozen
class Settings:
    """Who is measured, on what, and how.

    ``policy`` is ``hf:PATH`` (a transformers model or a LoRA adapter), ``openai:MODEL`` (on
    ``base_url``), or a policy of the registry. ``baselines`` are more of these, separated by
    blanks. ``before`` is what ``policy`` was trained from. ``reply`` is how an endpoint's
    model answers. Prices are per million tokens.
    """

    policy: str
    task: str = "all"
    split: str = "test"
    episodes: int = 100
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    batch: int = 64
    max_new_tokens: int = 128
    before: str = ""
    baselines: str = "random first_error expert"
    split_roles: str = ""
    base_url: str = ""
    reply: str = attrs.field(default="tools", metadata={"choices": REPLIES})
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 3
    prompt_price: float = 0.0
    completion_price: float = 0.0
    dtype: str = ""
    load_in_4bit: bool = False

    def __attrs_post_init__(self) -> None:
        if self.reply not in REPLIES:
            raise InvalidInput(f"reply must be one of {', '.join(REPLIES)}, got {self.reply!r}")
        if self.concurrency < 1:
            raise InvalidInput(f"concurrency must be at least 1, got {self.concurrency}")
