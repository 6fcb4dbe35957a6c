"""Data points of OTLP: their times, attributes and values; what was not measured is no zero."""

from collections.abc import Callable, Iterator
from math import nan
from typing import Final

from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.otlp import attributes, enumerated, told
from logtriage.recorded.formats.series import Point

_TEMPORALITIES: Final = ("UNSPECIFIED", "DELTA", "CUMULATIVE")


def numbers_of(body: Spot, endless: Callable[[], None]) -> Iterator[Point]:
    """The points of a gauge or a sum; NaN, and what says that it is empty, is left out.

    So is what is infinite, of which ``endless`` is told.
    """
    for point in body["dataPoints"].items():
        if is_empty(point):
            continue
        value = point["asDouble"].number if "asDouble" in point else point["asInt"].whole
        if value is None and "asDouble" not in point:
            raise point.bad("a data point with asDouble or asInt")
        if value is None:
            if point["asDouble"].value != "NaN":
                endless()
        else:
            since = point["startTimeUnixNano"].since_epoch or 0
            yield Point(time_of(point), since, labels_of(point), (float(value),))


def is_empty(point: Spot) -> bool:
    """Whether a point says that nothing was recorded (bit 0 of its flags)."""
    return bool((point["flags"].whole or 0) & 1)


def time_of(point: Spot) -> int:
    """When it was measured, in Unix nanoseconds."""
    at = point["timeUnixNano"].since_epoch
    if at is None:
        raise point["timeUnixNano"].bad("Unix nanoseconds")
    return at


def stated(spot: Spot) -> float:
    """A number; one that is not written is 0, as protobuf has it, and one that is none NaN."""
    if spot.value is None:
        return 0.0
    found = spot.number
    return nan if found is None else found


def sum_of(point: Spot) -> float:
    """The sum of a point; NaN where it has none, which it need not have."""
    found = point["sum"].number
    return nan if found is None else found


def labels_of(point: Spot) -> str:
    """The values of its attributes, in the order of their keys."""
    found = attributes(point["attributes"])
    return " ".join(told(found[name]) for name in sorted(found))


def is_delta(body: Spot) -> bool:
    """Whether points tell of the time since the last one, and are not cumulative."""
    found = enumerated(body["aggregationTemporality"], _TEMPORALITIES, "AGGREGATION_TEMPORALITY_")
    return found == "DELTA"


def count_of(point: Spot) -> int:
    """How many were measured; one that is not written is 0, as protobuf has it."""
    found = point["count"].whole or 0
    if found < 0:
        raise point["count"].bad("a whole number from 0 on")
    return found
