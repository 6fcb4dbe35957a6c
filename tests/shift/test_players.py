from typing import Any

import pytest

from logtriage import HandOver, InvalidInput, Wait
from logtriage.beliefs import belief as belief_about
from logtriage.shift import PLAYERS, On, begin, belief, grade, make_shift, play, score, transition
from tests.shift.shifts import renamed, small_shift

SHIFT = small_shift(0, 2, 5)


@pytest.mark.parametrize("name", PLAYERS)
def test_a_player_plays_to_the_end_whatever_systems_are_called(name: str) -> None:
    shift = small_shift(0, 2)
    one, other = play(shift, name), play(renamed(shift), name)
    assert one.is_over
    assert score(one) == score(other)


def test_the_oracle_solves_what_it_has_time_for() -> None:
    assert score(play(small_shift(0, 6, 12), "oracle")) == 1.0


def test_forward_all_hands_every_incident_over_at_once() -> None:
    state = play(SHIFT, "forward_all")
    graded = grade(state)
    assert (graded.handed_over, graded.mtta) == (3, 0.0)
    assert [one for one in state.history if one != Wait()] == [
        On(one.system, HandOver()) for one in SHIFT.arrivals
    ]


def test_first_come_closes_the_oldest_before_it_turns_to_the_next() -> None:
    systems = [one.system for one in play(SHIFT, "first_come").history if isinstance(one, On)]
    assert list(dict.fromkeys(systems)) == ["checkout", "search", "billing"]
    assert systems == sorted(systems, key=["checkout", "search", "billing"].index)


def test_a_belief_has_the_worth_that_a_hand_over_has_now() -> None:
    state = begin(make_shift("busy_shift-v1/train/0"))
    while len(state.open) < 2:
        state = transition(state, Wait())
    state = transition(state, On(next(iter(state.open)), HandOver()))
    assert state.worth_share < 1.0
    for system, held in belief(state).items():
        alone = belief_about(state.open[system])
        assert (held.weights, held.best()) == (alone.weights, alone.best())


def test_what_is_no_player_is_refused() -> None:
    nobody: Any = None
    with pytest.raises(InvalidInput, match="expected a player of shifts"):
        play(SHIFT, nobody)
