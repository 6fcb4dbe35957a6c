"""Spans to requests: who called whom, what was waited for, what was not."""

import pytest

from logtriage.recorded.condensing.raw_rows import Call, Span
from logtriage.recorded.condensing.spans_to_calls import requests


def _trace(*spans: tuple[str, str, str, int, int]) -> list[Span]:
    """Spans as (id, parent, service, start, duration), in microseconds."""
    return [Span("t", key, parent, service, at, us) for key, parent, service, at, us in spans]


def _calls(*spans: tuple[str, str, str, int, int]) -> dict[str, Call]:
    return {call.callee: call for call in requests(_trace(*spans))}


FRONT = ("1", "", "front", 0, 10_000)


def test_network_time_is_what_the_caller_waited_beyond_the_callees_span() -> None:
    calls = _calls(FRONT, ("2", "1", "front", 1000, 8000), ("3", "2", "back", 2000, 5000))
    assert calls["front"] == Call(0, None, "front", 10_000, None, "t", 2000)
    assert calls["back"] == Call(2, "front", "back", 8000, 3000, "t", 5000)


def test_waits_that_overlap_count_once() -> None:
    calls = _calls(
        FRONT,
        ("2", "1", "front", 1000, 4000),
        ("3", "2", "a", 1500, 3000),
        ("4", "1", "front", 3000, 4000),
        ("5", "4", "b", 3500, 3000),
    )
    # Waiting from 1000 to 7000.
    assert calls["front"].self_us == 4000


def test_a_step_inside_a_service_is_no_request_and_its_waits_are_the_requests() -> None:
    calls = _calls(
        FRONT,
        ("2", "1", "front", 500, 9000),
        ("3", "2", "front", 1000, 6000),
        ("4", "3", "back", 2000, 1000),
    )
    assert set(calls) == {"front", "back"}
    assert calls["front"].self_us == 4000


def test_a_callee_without_a_client_span_counts_by_its_own() -> None:
    calls = _calls(FRONT, ("2", "1", "back", 1000, 3000))
    assert calls["front"].self_us == 7000
    assert calls["back"] == Call(1, "front", "back", 3000, None, "t", 3000)


@pytest.mark.parametrize(
    ("kind", "waited", "network"),
    [("CLIENT", 9000, 6000), ("SERVER", 3000, None), ("INTERNAL", 3000, None)],
)
def test_only_a_span_that_waits_says_how_long_the_caller_waited(
    kind: str, waited: int, network: int | None
) -> None:
    asking = Span("t", "1", "", "front", 0, 9000, kind=kind)
    calls = requests([asking, *_trace(("2", "1", "back", 1000, 3000))])
    (back,) = (call for call in calls if call.callee == "back")
    assert (back.latency_us, back.network_us) == (waited, network)


@pytest.mark.parametrize(("kind", "latency"), [("CLIENT", 8000), ("INTERNAL", 1000), ("", 1000)])
def test_a_step_of_the_caller_with_several_callees_is_the_wait_for_none(
    kind: str, latency: int
) -> None:
    step = Span("t", "2", "1", "front", 500, 8000, kind=kind)
    others = _trace(FRONT, ("3", "2", "a", 1000, 1000), ("4", "2", "b", 3000, 5000))
    calls = {call.callee: call for call in requests([step, *others])}
    assert calls["a"].latency_us == latency
    assert calls["front"].self_us == (2000 if kind == "CLIENT" else 4000)


@pytest.mark.parametrize(("kind", "network", "own"), [("", 6000, 1000), ("SERVER", None, 7000)])
def test_a_step_without_a_kind_is_no_wait_for_a_callee_with_a_kind(
    kind: str, network: int | None, own: int
) -> None:
    back = Span("t", "3", "2", "back", 1000, 3000, kind=kind)
    rows = [*_trace(FRONT, ("2", "1", "front", 500, 9000)), back]
    calls = {call.callee: call for call in requests(rows)}
    assert (calls["back"].network_us, calls["front"].self_us) == (network, own)


def test_a_callee_that_outlives_its_caller_was_not_waited_for() -> None:
    calls = _calls(FRONT, ("2", "1", "front", 1000, 10), ("3", "2", "back", 2000, 50_000))
    assert calls["back"] == Call(2, "front", "back", 50_000, None, "t", 50_000)
    assert calls["front"].self_us == 10_000


def test_a_span_whose_parent_was_not_recorded_is_left_out() -> None:
    assert _calls(("2", "1", "back", 0, 5)) == {}


@pytest.mark.parametrize("length", [1, 2, 300])
def test_a_trace_that_bites_its_own_tail_ends(length: int) -> None:
    ring = [(str(n), str((n + 1) % length), "loop", 0, 5) for n in range(length)]
    assert set(_calls(*ring, ("x", "0", "back", 0, 3))) == {"back"}
