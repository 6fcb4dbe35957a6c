"""Actions as one word, such as ``request_metrics:user-db``: the wire's name, then its value."""

import re
from collections.abc import Iterator
from typing import Any, Final

from logtriage.actions import (
    ACTION_NAMES,
    Action,
    IdentifyRootCause,
    Malformed,
    Report,
    ReportImpact,
    action_name,
    action_value,
)
from logtriage.errors import InvalidInput

#: The character between the name of an action and its value.
JOINT: Final = ":"
_WORD: Final = re.compile(rf"({'|'.join(ACTION_NAMES.values())})(?:{JOINT}(\S+))?")
#: The message of a report may contain blanks.
_REPORT: Final = re.compile(rf"({ACTION_NAMES[Report]}){JOINT}\s*(\S.*)")


def word_of(action: Action) -> str:
    """The one-word form of an action; after that of a report comes its message.

    Raises:
        InvalidInput: if ``action`` is not an action, or has no such form: a malformed action, an
            impact, a root cause with a confidence.
    """
    has_confidence = isinstance(action, IdentifyRootCause) and action.confidence is not None
    if has_confidence or isinstance(action, Malformed | ReportImpact):
        what = " with a confidence" if has_confidence else ""
        raise InvalidInput(f"{action_name(action)}{what} has no form in one word: {action}")
    value = action_value(action)
    return action_name(action) if value is None else f"{action_name(action)}{JOINT}{value}"


def wires_in_words(text: str) -> Iterator[dict[str, Any]]:
    """A wire action for each line that spells an action; other lines are prose, and skipped."""
    for line in text.splitlines():
        match = _WORD.fullmatch(line.strip()) or _REPORT.fullmatch(line.strip())
        if match is not None:
            name, value = match.groups()
            yield {"action_type": name} if value is None else {"action_type": name, "value": value}
