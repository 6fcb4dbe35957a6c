"""Whether a model thinks before it acts: what its chat template is told, and the room for it."""

from collections.abc import Mapping
from typing import Final

#: As the template has it by itself, or told so.
THINKING: Final = ("as_is", "off", "on")
#: Most tokens of a reply with its thought.
THOUGHT_TOKENS: Final = 1_024


def template_arguments(thinking: str) -> Mapping[str, bool]:
    """The arguments of the chat template."""
    return {} if thinking == "as_is" else {"enable_thinking": thinking == "on"}
