r"""The heads of log lines: the text, with the level in it, that loggers write before a message.

Most heads are a time, then a few bracketed or single words, then a level that brackets, capitals or
a colon mark as such. The others are in :data:`HEADS`, by the loggers that write them.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from logtriage.world.telemetry import LEVELS

_INFO, _WARN, _ERROR, _FATAL = LEVELS
#: Names of levels that may stand anywhere in a head, and those that need brackets or a field.
_NAMES: Final = {
    _INFO: "trace trac trc debug debu dbg dbug trce verbose vrb info inf notice",
    _WARN: "warn warning wrn",
    _ERROR: "error err eror erro fail severe",
    _FATAL: "fatal fata ftl critical crit emerg emergency panic pani pnc dpanic",
}
_OTHER_NAMES: Final = {
    _INFO: "finest finer fine config information informational note system log http silly",
    _FATAL: "alert",
}
_CLEAR: Final = {name: level for level, names in _NAMES.items() for name in names.split()}
#: Our level for a logger's name of a level, in lower case.
LEVEL_OF: Final = _CLEAR | {
    name: level for level, names in _OTHER_NAMES.items() for name in names.split()
}
UNSET: Final = ("", "unspecified", "unset", "default", "none")
#: Levels by their first letter; A is "any", which Ruby writes without a level.
_LOUD_LETTERS: Final = {"W": _WARN, "E": _ERROR, "C": _FATAL, "F": _FATAL}
_LETTERS: Final = dict.fromkeys("TVDINA", _INFO) | _LOUD_LETTERS
#: Levels by number: syslog's 0 to 7, and those of bunyan and pino, which are tens.
_SYSLOG: Final = (_FATAL, _FATAL, _FATAL, _ERROR, _WARN, _INFO, _INFO, _INFO)

#: Fields of lines of JSON; a dot is part of the key, or leads into an object.
LEVEL_FIELDS: Final = (
    *("level", "severity", "levelname", "log.level", "lvl", "loglevel", "log_level", "level_name"),
    *("severity_text", "severityText", "error_severity", "LogLevel", "Level", "@level", "@l"),
    "jsonPayload.level",
)
MESSAGE_FIELDS: Final = (
    *("message", "msg", "event", "@message", "@m", "@mt", "short_message", "log", "error"),
    *("textPayload", "jsonPayload.message"),
)
#: Fields of lines of JSON with the status of an answer.
STATUS_FIELDS: Final = (
    *("status", "status_code", "statusCode", "http.status_code", "http.response.status_code"),
    *("response.status", "res.statusCode"),
)
#: The status of an answer in a text: after the protocol of an access log, or after a word for it.
STATUS: Final = re.compile(
    r"(?i)(?:HTTP/\d(?:\.\d)?\"? |\b(?:status(?:[ _]?code)?|answered|returned|responded(?: with)?"
    r"|response(?: code)?)[\"']?\s*[=:]?\s*[\"']?)([1-5]\d\d)\b"
)
#: The status of a server's error, alone or as a class.
SERVER_ERROR: Final = re.compile(r"(?i)5(?:\d\d|xx)")
_ACCESS: Final = re.compile(r'"[A-Z]{3,10} \S+ HTTP/\d(?:\.\d)?" ([1-5]\d\d)\b')


def known_level(name: str) -> str | None:
    """Our level for a logger's name of a level, also its first letter; None for any other name."""
    name = name.strip()
    return _LETTERS.get(name) or LEVEL_OF.get(name.lower())


def syslog_level(number: int) -> str | None:
    """Our level for a severity of syslog, 0 to 7; None for another number."""
    return _SYSLOG[number] if 0 <= number < len(_SYSLOG) else None


def level_of(value: object) -> str | None:
    """Our level for a name or a number (to 7: syslog; tens: bunyan, pino); None if not known.

    Hundreds are not known: 400 is an error of Monolog and a warning of Google Cloud.
    """
    if isinstance(value, dict):  # log: {level: …}
        return level_of(value.get("level"))
    if isinstance(value, str) and not value.isdecimal():
        return known_level(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or len(str(value)) > 3:
        return None
    number = int(value)
    if number < 10:
        return syslog_level(number)
    tens = (_INFO, _INFO, _INFO, _WARN, _ERROR, _FATAL)  # 10 is trace, 20 debug, 30 info
    return tens[number // 10 - 1] if number < 70 else None


_DATE: Final = (
    r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/. ](?:\d\d|[A-Z][a-z]{2})[-/. ]\d{4}"
    r"|(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} [ \d]\d)"
)
_CLOCK: Final = (
    r"\d\d?:\d\d(?::\d\d)?(?:[.,:]\d{1,9})?"
    r"(?: ?(?:Z|UTC|GMT|[AP]M|[A-Z]{1,3}S?T|[+-]\d\d:?\d\d)(?![A-Za-z]))?"
)
_TIME: Final = rf"(?:(?:{_DATE}[T ,_])?{_CLOCK}(?: \d{{4}}(?=\]))?|\d\.\d+e\+\d\d)"
#: Names of levels as alternatives: the longest first, since the first that fits counts.
_EVERY, _WORDS = ("|".join(sorted(names, key=len, reverse=True)) for names in (LEVEL_OF, _CLEAR))
_BRACKETED: Final = rf"\[(?:[\w.]+:)?(?P<bracketed>(?i:{_EVERY}))\s*\]"
_CAPITALS: Final = rf"(?:[\w-]+\.)?(?P<capitals>{_WORDS.upper()})(?=[\s:|/\](,\[-]|$)"
_SMALL: Final = rf"(?P<small>(?i:{_WORDS}|LOG)(?=\t|  |:\s|\||\]))"
#: What may stand between a time and a level: thread, process, logger, user.
_BRACKETS: Final = r"\[[^\]\n]{0,80}\]|\([^)\n]{0,80}\)"
_BETWEEN: Final = rf"(?:[\s|,;:-]*+(?:{_BRACKETS}|[\w.$@/#*=,-]{{1,80}}+)){{0,3}}?"
_FEW: Final = rf"(?:[\s|,;:-]*+(?:{_BRACKETS})){{0,2}}?"
_REST: Final = r"[\s:|\]-]*"
#: A time, and a level that brackets or capitals mark; a time, and a level in any case right after
#: it; a level, and perhaps a time.
_USUAL: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\s*[\[(]?{_TIME}[\])]?{_BETWEEN}[\s|,;:-]*+(?:{_BRACKETED}|{_CAPITALS}){_REST}",
        rf"\s*[\[(]?{_TIME}[\])]?{_FEW}[\s|,;:-]*+{_SMALL}{_REST}",
        rf"\s*(?:{_BRACKETED}|{_CAPITALS}|{_SMALL}){_REST}(?:[\[(]?{_TIME}[\])]?\s+)?",
        rf"\s*(?P<small>(?i:{_WORDS})):\s+",
    )
)
#: The head of logback, and so of most recordings.
_LOGBACK: Final = re.compile(rf"\s*(?:{_DATE}[T ])?\d\d:\d\d:\d\d[.,]\d+\s+((?i:{_WORDS}))\s+")
#: What comes before a head: colours of terminals, and what container runtimes and syslog put there.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_WRAPPED: Final = re.compile(
    rf"(?:\d{{4}}-\d\d-\d\dT{_CLOCK} (?:stdout|stderr) [FP] "
    rf"|[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?: )"
)
_KLOG: Final = re.compile(r"([IWEF])\d{4,6} \d\d:\d\d:\d\d\.\d+\s+\d+ (?=\S+:\d+)")
_REDIS: Final = re.compile(
    rf"(?:\d+:[A-Z]|\[\d+\]) \d\d [A-Z][a-z]{{2}} (?:\d{{4}} )?{_CLOCK} ([.*#-]) "
)
_SYSLOG_HEAD: Final = re.compile(
    rf"<(\d{{1,3}})>(?:\d (?:\S+ ){{5}}(?:-|\[.*?\]) ?)?{_WRAPPED.pattern}?"
)
_MONGO: Final = re.compile(rf"{_TIME} ([DIWEF])\d? +[A-Z]+ +(?=\[)")
_RUBY: Final = re.compile(r"([DIWEFA]), \[[^\]]*\] +[A-Z]+ -- [^:]*: ")
_LOGFMT: Final = re.compile(r'(?:^|\s)(?:level|lvl|severity|loglevel)="?(\w+)"?(?=\s|$)')
_LOGFMT_TIME: Final = re.compile(r'^(?:time|ts|t|timestamp)=(?:"[^"]*"|\S+)\s*')
_PHP: Final = re.compile(r"PHP (Fatal|Parse|Warning|Notice|Deprecated)(?: error)?: +")
_MARKS: Final = {".": _INFO, "-": _INFO, "*": _INFO, "#": _WARN}
_PHP_LEVELS: Final = {"Fatal": _FATAL, "Parse": _FATAL, "Warning": _WARN}

#: (logger, pattern of its head, our level for the first group), in the order of trial.
HEADS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...]] = (
    ("klog", _KLOG, _LETTERS.get),
    ("redis", _REDIS, _MARKS.get),
    ("syslog", _SYSLOG_HEAD, lambda text: _SYSLOG[int(text) % 8]),
    ("mongodb", _MONGO, _LETTERS.get),
    ("ruby", _RUBY, _LETTERS.get),
    ("php", _PHP, lambda text: _PHP_LEVELS.get(text, _INFO)),
    ("logback", _LOGBACK, known_level),
)


def split_head(raw: str) -> tuple[str | None, str]:
    """(level in a line's head or None, text after the head); of JSON, the fields for these."""
    if "\x1b" in raw:
        raw = _COLOUR.sub("", raw)
    if wrapped := _WRAPPED.match(raw):
        raw = raw[wrapped.end() :]
    if raw.startswith("{"):
        return _structured(raw)
    for _, pattern, level in HEADS:
        if head := pattern.match(raw):
            if pattern is _SYSLOG_HEAD:  # the logger's own level is more exact
                inner, text = split_head(raw[head.end() :])
                return inner or level(head[1]), text
            return level(head[1]), raw[head.end() :]
    for pattern in _USUAL:
        if head := pattern.match(raw):
            (name,) = filter(None, head.groupdict().values())  # one of the groups has the level
            return known_level(name), raw[head.end() :]
    for field in _LOGFMT.finditer(raw):
        if named := known_level(field[1]):
            rest = f"{raw[: field.start()]} {raw[field.end() :]}"
            return named, _LOGFMT_TIME.sub("", rest.strip())
    if access := _ACCESS.search(raw):
        return (_ERROR if SERVER_ERROR.fullmatch(access[1]) else _INFO), raw
    return None, raw


def with_status(text: str, status: object) -> str:
    """A text with the status of an answer that failed, if that is known and not in it."""
    is_failure = type(status) is int and 400 <= status < 600
    return f"{text} (status {status})" if is_failure and str(status) not in text else text


def _structured(raw: str) -> tuple[str | None, str]:
    """As :func:`split_head`, of a line of JSON; the line itself if it cannot be read as that."""
    try:
        fields: dict[str, Any] = json.loads(raw)
    except (ValueError, RecursionError):
        return None, raw
    levels = (level_of(fields[name]) for name in (*LEVEL_FIELDS, "log") if name in fields)
    level = next(filter(None, levels), None)
    if level is None and "c" in fields:  # MongoDB
        level = level_of(fields.get("s"))
    texts = (fields[name] for name in MESSAGE_FIELDS if isinstance(fields.get(name), str))
    text = next(filter(None, texts), None)
    if text is None:
        return level, raw
    statuses = (fields[name] for name in STATUS_FIELDS if name in fields)
    text = with_status(text, next(statuses, None))
    return (level, text) if level else split_head(text)
