"""Replay transcripts: every state from the first to the closed one."""

from collections.abc import Callable

from logtriage._lib.grouping import grouped
from logtriage.drawing.generator import make_incident
from logtriage.dynamics import transition_jointly
from logtriage.incident import Incident
from logtriage.roles.splits import get_role_split
from logtriage.state import State, initial_state
from logtriage.transcript import Splits, Transcript, check_drawn, plays_of


def replay(
    transcript: Transcript,
    *,
    resolve: Callable[[str], Incident] = make_incident,
    splits: Splits = get_role_split,
) -> tuple[State, ...]:
    """The states of an episode, at its start and after each tick.

    Actions after the closing one are not played. ``resolve`` finds the incident by its id, and
    ``splits`` the role split by its name; give your own for recordings and for your own splits.

    Raises:
        UnknownName, InvalidInput: for an incident id or a role split that does not exist, and
            for more actions in a tick than the split has roles.
        SealError: for a sealed incident without its key, or with another one.
    """
    incident = resolve(transcript.incident)
    check_drawn(transcript.seal, transcript.world, incident)
    by_tick = grouped(plays_of(transcript, incident.topology, splits))
    states = [initial_state(incident)]
    for when in range(max(by_tick, default=-1) + 1):
        if states[-1].is_closed:
            break
        states.append(transition_jointly(states[-1], by_tick.get(when, ())))
    return tuple(states)
