"""The errors that logtriage raises on purpose.

Each derives from :class:`LogTriageError` and names the value and the choices. Errors of input are
also :class:`ValueError`, for callers that know nothing of logtriage.
"""

import os
import re
import shlex
import traceback
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path


class LogTriageError(Exception):
    """Base of every error raised by logtriage itself."""


class EpisodeOver(LogTriageError):
    """An action or a tick was asked of an incident that is already closed."""


class InvalidInput(LogTriageError, ValueError):
    """Input that cannot be used; the message names the place and what was expected."""


class NothingFits(InvalidInput):
    """Evidence that no hypothesis explains."""

    def __init__(self) -> None:
        super().__init__("no hypothesis fits the evidence: is it from another incident?")


#: Longer names, and further names, are not searched for a close match.
_LONGEST, _MOST = 100, 1_000
#: How alike two names must be, from 0 to 1; at 0.75 pay-team is taken for dba-team.
_ALIKE = 0.8
#: A known name that begins the given name is close if it has this share of its length.
_BEGUN = 0.75
#: The most characters of an error of somebody else's code.
_TOLD = 400
#: Lists of more names than the first number are cut to the second.
_ALL, _SOME = 12, 8


class UnknownName(InvalidInput):
    """A name that does not exist; the message has a close match and the known names.

    It lists the first of many names, or all with ``whole``; ``where`` names the places searched.
    """

    def __init__(
        self, what: str, name: object, known: Iterable[str], where: str = "", *, whole: bool = False
    ) -> None:
        self.what = what
        self.name = name
        self.known = tuple(known)
        self.where = where
        self.whole = whole
        meant = closest(name, self.known)
        hint = "" if meant is None else f" (did you mean {meant!r}?)"
        listed = ", ".join(self.known) if whole else listed_first(self.known)
        listed += f"; {where}" if where else ""
        super().__init__(f"unknown {what} {name!r}{hint}; known: {listed}")

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.what, self.name, self.known, self.where)
        return partial(type(self), whole=self.whole), fields


def listed_first(names: tuple[str, ...]) -> str:
    """The names with commas between; of more than 12 the first 8, and how many more there are."""
    if len(names) <= _ALL:
        return ", ".join(names)
    return f"{', '.join(names[:_SOME])} and {len(names) - _SOME} more"


def closest(typed: object, known: Iterable[str]) -> str | None:
    """The known name most like ``typed``; None if no name is close or it is not a text.

    Case and the choice between - and _ do not count. A known name with an unknown suffix matches
    that name.
    """
    if not isinstance(typed, str) or not 0 < len(typed) <= _LONGEST:
        return None
    names = {_plain(name): str(name) for name in list(known)[:_MOST]}
    text = _plain(typed)
    begun = [name for name in names if text.startswith(name) and len(name) >= _BEGUN * len(text)]
    close = [max(begun, key=len)] if begun else get_close_matches(text, names, n=1, cutoff=_ALIKE)
    # Two swapped letters of a short name are more than the cutoff allows.
    close = close or [name for name in names if sorted(name) == sorted(text)]
    return names[close[0]] if close else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def kind_of(value: object) -> str:
    """A value in words, for a message: a text as it is, cut to 80; all else by its type."""
    if isinstance(value, str):
        return f"{value!r:.80}"
    if value is None:
        return "nothing"
    name = type(value).__name__
    return f"an {name}" if name[0] in "AEIOUaeiou" else f"a {name}"


class SealError(InvalidInput):
    """A sealed incident whose key is missing or wrong; the message never shows a key."""


class TopologyError(InvalidInput):
    """A topology that breaks a rule; the message names the field and the service."""


class WorldError(InvalidInput):
    """A world that cannot be used; names the file, and the line or the field."""


class TranscriptError(InvalidInput):
    """A transcript that cannot be read; names the file and line where known."""

    def __init__(self, reason: str, *, source: str | None = None, line: int | None = None) -> None:
        self.reason = reason
        self.source = source
        self.line = line
        where = source or ""
        if line is not None:
            where = f"{where}:{line}" if where else f"line {line}"
        super().__init__(f"{where}: {reason}" if where else reason)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), source=self.source, line=self.line), (self.reason,)


class RubricError(InvalidInput):
    """A rubric whose parts do not fit together, or grades that must not be compared."""


class BundleError(InvalidInput):
    """Recorded telemetry that cannot be used; names file, row and field."""


class MissingExtra(LogTriageError, ImportError):
    """An optional dependency is not installed; names the extra, and a command that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        wanted = shlex.join(requirements_of(extra))
        command = f"pip install {wanted}" if wanted else f"in a clone, pip install '.[{extra}]'"
        super().__init__(f"{feature} needs the extra logtriage[{extra}]: {command}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.feature, self.extra)


def requirements_of(extra: str) -> Iterator[str]:
    """The requirements of an extra in the metadata of the installed logtriage; none without it."""
    try:
        listed = requires("logtriage") or ()
    except PackageNotFoundError:
        return
    wanted = re.compile(rf"""^extra\s*==\s*['"]{re.escape(extra)}['"]$""")
    for row in listed:
        requirement, _, marker = row.partition(";")
        if wanted.match(marker.strip()):
            yield requirement.strip()


def told_of(error: Exception) -> str:
    """Type and text of an error, cut, and the innermost line of its traceback outside logtriage."""
    # With the separator, a folder beside it, such as logtriage_acme, is not ours.
    beginnings = f"{Path(__file__).parent}{os.sep}", "<attrs generated"
    frames = traceback.extract_tb(error.__traceback__)
    places = [frame for frame in frames if not frame.filename.startswith(beginnings)]
    place = f" ({Path(places[-1].filename).name}:{places[-1].lineno})" if places else ""
    return f"{type(error).__name__}: {error}"[:_TOLD] + place
