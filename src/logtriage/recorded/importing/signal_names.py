"""Names of signals, which end with their units, and values in these units."""

import re
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from logtriage.recorded.figures import CUT, FIGURES
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.names import MAX_NAME

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
#: The end of the names of rates.
PER_SECOND: Final = "per second"
#: Names of signals that are no metrics.
_TAKEN: Final = frozenset({*FIGURES, "new_errors_bp", "events_bp"})


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
        self, service: str, metric: str, labels: tuple[tuple[str, str], ...] = (), ending: str = ""
    ) -> tuple[str, int]:
        """The name of a metric's signal, and the signal's units per unit of the metric."""
        key = service, metric, labels, ending
        if key not in self._signals:
            rest = " ".join(filter(None, (*(value for _, value in labels), ending)))
            self._signals[key] = self._new(service, metric, rest)
        return self._signals[key]

    def _new(self, service: str, metric: str, rest: str) -> tuple[str, int]:
        words = f"{metric} {rest}".strip()
        stem, unit, factor = _plain(metric, rest)
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


def _plain(metric: str, rest: str) -> tuple[str, str, int]:
    """The name of a signal without its unit, the unit, and the units per unit of the metric.

    The unit is the last word of all, or that of the metric before its labels.
    """
    stem, unit, factor = _unit_of(_words(f"{metric} {rest}"))
    own, own_unit, own_factor = _unit_of(_words(metric))
    if (unit, factor) == _UNITS[-1][1:] and rest and not rest.endswith(PER_SECOND):
        stem, unit, factor = _words(f"{own} {rest}"), own_unit, own_factor
    if stem + unit in _TAKEN:
        stem = f"metric_{stem}"
    stem = stem if len(stem) <= MAX_NAME else stem[: MAX_NAME - len(CUT)].rstrip("_") + CUT
    return stem, unit, factor


def _words(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", text.replace("%", "_percent").casefold()).strip("_")
    return plain or "metric"


def _unit_of(plain: str) -> tuple[str, str, int]:
    """(name without its unit, the signal's unit, its units per unit of the metric) by first fit."""
    return next(
        (plain.removesuffix(ending), unit, factor)
        for ending, unit, factor in _UNITS
        if plain.endswith(ending) and plain != ending.lstrip("_")
    )
