"""The numeric observations of a team: their layout, and how the scalar core makes them.

The team's observation is the single agent's (:func:`token_layout_of`), with three changes. Lines of
the window stand apart from requested lines. Each role's request has its own blocks
(``asked:<role>``, ``asked_service:<role>``). And there are more blocks:
``declared_owner`` (m), who owns the declared root cause in this incident; ``report:<role>``, the
words of :func:`~logtriage.roles.role_words` that a role has reported; ``left:<role>``, how many
requests it has left, if it has a budget. A role sees the columns that its views, its watched
services and its kinds of action allow; the state has those that any role sees. The batched team
computes the same numbers from its arrays; a law checks that they agree.
"""

from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import ClassifySeverity, IdentifyRootCause
from logtriage.evidence import VIEW_OF, evidence, simulation_of
from logtriage.joint import known_facts, requests_left
from logtriage.roles import Role, RoleSplit, is_request, role_actions, role_words, watched
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import State, declared_in, effective_declarations, is_settled
from logtriage.topology import Topology
from logtriage.vector.layout import Floats, Layout, laid_out
from logtriage.vector.tokens.encoding import ASKED_BY, in_units, write_tokens
from logtriage.vector.tokens.layout import REQUESTS, TokenLayout, token_layout_of
from logtriage.world.channels import Channel
from logtriage.world.setting import Setting

Columns = NDArray[np.intp]

_DECLARED: Final = "declarations"
_ASKED: Final = ("asked", "asked_service")
#: For each block, sets of views and kinds of action: a role sees it if it has a member of each set.
_SHOWN_BY: Final[dict[str, tuple[frozenset[str], ...]]] = {
    "change": (frozenset({"changes"}),),
    "log": (frozenset({"inspection"}),),
    "window": (frozenset({"window"}),),
    "logs": (frozenset({"inspection"}),),
    "metrics": (frozenset({"metrics"}),),
    "traces": (frozenset({"traces"}),),
    "seen:edge": (frozenset({"slo"}),),
    "noted": (frozenset({"notes"}),),
    "remedied": (frozenset({"effects", "remediate"}),),
    "applied": (frozenset({"effects", "remediate"}),),
    "eased": (frozenset({"effects"}),),
    "declared": (frozenset({_DECLARED, "identify_root_cause"}),),
    "severity": (frozenset({_DECLARED, "classify_severity"}),),
    "paged": (frozenset({_DECLARED, "escalate"}),),
    "closed": (),
    "alert": (frozenset({"alerts"}),),
    "edge": (frozenset({"slo"}),),
    "note": (frozenset({"notes"}),),
    "time": (),
    "worth": (),
    "owner": (frozenset({"directory"}),),
    "declared_owner": (frozenset({_DECLARED, "identify_root_cause"}), frozenset({"directory"})),
    "report": (frozenset({"reports", "report"}),),
}


@attrs.frozen(eq=False)
class TeamTokens(Layout):
    """The layout of all blocks of a team, seen by a role or not.

    The first columns are those of ``base``; ``units`` (D,) float32 is the unit of each, and
    ``service`` (D,) the watched service that it belongs to, or -1.
    """

    split: RoleSplit
    base: TokenLayout
    units: Floats
    service: NDArray[np.int64]


@attrs.frozen(eq=False)
class RoleTokens(Layout):
    """The layout of what one role sees; ``columns`` (D,) are its columns of the team, ascending.

    If ``role`` is None, it is the layout of what the roles see together.
    """

    role: Role | None
    team: TeamTokens
    columns: Columns

    @property
    def units(self) -> Floats:
        """The unit of each column (D,)."""
        units: Floats = self.team.units[self.columns]
        return units


@lru_cache(maxsize=64)
def team_tokens_of(
    split: SplitLike, setting: Setting, topology: Topology, horizon: int
) -> TeamTokens:
    """The team's layout for a split on a topology, in the world of a setting."""
    split = get_role_split(split)
    base = token_layout_of(setting, topology, horizon, len(split), apart=True)
    blocks = {_by_role(name, split): place for name, place in base.blocks.items()}
    widths: dict[str, tuple[int, float]] = {"declared_owner": (len(topology.teams), 1.0)}
    for role in split.roles:
        words = role_words(role, topology, setting.world)
        if words:
            widths[f"report:{role.name}"] = len(words), 1.0
        if role.budget is not None:
            widths[f"left:{role.name}"] = 1, 1 / max(1, role.budget)
    more, size = laid_out({name: width for name, (width, _) in widths.items()}, base.size)
    blocks |= more
    units, service = np.ones(size, np.float32), np.full(size, -1)
    units[: base.size] = base.units
    service[: base.size] = _services(base)
    for name, (_, unit) in widths.items():
        units[blocks[name]] = unit
    for table in (units, service):
        table.setflags(write=False)
    return TeamTokens(topology, blocks, size, split, base, units, service)


def _by_role(name: str, split: RoleSplit) -> str:
    """A block's name, with the name of the role in place of its lane's number."""
    first, _, lane = name.partition(":")
    return f"{first}:{split.names[int(lane or 0)]}" if first in _ASKED else name


def _services(base: TokenLayout) -> NDArray[np.int64]:
    """The service (D,) whose tokens or alert each column shows, or -1."""
    services = np.full(base.size, -1)
    n = len(base.topology)
    for service in range(n):
        columns: Any = base.column_of[:, service]
        services[columns[columns >= 0]] = service
    for name, place in base.blocks.items():
        if name.partition(":")[0] in ("alert", "down"):
            services[place] = np.arange(n)
    return services


def sees_asking(role: Role) -> NDArray[np.bool_]:
    """Whether a role sees that a request was made, by the request's number (5,); 0 is none."""
    seen = [VIEW_OF[channel] in role.views or ASKED_BY[channel] in role.may for channel in REQUESTS]
    return np.array([False, *seen])


def can_ask(role: Role) -> NDArray[np.bool_]:
    """Whether a role may make a request, by the request's number (5,); 0 is none."""
    return np.array([False, *(ASKED_BY[channel] in role.may for channel in REQUESTS)])


def _shows(role: Role, block: str, team: TeamTokens) -> bool:
    """Whether a role sees a block of the team's layout, named ``name`` or ``name:about``."""
    name, _, about = block.partition(":")
    if name == "left":
        return about == role.name
    if name in _ASKED:
        return bool((sees_asking(role) & can_ask(team.split.role(about))).any())
    has = role.views | role.may
    for channel, sorts in team.base.world.slots.items():
        if name in ("seen", "usual") and channel is not Channel.ALERT and about in sorts:
            return VIEW_OF[channel] in has
    key = name
    if block in _SHOWN_BY:  # ``seen:edge``
        key = block
    elif name in ("seen", "usual", "down"):
        key = about
    return all(has & kinds for kinds in _SHOWN_BY[key])


@lru_cache(maxsize=256)
def role_tokens_of(
    split: SplitLike, role: Role | None, setting: Setting, topology: Topology, horizon: int
) -> RoleTokens:
    """What one role of a split sees, or any role (None), in the team's order of blocks."""
    team = team_tokens_of(split, setting, topology, horizon)
    seen = np.zeros(team.size, bool)
    for viewer in team.split.roles if role is None else (role,):
        here = np.array([-1, *sorted(watched(viewer, topology))])
        for name, place in team.blocks.items():
            if _shows(viewer, name, team):
                seen[place] |= np.isin(team.service[place], here)
    columns = np.flatnonzero(seen)
    columns.setflags(write=False)
    widths = {name: int(seen[place].sum()) for name, place in team.blocks.items()}
    blocks = laid_out({name: width for name, width in widths.items() if width})
    return RoleTokens(topology, *blocks, role, team, columns)


def encode_team_tokens(state: State, split: SplitLike) -> Floats:
    """What the roles of a split see together (D,), laid out by :func:`role_tokens_of`.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.simulation_of`.
    """
    return _encode(state, split, role=None)


def encode_role_tokens(state: State, split: SplitLike, role: Role) -> Floats:
    """A role's observation (D,), laid out by :func:`role_tokens_of`.

    It raises as :func:`encode_team_tokens` does.
    """
    return _encode(state, split, role)


def role_token_mask(state: State, split: SplitLike, role: Role) -> NDArray[np.int8]:
    """Which of a role's actions could have an effect, shape (A,) of ``role_actions``.

    It equals :func:`logtriage.policies.masked_actions` of the role's observation, which need not
    be made for it.
    """
    facts, left = known_facts(state, role), requests_left(state, split, role)
    incident, declared = state.incident, declared_in(state, facts)
    choices = role_actions(
        role, incident.topology, incident.world, hand_over=incident.takes_hand_over
    )
    sensible = np.ones(len(choices), np.int8)
    for place, choice in enumerate(choices):
        match choice:
            case ClassifySeverity():
                sensible[place] = facts.severity is None
            case IdentifyRootCause(service):
                sensible[place] = not is_settled(facts.root_cause, declared, service)
            case _ if left == 0:
                sensible[place] = not is_request(choice)
    return sensible if sensible.any() else np.ones(len(choices), np.int8)


def _encode(state: State, split: SplitLike, role: Role | None) -> Floats:
    """The columns that a role sees, or any role (None)."""
    split, shown, incident = get_role_split(split), evidence(state), state.incident
    topology = incident.topology
    where = simulation_of(incident).setting, topology, incident.horizon
    layout, facts = team_tokens_of(split, *where), known_facts(state, role)
    numbers = np.zeros(layout.size, np.int64)
    write_tokens(numbers, layout.base, state, shown, facts, role)
    for name in effective_declarations(state, facts):
        owner = topology.teams.index(incident.directory[topology.index(name)])
        numbers[layout["declared_owner"].start + owner] = 1
    for _, report in facts.reports:
        if report.by in split.names:
            words = role_words(split.role(report.by), topology, layout.base.world)
            if report.message in words:
                numbers[layout[f"report:{report.by}"].start + words.index(report.message)] = 1
    for asker in split.roles:
        left = requests_left(state, split, asker)
        if left is not None:
            numbers[layout[f"left:{asker.name}"]] = left
    return in_units(numbers, layout.units)[role_tokens_of(split, role, *where).columns]
