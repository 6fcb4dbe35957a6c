"""Actions of a shift on the wire: reading never fails, but gives a ``Malformed`` action."""

from collections.abc import Mapping
from typing import Any, Final

from logtriage.actions import Malformed, Wait
from logtriage.errors import InvalidInput
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.parsing.actions import wires_in
from logtriage.parsing.calls import Wire, malformed_wire
from logtriage.parsing.tools import SHIFT_TOOLS
from logtriage.shift.states import Note, On, ShiftAction, ShiftState, transition

#: Action types of a shift by their wire names.
KINDS: Final = frozenset(SHIFT_TOOLS)


def shift_action_from_wire(wire: Mapping[str, Any], state: ShiftState) -> ShiftAction:
    """Read ``{"system": …, "action_type": …, "value": …}``, a ``wait`` or a ``note``.

    Anything wrong gives a :class:`~logtriage.Malformed` that says what was expected.
    """
    kind, value, system = (wire.get(key) for key in ("action_type", "value", "system"))
    if kind == "wait":
        ticks = wire.get("ticks")
        if ticks is None or (type(ticks) is int and ticks >= 1):
            return Wait()
        return Malformed(f"{wire}", f"wait: expected ticks from 1 on, got {ticks!r:.60}")
    if kind == "note":
        if isinstance(value, str):
            return Note(value)
        return Malformed(f"{wire}", "a note wants a text as its value")
    named = system if isinstance(system, str) else ""
    inner = state.open.get(named)
    if inner is None and isinstance(kind, str) and kind in KINDS:
        why = "no system is named" if system is None else f"nothing is open on {system!r:.60}"
        return Malformed(f"{wire}", f"{why}; open: {', '.join(state.open) or 'none'}")
    incident = state.shift.arrivals[0].incident if inner is None else inner.incident
    action = action_from_wire(wire, incident.topology, KINDS)
    return action if isinstance(action, Malformed) else On(named, action)


def shift_action_to_wire(action: ShiftAction) -> Wire:
    """The wire form of an action, which is read back unchanged; InvalidInput for anything else."""
    match action:
        case On(system, on_it):
            return {"system": system, **action_to_wire(on_it)}
        case Note(text):
            return {"action_type": "note", "value": text}
        case Wait() | Malformed():
            return action_to_wire(action)
        case _:
            raise InvalidInput(f"expected an action of a shift, got {action!r:.80}")


def wire_in(text: str) -> Wire:
    """The wire action in a text; a malformed one if there is none, or different ones."""
    wires = wires_in(text, KINDS)
    if isinstance(wires, Malformed):
        return malformed_wire(wires)
    if any(wire != wires[0] for wire in wires):
        why = f"{len(wires)} different actions in one reply; send exactly one"
        return malformed_wire(Malformed(text, why))
    return dict(wires[0])


def take(state: ShiftState, wire: Mapping[str, Any]) -> ShiftState:
    """The state after a wire action; a wait of several ``ticks`` ends when an incident arrives.

    Raises:
        EpisodeOver: if the shift is over.
    """
    action = shift_action_from_wire(wire, state)
    after = transition(state, action)
    if isinstance(action, Wait):
        for _ in range((wire.get("ticks") or 1) - 1):
            if after.is_over or len(after.states) > len(state.states):
                break
            after = transition(after, action)
    return after
