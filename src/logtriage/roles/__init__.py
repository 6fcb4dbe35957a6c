"""Roles of a team as data: what each sees and may do, and how work is split among them.

A single agent has no role and sees everything that is observable.
"""

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final, TypeGuard

import attrs

from logtriage.actions import (
    ACTION_TYPES,
    HAND_OVER_TYPES,
    RECORDED_ACTION_TYPES,
    TEAM_ACTION_TYPES,
    Action,
    HandOver,
    Malformed,
    Report,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Wait,
    action_name,
    all_actions,
    describe,
)
from logtriage.errors import InvalidInput, UnknownName, closest
from logtriage.roles.words import WORD_GROUPS, words_of_groups
from logtriage.topology import Tier, Topology
from logtriage.world.default import default_world
from logtriage.world.model import World
from logtriage.world.schema.canonical import encode, fingerprint_of

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

#: The parts of an observation that a role may be given, in words.
VIEW_WORDS: Final = {
    "alerts": "alerts",
    "slo": "the panel of the edge",
    "window": "the log window",
    "inspection": "requested logs",
    "health": "the health panel",
    "metrics": "requested metrics",
    "traces": "requested traces",
    "changes": "recent changes",
    "notes": "notes of responders",
    "directory": "the directory",
    "declarations": "what was declared",
    "effects": "remedies applied",
    "reports": "reports",
}
VIEWS: Final = tuple(VIEW_WORDS)
#: The views in which roles see one another: together the board.
BOARD: Final = ("declarations", "reports")
#: Parts of a topology that a role may watch, as it may watch tiers: the half of the call graph
#: that is nearer to the users, the other half; then the services of tiers that users reach, of
#: other tiers with calls, and of tiers without calls.
PARTS: Final = ("north", "south", "entries", "callers", "leaves")
#: The names of roles.
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,39}")
#: The kinds of action that ask for evidence, which a budget counts.
REQUESTS: Final = ("request_more_logs", "request_metrics", "request_traces")


def _listed(names: Iterable[str], what: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidInput(f"expected a list of {what}, got the string {names!r}")
    return tuple(names)


def _name_set(names: Iterable[str]) -> frozenset[str]:
    return frozenset(_listed(names, "names"))


def _words(words: Iterable[str]) -> tuple[str, ...]:
    return _listed(words, "words")


def _in_order(_: object, __: object, value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value


def _as_roles(roles: "Iterable[Role]") -> "tuple[Role, ...]":
    return tuple(roles)


@attrs.frozen
class Role:
    """A role in a team: its name, the views that it gets, the action types that it may take.

    A role always sees the outcome of its action types: it sees declarations even without the view
    ``declarations``, and remedies without ``effects``.

    Attributes:
        name: a lower-case identifier of ASCII letters, at most 40 characters.
        views: some of :data:`VIEWS`.
        may: action types, by their names on the wire.
        watches: the :data:`PARTS` or tiers whose alerts, lines, gauges, traces and changes it sees
            and may request; empty for all services. They do not limit the edge panel, the
            directory, notes and actions of others.
        words: what a numeric agent in this role may report: groups of
            :data:`~logtriage.roles.words.WORD_GROUPS`, and words of your own, such as ``ask
            triage``.
        delay: extra ticks until declarations and reports of others reach it.
        loss: how many of 100 reports of others never reach it.
        budget: the most requests in an incident; None for any number.

    Raises:
        UnknownName: for a view or an action type that does not exist, and for a word that is nearly
            the name of a group.
        InvalidInput: for a name that is no short lower-case identifier, words that are given twice
            or no reports, and numbers out of range.
    """

    name: str
    views: frozenset[str] = attrs.field(converter=_name_set)
    may: frozenset[str] = attrs.field(converter=_name_set)
    watches: frozenset[str] = attrs.field(default=frozenset(), converter=_name_set)
    words: tuple[str, ...] = attrs.field(default=("kinds",), converter=_words)
    delay: int = 0
    loss: int = 0
    budget: int | None = None

    def __attrs_post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(
                f"role {self.name!a:.60}: expected a name of the form {_NAME.pattern}"
            )
        for what, names, known in (
            ("view", self.views, VIEWS),
            ("action type", self.may, TEAM_ACTION_TYPES),
        ):
            for name in sorted(names.difference(known)):
                hint = "it comes with 'escalate'" if name in HAND_OVER_TYPES else ""
                raise UnknownName(what, name, known, hint, whole=True)
        for word in self.words:
            if self.words.count(word) > 1:
                raise InvalidInput(f"role {self.name!r}: word {word!r} is given twice")
            if word not in WORD_GROUPS and closest(word, WORD_GROUPS):
                raise UnknownName(f"group of words of role {self.name!r}:", word, WORD_GROUPS)
            if Report(word).message != word:
                raise InvalidInput(f"role {self.name!r}: word {word!r} is not one printable line")
        for field, most in (("delay", 100), ("loss", 100), ("budget", 250)):
            value = getattr(self, field)
            if value is None and field == "budget":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
                raise InvalidInput(
                    f"role {self.name!r}: {field} must be a whole number from 0 to {most}, "
                    f"got {value!r}"
                )

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The action types of ``may``, and related ones that only some incidents have."""
        kinds = set(self.may)
        if "escalate" in self.may:
            kinds.update(HAND_OVER_TYPES)
        if "identify_root_cause" in self.may:
            kinds.update(RECORDED_ACTION_TYPES)
        return frozenset(kinds)

    def offered(self, useful: Iterable[str]) -> frozenset[str]:
        """The action types of ``may``, and of :attr:`kinds` those that are ``useful`` here."""
        return self.may.union(self.kinds.intersection(useful))

    @property
    def hears_late(self) -> bool:
        """Whether declarations or reports of others reach the role late, or not all of them."""
        return bool(self.delay or self.loss)


@attrs.frozen
class RoleSplit:
    """The work of one on-call engineer split into roles, in the order in which they act.

    Raises:
        InvalidInput: if its name is empty, if there is no role, if two share a name, if a role may
            do nothing, or if nobody may take an action that a single agent could.
    """

    name: str
    roles: tuple[Role, ...] = attrs.field(converter=_as_roles)

    def __attrs_post_init__(self) -> None:
        names = [role.name for role in self.roles]
        if not self.name.strip():
            raise InvalidInput("role split: the name is empty")
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

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the name, the roles and their settings, 32 hexadecimal digits."""
        return fingerprint_of(encode(attrs.asdict(self, value_serializer=_in_order)))

    def role(self, name: "str | Role") -> Role:
        """The role of this split with that name; a role of the split is returned as it is.

        UnknownName lists the roles of the split; InvalidInput for a role of another split.
        """
        for role in self.roles:
            if name in (role.name, role):
                return role
        if isinstance(name, Role):
            raise InvalidInput(
                f"role {name.name!r}: expected a role of the split {self.name!r}: "
                f"{', '.join(self.names)}"
            )
        raise UnknownName("role", name, self.names)


@lru_cache(maxsize=256)
def watched(role: Role, topology: Topology) -> frozenset[int]:
    """The indices of the services that a role watches; ``north`` is up to half of the depth.

    Raises:
        UnknownName: if a name is neither in :data:`PARTS` nor a tier of the topology.
    """
    if not role.watches:
        return frozenset(range(len(topology)))
    known = (*PARTS, *(tier.name for tier in topology.tiers))
    for part in sorted(role.watches):
        if part not in known:
            raise UnknownName("part", part, known, f"role {role.name!r} watches it")
    half = max(topology.depth) / 2
    watched_here = set()
    for index, service in enumerate(topology.services):
        side = "north" if topology.depth[index] <= half else "south"
        if role.watches & {service.tier, side, _rank(topology.tier_of(service))}:
            watched_here.add(index)
    return frozenset(watched_here)


def _rank(tier: Tier) -> str:
    """The one of the last three :data:`PARTS` that has a tier's services."""
    if tier.entry:
        return "entries"
    return "callers" if tier.calls else "leaves"


def is_request(action: Action) -> TypeGuard[RequestMoreLogs | RequestMetrics | RequestTraces]:
    """Whether an action asks for evidence."""
    return isinstance(action, RequestMoreLogs | RequestMetrics | RequestTraces)


def may_ask(role: Role, action: Action, topology: Topology) -> bool:
    """False for a request about a service that the role does not watch, else True."""
    if not is_request(action) or action.service is None:
        return True
    return topology.index(action.service) in watched(role, topology)


def as_allowed(action: Action, role: Role, topology: Topology, left: int | None) -> Action:
    """The action, or a :class:`Malformed` one if it is a request that the role may not make.

    ``left`` is how many requests the role may still make; None for any number.
    """
    if not is_request(action):
        return action
    if not may_ask(role, action, topology):
        names = ", ".join(topology.names[index] for index in sorted(watched(role, topology)))
        reason = f"{role.name} watches {names or 'no service'}"
    elif left == 0:
        reason = f"{role.name} has no requests left, of {role.budget}"
    else:
        return action
    return Malformed(describe(action), reason, role.name)


@lru_cache(maxsize=256)
def role_words(role: Role, topology: Topology, world: World | None = None) -> tuple[str, ...]:
    """The words that a numeric agent in a role may report; none if the role may not report."""
    words = words_of_groups(role.words, topology, default_world() if world is None else world)
    return words if "report" in role.may else ()


@lru_cache(maxsize=256)
def role_actions(
    role: Role, topology: Topology, world: World | None = None, *, hand_over: bool = False
) -> tuple[Action, ...]:
    """Every action that a numeric agent may take in a role; the index of an action is its integer.

    First come those of :func:`logtriage.actions.all_actions` that the role may take, without
    requests about services that it does not watch; then a report of each of :func:`role_words`,
    then ``wait``. With ``hand_over`` (it has a worth in the task), it is the last action of a role
    that may page.
    """
    return (
        *(
            action
            for action in all_actions(topology)
            if action_name(action) in role.may and may_ask(role, action, topology)
        ),
        *(Report(word, role.name) for word in role_words(role, topology, world)),
        *((Wait(),) if "wait" in role.may else ()),
        *((HandOver(),) if hand_over and "hand_over" in role.kinds else ()),
    )
