"""Read whether a request, a span or an attempt failed, whoever recorded it."""

import re
from collections.abc import Mapping
from typing import Any, Final

from logtriage._lib.jsonvalues import absent
from logtriage.transcript import COMPLETED

#: Fields that hold an error; the last one that does counts.
_ERRORS: Final = ("exception", "error", "errors")
#: Fields that may hold a status of HTTP.
_CODES: Final = ("status", "status_code", "response_status")
#: The fields that :func:`status_of` reads. Those of the last request are those of the attempt.
NOTES: Final = (*_ERRORS, *_CODES, "level", "statusMessage", "ok")
#: The ``status`` of a run that ended normally, as frameworks write it; a limit of the run is a
#: normal end, a limit of the model's server is not.
_ENDED: Final = re.compile(
    rf"{COMPLETED}|complete|success|succeeded|successful|ok|passed|finished|done|stop|end_turn"
    r"|submitted|resolved|closed|incomplete|truncated|length|(error_)?max_\w+"
    r"|((step|turn|token|message|cost|budget|time|working|custom)_?)?limits?(_?(reached|exceeded))?"
)


def failed(row: Mapping[str, Any]) -> bool:
    """Whether a row, or what it holds of a request, notes a failure."""
    return status_of(row) != COMPLETED


def status_of(row: Mapping[str, Any]) -> str:
    """The status of a row: the error that a framework notes, else the row's own ``status``.

    A word for a normal end is ``completed``. ``ok`` outweighs errors: the library verifiers keeps
    those of earlier attempts beside it.
    """
    if row.get("ok") is True:
        return COMPLETED
    noted = [*_failures(row), *(row.get(name) for name in _ERRORS)]
    while noted:
        error = noted.pop()
        if isinstance(error, list):
            noted += reversed(error)
        elif error and not absent(error):
            break
    else:
        status = row.get("status")
        named = isinstance(status, str) and status.strip()
        ended = named and _ENDED.fullmatch(re.sub(r"[\s-]", "_", named.lower()))
        return named if named and not ended else COMPLETED
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type") or "error"
    return f"error: {error}" if isinstance(error, str) else "error"


def _failures(row: Mapping[str, Any]) -> list[Any]:
    """What a status of HTTP, of a span of OpenTelemetry or of Langfuse says of a failure."""
    codes = (row.get(name) for name in _CODES)
    found = [f"status {code}" for code in codes if isinstance(code, int) and 400 <= code < 600]
    if str(row.get("level")).upper() == "ERROR":
        found.append(row.get("statusMessage") or "error")
    if isinstance(span := row.get("status"), Mapping):
        code = str(span.get("code", span.get("status_code"))).upper()
        if code == "2" or code.endswith("ERROR"):
            found.append(span.get("message") or span.get("description") or "error")
    return found
