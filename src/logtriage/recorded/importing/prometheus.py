"""Answers of Prometheus to queries of metrics: ``{"data": {"resultType": …, "result": […]}}``.

The result of a range query is a ``matrix``, of an instant query a ``vector``. The result of an
expression such as ``rate(…)`` has no name; the file's stands in, and it is a level.
:mod:`~logtriage.recorded.importing.targets` finds the services of series.
"""

from collections.abc import Iterator
from math import isfinite, isinf
from typing import Final

from logtriage.recorded.condensing.raw_rows import Scraped
from logtriage.recorded.importing.answered import Answered
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import stem_of
from logtriage.recorded.importing.reader import Reader

#: Larger numbers are milliseconds, and no Unix seconds.
_TOO_LATE: Final = 1e11


def rows_of(document: Field, reader: Reader) -> Iterator[Scraped]:
    """Yield the values of one answer."""
    data = document["data"]
    if document["status"].value not in (None, "success"):
        raise document["status"].bad("'success'")
    kind = data["resultType"].value
    if kind not in ("matrix", "vector"):
        raise data["resultType"].bad("'matrix', of a range query, or 'vector'")
    read: list[tuple[Answered, dict[int, float]]] = []
    for series in data["result"].items():
        about = series["metric"]
        if not isinstance(about.value, dict):
            raise about.bad("an object of labels")
        labels = {key: about[key].text for key in about.value}
        name = labels.pop("__name__", "")
        shown = name or stem_of(series.where)
        if name.endswith("_bucket") or "histograms" in series or "histogram" in series:
            reader.left_out.add(f"{shown}: buckets of a histogram", series.where)
            continue
        pairs = series["values"].items() if kind == "matrix" else (series["value"],)
        numbers = dict(map(_numbers, pairs))
        values = {at: value for at, value in numbers.items() if isfinite(value)}
        if any(map(isinf, numbers.values())):
            reader.left_out.add(f"{shown}: infinite values", series.where)
        elif numbers and not values:
            reader.left_out.add(f"{shown}: NaN alone", series.where)
        answered = Answered(shown, tuple(sorted(labels.items())), bool(name), series.where)
        read.append((answered, values))
    start = min((min(values) for _, values in read if values), default=0)
    for answered, values in read:
        yield from reader.scraped.rows(answered, values, start)


def _numbers(pair: Field) -> tuple[int, float]:
    """The time of a point, in Unix milliseconds, and its value."""
    if not isinstance(pair.value, list) or len(pair.value) != 2:
        raise pair.bad("a list of Unix seconds and a number in a string")
    at, value = pair.items()
    seconds = at.number
    if seconds is None or not 0 < seconds < _TOO_LATE:
        raise at.bad("Unix seconds")
    text = value.needed
    try:
        return round(1000 * seconds), float(text)
    except ValueError:
        raise value.bad("a number in a string") from None
