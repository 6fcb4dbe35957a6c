"""Single fields of the published files, read: pods, times, figures, wrapped log lines."""

import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

#: A pod of a Deployment (two hashes, in the alphabet that Kubernetes uses for them) or
#: of a StatefulSet (an ordinal).
_POD: Final = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)"
    r"-(?:[bcdfghjklmnpqrstvwxz2456789]{5,10}-[bcdfghjklmnpqrstvwxz2456789]{5}|[0-9]{1,3})"
)


@lru_cache(maxsize=4096)
def service_of(pod: str) -> str | None:
    """The service that a pod belongs to; None if the name is not one of a pod."""
    match = _POD.fullmatch(pod)
    return None if match is None else match[1]


def log_text(log: str) -> str | None:
    """The text in the JSON that the container runtime wraps around each line; None without."""
    try:
        wrapped = json.loads(log)
    except (ValueError, RecursionError):
        return None
    text = wrapped.get("log") if isinstance(wrapped, dict) else None
    return text if isinstance(text, str) else None


def milliseconds(moment: datetime) -> int:
    """A moment in Unix milliseconds, to the second."""
    return int(moment.timestamp()) * 1000


def instant(text: str) -> int | None:
    """Unix milliseconds of ``2023-01-29T08:48:42.425293566Z`` or ``2023-01-29 08:48:42.4…``.

    None for what is no time.
    """
    second = _second(text[:19])
    if second is None:
        return None
    digits = text[20:23] if text[19:20] == "." else ""
    return second + int((digits if digits.isdecimal() else "").ljust(3, "0"))


# Rows come in order: nearly every call asks for the second that the last one asked for.
@lru_cache(maxsize=4096)
def _second(text: str) -> int | None:
    try:
        return milliseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))
    except ValueError:
        return None


def whole(text: str) -> int:
    """A number of up to 19 digits; -1 for anything else."""
    return int(text) if len(text) < 20 and text.isascii() and text.isdecimal() else -1


def latency(text: str) -> int | None:
    """Seconds in milliseconds, or None as :func:`scaled`.

    None for 0 too: that is how an idle service is published, not a latency.
    """
    return scaled(text, 1000) or None


def scaled(text: str, factor: int) -> int | None:
    """A number times a factor, rounded; None for NaN, infinities, negatives and no number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value * factor + 0.5) if 0 <= value < 1e12 else None
