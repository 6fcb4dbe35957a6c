"""Text for language models and people: the public rules, and one screenful each tick."""

from logtriage.rendering.ends import ending
from logtriage.rendering.rules import Reply, public_rules, system_prompt
from logtriage.rendering.screens import (
    STYLES,
    Style,
    check_style,
    effect_of,
    render_observation,
    status_of,
)

__all__ = [
    "STYLES",
    "Reply",
    "Style",
    "check_style",
    "effect_of",
    "ending",
    "public_rules",
    "render_observation",
    "status_of",
    "system_prompt",
]
