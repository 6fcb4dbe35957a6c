"""What a line of a log says without being asked."""

import pytest

from logtriage.world.clues import complaint
from logtriage.world.telemetry import LogLine
from tests.builders import SEVEN_SERVICES


@pytest.mark.parametrize(
    ("message", "pair"),
    [
        ("call to user-db timed out after 900 ms", ("auth-service", "user-db")),
        ("circuit open for user-db, 61% of calls failed", ("auth-service", "user-db")),
        ("waiting 900 ms for user-db.", ("auth-service", "user-db")),
        ("auth-service is slow", None),  # of itself
        ("call to user-db2 timed out", None),
        ("health probe ok", None),
    ],
)
def test_a_complaint_names_a_dependency(message: str, pair: tuple[str, str] | None) -> None:
    assert complaint(LogLine(0, "auth-service", "ERROR", message), SEVEN_SERVICES) == pair
    everyday = LogLine(0, "auth-service", "INFO", message)
    assert complaint(everyday, SEVEN_SERVICES) is None


def test_a_long_run_of_dots_and_dashes_is_read_once() -> None:
    """From each of its places it would be 10^12 steps: hours, where once is milliseconds."""
    for run in ("-." * 500_000, "." * 1_000_000):
        line = LogLine(0, "auth-service", "ERROR", f"call to {run} and user-db. timed out")
        assert complaint(line, SEVEN_SERVICES) == ("auth-service", "user-db")
