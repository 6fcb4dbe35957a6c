"""Parse replies, tool calls and wire JSON of an agent into actions. Parsing never fails."""

from logtriage.parsing.actions import MAX_OBJECTS, parse_action, parse_plan
from logtriage.parsing.wires import (
    SOLO_KINDS,
    TEAM_KINDS,
    Form,
    action_from_wire,
    action_to_wire,
    actions_from_wire,
    render_action,
)

__all__ = [
    "MAX_OBJECTS",
    "SOLO_KINDS",
    "TEAM_KINDS",
    "Form",
    "action_from_wire",
    "action_to_wire",
    "actions_from_wire",
    "parse_action",
    "parse_plan",
    "render_action",
]
