"""What work on incidents gains, and what a tick costs."""

import attrs
import pytest

from logtriage import RequestMetrics, RequestMoreLogs, RequestTraces, Wait
from logtriage.beliefs import belief
from logtriage.shift import On, Shift, ShiftState, begin, make_shift, play, transition
from logtriage.shift.players import belief_first, oracle
from logtriage.shift.shifts import WEIGHTS
from logtriage.shift.weighing import (
    RIPE,
    WINDOW,
    Look,
    believed_look,
    choose,
    price_of_tick,
    true_action,
    true_look,
    weighted,
)
from logtriage.state import Closing, initial_state
from tests.shift.shifts import small_shift


def looks_at(state: ShiftState) -> list[Look]:
    return [
        true_look(arrival.system, alone, arrival.weight)
        for arrival, alone in state.arrived
        if alone.closing is None
    ]


def real(shift: Shift) -> Shift:
    """The same shift without its benign incidents."""
    arrivals = tuple(row for row in shift.arrivals if not row.incident.truth.benign)
    return attrs.evolve(shift, arrivals=arrivals)


def test_a_tick_costs_as_little_as_lets_the_work_fit_into_the_window() -> None:
    looks = looks_at(begin(real(small_shift(*[0] * 9))))
    price = price_of_tick(looks)
    assert price > 0
    assert sum(look.best(price).ticks for look in looks) <= WINDOW
    assert sum(look.best(0.99 * price).ticks for look in looks) > WINDOW
    assert price_of_tick(looks[:2]) == 0.0


def test_a_higher_price_leaves_what_earns_least() -> None:
    look, *_ = looks_at(begin(real(small_shift(*[0] * 9))))
    ticks = [look.best(look.weight * share).ticks for share in (0.05, 0.12, 0.2, 0.3)]
    assert ticks == [5, 4, 3, 0]


def test_what_would_run_out_of_time_comes_before_what_weighs_more() -> None:
    state = play(real(small_shift(0, 0, 6)), [Wait()] * 8)
    old, *_, fresh = looks_at(state)
    options = tuple(attrs.evolve(option, gain=9.0 * option.gain) for option in fresh.options)
    heavy = attrs.evolve(fresh, weight=9.0, options=options)
    for pair, first in (([old, heavy], old), ([fresh, heavy], heavy)):
        looks = [attrs.evolve(look, hand_over=0.0) for look in pair]
        action = choose(state, looks, true_action)
        assert isinstance(action, On)
        assert action.system == first.system


def test_nothing_is_given_away_while_there_is_time_for_everything() -> None:
    state = play(small_shift(0, 12), oracle)
    assert Closing.HANDED_OVER not in {alone.closing for alone in state.states}


def test_of_many_incidents_a_few_are_given_away() -> None:
    closings = [alone.closing for alone in play(small_shift(*[0] * 9), oracle).states]
    assert 0 < closings.count(Closing.HANDED_OVER) < len(closings) / 2


def test_each_hypothesis_counts_as_its_incident_does() -> None:
    for arrival in small_shift(0, 0, 0).arrivals:
        state = initial_state(arrival.incident)
        _, weight = weighted(state)
        shares = belief(state).severities
        expected = sum(WEIGHTS[name] * shares[str(name)] for name in WEIGHTS)
        assert weight == pytest.approx(expected, abs=1e-3)


def test_a_fresh_incident_in_doubt_is_only_asked_about() -> None:
    state = begin(small_shift(0))
    (look,) = [believed_look(name, alone) for name, alone in state.open.items()]
    assert all(option.asks for option in look.options)
    assert look.hand_over == 0.0
    action = belief_first(state)
    assert isinstance(action, On)
    assert isinstance(action.action, RequestMetrics | RequestMoreLogs | RequestTraces)


def test_belief_first_turns_to_what_is_ripe() -> None:
    state = begin(make_shift("busy_shift-v1/train/0"))
    while len(state.open) < 3 or next(iter(state.open.values())).tick < RIPE:
        state = transition(state, Wait())
    action = belief_first(state)
    assert isinstance(action, On)
    assert state.open[action.system].tick >= RIPE
