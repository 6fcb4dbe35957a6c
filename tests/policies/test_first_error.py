"""The habit that does not pay: believe the loudest error."""

import attrs
import pytest

import logtriage as lt
from logtriage.policies import FirstErrorPolicy
from logtriage.world.telemetry import LogLine, Reading
from tests.builders import SEVEN_SERVICES, real_incident


def screen(window: tuple[LogLine, ...], **changes: object) -> lt.Observation:
    blank = lt.observe(lt.initial_state(real_incident()))
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
        lt.ClassifySeverity(lt.Severity.P1), lt.IdentifyRootCause("user-db", 0.9),
        lt.Escalate("dba-team"), lt.Remediate("restart", "user-db"), lt.Resolve(), lt.Resolve(),
    ]  # fmt: skip


def test_it_pages_the_owner_in_the_directory_and_anybody_where_there_is_none() -> None:
    directory = ("security-team",) * len(SEVEN_SERVICES)
    for owners, team in ((directory, "security-team"), ((), SEVEN_SERVICES.teams[0])):
        seen = screen((line("user-db", "ERROR"),), directory=owners)
        assert FirstErrorPolicy().act(seen, ("user-db", 2))[0] == lt.Escalate(team)


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
