"""Log text: reading and cleaning lines, finding their kinds, and redacting secrets.

Only imports clean text: the text of a bundle is clean.
"""

import re
from sys import intern
from typing import Final, NamedTuple

from logtriage._lib.printable import is_shown, spelled
from logtriage.recorded.condensing.log_heads import STATUS, split_head
from logtriage.world.telemetry import LEVELS

#: Longest message kept, in characters, with room for the " (x123)" of repeated lines.
MAX_MESSAGE: Final = 152
_HEAD_KEPT: Final = 92
_TAIL_KEPT: Final = MAX_MESSAGE - _HEAD_KEPT - 1  # one for the mark between
REDACTED: Final = "[redacted]"

#: The message of a line that is empty once ids and controls are gone.
NO_TEXT: Final = "(no text)"

_TRACE_NOISE: Final = re.compile(r"\b(?:TraceID|SpanID):\s*[0-9A-Fa-f]*\s*")
#: A trace id with its name, also in JSON, and that of a ``traceparent``.
_TRACE: Final = re.compile(
    r"(?i)trace(?:[._-]?id|parent)\\?[\"']?\s*[=:]\s*\\?[\"']?(?:00-(?=[0-9a-f]{32}-))?"
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,32})(?![0-9a-z])"
)
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f]+")

#: Secrets, each with words: a text with such a secret has one of its words, in any case. Looking
#: for the words first is many times faster.
_SECRETS: Final = (
    # A JSON Web Token: three base64url parts, the first an encoded '{"'; also cut short.
    (("eyj",), re.compile(r"\beyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*"), REDACTED),
    (
        ("bearer", "bas"),
        re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/-]{8,}=*"),
        rf"\1 {REDACTED}",
    ),
    (
        ("passw", "pwd", "secret", "key"),
        # The name may be the end of a longer one, and a quoted value goes up to its closing quote.
        re.compile(
            r"(?is)(password|passwd|pwd|secret(?:access)?(?:key)?(?:[_-][a-z]{1,20}){0,3}"
            r"|api[_-]?key)(\\?[\"']?\s*[=:]\s*)"
            r"(?:\\\".*?\\\"|\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s,;\])}]+)"
        ),
        rf"\1\2{REDACTED}",
    ),
)

#: A run of hexadecimal digits and dashes with a digit in it: numbers, ids, halves of ids.
#: It is matched only where a run begins: at every place the time would be quadratic.
_VARIABLE: Final = re.compile(r"(?<![A-Fa-f-])[A-Fa-f-]*\d[0-9A-Fa-f-]*")
_EVENT: Final = re.compile(r"\S+#\d+(?=\s|$)")


def trace_in(raw: str) -> str:
    """The trace id that a raw line names, as ``traceID=4bf92f35…``; empty without one."""
    named = _TRACE.search(raw)
    return "" if named is None else named[1]


def redact(text: str) -> str:
    """The text without JSON Web Tokens, bearer tokens and named passwords."""
    folded = text.casefold()
    for words, pattern, replacement in _SECRETS:
        if any(word in folded for word in words):
            text = pattern.sub(replacement, text)
    return text


class Line(NamedTuple):
    """A log line, cleaned: ``event`` is its :func:`template`, made before it was cut.

    ``level`` is None if nothing says it.
    """

    level: str | None
    message: str
    event: str


def read_line(raw: str, level: str | None = None) -> Line:
    """A raw log line, cleaned; without a ``level``, its head or its fields say it.

    Trace and span ids go, white space is collapsed, secrets are redacted *before* the message is
    cut to :data:`MAX_MESSAGE` (in the middle), so that no half of one survives.
    """
    found, text = split_head(raw)
    return read_message(level or found, text)


def read_message(level: str | None, text: str) -> Line:
    """Clean a line as :func:`read_line` does, from a level and a text that are known already."""
    if "ID:" in text:
        text = _TRACE_NOISE.sub("", text)
    text = redact(text)
    if "  " in text or not is_shown(text):
        text = spelled(_SPACE.sub(" ", text))
    text = text.strip() or NO_TEXT
    event = template(level or LEVELS[0], text)
    if len(text) > MAX_MESSAGE:
        # Loggers put what they do first and the exception that they met last.
        text = f"{text[:_HEAD_KEPT].rstrip()}…{text[-_TAIL_KEPT:].lstrip()}"
    return Line(level, text, event)


def template(level: str, message: str) -> str:
    """The kind of a line: equal for lines of a service that say the same.

    It is the place in the source (``x.y.Impl#34``) if the line names it. Otherwise, and for errors
    in any case (one handler logs many kinds), it is the text with numbers and hexadecimal ids
    masked; the status of an answer stays. Equal kinds are the same object: there are few.
    """
    event = _EVENT.match(message)
    if event is not None and level in ("INFO", "WARN"):
        return intern(f"{level} {event[0]}")
    place = "" if event is None else event[0]
    answers = "".join(f" {status}" for status in STATUS.findall(message))
    return intern(f"{level} {place}{_VARIABLE.sub('#', message[len(place) :])}{answers}")
