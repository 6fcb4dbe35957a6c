"""The errors that logtriage raises on purpose.

Every one derives from :class:`LogTriageError`, says what it was given and what
was possible, and is a :class:`ValueError` where the input was at fault, so that
callers who know nothing of logtriage still catch it sensibly.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class LogTriageError(Exception):
    """Base of every error raised by logtriage itself."""


class EpisodeOver(LogTriageError):
    """An action or a tick was asked of an incident that is already closed."""


class InvalidInput(LogTriageError, ValueError):
    """Input that cannot be used; the message names the place and what was expected."""


#: Longer names, and more of them, are not searched for the one that was meant.
_LONGEST, _MOST = 100, 1_000
#: How alike two names must be, from 0 to 1; at 0.75 pay-team is taken for dba-team.
_ALIKE = 0.8


class UnknownName(InvalidInput):
    """A name that does not exist, with the names that do and the one that may be meant."""

    def __init__(self, what: str, given: object, known: Iterable[str]) -> None:
        self.what = what
        self.given = given
        self.known = tuple(known)
        meant = closest(given, self.known)
        hint = "" if meant is None else f"; did you mean {meant!r}?"
        super().__init__(f"unknown {what} {given!r}; known: {', '.join(self.known)}{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.given, self.known)


def closest(given: object, known: Iterable[str]) -> str | None:
    """The known name that is most like the given one; None if none is, or it is no text."""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST:
        return None
    names = {name.lower(): str(name) for name in list(known)[:_MOST]}
    found = get_close_matches(given.lower(), names, n=1, cutoff=_ALIKE)
    return names[found[0]] if found else None


def kind_of(value: object) -> str:
    """What a value is, for a message: short text as it is, all else by its type."""
    if isinstance(value, str):
        return f"{value!r:.80}"
    name = type(value).__name__
    return "nothing" if value is None else f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


class SealError(InvalidInput):
    """A sealed incident whose key is missing, or is another one; never shows a key."""


class TopologyError(InvalidInput):
    """A topology that breaks a rule; the message names the field and the service."""


class TranscriptError(InvalidInput):
    """A transcript that cannot be read; names the file and line where known."""

    def __init__(self, reason: str, *, source: str | None = None, line: int | None = None) -> None:
        self.reason = reason
        self.source = source
        self.line = line
        where = "" if source is None else source
        if line is not None:
            where = f"{where}:{line}" if where else f"line {line}"
        super().__init__(f"{where}: {reason}" if where else reason)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_transcript_error, (self.reason, self.source, self.line)


def _rebuild_transcript_error(reason: str, source: str | None, line: int | None) -> TranscriptError:
    return TranscriptError(reason, source=source, line=line)


class RubricError(InvalidInput):
    """A rubric whose parts do not fit together, or grades that must not be compared."""


class BundleError(InvalidInput):
    """Recorded telemetry that cannot be used; names file, row and field."""


class MissingExtra(LogTriageError, ImportError):
    """An optional dependency is not installed; names the extra that brings it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an extra: pip install 'logtriage[{extra}]'")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.feature, self.extra)
