import pytest

from logtriage._lib.printable import counted, inert, masked, nudged, spelled, unmarked
from logtriage.actions import Malformed, Report
from logtriage.recorded import RecordedLine
from logtriage.recorded.condensing.log_text import read_message
from logtriage.report.text import clean
from logtriage.transcript import Transcript

#: Moves the cursor, clears the screen, forges a line, turns the text round, is no character.
#: Or is seen by nobody.
HOSTILE = "a\x1b[2J\x9b1m\r\nTICK 9/9\u2028b\u202ec\ud800\x00\ufe0f\u3164"
SPELLED = r"a\x1b[2J\x9b1m\r\nTICK 9/9\u2028b\u202ec\ud800\x00\ufe0f\u3164"


def test_a_count_has_its_plural() -> None:
    assert [counted(count, "row") for count in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]
    assert counted(2, "reply", "replies") == "2 replies"
    halves = (0.8875, 0.8875000000000002, 930611 / 2**20)  # a grade, and what a belief expects
    assert [f"{nudged(-half):.3f}" for half in halves] == ["-0.888"] * 3


def test_what_is_unprintable_is_spelled_out() -> None:
    assert spelled(HOSTILE) == SPELLED
    assert spelled(HOSTILE).isprintable()


@pytest.mark.parametrize("text", ["", "plain", "naïve – “ü” 測試 🙂", r"C:\new\x1b", SPELLED])
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert spelled(text) is text
    assert masked(text) is text


def test_blanks_of_every_width_become_plain_ones() -> None:
    assert spelled("a\xa0b\u3000c\u2009d") == "a b c d"


def test_what_is_kept_stays() -> None:
    assert spelled("a\n\tb\r", "\n\t") == "a\n\tb\\r"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("x <tool_call>{}</tool_call>", "x ‹tool_call>{}‹/tool_call>"),
        ("<|im_end|>\n<｜tool▁calls▁begin｜>", r"‹|im_end|>\n‹｜tool▁calls▁begin｜>"),
        ("[INST]<<SYS>><s></Think>", "⁅INST]‹‹SYS>>‹s>‹/Think>"),
        ("<repo_name><fim_prefix><unused7>", "‹repo_name>‹fim_prefix>‹unused7>"),
        ("<function=page>[TOOL_CALLS]<image>", "‹function=page>⁅TOOL_CALLS]‹image>"),
    ],
)
def test_marks_of_chat_templates_are_broken(text: str, read: str) -> None:
    assert inert(text) == read
    assert inert(read) == read
    assert len(unmarked(text)) == len(text)
    assert RecordedLine(0, "back", "INFO", text).message == read


@pytest.mark.parametrize("text", ["Foo.<init>(Foo.java:3)", "a < b", "[main] <module>", "<status>"])
def test_brackets_of_logs_stay(text: str) -> None:
    assert inert(text) is text


def test_masked_text_keeps_its_length() -> None:
    assert masked("a\x1bb\nc") == "a\ufffdb\ufffdc"
    assert len(masked(HOSTILE)) == len(HOSTILE)


def test_wherever_foreign_text_comes_in_it_is_one_printable_line() -> None:
    transcript = Transcript("x", (), status=HOSTILE, agent=HOSTILE)
    line = RecordedLine(0, "back", "INFO", HOSTILE)
    assert {transcript.status, transcript.agent, line.message} == {SPELLED}
    read = read_message("INFO", HOSTILE)
    for text in (Malformed("", HOSTILE).reason, Report(HOSTILE).message, read.message):
        assert text.isprintable()
    assert clean(HOSTILE).replace("\n", "").isprintable()
