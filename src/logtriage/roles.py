"""Roles and role splits as data: who sees what, and who may do what.

The single agent has no role and sees everything that is observable.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import attrs

from logtriage.actions import (
    ACTION_TYPES,
    TEAM_ACTION_TYPES,
    Action,
    Report,
    Wait,
    action_name,
    all_actions,
)
from logtriage.errors import InvalidInput, UnknownName
from logtriage.faults import FAULT_KINDS
from logtriage.topology import Topology

#: The parts of an observation that a role may be given.
VIEWS: Final = (
    "alerts",
    "slo",
    "window",
    "inspection",
    "health",
    "metrics",
    "traces",
    "changes",
    "notes",
    "directory",
    "declarations",
    "effects",
    "reports",
)
#: The views in which roles see one another: together the board.
BOARD: Final = ("declarations", "reports")
#: What a report says if there is nothing to act on.
NO_FAULT: Final = "no_fault"
#: The bounded vocabulary of reports, for numeric agents: a fault kind, or that there is none.
REPORT_WORDS: Final = (*(kind.name for kind in FAULT_KINDS), NO_FAULT)


def _name_set(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise InvalidInput(f"expected a list of names, got the string {names!r}")
    return frozenset(names)


def _as_roles(roles: "Iterable[Role]") -> "tuple[Role, ...]":
    return tuple(roles)


@attrs.frozen
class Role:
    """A name, the views it gets, and the action types (wire names) that it may take.

    What became of the kinds of action that it may take, a role always sees: its own
    declarations without the view ``declarations``, its own remedies without ``effects``.

    Raises:
        UnknownName: for a view or an action type that does not exist.
        InvalidInput: for a name that is no lower-case identifier.
    """

    name: str
    views: frozenset[str] = attrs.field(converter=_name_set)
    may: frozenset[str] = attrs.field(converter=_name_set)

    def __attrs_post_init__(self) -> None:
        if not (self.name.isidentifier() and self.name == self.name.lower()):
            raise InvalidInput(f"role {self.name!r}: expected a lower-case identifier")
        for view in sorted(self.views):
            if view not in VIEWS:
                raise UnknownName("view", view, VIEWS)
        for kind in sorted(self.may):
            if kind not in TEAM_ACTION_TYPES:
                raise UnknownName("action type", kind, TEAM_ACTION_TYPES)


@attrs.frozen
class RoleSplit:
    """How one on-call engineer's work is shared out: roles in the order in which they act.

    Raises:
        InvalidInput: if there is no role, if two share a name, if a role may do nothing,
            or if nobody may take an action that a single agent could.
    """

    name: str
    roles: tuple[Role, ...] = attrs.field(converter=_as_roles)

    def __attrs_post_init__(self) -> None:
        names = [role.name for role in self.roles]
        if not names:
            raise InvalidInput(f"role split {self.name!r} has no roles")
        for role in self.roles:
            if names.count(role.name) > 1:
                raise InvalidInput(f"role split {self.name!r}: two roles are called {role.name!r}")
            if not role.may:
                raise InvalidInput(f"role split {self.name!r}: {role.name!r} may do nothing")
        for kind in ACTION_TYPES:
            if not any(kind in role.may for role in self.roles):
                raise InvalidInput(f"role split {self.name!r}: no role may {kind!r}")

    def __len__(self) -> int:
        return len(self.roles)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the roles, in order."""
        return tuple(role.name for role in self.roles)

    def role(self, name: str) -> Role:
        """The role of that name.

        Raises:
            UnknownName: listing the roles of the split.
        """
        for role in self.roles:
            if role.name == name:
                return role
        raise UnknownName("role", name, self.names)


_DIAGNOSIS: Final = ("alerts", "slo", "window", "inspection", "traces")
_DIAGNOSE: Final = (
    "classify_severity",
    "identify_root_cause",
    "request_more_logs",
    "request_traces",
)
_DIRECTORY: Final = ("directory", "changes", "notes")
_PANELS: Final = ("health", "metrics", "effects")
_CLOSE: Final = ("remediate", "request_metrics", "resolve", "ignore")

TRIAGE: Final = Role("triage", _DIAGNOSIS, (*_DIAGNOSE, "report", "wait"))
ESCALATION: Final = Role("escalation", (*_DIRECTORY, *BOARD), ("escalate", "wait"))
REMEDIATION: Final = Role("remediation", (*_PANELS, *BOARD), (*_CLOSE, "wait"))

#: One agent with everything: the single agent, in the clothes of a team.
SOLO: Final = RoleSplit("solo", (Role("solo", VIEWS, ACTION_TYPES),))
#: One finds out, one acts on it.
DUO: Final = RoleSplit(
    "duo",
    (
        Role("diagnosis", _DIAGNOSIS, (*_DIAGNOSE, "report", "wait")),
        Role("action", (*_DIRECTORY, *_PANELS, *BOARD), ("escalate", *_CLOSE, "wait")),
    ),
)
TRIO: Final = RoleSplit("trio", (TRIAGE, ESCALATION, REMEDIATION))
#: The same three, deaf to one another: what the board is worth.
TRIO_WITHOUT_BOARD: Final = RoleSplit(
    "trio_without_board",
    tuple(
        Role(role.name, role.views.difference(BOARD), role.may.difference({"report"}))
        for role in TRIO.roles
    ),
)
ROLE_SPLITS: Final = {split.name: split for split in (SOLO, DUO, TRIO, TRIO_WITHOUT_BOARD)}


def get_role_split(name: str) -> RoleSplit:
    """A built-in role split by its name.

    Raises:
        UnknownName: listing the known ones.
    """
    try:
        return ROLE_SPLITS[name]
    except KeyError:
        raise UnknownName("role split", name, ROLE_SPLITS) from None


@lru_cache(maxsize=256)
def role_actions(role: Role, topology: Topology) -> tuple[Action, ...]:
    """Every action that a numeric agent may take in a role; the position is its integer.

    Those of :func:`logtriage.actions.all_actions` that it may take, in their order, then a
    report of each of :data:`REPORT_WORDS`, then ``wait``.
    """
    return (
        *(one for one in all_actions(topology) if action_name(one) in role.may),
        *(Report(word, role.name) for word in REPORT_WORDS if "report" in role.may),
        *((Wait(),) if "wait" in role.may else ()),
    )
