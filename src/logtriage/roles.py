"""Roles as data: what one may see and what one may do.

The single agent has no role and sees everything that is observable.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from logtriage.actions import ACTION_TYPES
from logtriage.errors import UnknownName

#: The parts of an observation that a role may be given.
VIEWS: Final = (
    "alerts",
    "slo",
    "window",
    "inspection",
    "health",
    "changes",
    "directory",
    "declarations",
    "effects",
)


def _name_set(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names)


@attrs.frozen
class Role:
    """A name, the views it gets, and the action types (wire names) that it may take.

    Raises:
        UnknownName: for a view or an action type that does not exist.
    """

    name: str
    views: frozenset[str] = attrs.field(converter=_name_set)
    may: frozenset[str] = attrs.field(converter=_name_set)

    def __attrs_post_init__(self) -> None:
        for view in sorted(self.views):
            if view not in VIEWS:
                raise UnknownName("view", view, VIEWS)
        for kind in sorted(self.may):
            if kind not in ACTION_TYPES:
                raise UnknownName("action type", kind, ACTION_TYPES)


TRIAGE: Final = Role(
    "triage",
    ("alerts", "slo", "window", "inspection"),
    ("classify_severity", "identify_root_cause", "request_more_logs"),
)
ESCALATION: Final = Role("escalation", ("directory", "changes", "declarations"), ("escalate",))
REMEDIATION: Final = Role(
    "remediation", ("health", "effects", "declarations"), ("remediate", "resolve", "ignore")
)
TRIO: Final = (TRIAGE, ESCALATION, REMEDIATION)
