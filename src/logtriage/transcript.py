"""Transcripts: the serialisable, replayable record of an episode; what gets graded."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from logtriage.actions import Action, Report, Wait
from logtriage.errors import InvalidInput
from logtriage.parsing import TEAM_KINDS, absent, action_to_wire, actions_from_wire
from logtriage.printable import spelled
from logtriage.state import Play, State
from logtriage.topology import Topology

SCHEMA: Final = "logtriage.transcript/1"
#: In joint play, where roles act in the same tick, the key of a wire action that says when.
TICK: Final = "tick"
#: The key of a transcript of joint play that names the roles, in the order in which they act.
ROLES: Final = "roles"
#: The only status that is graded; any other one names what went wrong.
COMPLETED: Final = "completed"

WireAction = Mapping[str, Any]
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def _frozen_wires(actions: Iterable[WireAction]) -> tuple[WireAction, ...]:
    return tuple(MappingProxyType(dict(one)) for one in actions)


def _frozen_mapping(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(extra))


def _line(text: str | None) -> str | None:
    return None if text is None else spelled(text)


@attrs.frozen
class Transcript:
    """One episode: which incident, what was done, by whom, and whether it ran to its end.

    ``actions`` are wire actions as written by the agent. ``status`` is
    :data:`COMPLETED`, or the cause for which the episode must not be graded (a lost
    connection, a crashed model server). Both it and ``agent`` are one printable line; what
    is not is spelled out (:func:`logtriage.printable.spelled`). ``extra`` keeps every
    key of the JSON object that has no field here.
    """

    incident: str
    actions: tuple[WireAction, ...] = attrs.field(converter=_frozen_wires)
    status: str = attrs.field(default=COMPLETED, converter=spelled)
    agent: str | None = attrs.field(default=None, converter=_line)
    extra: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_frozen_mapping)

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled; what they show can.
        actions = tuple(dict(action) for action in self.actions)
        return Transcript, (self.incident, actions, self.status, self.agent, dict(self.extra))


def transcript_of(
    state: State,
    *,
    agent: str | None = None,
    status: str = COMPLETED,
    extra: Mapping[str, Any] = _NOTHING,
) -> Transcript:
    """The transcript of a state. In joint play each action carries its ``tick``.

    Raises:
        InvalidInput: if time passed after the last action, since those ticks would be
            lost: a role that does nothing must :class:`~logtriage.actions.Wait`.
    """
    ticks = [when for when, _ in state.history]
    last = ticks[-1] if ticks else -1
    if state.tick > last + 1:
        raise InvalidInput(
            f"{state.tick - last - 1} ticks passed after the last action; "
            "a transcript can tell of them only by actions (such as wait)"
        )
    wires = [action_to_wire(action) for action in state.actions]
    # A role that plays alone has one action a tick, too, but may report and wait.
    if state.schedule is not None or any(isinstance(one, Report | Wait) for one in state.actions):
        wires = [{**wire, TICK: when} for wire, when in zip(wires, ticks, strict=True)]
    return Transcript(state.incident.id, tuple(wires), status, agent, extra)


def is_joint(wires: Iterable[WireAction]) -> bool:
    """Whether wire actions are of joint play: whether any carries its tick."""
    return any(not absent(wire.get(TICK)) for wire in wires)


def plays_from_wire(wires: Iterable[WireAction], topology: Topology) -> list[Play]:
    """The actions of joint play with their ticks.

    Raises:
        InvalidInput: for an action without a tick, or whose tick is no whole number or
            lies before that of the one above it.
    """
    listed = list(wires)
    actions: list[Action] = actions_from_wire(listed, topology, TEAM_KINDS)
    plays: list[Play] = []
    for number, (wire, action) in enumerate(zip(listed, actions, strict=True)):
        when, least = wire.get(TICK), plays[-1][0] if plays else 0
        if isinstance(when, float) and when.is_integer():  # as tabular loaders store integers
            when = int(when)
        if not isinstance(when, int) or isinstance(when, bool) or when < least:
            raise InvalidInput(
                f"actions[{number}].{TICK}: expected a whole number from {least} on, "
                f"since others have one, got {when!r}"
            )
        plays.append((when, action))
    return plays
