from typing import Any

import pytest

from logtriage import Escalate, InvalidInput, Malformed, Remediate, Resolve, Wait
from logtriage.conversations.wires import wire_of
from logtriage.shift import (
    Note,
    On,
    ShiftAction,
    begin,
    shift_action_from_wire,
    shift_action_to_wire,
    take,
    transition,
    wire_in,
)
from logtriage.shift.wires import KINDS
from tests.shift.shifts import small_shift

STATE = begin(small_shift(0, 0))


def why(action: ShiftAction) -> str:
    assert isinstance(action, Malformed)
    return action.reason


@pytest.mark.parametrize(
    "action",
    [
        On("search", Escalate("sre-team")), On("checkout", Remediate("restart", "user-db")),
        Note("checkout: user-db"), Wait(), Malformed("x", "y"),
    ],
)  # fmt: skip
def test_an_action_survives_its_wire(action: ShiftAction) -> None:
    assert shift_action_from_wire(shift_action_to_wire(action), STATE) == action


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ({"action_type": "resolve"}, "no system is named; open: checkout, search"),
        ({"action_type": "resolve", "system": "maps"}, "nothing is open on 'maps'"),
        ({"action_type": "resolve", "system": ["maps"]}, "nothing is open on"),
        ({"action_type": "page", "system": "search"}, "unknown action_type 'page'"),
        ({"action_type": ["page"], "system": "search"}, "unknown action_type"),
        ({"action_type": "note"}, "a note wants a text"),
        ({"action_type": "request_metrics", "system": "search", "value": "x"}, "unknown service"),
        ({"system": "search"}, "no field action_type; the action has: system"),
    ],
)
def test_what_cannot_be_read_is_malformed_and_says_why(wire: dict[str, Any], reason: str) -> None:
    assert reason in why(shift_action_from_wire(wire, STATE))


def test_nothing_can_be_done_to_a_closed_incident() -> None:
    state = transition(STATE, On("search", Resolve()))
    action = shift_action_from_wire({"action_type": "resolve", "system": "search"}, state)
    assert "open: checkout" in why(action)


def read(text: str) -> ShiftAction:
    return shift_action_from_wire(wire_in(text), STATE)


def test_text_is_read_as_for_one_incident() -> None:
    said = 'I page them. {"system": "search", "action_type": "escalate", "value": "sre-team"}'
    assert read(said) == On("search", Escalate("sre-team"))
    assert "no JSON object" in why(read("nothing"))
    assert "2 different actions" in why(read(said + ' {"action_type": "wait"}'))
    with pytest.raises(InvalidInput, match="text"):
        read(None)  # type: ignore[arg-type]


def test_a_wait_of_several_ticks_ends_when_an_incident_arrives() -> None:
    state = begin(small_shift(0, 3))
    assert take(state, {"action_type": "wait", "ticks": 2}).tick == 2
    assert take(state, {"action_type": "wait", "ticks": 20}).tick == 3
    assert take(state, {"action_type": "wait", "ticks": None}).tick == 1
    call = {"name": "wait", "arguments": {"ticks": 2}}
    assert take(state, wire_of(call, KINDS)).tick == 2


@pytest.mark.parametrize("ticks", [0, "9", True, 2.5])
def test_a_wait_says_which_ticks_it_wants(ticks: object) -> None:
    state = begin(small_shift(0, 3))
    wire = {"action_type": "wait", "ticks": ticks}
    assert f"expected ticks from 1 on, got {ticks!r}" in why(shift_action_from_wire(wire, state))
    assert take(state, wire).tick == 1


def test_calls_keep_their_system_where_a_note_may_be_written() -> None:
    call = {"name": "escalate", "arguments": {"system": "search", "team": "sre-team"}}
    assert shift_action_from_wire(wire_of(call, KINDS), STATE) == On("search", Escalate("sre-team"))
    assert wire_of(call) == {"action_type": "escalate", "value": "sre-team"}
    note = {"name": "note", "arguments": {"text": "all is well"}}
    assert shift_action_from_wire(wire_of(note, KINDS), STATE) == Note("all is well")


def test_what_is_no_action_has_no_wire() -> None:
    with pytest.raises(InvalidInput, match="an action of a shift"):
        shift_action_to_wire(Resolve())  # type: ignore[arg-type]
