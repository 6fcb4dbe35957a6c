"""Laws of foreign text: whoever wrote it, it moves no cursor and forges no line."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from logtriage._lib.printable import inert, is_shown, spelled
from logtriage.cli.app import app
from logtriage.cli.console import messages, results, say
from logtriage.codec import decode_transcript
from logtriage.observation import observe
from logtriage.recorded import as_incident, shipped_incidents
from logtriage.recorded.records import (
    LogWindow,
    RecordedIncident,
    RecordedLine,
    RecordedService,
    Recording,
)
from logtriage.recorded.truth import RecordedTruth
from logtriage.rendering import render_observation
from logtriage.state import initial_state

_PIECES = (
    *("\x1b[2J", "\x9b1A", "\r", "\n", "\x07", "\u2028", "\u202e", "\ud800", "TICK 0/9", "x"),
    *("\ufe0f", "\u3164", "<", "tool_call>", "|im_end|>", "["),
)
#: Text as those write it who mean harm, and any other.
HOSTILE = st.one_of(
    st.text(min_size=1), st.lists(st.sampled_from(_PIECES), min_size=1).map("".join)
)


@given(HOSTILE)
def test_spelled_text_is_one_printable_line_and_stays_so(text: str) -> None:
    for read in (spelled, inert):
        once = read(text)
        assert is_shown(once)
        assert read(once) == once
    assert "<tool_call" not in inert(text)


@given(HOSTILE, HOSTILE)
def test_a_transcript_is_graded_on_one_printable_line(agent: str, status: str) -> None:
    row = {"incident": "single_crash-v4/test/0", "actions": [], "agent": agent, "status": status}
    transcript = decode_transcript(json.dumps(row))
    assert (transcript.agent, transcript.status) == (spelled(agent), spelled(status))
    told = CliRunner().invoke(app, ["grade", "-"], input=json.dumps(row) + "\n")
    (line,) = told.stdout.removesuffix("\n").split("\n")
    assert line.isprintable()
    assert told.stderr.removesuffix("\n").isprintable()


@given(HOSTILE)
def test_an_error_is_one_printable_line_whatever_it_quotes(text: str) -> None:
    row = json.dumps({"incident": text, "actions": []})
    told = CliRunner().invoke(app, ["grade", "-"], input=row + "\n")
    error, summary = told.stderr.removesuffix("\n").split("\n")
    assert re.match("error: <[a-z]+>:1: ", error)
    assert error.isprintable()
    assert summary == "0 graded; 0 unscored; 1 bad line"


@given(HOSTILE)
def test_a_recorded_line_is_one_line_of_the_agents_screen(message: str) -> None:
    recording = Recording(
        services=(RecordedService("front", "edge"),),
        windows=(LogWindow(0, (RecordedLine(-1, "front", "ERROR", message),)),),
    )
    truth = RecordedTruth(("front",), "crash")
    record = RecordedIncident("mine/1", "2031-05-06T10:21:05Z", recording, truth)
    screen = render_observation(observe(initial_state(as_incident(record)))).split("\n")
    assert all(line.isprintable() for line in screen)
    at = screen.index("LOGS:") + 1
    assert screen[at] == f"-1s ERROR front: {inert(message)}"
    assert screen[at + 1].startswith("HEALTH")


@given(HOSTILE, st.booleans())
def test_a_console_prints_no_control_characters(text: str, to_stderr: bool) -> None:
    console: Console = messages() if to_stderr else results()
    with console.capture() as printed:
        say(console, text)
    shown = printed.get().replace("\n", "").replace("\t", "")
    assert shown.isprintable()


def test_shipped_incidents_need_no_spelling() -> None:
    for incident in shipped_incidents():
        recording: Any = incident.telemetry
        for window in recording.recording.windows:
            assert not any("\\x" in line.message for line in window.lines)
