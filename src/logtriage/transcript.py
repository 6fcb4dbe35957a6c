"""Transcripts: the serialisable, replayable record of an episode; what gets graded."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from logtriage.actions import Report, Wait
from logtriage.errors import InvalidInput, SealError, kind_of
from logtriage.incident import Incident
from logtriage.parsing import SOLO_KINDS, TEAM_KINDS, action_to_wire, actions_from_wire
from logtriage.printable import spelled
from logtriage.state import Play, State, check_state
from logtriage.topology import Topology

SCHEMA: Final = "logtriage.transcript/1"
#: The key of a transcript of joint play that says in which tick each action was taken.
TICKS: Final = "ticks"
#: The key of a transcript of joint play that names the roles, in the order in which they act.
ROLES: Final = "roles"
#: The only status that is graded; any other one names what went wrong.
COMPLETED: Final = "completed"

WireAction = Mapping[str, Any]
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def _frozen_wires(actions: Iterable[WireAction]) -> tuple[WireAction, ...]:
    return tuple(MappingProxyType(dict(one)) for one in actions)


def checked_ticks(ticks: object, count: int) -> tuple[int, ...]:
    """The ticks of joint play: one whole number for each of ``count`` actions, never falling.

    Raises:
        InvalidInput: naming the place and what was expected.
    """
    if not isinstance(ticks, list | tuple):
        raise InvalidInput(
            f"{TICKS}: expected a list, one whole number an action, got {kind_of(ticks)}"
        )
    if len(ticks) != count:
        raise InvalidInput(f"{TICKS}: expected {count}, one an action, got {len(ticks)}")
    checked: list[int] = []
    for number, given in enumerate(ticks):
        whole = isinstance(given, float) and given.is_integer()  # as tabular loaders store integers
        when, least = int(given) if whole else given, checked[-1] if checked else 0
        if not isinstance(when, int) or isinstance(when, bool) or when < least:
            raise InvalidInput(
                f"{TICKS}[{number}]: expected a whole number from {least} on, got {given!r:.60}"
            )
        checked.append(when)
    return tuple(checked)


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

    ``ticks`` makes it joint play, where several roles act in one tick: the tick of each
    action, one whole number for each, never falling. It is said beside the actions and
    never inside them, since what stands in an action is the agent's own word.

    ``seal`` is the fingerprint of the key that a sealed incident was drawn with.

    Raises:
        InvalidInput: for ``ticks`` that are not so.
    """

    incident: str
    actions: tuple[WireAction, ...] = attrs.field(converter=_frozen_wires)
    status: str = attrs.field(default=COMPLETED, converter=spelled)
    agent: str | None = attrs.field(default=None, converter=_line)
    extra: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_frozen_mapping)
    ticks: tuple[int, ...] | None = None
    seal: str | None = None

    def __attrs_post_init__(self) -> None:
        """Check the ticks."""
        if self.ticks is not None:
            object.__setattr__(self, "ticks", checked_ticks(self.ticks, len(self.actions)))

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled; what they show can.
        actions = tuple(dict(action) for action in self.actions)
        extra = dict(self.extra)
        fields = self.incident, actions, self.status, self.agent, extra, self.ticks, self.seal
        return Transcript, fields


def check_seal(said: str | None, incident: Incident) -> None:
    """See that what was played is this incident, and not that of another key.

    ``said`` is the fingerprint in the record, None if there is none.

    Raises:
        SealError: saying which key is needed.
    """
    if said == incident.seal:
        return
    if incident.seal is None:
        raise SealError(f"seal: {incident.id} is not sealed, but the record says {said!r:.40}")
    if said is None:
        raise SealError(
            f"seal: missing; a record of {incident.id} must say the fingerprint of the key that "
            "it was played under, so that no other one grades it"
        )
    raise SealError(
        f"seal: {incident.id} was played under the seal {said!r:.40}, and the seal given here is "
        f"{incident.seal!r}; nothing is graded by another key"
    )


def transcript_of(
    state: State,
    *,
    agent: str | None = None,
    status: str = COMPLETED,
    extra: Mapping[str, Any] = _NOTHING,
) -> Transcript:
    """The transcript of a state; that of joint play has ``ticks``.

    Raises:
        InvalidInput: if time passed after the last action, since those ticks would be
            lost: a role that does nothing must :class:`~logtriage.actions.Wait`; for
            what is no state, saying what to pass.
    """
    check_state(state)
    ticks = tuple(when for when, _ in state.history)
    last = ticks[-1] if ticks else -1
    if state.tick > last + 1:
        raise InvalidInput(
            f"{state.tick - last - 1} ticks passed after the last action; "
            "a transcript can tell of them only by actions (such as wait)"
        )
    wires = tuple(action_to_wire(action) for action in state.actions)
    # A role that plays alone has one action a tick, too, but may report and wait.
    joint = state.schedule is not None or any(
        isinstance(one, Report | Wait) for one in state.actions
    )
    incident = state.incident
    return Transcript(
        incident.id, wires, status, agent, extra, ticks if joint else None, incident.seal
    )


def plays_of(
    actions: Iterable[WireAction], ticks: tuple[int, ...] | None, topology: Topology
) -> list[Play]:
    """The actions of a transcript with their ticks; the kinds of roles in joint play alone."""
    typed = actions_from_wire(actions, topology, SOLO_KINDS if ticks is None else TEAM_KINDS)
    return list(enumerate(typed)) if ticks is None else list(zip(ticks, typed, strict=True))
