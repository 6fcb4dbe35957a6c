"""Roles of a team: what each sees and may do, how a team is split, the words of its board."""

from logtriage.roles.role import (
    BOARD,
    PARTS,
    REQUESTS,
    VIEWS,
    Role,
    RoleSplit,
    as_allowed,
    is_request,
    may_ask,
    role_actions,
    role_words,
    watched,
)

__all__ = [
    "BOARD",
    "PARTS",
    "REQUESTS",
    "VIEWS",
    "Role",
    "RoleSplit",
    "as_allowed",
    "is_request",
    "may_ask",
    "role_actions",
    "role_words",
    "watched",
]
