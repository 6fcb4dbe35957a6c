"""A shift: one on-call engineer, several systems, one pair of hands.

>>> from logtriage.shift import begin, make_shift, observe, play, transition
>>> state = begin(make_shift("quiet_shift-v1/test/0"))
>>> len(observe(state).board)
1
>>> play(make_shift("quiet_shift-v1/test/0"), "forward_all").is_over
True
"""

from logtriage.shift.grades import grade, score, shift_grade_to_json
from logtriage.shift.players import PLAYERS, belief, play
from logtriage.shift.screens import observe, render, shift_prompt
from logtriage.shift.shifts import Shift, make_shift, shift_ids
from logtriage.shift.states import Note, On, ShiftAction, ShiftState, begin, transition
from logtriage.shift.wires import shift_action_from_wire, shift_action_to_wire, take, wire_in

__all__ = [
    "PLAYERS",
    "Note",
    "On",
    "Shift",
    "ShiftAction",
    "ShiftState",
    "begin",
    "belief",
    "grade",
    "make_shift",
    "observe",
    "play",
    "render",
    "score",
    "shift_action_from_wire",
    "shift_action_to_wire",
    "shift_grade_to_json",
    "shift_ids",
    "shift_prompt",
    "take",
    "transition",
    "wire_in",
]
