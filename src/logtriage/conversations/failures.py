"""Read whether a request, a span or an attempt failed, whoever recorded it."""

import re
from collections.abc import Mapping
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, present
from logtriage.transcript import COMPLETED

#: Fields that hold an error; the last one that does counts. Case and ``_`` do not matter.
_ERRORS: Final = ("errorcode", "errormessage", "errorstr", "exception", "error", "errors")
#: Fields that may hold a status of HTTP, as a number or in digits.
_CODES: Final = (
    *("status", "statuscode", "httpstatus", "httpstatuscode", "httpcode"),
    *("responsestatus", "responsestatuscode", "responsecode"),
)
_CODE: Final = re.compile(r"([1-5]\d\d)(?:\.0|\s.*)?", re.DOTALL)
#: The field of a row with what the run above it notes. The row's own request may have succeeded.
RUN: Final = "logtriage.run"
#: The fields that :func:`status_of` reads.
_NOTES: Final = frozenset({*_ERRORS, *_CODES, "level", "statusmessage", "ok", RUN})
#: The ``status`` of a run that ended normally, as frameworks write it; a limit of the run is a
#: normal end, a limit of the model's server is not.
_ENDED: Final = re.compile(
    rf"{COMPLETED}|complete|success|succeeded|successful|ok|passed|finished|done|stop|end_turn"
    r"|submitted|resolved|closed|incomplete|truncated|length|(error_)?max_\w+"
    r"|((step|turn|token|message|cost|budget|time|working|custom)_?)?limits?(_?(reached|exceeded))?"
    r"|budget_?(reached|exceeded|exhausted)"
)
#: A verdict of the task; it may also be said of a run that broke off.
_VERDICT: Final = re.compile(
    r"pass|fail(ed|ure)?|(un)?solved|(in)?correct|right|wrong|(un)?resolved"
)
#: A limit of the run in the words of an error.
_LIMIT: Final = re.compile(
    r"(?i)max[\s_-]?(?:turn|step|iteration)|recursion[\s_-]limit|graphrecursion"
)


def is_note(field: str) -> bool:
    """Whether :func:`status_of` reads a field. Those of the last request are the attempt's."""
    return field == RUN or _plain(field) in _NOTES


def failed(row: Mapping[str, Any]) -> bool:
    """Whether a row, or what it holds of a request, notes a failure."""
    return status_of(row) != COMPLETED


def failed_request(row: Mapping[str, Any]) -> bool:
    """Whether the request of a row failed, not the run above it."""
    return failed({key: row[key] for key in row if key != RUN})


def failure_in(response: Mapping[str, Any]) -> object:
    """The error in a response, or in its envelope; None without one.

    A body of the kind ``error``, or one with nothing but a ``detail``, is an error, too.
    """
    if failed(response):
        return response.get("error") or status_of(response).removeprefix("error: ")
    if response.get("object") == "error" or (response.keys() == {"detail"} and response["detail"]):
        return response.get("message") or response.get("detail") or "error"
    return None


def failure_of_message(message: Mapping[str, Any]) -> object:
    """The error that the server notes in a reply, or in the choice that holds it; else None.

    A reply that ended by an error need not say which.
    """
    if error := present(message, "error"):
        return error
    return "finish_reason error" if message.get("finish_reason") == "error" else None


def status_of(row: Mapping[str, Any]) -> str:
    """The status of a row: the error that a framework notes, else the row's own ``status``.

    A word for a normal end is ``completed``, and so is a limit of the run. ``ok`` outweighs errors:
    the library verifiers keeps those of earlier attempts beside it.
    """
    if row.get("ok") is True:
        return COMPLETED
    error = _error_in(row)
    if error is None:
        run = row.get(RUN)
        of_run = status_of(run) if isinstance(run, Mapping) else COMPLETED
        return _worded(row.get("status")) if of_run == COMPLETED else of_run
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type") or "error"
    if isinstance(error, str) and _LIMIT.search(error):
        return COMPLETED
    return f"error: {error}" if isinstance(error, str) else "error"


def _error_in(row: Mapping[str, Any]) -> Any:
    """The last error that a row notes, of a list the first; None without any."""
    notes = {_plain(key): row[key] for key in row if is_note(key)}
    noted = [*_failures(row, notes), *(notes.get(name) for name in _ERRORS)]
    while noted:
        error = noted.pop()
        if isinstance(error, list):
            noted += reversed(error)
        elif error and not absent(error):
            return error
    return None


def _worded(status: object) -> str:
    """A ``status`` as it is written, if it is a word for an end that is not normal."""
    named = status.strip() if isinstance(status, str) else ""
    plain = re.sub(r"[\s-]", "_", named.lower())
    is_normal = _ENDED.fullmatch(plain) or _LIMIT.search(plain) or _CODE.fullmatch(named)
    return COMPLETED if not named or is_normal else named


def status_once_closed(row: Mapping[str, Any]) -> str:
    """The status of a row whose incident was closed: a verdict such as ``failed`` is no failure."""
    status = status_of(row)
    return COMPLETED if _VERDICT.fullmatch(status.strip().lower()) else status


def _plain(field: object) -> str:
    return str(field).lower().replace("_", "")


def _failures(row: Mapping[str, Any], notes: Mapping[str, Any]) -> list[Any]:
    """What a status of HTTP, of a span of OpenTelemetry or of Langfuse says of a failure."""
    codes = (_CODE.fullmatch(str(notes.get(name)).strip()) for name in _CODES)
    found: list[Any] = [f"status {code[1]}" for code in codes if code and code[1] >= "400"]
    if str(row.get("level")).upper() == "ERROR":
        found.append(row.get("statusMessage") or "error")
    if isinstance(span := row.get("status"), Mapping):
        code = str(span.get("code", span.get("status_code"))).upper()
        if code == "2" or code.endswith("ERROR"):
            found.append(span.get("message") or span.get("description") or "error")
    return found
