"""Text for models and people: complete, compact, and silent about the truth."""

from collections.abc import Sequence

import attrs
import pytest

import logtriage as lt
from logtriage.rendering import status_of
from logtriage.world.telemetry import Reading, Signal
from tests.builders import (
    FIX,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    SEVEN_SERVICES,
    WAIT,
    WRONG_PAGE,
    played,
    real_incident,
    waits,
)

NOISE, OTHER = lt.ClassifySeverity("P3"), lt.IdentifyRootCause("payment-db", 0.4)


@pytest.mark.parametrize(
    ("reading", "status"),
    [
        (Reading(500, 0, 0), "failing"), (Reading(0, 2000, 0), "failing"),
        (Reading(499, 0, 0), "degraded"), (Reading(0, 800, 0), "degraded"),
        (Reading(99, 799, 0), "ok"),
    ],
)  # fmt: skip
def test_a_service_has_the_status_of_the_severity_rule(reading: Reading, status: str) -> None:
    assert status_of(reading) == status


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ([WAIT], "LAST: request_more_logs all"),
        ([RIGHT_PAGE], "LAST: escalate dba-team: acknowledged"),
        ([WRONG_PAGE], "LAST: escalate sre-team: the wrong people took it"),
        ([FIX], "LAST: remediate kill-query:user-db: done"),
        ([RIGHT_SEVERITY, NOISE], "LAST: classify_severity P3: no effect, P1 stands"),
        ([RIGHT_SEVERITY], "LAST: classify_severity P1"),
        ([RIGHT_CAUSE, OTHER], "LAST: identify_root_cause payment-db: no effect, user-db stands"),
        ([lt.Malformed("?", "no JSON in it")], "LAST: not understood: no JSON in it"),
        ([lt.Resolve()], "CLOSED: resolved"),
        ([WRONG_PAGE], "CLOSED: misrouted"),
        (waits(12), "CLOSED: out_of_time"),
        ([WAIT], "ALERTS: none"),
        ([], "DECLARED: severity -, root cause -"),
    ],
)
def test_what_came_of_an_act_is_said(actions: Sequence[lt.Action], expected: str) -> None:
    seen = lt.observe(played(real_incident(), *actions))
    assert expected in lt.render_observation(seen).splitlines()


def test_a_wrong_remedy_reads_like_the_right_one() -> None:
    incident = real_incident()
    right = lt.render_observation(lt.observe(played(incident, FIX)))
    wrong_action = attrs.evolve(FIX, remedy="scale")
    wrong = lt.render_observation(lt.observe(played(incident, wrong_action)))
    assert wrong == right.replace("kill-query", "scale")


def _dashboard(*signals: tuple[Signal, ...]) -> list[str]:
    """The lines of the dashboard; services that are not given have no signals."""
    first = lt.observe(lt.initial_state(real_incident()))
    rest = ((),) * (len(SEVEN_SERVICES) - len(signals))
    shown = lt.render_observation(attrs.evolve(first, signals=(*signals, *rest)))
    return shown.partition("SIGNALS")[2].partition("DIRECTORY")[0].splitlines()


def test_the_dashboard_shows_what_strays_in_service_order() -> None:
    head, *rows = _dashboard(
        (Signal("cpu_bp", 9531, 120, 100), Signal("p50_ms", 50, 45, 10)),
        (Signal("p99_ms", 9000, 10), Signal("calls", 9)),
        (Signal("calls", 10, 100, 15), Signal("events_bp", 0, 8140, 1500)),
    )
    assert "stray by 3 spreads or more" in head
    assert rows == [
        "api-gateway: cpu 95.3% (1.2 ± 1.0)",
        "user-db: calls 10 (100 ± 15), events 0.0% (81.4 ± 15.0)",
        "no usual value is known:",
        "auth-service: calls 9",
    ]


def test_a_quiet_dashboard_says_so_and_none_is_not_shown() -> None:
    assert _dashboard((Signal("p50_ms", 50, 45, 10),))[1:] == ["none"]
    assert "SIGNALS" not in lt.render_observation(lt.observe(lt.initial_state(real_incident())))
