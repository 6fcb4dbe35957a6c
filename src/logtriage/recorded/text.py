"""Log text: levels, templates, and what must not leave the recording.

Used on import only; a bundle holds text that has already been through here.
"""

import re
from typing import Final

#: Longest message kept, in characters, with room for the " (x123)" of repeated lines.
MAX_MESSAGE: Final = 152
_HEAD_KEPT: Final = 92
REDACTED: Final = "[redacted]"

_LEVELS: Final = {
    "WARN": "WARN",
    "WARNING": "WARN",
    "ERROR": "ERROR",
    "SEVERE": "ERROR",
    "FATAL": "FATAL",
    "CRITICAL": "FATAL",
}

#: "16:48:42.424 INFO  t.s.TravelServiceImpl#532 …": the clock there is local, so unused.
_HEAD: Final = re.compile(r"\s*(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d[.,]\d+\s+([A-Za-z]+)\s+")
_TRACE_NOISE: Final = re.compile(r"\b(?:TraceID|SpanID):\s*[0-9A-Fa-f]*\s*")
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f]+")

_SECRETS: Final = (
    # A JSON Web Token: three base64url parts, the first an encoded '{"'; also cut short.
    (re.compile(r"\beyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*"), REDACTED),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/-]{8,}=*"), rf"\1 {REDACTED}"),
    (
        re.compile(r"(?i)\b(password|passwd|pwd|secret|api[_-]?key)(\"?\s*[=:]\s*)[^\s,;\])}]+"),
        rf"\1\2{REDACTED}",
    ),
)

#: A run of hexadecimal digits and dashes with a digit in it: numbers, ids, halves of ids.
_VARIABLE: Final = re.compile(r"[A-Fa-f-]*\d[0-9A-Fa-f-]*")
_EVENT: Final = re.compile(r"\S+#\d+(?=\s|$)")


def redact(text: str) -> str:
    """The text without JSON Web Tokens, bearer tokens and named passwords."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def read_line(raw: str) -> tuple[str, str]:
    """The level and the clean message of a raw log line.

    A line without a known level is INFO. Trace and span ids go, white space is
    collapsed, secrets are redacted *before* the message is cut to
    :data:`MAX_MESSAGE` (in the middle), so that no half of one survives.
    """
    head = _HEAD.match(raw)
    level = "INFO"
    if head is not None:
        level = _LEVELS.get(head[1].upper(), "INFO")
        raw = raw[head.end() :]
    text = _SPACE.sub(" ", redact(_TRACE_NOISE.sub("", raw))).strip()
    if len(text) > MAX_MESSAGE:
        # Loggers put what they do first and the exception that they met last.
        text = f"{text[:_HEAD_KEPT].rstrip()}…{text[_HEAD_KEPT + 1 - MAX_MESSAGE :].lstrip()}"
    return level, text


def template(level: str, message: str) -> str:
    """What makes two lines of one service the same kind of line.

    The place in the source (``x.y.Impl#34``) where a line names it; otherwise, and for
    errors in any case (one handler logs many kinds of them), the text with its
    numbers and hexadecimal ids masked.
    """
    event = _EVENT.match(message)
    if event is not None and level in ("INFO", "WARN"):
        return f"{level} {event[0]}"
    place = "" if event is None else event[0]
    return f"{level} {place}{_VARIABLE.sub('#', message[len(place) :])}"
