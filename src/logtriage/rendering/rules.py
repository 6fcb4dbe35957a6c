"""The system prompt: all public rules of an incident, for a single agent or for a role."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, get_args

from logtriage._lib.printable import counted
from logtriage.actions import (
    FAULT_CATEGORIES,
    HAND_OVER_TYPES,
    MAX_REPORT,
    RECORDED_ACTION_TYPES,
    SEVERITIES,
    TEAM_ACTION_TYPES,
)
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import RECORDED
from logtriage.grading.offered import useful_kinds
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire, render_action
from logtriage.parsing.words import JOINT
from logtriage.rendering.notation import legend
from logtriage.rendering.recordings import GRADED, on_request_rules, recorded_rules
from logtriage.rendering.rulebook import rulebook, short_rulebook
from logtriage.rendering.screens import ASKS, STYLES, Style
from logtriage.roles import VIEW_WORDS, Role, RoleSplit, watched
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.roles.words import NO_FAULT
from logtriage.state import check_incident
from logtriage.topology import Topology
from logtriage.world.model import World
from logtriage.world.setting import Setting
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import TICK_SECONDS

#: The views that no simulated incident has.
_NOT_SIMULATED = frozenset({"health"})

#: How an agent answers: one JSON object a turn, one word a turn, one tool call a turn, one call of
#: the tool ``act`` with a word, or all its actions at once as a JSON array.
Reply = Literal["json", "word", "tools", "act", "plan"]
REPLIES: Final[tuple[Reply, ...]] = get_args(Reply)


def system_prompt(
    incident: Incident,
    reply: Reply | None = None,
    *,
    style: Style = "text",
    split: SplitLike | None = None,
    role: str | Role | None = None,
) -> str:
    """All public rules that an incident is played by; they tell nothing of what happens in it.

    ``reply`` is how the agent answers (default: ``word`` in the style ``notation``, else ``json``);
    ``tools`` leaves the actions to the schemas of :mod:`logtriage.conversations.tools`. ``style``
    is how screens are written. A ``split`` and a ``role`` of it give the prompt of that role.

    Raises:
        UnknownName: for a role that the split does not have, another style or another reply.
        InvalidInput: for a split without a role, or a role without a split.
    """
    check_incident(incident)
    world = incident.telemetry
    return public_rules(
        incident.topology,
        incident.horizon,
        incident.rubric,
        world.setting if isinstance(world, Simulation) else None,
        reply,
        style=style,
        split=None if split is None else get_role_split(split),
        role=role,
        tick_seconds=TICK_SECONDS if isinstance(world, Simulation) else world.tick_seconds,
        on_request=not isinstance(world, Simulation) and world.on_request,
    )


#: An action of single agents where several faults spread, graded apart. No tool offers it.
_PATH = (
    "Also, graded beside the total: report_impact <caller>-><callee>, <caller>-><callee>, … (a "
    "tick; all calls that wait or carry load, nothing if none does; the last one stands)"
)


@lru_cache(maxsize=64)
def public_rules(
    topology: Topology,
    horizon: int,
    rubric: str,
    setting: Setting | None,
    reply: Reply | None = None,
    *,
    style: Style = "text",
    split: RoleSplit | None = None,
    role: str | Role | None = None,
    tick_seconds: int = TICK_SECONDS,
    on_request: bool = False,
) -> str:
    """The text of :func:`system_prompt` from its parts, for callers without an incident.

    ``rubric`` is an id; rules of a rubric that is not built in are left out. ``setting`` is the
    task's, or None for a recorded incident, which may show figures only ``on_request``. Raises as
    :func:`system_prompt`; ``notation`` needs a simulated incident.
    """
    reply = reply or ("word" if style == "notation" else "json")
    for what, value, known in (("style", style, STYLES), ("reply", reply, REPLIES)):
        if value not in known:
            raise UnknownName(what, value, known)
    if (split is None) != (role is None):
        raise InvalidInput("a role's prompt needs both the split and the role")
    seat = None if split is None or role is None else split.role(role)
    hidden: frozenset[str] = frozenset() if setting is None else _NOT_SIMULATED
    opening = (
        "You are on call for one incident: find the root cause, not the loudest symptom. "
        f"You have {horizon} ticks of {tick_seconds} s; each action costs one tick, "
        "unreadable ones too."
    )
    useful = useful_kinds(rubric, simulated=setting is not None)
    if split is not None and seat is not None and len(split) > 1:
        opening = _team_opening(topology, horizon, tick_seconds, split, seat, hidden, useful)
    body: Iterable[str]
    if setting is not None:
        written = short_rulebook if style == "compact" else rulebook
        body = written(topology, horizon, setting, rubric)
        if style == "notation":
            body = (*body, legend(setting.world))
    elif style == "notation":
        raise InvalidInput("notation is for simulated incidents")
    else:
        body = on_request_rules(topology) if on_request else recorded_rules(topology)
    # The rulebook itself describes logtriage/3, with the par of the task.
    lines = (*body, f"GRADE: {GRADED}" if rubric == RECORDED.id else "")
    world = None if setting is None else setting.world
    actions = _action_rules(topology, horizon, reply, seat, useful, world)
    spreads = setting is not None and setting.several
    impact = _PATH if spreads and seat is None and reply != "tools" else None
    return "\n".join(filter(None, (opening, *lines, *actions, impact)))


def _team_opening(
    topology: Topology,
    horizon: int,
    tick_seconds: int,
    split: RoleSplit,
    seat: Role,
    hidden: frozenset[str],
    useful: Iterable[str],
) -> str:
    others = "; ".join(
        f"{other.name} sees {_views(other, hidden)} and may "
        + ", ".join(_in_order(other.offered(useful)))
        for other in split.roles
        if other is not seat
    )
    talk = "".join(f"\n{line}" for line in _talk_rules(seat, topology))
    return (
        f"You are {seat.name} in a team of {len(split)} that works on one incident together. "
        f"Find the root cause, not the loudest symptom. You have {horizon} ticks of "
        f"{tick_seconds} s; in each tick everyone acts once, in the order "
        f"{', '.join(split.names)}; an unreadable action does nothing. All share one grade.\n"
        f"YOU see {_views(seat, hidden)}. OTHERS: {others}.{talk}"
    )


def _in_order(kinds: Iterable[str]) -> tuple[str, ...]:
    types = (*TEAM_ACTION_TYPES, *RECORDED_ACTION_TYPES, *HAND_OVER_TYPES)
    known = frozenset(kinds)
    return tuple(kind for kind in types if kind in known)


def _talk_rules(seat: Role, topology: Topology) -> Iterable[str]:
    if seat.watches:
        names = ", ".join(topology.names[place] for place in sorted(watched(seat, topology)))
        yield f"YOUR SERVICES, of which alone you see and may request anything: {names or 'none'}."
    if seat.hears_late:
        ticks = counted(seat.delay, "tick")
        late = f"what others declare and report reaches you {ticks} late" if seat.delay else ""
        lost = f"{seat.loss} of 100 reports of others never reach you" if seat.loss else ""
        yield f"BOARD: {'; '.join(text for text in (late, lost) if text)}."
    if seat.budget is not None:
        yield f"BUDGET: you may make {seat.budget} requests."


def _views(role: Role, hidden: frozenset[str]) -> str:
    seen = [words for view, words in VIEW_WORDS.items() if view in role.views - hidden]
    return ", ".join(seen) or "nothing"


def _action_rules(
    topology: Topology,
    horizon: int,
    reply: Reply,
    role: Role | None,
    useful: Iterable[str],
    world: World | None,
) -> Iterable[str]:
    """Lines on how to answer and with which actions: ``useful`` ones, or those of a role."""
    if reply == "tools":
        exact = "Names of services" if world is None else "Names of services and teams"
        yield f"ANSWER with one tool call a turn. {exact} must be exact."
        return
    may = _in_order(useful if role is None else role.offered(useful))
    remedies = topology.remedies
    example = _example(topology, may, role)
    if reply in ("word", "act"):
        word = render_action(action_from_wire(example, topology, frozenset(may)), "word")
        form = f"one word, NAME or NAME{JOINT}VALUE"
        if reply == "act":
            yield f"ANSWER with one call of the tool act a turn; its action is {form}: {word}"
        else:
            yield f"ANSWER with {form}, on a line of its own: {word}"
    elif reply == "json":
        yield f"ANSWER with one JSON object, such as {json.dumps(example)}"
    else:
        yield (
            "You see one screen and answer once, with all that you do. ANSWER with one JSON "
            f"array of at most {horizon} objects in order, such as [{json.dumps(example)}]"
        )
    values = {
        "classify_severity": "|".join(SEVERITIES),
        "identify_root_cause": "<service>",
        "classify_fault": "|".join(FAULT_CATEGORIES),
        "escalate": "<team>",
        "remediate": f"<{'|'.join(remedies) if world is None else 'remedy'}>:<service>",
        **ASKS,
        "report": f"<a fault of the runbook, {NO_FAULT}, or up to {MAX_REPORT} characters>",
    }
    rows = "; ".join(f"{name} {values[name]}" if name in values else name for name in may)
    yield f"ACTIONS: {rows}"


def _example(topology: Topology, may: tuple[str, ...], role: Role | None) -> dict[str, str]:
    last = topology.names[-1]
    # A role may ask only about what it watches; one that watches nothing asks about the last.
    asked = -1 if role is None else max(watched(role, topology), default=-1)
    values = {
        "remediate": f"{topology.remedies[0]}:{last}",
        "identify_root_cause": last,
        "escalate": topology.teams[-1],
        "classify_severity": SEVERITIES[1],
        "classify_fault": FAULT_CATEGORIES[0],
        **dict.fromkeys(ASKS, topology.names[asked]),
        "report": NO_FAULT,
    }
    telling = ("remediate", "identify_root_cause", "escalate")
    kind = next((name for name in telling if name in may), may[0])
    value = values.get(kind)
    return {"action_type": kind} if value is None else {"action_type": kind, "value": value}
