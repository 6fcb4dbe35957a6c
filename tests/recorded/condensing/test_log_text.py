"""Log text on import: levels, secrets, length, templates."""

import re

import pytest

from logtriage.recorded.condensing.log_text import (
    MAX_MESSAGE,
    read_line,
    redact,
    template,
    trace_in,
)

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.pkNjxUzl1leXABjU9DmdWN8QSPEJMWLpCSFbOtNMGc4"


def test_a_published_line() -> None:
    raw = "16:48:42.468 ERROR f.s.FoodServiceImpl#302 TraceID: 49a5 SpanID: 82c5 [getAllFood][no]\n"
    said = read_line(raw)
    assert (said.level, said.message) == ("ERROR", "f.s.FoodServiceImpl#302 [getAllFood][no]")


@pytest.mark.parametrize(
    ("text", "trace"),
    [
        ("level=error traceID=4bf92f3577b34da6 msg=no", "4bf92f3577b34da6"),
        (r'{"m": "no", "trace_id":"4BF92F3577B34DA6"}', "4BF92F3577B34DA6"),
        (r"{\"otelTraceID\": \"4bf92f3577b34da6\"}", "4bf92f3577b34da6"),
        (f"traceparent: 00-{'4b' * 16}-00f067aa0ba902b7-01", "4b" * 16),
        ("trace.id=123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("[trace_id=0 span_id=0] trace id: none, traceId=undefined, trace_id=deadbeefs", ""),
    ],
)
def test_a_line_names_its_trace(text: str, trace: str) -> None:
    assert trace_in(text) == trace


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"[USER TOKEN: {JWT} USER ID: 4d]", "[USER TOKEN: [redacted] USER ID: 4d]"),
        (JWT[:40], "[redacted]"),
        ("Authorization: Bearer abcdef0123456789==", "Authorization: Bearer [redacted]"),
        ('{"password": "hunter2", "a": 1}', '{"password": [redacted], "a": 1}'),
        ("api_key=0123 next", "api_key=[redacted] next"),
        ("POSTGRES_PASSWORD=p dbPassword:q", "POSTGRES_PASSWORD=[redacted] dbPassword:[redacted]"),
        ("SECRET_ACCESS_KEY=a secretKey=b", "SECRET_ACCESS_KEY=[redacted] secretKey=[redacted]"),
        ('{"pwd":"p,s \\" w", "a": 1}', '{"pwd":[redacted], "a": 1}'),
        (r"{\"secret_key\":\"p, w\",\"a\":1}", r"{\"secret_key\":[redacted],\"a\":1}"),
        ("{'client_secret': 'p w', 'a': 1}", "{'client_secret': [redacted], 'a': 1}"),
        (
            "[load UsernamePasswordAuthenticationToken][username: me]",
            "[load UsernamePasswordAuthenticationToken][username: me]",
        ),
    ],
)
def test_secrets_are_redacted(text: str, clean: str) -> None:
    assert redact(text) == clean


def test_a_long_message_loses_its_middle_and_no_half_secret_survives() -> None:
    for before in range(200):
        message = read_line(f"10:00:00.1 ERROR {'x' * before} {JWT} the cause").message
        assert len(message) <= MAX_MESSAGE
        assert "eyJ" not in message
        assert JWT[-10:] not in message
        assert message.endswith("the cause")


def test_white_space_and_control_characters_collapse() -> None:
    said = read_line("10:00:00.1 INFO a\t\x1b\n  b\x00c")
    assert (said.level, said.message) == ("INFO", "a b c")
    assert read_line("TraceID: 0af7 SpanID: 1b").message == "(no text)"


def test_the_kind_of_a_long_line_does_not_hang_on_where_it_was_cut() -> None:
    def line(number: str) -> str:
        return f"10:00:00.1 ERROR x.Y#1 {'a ' * 40}{number}{' b' * 60} the end"

    short, long = read_line(line("7")), read_line(line("1234567890123"))
    assert short.message != long.message
    assert short.event == long.event


def test_templates() -> None:
    assert template("INFO", "a.B#12 one") == template("INFO", "a.B#12 two") == "INFO a.B#12"
    assert template("ERROR", "a.B#12 one") != template("ERROR", "a.B#12 two")
    assert template("ERROR", "a.B#12 id 7") == template("ERROR", "a.B#12 id 4d2a46c7-71cb-4cf1")
    assert template("INFO", "took 12 ms") == template("INFO", "took 345 ms")
    for text in ('"GET /1 HTTP/1.1" {} 7', "status={}", "upstream answered {}"):
        assert template("INFO", text.format(200)) != template("INFO", text.format(503))


@pytest.mark.parametrize("message", ["deadbeef-cafe 12", "a-b-c", "x7f3f-3", "--5--", "abcz12-"])
def test_a_template_masks_whole_runs_that_hold_a_digit(message: str) -> None:
    runs = re.sub(
        r"[0-9A-Fa-f-]+",
        lambda run: "#" if any(one.isdigit() for one in run[0]) else run[0],
        message,
    )
    assert template("INFO", message) == f"INFO {runs}"


def test_a_long_run_of_letters_is_read_once() -> None:
    """From each of its places it would be 10^12 steps: hours, where once is milliseconds."""
    for run in ("a" * 1_000_000, "-" * 1_000_000, "#" * 1_000_000, "# " * 500_000):
        assert template("ERROR", f"{run} at 7") == f"ERROR {run} at #"
