"""The role splits that are built in: who sees what, and who does what."""

from collections.abc import Callable, Iterable
from typing import Final

import attrs

from logtriage.actions import ACTION_TYPES
from logtriage.errors import UnknownName
from logtriage.roles import BOARD, REQUESTS, VIEWS, Role, RoleSplit

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
#: What those who talk can say beside asking one another.
_TALK: Final = ("kinds", "tokens", "services")


def _talking(role: Role, others: Iterable[str]) -> Role:
    """The role with the board and a voice of its own."""
    return attrs.evolve(
        role,
        views=role.views.union(BOARD),
        may=role.may.union({"report"}),
        words=(*_TALK, *(f"ask {other}" for other in others if other != role.name)),
    )


def _talk(name: str, *roles: Role) -> RoleSplit:
    names = [role.name for role in roles]
    return RoleSplit(name, tuple(_talking(role, names) for role in roles))


_HANDS: Final = ("identify_root_cause", "escalate", "remediate", *REQUESTS, "wait")
_EYES: Final = tuple(view for view in VIEWS if view != "slo")
#: Who sees users suffer says how much, and closes.
_FRONT: Final = ((*_EYES, "slo"), (*_HANDS, "classify_severity", "resolve", "ignore"))

#: By channel, so that look-alikes need two: one has the traces and the users' side, one the
#: logs and the directory, one the gauges and the levers. Nobody tails the window, from
#: which one role alone would learn too much. All talk.
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
    """The split in which nobody reports, and some views are nobody's."""
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


#: How the name of a split ends in which nobody says a word.
SILENT: Final = "_without_reports"


def _silent(split: RoleSplit) -> RoleSplit:
    """The split in which all see what others declare, and nobody says a word."""
    return _without(f"{split.name}{SILENT}", split, ("reports",))


#: The same three, who see what others declare but never say a word: what talking is worth.
TRIO_WITHOUT_REPORTS: Final = _silent(TRIO)
#: The same three, deaf to one another: what the board is worth.
TRIO_WITHOUT_BOARD: Final = _without("trio_without_board", TRIO, BOARD)
#: By channel: lines, gauges and traces are each one role's, so that look-alikes need two.
BY_CHANNEL: Final = _talk(
    "by_channel",
    Role(
        "logs",
        ("alerts", "window", "inspection"),
        ("identify_root_cause", "request_more_logs", "wait"),
    ),
    Role(
        "metrics",
        ("slo", *_PANELS),
        ("classify_severity", *_CLOSE, "wait"),
    ),
    Role(
        "traces",
        ("traces", *_DIRECTORY),
        ("escalate", "request_traces", "wait"),
    ),
)
#: The same three, who never say a word.
BY_CHANNEL_WITHOUT_REPORTS: Final = _silent(BY_CHANNEL)
#: By service: one watches the upper half of the call graph, one the lower.
NORTH_SOUTH: Final = _talk(
    "north_south",
    Role("north", *_FRONT, watches=("north",)),
    Role("south", _EYES, _HANDS, watches=("south",)),
)
#: The same two, who never say a word.
NORTH_SOUTH_WITHOUT_REPORTS: Final = _silent(NORTH_SOUTH)
#: By service: one watches what users reach, one what stands between, one what calls nobody.
BY_TIER: Final = _talk(
    "by_tier",
    Role("edge", *_FRONT, watches=("entries",)),
    Role("service", _EYES, _HANDS, watches=("callers",)),
    Role("data", _EYES, _HANDS, watches=("leaves",)),
)
#: The same three, who never say a word.
BY_TIER_WITHOUT_REPORTS: Final = _silent(BY_TIER)
ROLE_SPLITS: Final = {
    split.name: split
    for split in (
        SOLO,
        DUO,
        TRIO,
        TRIO_WITHOUT_REPORTS,
        TRIO_WITHOUT_BOARD,
        BY_CHANNEL,
        BY_CHANNEL_WITHOUT_REPORTS,
        NORTH_SOUTH,
        NORTH_SOUTH_WITHOUT_REPORTS,
        BY_TIER,
        BY_TIER_WITHOUT_REPORTS,
    )
}


def get_role_split(name: str) -> RoleSplit:
    """A built-in role split by its name.

    Raises:
        UnknownName: listing the known ones.
    """
    try:
        return ROLE_SPLITS[name]
    except KeyError:
        raise UnknownName("role split", name, ROLE_SPLITS) from None


def splits_with(own: RoleSplit | None) -> Callable[[str], RoleSplit]:
    """A :func:`get_role_split` that also finds ``own`` by its name."""
    return lambda name: own if own is not None and name == own.name else get_role_split(name)
