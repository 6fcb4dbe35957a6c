"""The built-in role splits."""

from collections.abc import Callable, Iterable
from typing import Final

import attrs

from logtriage.actions import ACTION_TYPES
from logtriage.errors import InvalidInput, UnknownName
from logtriage.roles import BOARD, REQUESTS, VIEWS, Role, RoleSplit
from logtriage.world.vocabulary import named

_DIAGNOSIS_VIEWS: Final = ("alerts", "slo", "window", "inspection", "traces")
_DIAGNOSIS_ACTIONS: Final = (
    "classify_severity",
    "identify_root_cause",
    "request_more_logs",
    "request_traces",
)
_DIRECTORY: Final = ("directory", "changes", "notes")
_PANELS: Final = ("health", "metrics", "effects")
_CLOSE: Final = ("remediate", "request_metrics", "resolve", "ignore")

#: One role with everything: the single agent as a team.
SOLO: Final = RoleSplit("solo", (Role("solo", VIEWS, ACTION_TYPES),))
#: The first role diagnoses, the second acts on the diagnosis.
DUO: Final = RoleSplit(
    "duo",
    (
        Role("diagnosis", _DIAGNOSIS_VIEWS, (*_DIAGNOSIS_ACTIONS, "report", "wait")),
        Role("action", (*_DIRECTORY, *_PANELS, *BOARD), ("escalate", *_CLOSE, "wait")),
    ),
)
#: Words that roles may report, beside those that ask another role.
_TALK: Final = ("kinds", "tokens", "services")


def _talk(name: str, *roles: Role) -> RoleSplit:
    """A split of the roles, which all see the board and may report."""
    talking = (
        attrs.evolve(
            role,
            views=role.views.union(BOARD),
            may=role.may.union({"report"}),
            words=(*_TALK, *(f"ask {other.name}" for other in roles if other.name != role.name)),
        )
        for role in roles
    )
    return RoleSplit(name, tuple(talking))


_HANDS: Final = ("identify_root_cause", "escalate", "remediate", *REQUESTS, "wait")
_EYES: Final = tuple(view for view in VIEWS if view != "slo")
#: (views, action types) of the role that sees the edge: it declares the severity, and closes.
_FRONT: Final = ((*_EYES, "slo"), (*_HANDS, "classify_severity", "resolve", "ignore"))

#: Split by channel: traces and the users' side; logs and the directory; gauges and remedies. Two
#: roles are needed to tell look-alikes apart. Nobody sees the log window, which alone would tell
#: too much. All may report.
TRIO: Final = _talk(
    "trio",
    Role(
        "triage",
        ("alerts", "slo", "traces"),
        ("classify_severity", "identify_root_cause", "request_traces", "wait"),
    ),
    Role("escalation", ("inspection", *_DIRECTORY), ("escalate", "request_more_logs", "wait")),
    Role("remediation", _PANELS, (*_CLOSE, "wait")),
)
TRIAGE, ESCALATION, REMEDIATION = TRIO.roles


def _without(name: str, split: RoleSplit, views: Iterable[str]) -> RoleSplit:
    """The split without some ``views``, and without reports; its roles have the default words."""
    roles = (
        attrs.evolve(
            role,
            views=role.views.difference(views),
            may=role.may.difference({"report"}),
            words=("kinds",),
        )
        for role in split.roles
    )
    return RoleSplit(name, tuple(roles))


#: The end of the name of a split without reports.
SILENT: Final = "_without_reports"


def _silent(split: RoleSplit) -> RoleSplit:
    return _without(f"{split.name}{SILENT}", split, ("reports",))


#: TRIO with declarations and without reports; the difference is the worth of talking.
TRIO_WITHOUT_REPORTS: Final = _silent(TRIO)
#: TRIO without declarations and reports of others; the difference is the worth of the board.
TRIO_WITHOUT_BOARD: Final = _without("trio_without_board", TRIO, BOARD)
#: Split by channel: logs, gauges and traces have a role each. Look-alikes need two roles.
BY_CHANNEL: Final = _talk(
    "by_channel",
    Role(
        "logs",
        ("alerts", "window", "inspection"),
        ("identify_root_cause", "request_more_logs", "wait"),
    ),
    Role("metrics", ("slo", *_PANELS), ("classify_severity", *_CLOSE, "wait")),
    Role("traces", ("traces", *_DIRECTORY), ("escalate", "request_traces", "wait")),
)
#: Split by service: the half of the call graph nearer to the users, and the other half.
NORTH_SOUTH: Final = _talk(
    "north_south",
    Role("north", *_FRONT, watches=("north",)),
    Role("south", _EYES, _HANDS, watches=("south",)),
)
#: Split by service: entries, callers and leaves of the call graph have a role each.
BY_TIER: Final = _talk(
    "by_tier",
    Role("edge", *_FRONT, watches=("entries",)),
    Role("service", _EYES, _HANDS, watches=("callers",)),
    Role("data", _EYES, _HANDS, watches=("leaves",)),
)
ROLE_SPLITS: Final = {
    split.name: split
    for split in (
        *(SOLO, DUO, TRIO, TRIO_WITHOUT_REPORTS, TRIO_WITHOUT_BOARD),
        *(BY_CHANNEL, _silent(BY_CHANNEL)),
        *(NORTH_SOUTH, _silent(NORTH_SOUTH)),
        *(BY_TIER, _silent(BY_TIER)),
    )
}

#: A role split, or the name of a built-in split.
SplitLike = RoleSplit | str


def get_role_split(split: SplitLike) -> RoleSplit:
    """A built-in role split by its name; a split of your own is returned as it is.

    Raises:
        UnknownName: listing the built-in splits.
        InvalidInput: for anything but a name or a split, and for your own split with the name of
            a built-in split.
    """
    if isinstance(split, RoleSplit):
        if ROLE_SPLITS.get(split.name, split) != split:
            raise InvalidInput(
                f"role split {split.name!r} is a built-in split; choose another name"
            )
        return split
    if not isinstance(split, str):
        raise InvalidInput(f"role split {split!r:.60}: expected a name or a RoleSplit")
    if split not in ROLE_SPLITS:
        own = "a split of your own is a file: --split-roles FILE, load_role_split(path)"
        raise UnknownName("role split", split, ROLE_SPLITS, own)
    return ROLE_SPLITS[split]


def roles_of_viewer(viewer: Role | SplitLike) -> tuple[Role, ...]:
    """A role as a tuple, or all roles of a split; raises as :func:`get_role_split`."""
    return (viewer,) if isinstance(viewer, Role) else get_role_split(viewer).roles


def splits_with(own: SplitLike | None) -> Callable[[str], RoleSplit]:
    """A function like :func:`get_role_split` that also knows the caller's ``own`` split."""
    if own is None:
        return get_role_split
    mine = get_role_split(own)
    known = {mine.name: mine, **ROLE_SPLITS}
    return lambda name: named("role split", name, known)
