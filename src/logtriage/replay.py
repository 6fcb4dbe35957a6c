"""Transcripts played again: every state from the first screen to the closing one."""

from collections.abc import Callable

from logtriage.generator import make_incident
from logtriage.incident import Incident
from logtriage.parsing import actions_from_wire
from logtriage.state import State, initial_state
from logtriage.transcript import Transcript
from logtriage.transition import transition


def replay(
    transcript: Transcript, *, resolve: Callable[[str], Incident] = make_incident
) -> tuple[State, ...]:
    """The states of an episode: one more than actions played.

    Actions after the closing one were never played and have no state. ``resolve``
    finds the incident by its id, where it is not a drawn one.

    Raises:
        UnknownName, InvalidInput: for an incident id that does not exist.
    """
    incident = resolve(transcript.incident)
    states = [initial_state(incident)]
    for action in actions_from_wire(transcript.actions, incident.topology):
        if states[-1].is_closed:
            break
        states.append(transition(states[-1], action))
    return tuple(states)
