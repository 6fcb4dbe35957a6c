"""Transcripts played again: every state from the first screen to the closing one."""

from collections.abc import Callable

from logtriage.actions import Action
from logtriage.generator import make_incident
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transcript import Transcript, check_seal, plays_of
from logtriage.transition import transition_jointly


def replay(
    transcript: Transcript, *, resolve: Callable[[str], Incident] = make_incident
) -> tuple[State, ...]:
    """The states of an episode, at its start and after each tick.

    Actions after the closing one were never played and have no state. ``resolve``
    finds the incident by its id, where it is not a drawn one.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist.
        SealError: for a sealed incident without its key, or with another one.
    """
    incident = resolve(transcript.incident)
    check_seal(transcript.seal, incident)
    by_tick: dict[int, list[Action]] = {}
    for when, action in plays_of(transcript.actions, transcript.ticks, incident.topology):
        by_tick.setdefault(when, []).append(action)
    states = [initial_state(incident)]
    for when in range(max(by_tick, default=-1) + 1):
        if states[-1].is_closed:
            break
        states.append(transition_jointly(states[-1], by_tick.get(when, ())))
    return tuple(states)
