"""The habit that does not pay: believe the loudest error."""

from statistics import mean

import attrs
import pytest

from logtriage import (
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Observation,
    Remediate,
    Resolve,
    Severity,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.grading import grade
from logtriage.policies import FirstErrorPolicy
from logtriage.registry import make_policy
from logtriage.world.telemetry import Alert, LogLine, Reading
from tests.builders import SEVEN_SERVICES, final_state, real_incident


@pytest.mark.parametrize("task_id", ["cascading_failure-v4", "silent_degradation-v4"])
def test_the_loudest_error_is_mostly_a_symptom(task_id: str) -> None:
    grades = [
        grade(final_state(make_incident(one), make_policy("first_error")))
        for one in incident_ids(task_id, "test", 60)
    ]
    assert mean(one.score or 0.0 for one in grades) <= 0.40


def screen(window: tuple[LogLine, ...], **changes: object) -> Observation:
    blank = observe(initial_state(real_incident()))
    return attrs.evolve(blank, window=window, slo=Reading(700, 300, 300), **changes)  # type: ignore[arg-type]


def line(service: str, level: str) -> LogLine:
    return LogLine(0, service, level, "…")


def test_the_five_steps_of_the_habit() -> None:
    seen = screen((line("user-db", "ERROR"), line("email-queue", "WARN")))
    policy, memory, steps = FirstErrorPolicy(), None, []
    for _ in range(6):
        action, memory = policy.act(seen, memory)
        steps.append(action)
    assert steps == [
        ClassifySeverity(Severity.P1),
        IdentifyRootCause("user-db", 0.9),
        Escalate("dba-team"),
        Remediate("restart", "user-db"),
        Resolve(),
        Resolve(),
    ]


def test_it_pages_the_owner_in_the_directory_and_anybody_where_there_is_none() -> None:
    directory = ("security-team",) * len(SEVEN_SERVICES)
    for owners, team in ((directory, "security-team"), ((), SEVEN_SERVICES.teams[0])):
        seen = screen((line("user-db", "ERROR"),), directory=owners)
        assert FirstErrorPolicy().act(seen, ("user-db", 2))[0] == Escalate(team)


@pytest.mark.parametrize(
    ("window", "suspect"),
    [
        ([("email-queue", "INFO"), ("user-db", "WARN")], "user-db"),
        ([("email-queue", "ERROR"), ("user-db", "FATAL")], "user-db"),
        ([("email-queue", "WARN")] * 5 + [("user-db", "ERROR")], "user-db"),
        ([("email-queue", "ERROR"), ("user-db", "ERROR"), ("user-db", "INFO")], "user-db"),
        ([("email-queue", "ERROR"), ("user-db", "ERROR")], "email-queue"),  # spoke first
    ],
)
def test_what_counts_as_loudest(window: list[tuple[str, str]], suspect: str) -> None:
    seen = screen(tuple(line(service, level) for service, level in window))
    _, memory = FirstErrorPolicy().act(seen, None)
    assert memory == (suspect, 1)


def test_without_lines_it_takes_an_alert_and_without_alerts_the_first_service() -> None:
    alerts = (Alert("payment-db", "HighLatency", 0),)
    assert FirstErrorPolicy().act(screen((), alerts=alerts), None)[1] == ("payment-db", 1)
    assert FirstErrorPolicy().act(screen(()), None)[1] == ("api-gateway", 1)
