"""The laws of shifts, over drawn incidents, arrivals and actions."""

from collections.abc import Sequence

import attrs
from hypothesis import given
from hypothesis import strategies as st

from logtriage import State, Wait, grade, initial_state, make_incident, transition
from logtriage.actions import all_actions
from logtriage.beliefs import belief as belief_about
from logtriage.shift import (
    Note,
    On,
    Shift,
    ShiftAction,
    ShiftState,
    begin,
    belief,
    observe,
    play,
    render,
    score,
    shift_action_from_wire,
    shift_action_to_wire,
)
from logtriage.shift import grade as grade_shift
from logtriage.shift import transition as pass_tick
from logtriage.shift.screens import MAX_SCREEN
from logtriage.shift.shifts import SYSTEMS, Arrival
from tests.shift.shifts import TASK, renamed

MOST = 4


@st.composite
def shifts(draw: st.DrawFn, most: int = MOST) -> Shift:
    """A shift of a few incidents that arrive in its first ticks, the first at tick 0."""
    ticks = [0, *sorted(draw(st.lists(st.integers(0, 8), max_size=most - 1)))]
    arrivals = []
    for tick, system in zip(ticks, SYSTEMS, strict=False):
        number = draw(st.integers(0, 200))
        incident = make_incident(f"{TASK.incidents}/train/{number}")
        arrivals.append(Arrival(tick, system, incident))
    return Shift("law/train/0", TASK, tuple(arrivals))


@st.composite
def actions_on(draw: st.DrawFn, shift: Shift) -> ShiftAction:
    """An action on any system of a shift, a wait or a note."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return Wait()
    if kind == 1:
        return Note(draw(st.text(max_size=20)))
    arrival = draw(st.sampled_from(shift.arrivals))
    listed = all_actions(arrival.incident.topology, hand_over=True)
    return On(arrival.system, draw(st.sampled_from(listed)))


def played(shift: Shift, actions: Sequence[ShiftAction]) -> list[ShiftState]:
    """Every state; actions on what has not arrived yet are waits."""
    states = [begin(shift)]
    for action in actions:
        here = states[-1]
        if here.is_over:
            break
        arrived = {one.system for one, _ in here.arrived}
        ok = not isinstance(action, On) or action.system in arrived
        states.append(pass_tick(here, action if ok else Wait()))
    return states


@given(st.data())
def test_a_shift_of_one_incident_grades_as_that_incident(data: st.DataObject) -> None:
    """Tick by tick, screens included."""
    shift = data.draw(shifts(most=1))
    (arrival,) = shift.arrivals
    alone: State = initial_state(arrival.incident)
    state = begin(shift)
    listed = all_actions(arrival.incident.topology, hand_over=True)
    for action in data.draw(st.lists(st.sampled_from(listed), max_size=20)):
        if alone.is_closed:
            break
        alone, state = transition(alone, action), pass_tick(state, On(arrival.system, action))
        assert score(state) == grade(alone).score
        assert grade_shift(state).incidents[0].grade == grade(alone)
    assert state.states == (alone,)


@given(st.data())
def test_names_of_systems_change_nothing(data: st.DataObject) -> None:
    shift = data.draw(shifts())
    actions = data.draw(st.lists(actions_on(shift), max_size=15))
    other = renamed(shift)
    pairs = zip(shift.arrivals, other.arrivals, strict=True)
    named = {one.system: two.system for one, two in pairs}
    same = [
        attrs.evolve(one, system=named[one.system]) if isinstance(one, On) else one
        for one in actions
    ]
    for one, two in zip(played(shift, actions), played(other, same), strict=True):
        assert score(one) == score(two)
        assert [attrs.evolve(row, system="") for row in observe(one).board] == [
            attrs.evolve(row, system="") for row in observe(two).board
        ]


@given(st.data())
def test_an_action_on_one_system_changes_nothing_on_another(data: st.DataObject) -> None:
    """But for what a hand-over is worth, which all share."""
    shift = data.draw(shifts())
    mine = data.draw(st.sampled_from(shift.arrivals)).system
    actions = data.draw(st.lists(actions_on(shift), max_size=15))
    only = [one if isinstance(one, On) and one.system == mine else Wait() for one in actions]
    place = [one.system for one in shift.arrivals].index(mine)
    both, alone = played(shift, actions), played(shift, only)
    for one, other in zip(both, alone, strict=False):
        if len(one.states) > place:
            left, right = one.states[place], other.states[place]
            assert (left.tick, left.history, left.closing) == (
                right.tick, right.history, right.closing,
            )  # fmt: skip


@given(shifts())
def test_nothing_done_earns_nothing(shift: Shift) -> None:
    assert score(play(shift, [Wait()] * TASK.ticks)) == 0.0


@given(st.data())
def test_what_is_yet_to_come_and_what_was_never_seen_shows_nowhere(data: st.DataObject) -> None:
    """Without the later arrivals, and under another id, every screen before them is the same."""
    shift = data.draw(shifts())
    actions = data.draw(st.lists(actions_on(shift), max_size=10))
    for here in played(shift, actions):
        now = [one for one in shift.arrivals if one.tick <= here.tick]
        known = attrs.evolve(shift, id="another/test/9", arrivals=tuple(now))
        there = played(known, list(here.history))[-1]
        assert render(observe(there)) == render(observe(here))


@given(st.data())
def test_playing_is_pure_and_screens_are_bounded(data: st.DataObject) -> None:
    shift = data.draw(shifts())
    actions = data.draw(st.lists(actions_on(shift), max_size=15))
    states = played(shift, actions)
    assert states == played(shift, actions)
    for state in states:
        text = render(observe(state))
        assert len(text) <= MAX_SCREEN or "\nBOARD:\nand " in text
        assert state.shift.id not in text
        assert all(system in text for system in state.open)
        assert 0.0 <= score(state) <= 1.0
        assert state.tick == len(state.history)


@given(st.data())
def test_actions_survive_their_wires(data: st.DataObject) -> None:
    shift = data.draw(shifts())
    states = played(shift, data.draw(st.lists(actions_on(shift), max_size=8)))
    for action in data.draw(st.lists(actions_on(shift), max_size=8)):
        if isinstance(action, On) and action.system not in states[-1].open:
            continue
        assert shift_action_from_wire(shift_action_to_wire(action), states[-1]) == action


@given(st.data())
def test_the_belief_of_a_shift_is_that_of_its_incidents(data: st.DataObject) -> None:
    shift = data.draw(shifts(most=2))
    state = played(shift, data.draw(st.lists(actions_on(shift), max_size=6)))[-1]
    held = belief(state)
    assert held.keys() == state.open.keys()
    for arrival, alone in state.arrived:
        if arrival.system in held:
            assert held[arrival.system].weights == belief_about(alone).weights
