"""Log lines of one's own, as far as they can be read."""

import pytest

from logtriage.errors import InvalidInput
from logtriage.world.telemetry import LogLine
from training.triage.lines import Unread, read_lines, strangers


@pytest.mark.parametrize(
    "text",
    [
        "-7s ERROR user-db: too slow",
        "ERROR user-db: too slow",
        "[ERROR] user-db: too slow",
        "error [user-db] too slow",
        "ERROR user-db - too slow",
        "12:00:01 ERROR user-db: too slow",
        "2024-05-01T12:00:01Z ERROR user-db: too slow",
        "[2024-05-01 12:00:01,123] CRIT: [user-db] too slow",
        "2024-05-01T12:00:01.5+02:00 severe user-db: too slow",
    ],
)
def test_common_forms_are_read(text: str) -> None:
    ((line,), unread) = read_lines(text)
    assert unread == ()
    assert (line.service, line.message) == ("user-db", "too slow")
    assert line.level == ("FATAL" if "CRIT" in text else "ERROR")
    assert line.second == (-7 if text.startswith("-7s") else 0)


def test_times_count_from_the_latest_line_and_order_the_lines() -> None:
    text = (
        "2024-05-02 00:00:05 WARN b: three\n\n"
        "2024-05-01 23:59:35 INFO a: one\n"
        "ERROR a: of the same time\n"
    )
    lines, unread = read_lines(text)
    assert unread == ()
    assert lines == (
        LogLine(-30, "a", "INFO", "one"),
        LogLine(-30, "a", "ERROR", "of the same time"),
        LogLine(0, "b", "WARN", "three"),
    )
    assert strangers(lines, ["b"]) == ["a"]


def test_lines_that_are_none_are_named() -> None:
    text = "ERROR a: one\n  at Main.java:3\n\n99:99:99 ERROR a: no such time\nERROR: nobody says\n"
    lines, unread = read_lines(text)
    assert [one.message for one in lines] == ["one"]
    assert unread == (
        Unread(2, "  at Main.java:3"),
        Unread(4, "99:99:99 ERROR a: no such time"),
        Unread(5, "ERROR: nobody says"),
    )
    for nothing in ("", "hello\n"):
        with pytest.raises(InvalidInput, match="no log line can be read; expected"):
            read_lines(nothing)
