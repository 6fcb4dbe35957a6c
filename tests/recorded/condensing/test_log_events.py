"""Events against the baseline: what appears, what vanishes, and what chance explains."""

from math import sqrt

from logtriage.recorded.condensing.log_events import (
    Requests,
    are_sampled,
    can_be_traced,
    most_shifted,
    new_errors,
    requests_of,
)
from logtriage.recorded.condensing.raw_rows import Call, Coverage, LogRow

ALWAYS = Coverage(((0, 10**9),))
DONE, FAILED, GONE = "INFO done", "ERROR failed", "INFO gone"


def _requests(*events: str, times: int) -> Requests:
    return Requests(tuple(range(times)), (frozenset(events),) * times)


def _now(*events: str, times: int) -> list[frozenset[str]]:
    return [frozenset(events)] * times


def _stray(found: tuple[int, int, int] | None) -> float:
    assert found is not None
    return (found[0] - found[1]) / found[2]


def test_the_spread_is_that_of_two_proportions() -> None:
    found = new_errors(_now(FAILED, times=20), _requests(DONE, times=10))
    pooled = 21 / 32
    spread = sqrt(pooled * (1 - pooled) * (1 / 20 + 1 / 10))
    assert found == (10_000, 0, round(10_000 * spread))


def test_an_error_that_the_baseline_has_is_not_new_but_may_be_more() -> None:
    usual = Requests(tuple(range(10)), (frozenset({FAILED}), *[frozenset({DONE})] * 9))
    found = new_errors(_now(FAILED, times=10), usual)
    assert found is not None
    assert found[:2] == (0, 0)
    assert _stray(most_shifted(_now(FAILED, DONE, times=10), usual)) > 3


def test_work_that_is_no_longer_done_vanishes() -> None:
    found = most_shifted(_now(DONE, times=30), _requests(DONE, GONE, times=30))
    assert found is not None
    assert found[:2] == (0, 10_000)
    assert _stray(found) < -7


def test_recovery_and_new_kinds_of_work_are_no_symptom() -> None:
    usual = _requests(FAILED, times=30)
    assert _stray(most_shifted(_now(DONE, times=30), usual)) == 0


def test_few_requests_say_little() -> None:
    few = most_shifted(_now(DONE, times=2), _requests(DONE, GONE, times=2))
    assert abs(_stray(few)) <= 2


def test_twice_the_requests_are_no_shift() -> None:
    assert _stray(most_shifted(_now(DONE, times=60), _requests(DONE, times=30))) == 0


def test_nothing_to_compare_is_unknown_and_not_zero() -> None:
    assert most_shifted([], _requests(DONE, times=3)) is None
    assert most_shifted(_now(DONE, times=3), Requests()) is None
    assert new_errors([], _requests(DONE, times=3)) is None
    assert new_errors(_now(DONE, times=3), Requests()) is None
    # A service that never logs has no events to shift.
    assert most_shifted(_now(times=3), _requests(times=3)) is None


def _log(at: int, trace: str, event: str = DONE) -> LogRow:
    return LogRow(at, "back", "INFO", "done", event, trace)


def test_requests_are_those_of_traces_and_only_while_logs_were_recorded() -> None:
    calls = [Call(at, None, "back", 1, trace=f"t{at}") for at in (10, 20, 30)]
    calls.append(Call(25, None, "other", 1, trace="t25"))
    found = requests_of("back", calls, [_log(11, "t10"), _log(31, "t30")], ALWAYS, traced=True)
    assert found.at == (10, 20, 30)
    assert found.events == (frozenset({DONE}), frozenset(), frozenset({DONE}))
    gap = Coverage(((0, 15), (28, 40)))
    assert requests_of("back", calls, [_log(11, "t10")], gap, traced=True).at == (10, 30)


def test_lines_without_a_trace_count_one_by_one() -> None:
    logs = [_log(1, ""), _log(2, "", FAILED)]
    assert not can_be_traced([Call(0, None, "back", 1, trace="t")], logs)
    assert not can_be_traced([], [_log(1, "t")])
    found = requests_of("back", [], logs, ALWAYS, traced=False)
    assert found.between(0, 2) == [frozenset({DONE})]
    assert found.between(0, 3) == [frozenset({DONE}), frozenset({FAILED})]


def test_a_few_lines_of_no_request_do_not_make_all_count_one_by_one() -> None:
    calls = [Call(at, None, "back", 1, trace=f"t{at}") for at in range(10)]
    logs = [*(_log(at, f"t{at}") for at in range(10)), _log(5, "")]
    assert can_be_traced(calls, logs)
    found = requests_of("back", calls, logs, ALWAYS, traced=True)
    assert found.events == (frozenset({DONE}),) * 10
    assert not can_be_traced(calls, [*logs[:4], *[_log(5, "")] * 5])


def test_where_spans_are_sampled_lines_tell_of_requests() -> None:
    logs = [_log(at, f"t{at}") for at in range(10)]
    calls = [Call(3, None, "back", 1, trace="t3"), Call(4, None, "back", 1, trace="quiet")]
    assert are_sampled(calls, logs)
    found = requests_of("back", calls, logs, ALWAYS, traced=True, sampled=True)
    assert len(found.at) == 11
    assert found.events.count(frozenset()) == 1
    every = [Call(at, None, "back", 1, trace=f"t{at}") for at in range(5)]
    assert not are_sampled(every, logs)
    assert not are_sampled([], [])
