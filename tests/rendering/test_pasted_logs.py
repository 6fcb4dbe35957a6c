"""Pasted log lines as an incident: every source of telemetry has all that a screen asks for."""

import pytest

from logtriage import RequestMoreLogs, initial_state, observe, transition
from logtriage.world.telemetry import LogLine
from tests.builders import SEVEN_SERVICES

pytest.importorskip("training.triage", reason="training is not part of this distribution")


def test_a_screen_shows_the_pasted_lines() -> None:
    from training.triage.incident import READER, pasted_incident

    line = LogLine(-5, "user-db", "ERROR", "no space left")
    state = initial_state(pasted_incident((line,), SEVEN_SERVICES, 4))
    assert observe(state, READER).window == (line,)
    assert observe(transition(state, RequestMoreLogs("user-db"))).inspection == (line,)
