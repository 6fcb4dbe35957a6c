import pytest

from logtriage import HandOver, Ignore, InvalidInput, RequestMetrics, Resolve, Wait
from logtriage.errors import EpisodeOver, UnknownName
from logtriage.shift import Note, On, begin, play, transition
from logtriage.state import Closing
from tests.shift.shifts import small_shift


def test_an_incident_starts_with_its_first_alert() -> None:
    state = begin(small_shift(0, 2))
    assert list(state.open) == ["checkout"]
    state = transition(transition(state, Wait()), Wait())
    assert [one.tick for one in state.states] == [2, 0]


def test_an_action_is_taken_on_one_system_and_time_passes_on_all() -> None:
    state = transition(begin(small_shift(0, 0)), On("search", RequestMetrics("user-db")))
    assert [len(one.history) for one in state.states] == [0, 1]
    assert [one.tick for one in state.states] == [1, 1]
    assert state.touched == "search"


def test_a_closed_incident_stands_still_and_an_action_on_it_changes_nothing() -> None:
    closed = transition(begin(small_shift(0, 0)), On("checkout", Resolve()))
    later = transition(closed, On("checkout", Ignore()))
    assert later.states[0] == closed.states[0]
    assert later.states[1].tick == later.tick == 2


def test_what_nobody_touches_runs_out_of_time() -> None:
    shift = small_shift(0)
    state = play(shift, [Wait()] * shift.task.ticks)
    assert state.states[0].closing is Closing.OUT_OF_TIME


def test_each_hand_over_takes_a_share_off_the_next_one_for_fifty_ticks() -> None:
    state = begin(small_shift(0, 0, 0, 60))
    worth = [one.incident.worth_of_hand_over or 0.0 for one in state.states]
    state = transition(state, On("checkout", HandOver()))
    assert (state.hand_overs, state.worth_share) == (1, 0.8)
    state = transition(state, On("search", HandOver()))
    assert state.states[0].incident.worth_of_hand_over == worth[0]
    assert state.states[1].incident.worth_of_hand_over == pytest.approx(0.8 * worth[1])
    assert state.open["billing"].incident.worth_of_hand_over == pytest.approx(0.6 * worth[2])
    for _ in range(48):
        state = transition(state, Wait())
    assert (state.tick, state.hand_overs) == (50, 2)
    state = transition(state, Wait())
    assert (state.tick, state.hand_overs) == (51, 1)


def test_a_hand_over_never_falls_below_a_fifth() -> None:
    state, fades = begin(small_shift(*[0] * 7)), []
    while state.open:
        fades.append(round(state.worth_share, 1))
        state = transition(state, On(next(iter(state.open)), HandOver()))
    assert fades == [1.0, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2]


def test_a_note_replaces_the_notebook_and_is_cut() -> None:
    state = transition(begin(small_shift(0)), Note("first"))
    state = transition(state, Note("x" * 600))
    assert state.notes == "x" * 500
    assert "\n" not in Note("two\nlines").text


def test_a_shift_is_over_once_nothing_is_open_and_nothing_comes() -> None:
    shift = small_shift(0)
    state = transition(begin(shift), On("checkout", Resolve()))
    while not state.is_over:
        state = transition(state, Wait())
    assert state.tick == shift.task.last_arrival
    with pytest.raises(EpisodeOver, match="the shift is over"):
        transition(state, Wait())


def test_what_is_no_action_or_no_shift_is_refused() -> None:
    state = begin(small_shift(0, 5))
    with pytest.raises(UnknownName, match="checkout"):
        transition(state, On("search", Resolve()))  # it has not arrived yet
    with pytest.raises(UnknownName, match="user-db"):
        transition(state, On("checkout", RequestMetrics("pay-db")))
    with pytest.raises(InvalidInput, match="expected On"):
        transition(state, Resolve())  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="make_shift"):
        begin("busy_shift-v1/test/0")  # type: ignore[arg-type]
