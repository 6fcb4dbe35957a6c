"""Find screens in the texts that an agent was shown, and signs that a call was not carried out.

A screen may stand in a string of JSON, have lines of the harness around it, or be cut short.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from logtriage.conversations.blocks import Answer
from logtriage.incident import Incident
from logtriage.rendering import Style

_SCREEN: Final = re.compile(r"(?<![\w/])TICK (\d{1,6})/(\d{1,6})\b")
_NOTATION: Final = re.compile(
    r"^[ \t]*(\d{1,6})/(\d{1,6}) (?=c\d|closed: |~?[\w-]+: )", re.MULTILINE
)
_CLOSED: Final = re.compile(r"The incident is closed \((\w+)[):]|\Aclosed: (\w+)(?: [^\n]*)?\s*\Z")
_CLOSED_AFTER: Final = re.compile(r"\) after (\d{1,6}) ticks?\. There is nothing")
#: Signs that a harness shortened a text.
_CUT: Final = re.compile(r"…|\.\.\.|truncat|omitted|elided|characters|tokens", re.IGNORECASE)
#: What begins a line of a screen; two lines with the same beginning say the same thing.
_KEY: Final = re.compile(r"[A-Z]{3,}(?= |:|$)|[+-]\d+s ")
#: Why a reply could not be read. This is not compared: parsers word it differently.
_WHY: Final = re.compile(r"(?<=^LAST: not understood:) .*|(?<= unread:) .*")
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\n"}
#: What harnesses answer to a call that they did not carry out.
_REFUSED: Final = re.compile(
    r"doesn't want to (?:proceed with|take) this|tool use was rejected|request interrupted by user"
    r"|(?:rejected|denied|declined|cancel+ed|aborted|blocked|refused) by (?:the )?(?:user|human"
    r"|hook|policy|harness|operator|approver|permission)|user (?:has )?(?:rejected|denied|declined"
    r"|cancel+ed|refused)|permission (?:to use \S+ )?(?:has been |was )?denied"
    r"|(?:was|were) not (?:executed|run|carried out)|requires? approval|not (?:been )?approved",
    re.IGNORECASE,
)
#: Weaker signs of the same, for an answer that should have been a screen.
_NOT_DONE: Final = re.compile(
    rf"{_REFUSED.pattern}|reject|denied|declined|refus|cancel|interrupt|abort|not allowed"
    r"|not permitted|permission|blocked|approv|skipped|timed? ?out|unavailable|error",
    re.IGNORECASE,
)
_SHORT: Final = 2_000  # characters; what harnesses answer is no longer


@attrs.frozen
class Screen:
    """A screen in an answer: its tick, its horizon and its text in a style."""

    tick: int
    horizon: int
    text: str
    style: Style


def closed_in(text: str) -> str | None:
    """How the incident was closed, as an answer says; None if it does not say that."""
    closing = _CLOSED.search(text)
    return None if closing is None else closing[1] or closing[2]


def closed_after(text: str) -> int | None:
    """The ticks after which the incident was closed, as an answer says; None if it does not."""
    ticks = _CLOSED_AFTER.search(text)
    return None if ticks is None else int(ticks[1])


def is_refusal(text: str) -> bool:
    """Whether an answer says that a harness did not carry the call out."""
    return len(text) <= _SHORT and _REFUSED.search(text) is not None


def is_failure(text: str) -> bool:
    """Whether an answer that should be a screen may say that the call was not carried out."""
    return _NOT_DONE.search(text[:_SHORT]) is not None


def screens_in(text: str, incident: Incident) -> list[Screen]:
    """The screens in a text, latest tick first, since an answer may repeat an earlier screen."""
    screens = text_screens(text) or [
        Screen(int(mark[1]), int(mark[2]), text[mark.start() :], "notation")
        for mark in _NOTATION.finditer(text)
        if int(mark[2]) == incident.horizon
    ]
    return sorted(screens, key=lambda screen: -screen.tick)


def screens_of(answers: Iterable[Answer]) -> list[Screen]:
    """The screens of style ``text`` in answers, in order."""
    return [screen for answer in answers for screen in text_screens(answer.text)]


def text_screens(text: str) -> list[Screen]:
    """The screens of style ``text``, in order; the text of each goes up to the next one."""
    marks = list(_SCREEN.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [
        Screen(int(mark[1]), int(mark[2]), _unescaped(text[:end], mark), "text")
        for mark, end in zip(marks, ends, strict=False)  # without a mark one end is left
    ]


def _unescaped(text: str, match: re.Match[str]) -> str:
    """The text of the screen at ``match``, unescaped if it stands in a JSON or Python string."""
    inside = text[match.start() :]
    line = inside.partition("\n")[0]
    if "\\n" not in line:
        return inside
    quote = text[: match.start()].rpartition("\n")[2].strip()[-1:]
    if quote in ('"', "'"):
        end = re.search(rf"(?<!\\)(?:\\\\)*{quote}", inside)
        inside = inside if end is None else inside[: end.start()]
    return _ESCAPED.sub(
        lambda mark: chr(int(mark[1], 16)) if mark[1] else _LETTERS.get(mark[2], mark[2]),
        inside,
    )


def mismatch(shown: str, expected: str) -> tuple[str, str] | None:
    """The first line of a screen that contradicts the expected one, and the expected line.

    Lines that were left out or added, and lines that were cut with a mark, are no contradiction.
    """
    wanted = list(_lines(expected))
    if len(wanted) == 1:  # notation
        line = next(_lines(shown), "")
        return None if line.startswith(wanted[0]) or _is_cut(line, wanted) else (line, wanted[0])
    by_key = {key: line for line in reversed(wanted) if (key := _key(line))}
    known = frozenset(wanted)
    lines = list(_lines(shown))
    for number, line in enumerate(lines):
        key = _key(line)
        if line in known or key is None or key not in by_key:
            continue
        ends = number == len(lines) - 1 or _CUT.search(lines[number + 1]) is not None
        if _is_cut(line, wanted) or (ends and any(each.startswith(line) for each in wanted)):
            continue
        if not number and wanted[0].startswith(f"{line};"):  # the style compact says no more
            continue
        if line.startswith(wanted[-1]):  # something follows on the last line
            continue
        if key[0] in "+-" and any(_is_bare(line, each) for each in wanted):  # a log line
            continue
        return line, by_key[key]
    return None


def _lines(text: str) -> Iterator[str]:
    for line in html.unescape(text).splitlines():
        if words := line.split():
            yield _WHY.sub("", " ".join(words))


def _key(line: str) -> str | None:
    """The heading of a line, or a log line's time; None for a line with neither."""
    match = _KEY.match(line)
    return None if match is None else match[0]


def _is_bare(line: str, wanted: str) -> bool:
    """Whether a log line is the expected one without what its technology puts around messages."""
    head, _, message = line.partition(": ")
    return bool(message) and wanted.startswith(f"{head}: ") and message in wanted


def _is_cut(line: str, wanted: Sequence[str]) -> bool:
    """Whether a line is one of the expected lines up to a mark of a cut."""
    for mark in _CUT.finditer(line):
        beginning = line[: mark.start()].rstrip(" [(<")
        if any(each.startswith(beginning) for each in wanted):
            return True
    return False
