"""Plain names for a recording: of services, and of signals, which end with their units."""

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from logtriage._lib.names import as_name
from logtriage.errors import BundleError
from logtriage.recorded.figures import CUT, FIGURES
from logtriage.recorded.importing.left_out import LeftOut

#: The longest name of a service, or of a signal without its unit, in characters.
MAX_NAME: Final = 80
#: The mark where a name was cut, which takes no other characters.
_CUT_NAME: Final = "..."
#: Names that actions give another meaning.
_RESERVED: Final = ("all", "none")
#: Ending of a metric's name, ending of its signal's name, and the signal's units in one of the
#: metric's. The first match counts; the last row keeps thousandths.
_UNITS: Final = (
    ("_percent", "_bp", 100),
    ("_pct", "_bp", 100),
    ("_milliseconds", "_us", 1000),
    ("_seconds", "_us", 1_000_000),
    ("_ms", "_us", 1000),
    ("_us", "_us", 1),
    ("_s", "_us", 1_000_000),
    ("", "_milli", 1000),
)
#: Names of signals that are no metrics.
_TAKEN: Final = frozenset({*FIGURES, "new_errors_bp", "events_bp"})


def plain_name(name: str) -> str:
    """The name with a ``-`` for every run of characters that a topology does not allow.

    Letters that look like others are spelled. Empty if nothing is left of it.
    """
    kept = (letter if letter.isalnum() or letter in "-_." else " " for letter in name)
    return as_name("-".join("".join(kept).split()))


def shortened(text: str, most: int) -> str:
    """The text, cut to ``most`` characters with the mark :data:`CUT` at its end."""
    return text if len(text) <= most else f"{text[: most - len(CUT)].rstrip()}{CUT}"


class Names:
    """Gives services plain names, and keeps services apart whose plain names are the same.

    ``Search/prod_AWS::ECS`` becomes ``Search-prod_AWS-ECS``; if ``Search/prod_AWS:ECS`` comes
    later, it becomes ``Search-prod_AWS-ECS-2``, and a note says so.
    """

    def __init__(self, left_out: LeftOut | None = None) -> None:
        self._left_out = left_out or LeftOut()
        self._plain: dict[str, str] = {}
        self._original: dict[str, str] = {}

    def __call__(self, name: str, where: str = "") -> str:
        """The plain name of a service; a BundleError for an empty name begins with ``where``."""
        if name not in self._plain:
            self._plain[name] = self._new(name, where and f"{where}: ")
        return self._plain[name]

    def known(self, name: str) -> str | None:
        """The plain name of a service that was named before, in any letter case; else None."""
        if name in self._plain:
            return self._plain[name]
        plain = plain_name(name)
        if plain in self._original:
            return plain
        return next((each for each in self._original if each.casefold() == plain.casefold()), None)

    def workload(self, name: str) -> str | None:
        """The service that runs as a pod, a replica set or another object of that name."""
        service = self.known(name)
        owners = (own for own in self._original if name.casefold().startswith(f"{own}-".casefold()))
        return service or max(owners, key=len, default=None)

    def _new(self, name: str, place: str) -> str:
        plain = plain_name(name)
        if not plain.strip("-_."):
            raise BundleError(f"{place}service {name!r:.80} has neither a letter nor a digit")
        if len(plain) > MAX_NAME:
            plain = plain[: MAX_NAME - len(_CUT_NAME)] + _CUT_NAME
            self._left_out.note(f"{place}service {name!r:.80} is called {plain!r}: its name is cut")
        if plain.casefold() in _RESERVED:
            plain = f"{plain}-service"
        free, number = plain, 2
        while free in self._original:
            free, number = f"{plain}-{number}", number + 1
        other = self._original.get(plain) or next(
            (each for each in self._original if each.casefold() == plain.casefold()), None
        )
        if other is not None:
            called = f"is called {free!r}: another is" if free != name else "has the letters of"
            self._left_out.note(f"{place}service {name!r:.80} {called} {other!r:.80}")
        self._original[free] = name
        return free


def in_units(value: Decimal, factor: int) -> int:
    """A metric's value in the integer units of its signal, rounded half to even."""
    return int((value * factor).to_integral_value(ROUND_HALF_EVEN))


class SignalNames:
    """Names signals by service, and keeps metrics apart whose plain names are the same.

    ``latency_seconds`` is ``latency_us`` and a million, ``availability_percent`` is
    ``availability_bp`` and a hundred, ``Memory (MiB)`` is ``memory_mib_milli`` and a thousand. If
    the service has ``memory/MiB`` as well, that is ``memory_mib_2_milli``, and a note says so.
    """

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        #: By service and metric: signal and factor. By service and signal: the metric in words.
        self._signals: dict[tuple[object, ...], tuple[str, int]] = {}
        self._taken: dict[tuple[str, str], str] = {}
        #: The metric that first had a signal's name at any service.
        self._first: dict[str, str] = {}

    def __call__(
        self, service: str, metric: str, labels: Iterable[tuple[str, str]] = (), ending: str = ""
    ) -> tuple[str, int]:
        """The name of a metric's signal, and the signal's units per unit of the metric."""
        key = service, metric, labels, ending
        if key not in self._signals:
            words = " ".join(filter(None, (metric, *(value for _, value in labels), ending)))
            self._signals[key] = self._new(service, words)
        return self._signals[key]

    def _new(self, service: str, words: str) -> tuple[str, int]:
        stem, unit, factor = _plain(words)
        name, number, quoted = stem + unit, 2, f"{words!r:.120}"
        while (service, name) in self._taken:
            name, number = f"{stem}_{number}{unit}", number + 1
        if (other := self._taken.get((service, stem + unit))) is not None:
            self._left_out.note(f"signal {name} is {quoted}: another is {other}")
        elif self._first.setdefault(name, quoted) != quoted:
            self._left_out.note(f"signal {name} is {quoted}, and {self._first[name]} elsewhere")
        elif CUT in name:
            self._left_out.note(f"signal {name} is {quoted}: its name is cut")
        self._taken[service, name] = quoted
        return name, factor


def _plain(words: str) -> tuple[str, str, int]:
    """The name of a signal without its unit, the unit, and the units per unit of the metric."""
    plain = re.sub(r"[^a-z0-9]+", "_", words.replace("%", "_percent").casefold()).strip("_")
    plain = plain or "metric"
    stem, unit, factor = next(
        (plain.removesuffix(ending), unit, factor)
        for ending, unit, factor in _UNITS
        if plain.endswith(ending) and plain != ending.lstrip("_")
    )
    if stem + unit in _TAKEN:
        stem = f"metric_{stem}"
    stem = stem if len(stem) <= MAX_NAME else stem[: MAX_NAME - len(CUT)].rstrip("_") + CUT
    return stem, unit, factor
