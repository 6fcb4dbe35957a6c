"""What an agent is told: text for the wire actions so far.

The list of wire actions is the whole state, so that it can be saved, sent and graded
by anyone; what stands here is a pure function of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import actions_from_wire
from logtriage.rendering import Reply, Style, render_observation, system_prompt, wrong_page
from logtriage.state import State, initial_state
from logtriage.transition import play_parsed

WireActions = Sequence[Mapping[str, Any]]


def row_of(incident: Incident) -> dict[str, str]:
    """What a row says of its incident: the id, and by which seal and in which world it was drawn.

    Neither is there where there is nothing to say: not sealed, of the default world.

    For whoever trains or evaluates; no prompt, no screen and no tool holds it.
    """
    said = {"seal": incident.seal, "world": incident.world_mark}
    return {
        "incident": incident.id,
        **{name: mark for name, mark in said.items() if mark is not None},
    }


def reply_in(style: Style) -> Reply:
    """How an agent answers that is not told otherwise: by tools, in notation in a word."""
    return "word" if style == "notation" else "tools"


def rules_of(incident: Incident, reply: Reply, style: Style = "text") -> str:
    """The system prompt of an incident, for an agent that answers in this way."""
    return system_prompt(incident, reply, style=style)


def opening(incident: Incident, reply: Reply, style: Style = "text") -> list[dict[str, str]]:
    """The messages that open an episode: the rules, and the first screen."""
    screen = render_observation(observe(initial_state(incident)), style)
    return [
        {"role": "system", "content": rules_of(incident, reply, style)},
        {"role": "user", "content": screen},
    ]


def state_after(incident: Incident, wires: WireActions) -> tuple[State, int]:
    """The state that wire actions lead to, and how many came after the closing one."""
    return play_parsed(incident, actions_from_wire(wires, incident.topology))


def answer(incident: Incident, wires: WireActions, style: Style = "text") -> str:
    """What the agent is told after the last of its actions.

    The next screen; once the incident is closed, that it is and why. Nothing that it
    does then has any effect.
    """
    state, unplayed = state_after(incident, wires)
    if state.is_closed:
        return closed(state, too_late=bool(unplayed), style=style)
    if style == "text":
        return render_observation(observe(state))
    before, _ = state_after(incident, wires[:-1])
    return render_observation(observe(state), style, before=observe(before))


def closed(state: State, *, too_late: bool, style: Style = "text") -> str:
    """What an agent is told whose action closed the incident, or came ``too_late``."""
    if style == "notation":
        return f"closed: {state.closing}"
    if too_late:
        return f"The incident is closed ({state.closing}); this had no effect."
    wrong = wrong_page(observe(state))
    why = f"{state.closing}" if wrong is None else f"{state.closing}: {wrong}"
    return f"The incident is closed ({why}). There is nothing more to do."
