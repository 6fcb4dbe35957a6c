"""Transcripts: the serialisable, replayable record of an episode; what gets graded."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.parsing import action_to_wire
from logtriage.state import State

SCHEMA: Final = "logtriage.transcript/1"
#: The only status that is graded; any other one names what went wrong.
COMPLETED: Final = "completed"

WireAction = Mapping[str, Any]
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def _frozen_wires(actions: Iterable[WireAction]) -> tuple[WireAction, ...]:
    return tuple(MappingProxyType(dict(one)) for one in actions)


def _frozen_mapping(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(extra))


@attrs.frozen
class Transcript:
    """One episode: which incident, what was done, by whom, and whether it ran to its end.

    ``actions`` are wire actions as written by the agent. ``status`` is
    :data:`COMPLETED`, or the cause for which the episode must not be graded (a lost
    connection, a crashed model server). ``extra`` keeps every key of the JSON object
    that has no field here.
    """

    incident: str
    actions: tuple[WireAction, ...] = attrs.field(converter=_frozen_wires)
    status: str = COMPLETED
    agent: str | None = None
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
    """The transcript of a single-agent state: one action a tick.

    Raises:
        InvalidInput: if several actions share a tick (joint play), since their
            ticks would be lost.
    """
    if any(when != number for number, (when, _) in enumerate(state.history)):
        raise InvalidInput("a transcript holds one action a tick; this state is of joint play")
    return Transcript(
        state.incident.id,
        tuple(action_to_wire(action) for action in state.actions),
        status,
        agent,
        extra,
    )
