"""The options of ``python -m training.evaluate``."""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from logtriage.adapters.request_limits import MAX_TOKENS
from logtriage.adapters.served import ENDPOINT, REPLIES, json_object
from logtriage.errors import InvalidInput
from training.language.thinking import THINKING, THOUGHT_TOKENS, template_arguments

#: The prefix of a transformers model on this machine.
LOCAL: Final = "hf:"
#: The name of the policy that is measured, in a ``team``.
MODEL: Final = "model"
#: Default limit of a reply in tokens, for a local model that does not think.
LOCAL_TOKENS: Final = 512


@attrs.frozen
class Settings:
    """The settings of a measurement: the player, its incidents, and its decoding.

    ``policy`` is ``hf:PATH`` (a transformers model or a LoRA adapter), ``openai:MODEL`` (on
    ``base_url``), or a policy of the registry. ``baselines`` are more of these, separated by
    blanks. ``before`` is what ``policy`` was trained from. ``task`` may be several, by blanks:
    ids, ``all``, ``recorded`` (of ``bundle``), or ``module:name`` of one's own. ``rubric`` is
    another one than the tasks': an id, or ``module:name``. ``explain`` episodes of each task
    are explained. ``split_roles`` lets a team play: a split, or a JSON file of one. ``team`` says
    who plays its roles, ``ROLE=PLAYER,...``, where ``model`` is ``policy``; by default that plays
    all of them. With ``listening`` roles are asked once more where a report has come up, to see
    whether they heed it. ``reply`` is how an endpoint's model answers, ``extra_body`` a JSON
    object of more fields of its requests. ``thinking`` tells the chat template of a model here
    whether it thinks. ``max_new_tokens`` bounds one reply (512 here, 1024 with ``thinking`` on,
    8192 behind an endpoint). Prices are per million tokens.

    Raises:
        InvalidInput: naming the option and what was expected.
    """

    policy: str
    task: str = "all"
    split: str = "test"
    episodes: int = 100
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    batch: int = 64
    max_new_tokens: int | None = None
    thinking: str = attrs.field(default="as_is", metadata={"choices": THINKING})
    rubric: str = ""
    bundle: str = ""
    explain: int = 0
    before: str = ""
    baselines: str = "random first_error expert"
    split_roles: str = ""
    team: str = ""
    listening: bool = False
    base_url: str = ""
    reply: str = attrs.field(default="tools", metadata={"choices": REPLIES})
    extra_body: str = ""
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
        if self.thinking not in THINKING:
            raise InvalidInput(
                f"thinking must be one of {', '.join(THINKING)}, got {self.thinking!r}"
            )
        if self.explain < 0:
            raise InvalidInput(f"explain must be at least 0, got {self.explain}")
        if self.team and not self.split_roles:
            raise InvalidInput("team: expected split_roles, whose roles it names, beside it")
        if self.listening and not self.split_roles:
            raise InvalidInput("listening: expected split_roles beside it: one alone hears nobody")
        local = any(
            policy.startswith(LOCAL)
            for policy in (self.policy, self.before, *self.baselines.split())
        )
        if self.listening and local and self.temperature > 0:
            # Replies are drawn by the conversation, and one without a report is another one.
            raise InvalidInput(
                f"listening: expected temperature 0 with {LOCAL}, got {self.temperature:g}: "
                "a reply to other words would be another draw"
            )
        if self.team and not self.policy.startswith((LOCAL, ENDPOINT)):
            raise InvalidInput(
                f"team is for {LOCAL} and {ENDPOINT} policies; a scripted team is itself a policy, "
                "such as triage=expert,escalation=expert,remediation=random"
            )
        json_object("extra-body", self.extra_body)

    @property
    def template(self) -> Mapping[str, Any]:
        """The arguments of the chat template of a local model."""
        return template_arguments(self.thinking)

    def reply_tokens(self, policy: str) -> int:
        """The most tokens of a reply of ``hf:PATH`` or ``openai:MODEL``."""
        return self.max_new_tokens or default_tokens(policy, self.thinking)


def default_tokens(policy: str, thinking: str) -> int:
    """The most tokens of a reply of ``hf:PATH`` or ``openai:MODEL``, if none are given."""
    if policy.startswith(ENDPOINT):
        return MAX_TOKENS
    return THOUGHT_TOKENS if thinking == "on" else LOCAL_TOKENS
