"""How a mistake in a world is reported: file, field, value, choices."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from logtriage.errors import UnknownName
from logtriage.world.channels import DOWN

#: (file, what is wrong there: field, value and choices).
Problem = tuple[str, str]
IDENTIFIER: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
HYPHENED: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
WORLD_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
#: Names with another meaning where kinds and tokens are named.
RESERVED: Final = frozenset({"no_fault", "names", "kinds", "tokens", "services", DOWN})


def of_file(file: str, *wrong: Iterable[str]) -> Iterator[Problem]:
    """(file, mistake) for each mistake in ``wrong``."""
    return ((file, what) for each in wrong for what in each)


def named(field: str, names: Iterable[str], pattern: re.Pattern[str]) -> Iterator[str]:
    """Report names of another form, reserved or repeated ones, and a list without any."""
    counts = Counter(tuple(names))
    if not counts:
        yield f"{field}: expected at least one name"
    for name, count in counts.items():
        if not pattern.fullmatch(name):
            yield f"{field}: {name!r:.60}: expected a name of the form {pattern.pattern}"
        elif name in RESERVED:
            yield f"{field}: {name!r} is reserved, as are {', '.join(sorted(RESERVED))}"
        elif count > 1:
            yield f"{field}: {name!r} stands there {count} times"


def known(field: str, what: str, names: Iterable[str], choices: Iterable[str]) -> Iterator[str]:
    """Report names that are none of the choices; ``what`` says what they name."""
    choices = tuple(choices)
    for name in names:
        if name not in choices:
            yield f"{field}: {UnknownName(what, name, choices)}"


def some(field: str, what: str, names: Iterable[str], choices: Iterable[str]) -> Iterator[str]:
    """As :func:`known`; also report an empty list, and a name that stands twice."""
    names, choices = tuple(names), tuple(choices)
    if not names:
        yield f"{field}: expected at least one {what} of {', '.join(choices)}"
    if len(set(names)) < len(names):
        yield f"{field}: a name stands twice in {', '.join(names)}"
    yield from known(field, what, names, choices)


def within(field: str, value: int, least: int, most: int) -> Iterator[str]:
    """Report a number that is not from ``least`` to ``most``."""
    if not least <= value <= most:
        yield f"{field}: expected {least} to {most}, got {value}"
