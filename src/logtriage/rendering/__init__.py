"""Text for language models and people: the public rules, and one screenful each tick."""

from logtriage.rendering.rules import Reply, public_rules, system_prompt
from logtriage.rendering.screens import effect_of, render_observation, status_of, wrong_page

__all__ = [
    "Reply",
    "effect_of",
    "public_rules",
    "render_observation",
    "status_of",
    "system_prompt",
    "wrong_page",
]
