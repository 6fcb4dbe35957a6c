import pytest

from logtriage import HandOver, InvalidInput, Malformed, RequestMetrics, Resolve, Wait
from logtriage.shift import Note, On, begin, make_shift, observe, render, shift_prompt, transition
from logtriage.shift.screens import MAX_SCREEN
from tests.shift.shifts import small_shift


def test_the_board_has_the_open_incidents_and_the_touched_one_is_shown_in_full() -> None:
    state = transition(begin(small_shift(0, 0)), On("search", RequestMetrics("user-db")))
    seen = observe(state)
    assert seen.systems == ("checkout", "search")
    assert [row.touched for row in seen.board] == [False, True]
    assert seen.system == "search"
    assert seen.screen is not None
    assert seen.screen.metrics[0].service == "user-db"
    text = render(seen)
    for words in ("LAST: search: request_metrics user-db", "IN FULL, search:", "METRICS user-db"):
        assert words in text
    assert text.count("TICK") == 2


def test_what_closed_is_said_once_and_shown_no_more() -> None:
    state = transition(begin(small_shift(0, 0)), On("checkout", Resolve()))
    assert "CLOSED: checkout (resolved)" in render(observe(state))
    assert observe(state).system is None
    assert "CLOSED" not in render(observe(transition(state, Wait())))


def test_the_board_says_what_a_hand_over_is_worth_now() -> None:
    state = begin(small_shift(0, 0))
    before = observe(state).board[1].worth
    state = transition(state, On("checkout", HandOver()))
    (row,) = observe(state).board
    assert row.worth == pytest.approx(0.8 * before)
    assert f"hand-over {row.worth:.2f}" in render(observe(state))


def test_notes_and_what_was_not_understood_are_shown() -> None:
    state = transition(begin(small_shift(0)), Note("search: ask user-db"))
    assert "NOTES: search: ask user-db" in render(observe(state))
    state = transition(state, Malformed("?", "no such thing"))
    assert "LAST: not understood: no such thing" in render(observe(state))


def test_no_screen_is_longer_than_the_limit_and_no_open_system_is_left_out() -> None:
    state = begin(small_shift(*[0] * 9))
    state = transition(state, Note("n" * 500))
    state = transition(state, On("gifts", RequestMetrics("user-db")))
    text = render(observe(state))
    assert len(text) <= MAX_SCREEN
    assert "\nand " in text
    assert all(system in text for system in state.open)


def test_the_prompt_says_the_rules_and_is_the_same_for_every_shift_of_a_task() -> None:
    one, other = (make_shift(f"busy_shift-v1/test/{index}") for index in (0, 1))
    text = shift_prompt(one)
    assert text == shift_prompt(other)
    for words in ("500 characters", "20%", "P1 3, P2 2, P3 1", '"system"', "RUNBOOK"):
        assert words in text
    systems = {arrival.system for arrival in one.arrivals}
    assert systems & {*text.split()} <= {"alerts"}  # which fire in every system
    assert "every call names its system" in shift_prompt(one, "tools")
    with pytest.raises(InvalidInput, match="json, tools"):
        shift_prompt(one, "plan")
