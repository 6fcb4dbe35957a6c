"""Transcripts played again: every state from the first screen to the closing one."""

from collections.abc import Callable

from logtriage.actions import Action
from logtriage.generator import make_incident
from logtriage.incident import Incident
from logtriage.parsing import actions_from_wire
from logtriage.state import State, initial_state
from logtriage.transcript import Transcript, is_joint, plays_from_wire
from logtriage.transition import transition_jointly


def replay(
    transcript: Transcript, *, resolve: Callable[[str], Incident] = make_incident
) -> tuple[State, ...]:
    """The states of an episode, at its start and after each tick.

    Actions after the closing one were never played and have no state. ``resolve``
    finds the incident by its id, where it is not a drawn one.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist.
        InvalidInput: for joint play with a wrong tick.
    """
    incident = resolve(transcript.incident)
    if is_joint(transcript.actions):
        plays = plays_from_wire(transcript.actions, incident.topology)
    else:
        plays = list(enumerate(actions_from_wire(transcript.actions, incident.topology)))
    by_tick: dict[int, list[Action]] = {}
    for when, action in plays:
        by_tick.setdefault(when, []).append(action)
    states = [initial_state(incident)]
    for when in range(max(by_tick, default=-1) + 1):
        if states[-1].is_closed:
            break
        states.append(transition_jointly(states[-1], by_tick.get(when, ())))
    return tuple(states)
