"""Transcripts: records of episodes that can be serialised, replayed and graded."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import attrs

from logtriage._lib.printable import spelled
from logtriage.actions import Report, Wait, signed
from logtriage.errors import InvalidInput, SealError, kind_of
from logtriage.facts import Play
from logtriage.incident import Incident
from logtriage.parsing import TEAM_KINDS, action_from_wire, action_to_wire, actions_from_wire
from logtriage.roles import RoleSplit, as_allowed, is_request
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.state import State, check_state
from logtriage.topology import Topology

SCHEMA: Final = "logtriage.transcript/1"
#: The key of a transcript of joint play that says in which tick each action was taken.
TICKS: Final = "ticks"
#: The key of a transcript of joint play that names the role split.
ROLE_SPLIT: Final = "role_split"
#: The key beside it that holds the fingerprint of the split.
SPLIT_MARK: Final = "role_split_mark"
#: The key of the agent's own words: a text or null for each action.
WORDS: Final = "words"
#: The key of ``extra`` under which the row of an answer sheet stands.
ANSWER: Final = "answer"
#: The only status that is graded; any other status names the failure.
COMPLETED: Final = "completed"

WireAction = Mapping[str, Any]
#: Finds a role split by its name, as :func:`get_role_split` does.
Splits = Callable[[str], RoleSplit]
#: Why a transcript with a role split, but without ticks, is refused.
WITHOUT_TICKS: Final = (
    f"{TICKS}: a transcript with {ROLE_SPLIT} needs the tick of each action in a list of its own; "
    "what stands inside an action is not read"
)
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def _frozen(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(data))


def _frozen_wires(actions: Iterable[WireAction]) -> tuple[WireAction, ...]:
    return tuple(map(_frozen, actions))


def checked_ticks(ticks: object, count: int, role_split: str | None) -> tuple[int, ...]:
    """The ticks of joint play, checked: one whole number for each of ``count`` actions, in order.

    InvalidInput names the mistake; without a role split no two actions may share a tick.
    """
    if not isinstance(ticks, list | tuple):
        raise InvalidInput(
            f"{TICKS}: expected a list, one whole number an action, got {kind_of(ticks)}"
        )
    if len(ticks) != count:
        raise InvalidInput(f"{TICKS}: expected {count}, one an action, got {len(ticks)}")
    checked: list[int] = []
    for number, tick in enumerate(ticks):
        # Tabular loaders store integers as floats.
        when = int(tick) if isinstance(tick, float) and tick.is_integer() else tick
        least = checked[-1] if checked else 0
        if not isinstance(when, int) or isinstance(when, bool) or when < least:
            raise InvalidInput(
                f"{TICKS}[{number}]: expected a whole number from {least} on, got {tick!r:.60}"
            )
        if role_split is None and checked and when == checked[-1]:
            raise InvalidInput(
                f"{TICKS}[{number}]: a second action in tick {when}; where roles share a tick, "
                f"{ROLE_SPLIT} must name the split that allows it"
            )
        checked.append(when)
    return tuple(checked)


@attrs.frozen
class Transcript:
    """One episode: which incident, what was done, by whom, and whether it ran to its end.

    ``actions`` are wire actions as written by the agent. ``status`` is :data:`COMPLETED`, or why
    the episode must not be graded (a lost connection, a crashed model server). Unprintable
    characters of ``status`` and ``agent`` are spelled out. ``extra`` keeps every key of the JSON
    object that has no field here.

    In joint play ``ticks`` holds the tick of each action, never falling, and ``role_split`` names
    the split of the roles; without ``role_split`` no two actions share a tick. ``role_split_mark``
    is its :attr:`~logtriage.roles.RoleSplit.fingerprint`; a record without it fits any split of
    that name.

    ``seal`` is the fingerprint of the key that a sealed incident was drawn with, ``world`` the
    fingerprint of its world (:attr:`~logtriage.incident.Incident.world_mark`).

    Raises:
        InvalidInput: for ``ticks`` that fall, that are not one for each action or that share a tick
            without a ``role_split``, and for a ``role_split`` without ``ticks``.
    """

    incident: str
    actions: tuple[WireAction, ...] = attrs.field(converter=_frozen_wires)
    status: str = attrs.field(default=COMPLETED, converter=spelled)
    agent: str | None = attrs.field(default=None, converter=attrs.converters.optional(spelled))
    extra: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_frozen)
    ticks: tuple[int, ...] | None = None
    seal: str | None = None
    role_split: str | None = None
    world: str | None = None
    role_split_mark: str | None = None

    def __attrs_post_init__(self) -> None:
        """Check ``ticks`` and ``role_split``."""
        if self.ticks is not None:
            ticks = checked_ticks(self.ticks, len(self.actions), self.role_split)
            object.__setattr__(self, "ticks", ticks)
        elif self.role_split is not None:
            raise InvalidInput(WITHOUT_TICKS)

    def __reduce__(self) -> tuple[object, ...]:
        # A MappingProxyType cannot be pickled; its content can.
        actions = tuple(dict(action) for action in self.actions)
        fields = attrs.asdict(self, recurse=False) | {"actions": actions, "extra": dict(self.extra)}
        return partial(Transcript, **fields), ()


def check_drawn(seal: str | None, world: str | None, incident: Incident) -> None:
    """Refuse a record whose ``seal`` or ``world`` (fingerprints, or None) is not the incident's.

    Raises:
        InvalidInput, SealError: naming both worlds, or the key that is needed.
    """
    here = incident.world_mark
    own = None if incident.world is None else incident.world.fingerprint
    if world not in (here, own):  # a record of the default world may name it or not
        played = "that the record does not name" if world is None else f"{world!r:.40}"
        name = "the default world" if incident.world is None else repr(incident.world.name)
        mark = "" if here is None else f" ({here!r})"
        raise InvalidInput(
            f"world: {incident.id} was played in the world {played}, and the world here is "
            f"{name}{mark}; nothing is graded in another world"
        )
    if seal == incident.seal:
        return
    if incident.seal is None:
        raise SealError(f"seal: {incident.id} is not sealed, but the record says {seal!r:.40}")
    if seal is None:
        raise SealError(
            f"seal: missing; a record of {incident.id} must say the fingerprint of the key that "
            "it was played under, so that no other key grades it"
        )
    raise SealError(
        f"seal: {incident.id} was played under the seal {seal!r:.40}, and the seal given here is "
        f"{incident.seal!r}; nothing is graded by another key"
    )


def transcript_of(
    state: State,
    *,
    agent: str | None = None,
    status: str = COMPLETED,
    extra: Mapping[str, Any] = _NOTHING,
    role_split: SplitLike | None = None,
) -> Transcript:
    """The transcript of a state; a transcript of joint play has ``ticks`` and its split's name.

    Raises:
        InvalidInput: if several actions share a tick and ``role_split`` is None, or does not
            allow them; if ticks without an action passed after the last one, since a transcript
            would lose them (a role can :class:`~logtriage.actions.Wait`); for too few actions in a
            tick, as :func:`plays_of`; if it is no state.
    """
    check_state(state)
    ticks = tuple(when for when, _ in state.history)
    last = ticks[-1] if ticks else -1  # of the last action
    if state.tick > last + 1:
        raise InvalidInput(
            f"{state.tick - last - 1} ticks passed after the last action; "
            "a transcript can tell of them only by actions (such as wait)"
        )
    wires = tuple(action_to_wire(action) for action in state.actions)
    # A split of one role has one action a tick, but may report and wait.
    joint = state.schedule is not None or any(
        isinstance(action, Report | Wait) for action in state.actions
    )
    incident = state.incident
    kept_ticks = ticks if joint or role_split is not None else None
    name = mark = None
    if role_split is not None:
        role_split = get_role_split(role_split)
        name, mark = role_split.name, role_split.fingerprint
    transcript = Transcript(  # its fields in order
        *(incident.id, wires, status, agent, extra),
        *(kept_ticks, incident.seal, name, incident.world_mark, mark),
    )
    if role_split is not None:
        _check_read_back(state, transcript, role_split)
    return transcript


def _check_read_back(state: State, transcript: Transcript, split: RoleSplit) -> None:
    """Raise InvalidInput if an action is not read from the transcript as it was played."""
    read = plays_of(transcript, state.incident.topology, lambda _: split)
    for number, (action, (_, again)) in enumerate(zip(state.actions, read, strict=True)):
        played, by = action, getattr(again, "by", None)
        if by is not None and getattr(action, "by", by) is None:  # its place says who acted
            played = signed(action, by)
        if again != played:
            why = getattr(again, "reason", "it would be read as another action")
            raise InvalidInput(
                f"actions[{number}]: role split {split.name!r} does not allow {action}: {why}"
            )


def split_of(transcript: Transcript, splits: Splits = get_role_split) -> RoleSplit | None:
    """The role split of a transcript; None without a split.

    Raises:
        UnknownName: for a role split that does not exist.
        InvalidInput: naming both fingerprints, if ``splits`` finds another split of the name.
    """
    if transcript.role_split is None:
        return None
    split, mark = splits(transcript.role_split), transcript.role_split_mark
    if mark not in (None, split.fingerprint):
        raise InvalidInput(
            f"{SPLIT_MARK}: {transcript.incident} was played in a role split {split.name!r} with "
            f"the fingerprint {mark!r:.40}, and the split {split.name!r} here has "
            f"{split.fingerprint!r}; nothing is graded in another split"
        )
    return split


def plays_of(
    transcript: Transcript, topology: Topology, splits: Splits = get_role_split
) -> list[Play]:
    """The (tick, action) of a transcript; an action that its role may not take is malformed.

    The role whose place they have in their tick is the author of reports and malformed actions,
    whatever they say themselves.

    Raises:
        UnknownName, InvalidInput: as :func:`split_of`.
        InvalidInput: for more actions in a tick than the split has roles, and for fewer in any but
            the last tick.
    """
    if transcript.ticks is None:
        return list(enumerate(actions_from_wire(transcript.actions, topology)))
    split = split_of(transcript, splits)
    if split is None:
        typed = actions_from_wire(transcript.actions, topology, TEAM_KINDS)
        return list(zip(transcript.ticks, typed, strict=True))
    left = [role.budget for role in split.roles]
    plays: list[Play] = []
    place = -1
    for number, (when, wire) in enumerate(zip(transcript.ticks, transcript.actions, strict=True)):
        last = plays[-1][0] if plays else when
        if when != last and place + 1 < len(split):
            raise InvalidInput(
                f"{TICKS}[{number}]: tick {last} has {place + 1} of {len(split)} actions, and is "
                f"not the last; a role of {split.name!r} that does nothing has the action wait"
            )
        place = place + 1 if when == last else 0
        if place == len(split):
            raise InvalidInput(
                f"{TICKS}[{number}]: action {place + 1} of tick {when}; role split "
                f"{split.name!r} has {len(split)}: {', '.join(split.names)}"
            )
        role, budget = split.roles[place], left[place]
        action = as_allowed(action_from_wire(wire, topology, role.kinds), role, topology, budget)
        action = signed(action, role.name) if len(split) > 1 else action
        if budget is not None and is_request(action):
            left[place] = budget - 1
        plays.append((when, action))
    return plays
