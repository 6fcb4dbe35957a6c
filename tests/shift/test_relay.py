from logtriage import RequestMetrics, RequestTraces, Wait
from logtriage.evidence import evidence
from logtriage.shift import On, begin, play, transition
from logtriage.shift.relay import half_time, noted, relayed, relieved, second, told_by
from logtriage.shift.states import MAX_NOTE, Note
from tests.shift.shifts import small_shift

ASKED = [
    On("checkout", RequestMetrics("user-db")),
    On("search", RequestTraces("payment-db")),
    On("checkout", RequestTraces("user-db")),
]


def test_a_note_holds_readings_that_the_board_does_not_show() -> None:
    state = play(small_shift(0, 0), ASKED)
    notes = noted(state).text
    assert 0 < len(notes) <= MAX_NOTE
    for system in ("checkout", "search"):
        told = list(told_by(notes, system))
        assert told
        assert set(told) <= set(evidence(state.open[system]))
        assert {str(one.channel) for one in told} <= {"metrics", "traces"}
    assert list(told_by(notes, "billing")) == []


def test_a_note_is_full_before_it_is_cut() -> None:
    state = begin(small_shift(0, 0))
    for _ in range(3):
        for service in ("user-db", "payment-db", "api-gateway", "auth-service"):
            state = transition(state, On("checkout", RequestMetrics(service)))
    assert MAX_NOTE - 40 < len(noted(state).text) <= MAX_NOTE


def test_of_an_empty_board_there_is_nothing_to_note() -> None:
    assert noted(play(small_shift(0), [Wait()] * 30)).text == ""


def test_the_second_decides_by_the_note_and_by_what_it_has_seen() -> None:
    """Half time is long past: both see the same, so the note alone makes a difference."""
    shift = small_shift(98, 99)
    state = begin(shift)
    while state.tick < 99:
        state = transition(state, Wait())
    for action in ASKED[:1] * 3:
        state = transition(state, action)
    assert state.tick > half_time(shift)
    assert isinstance(second(state, "", 100), On)


def test_a_relief_plays_to_the_end_with_any_note() -> None:
    state = play(small_shift(0), ASKED[:1])
    own, none, odd = (list(relieved(state, note)) for note in (None, "", "x m0.0.0=nonsense"))
    assert own[-1].is_over
    assert none[-1].is_over
    assert odd[-1].is_over
    assert own[0].history[-1] == noted(state) != none[0].history[-1] == Note("")


def test_a_pair_changes_at_half_time() -> None:
    shift = small_shift(97)
    state = relayed(shift, "mind the queue")
    assert state.is_over
    assert state.history[half_time(shift) - 1] == Note("mind the queue")
