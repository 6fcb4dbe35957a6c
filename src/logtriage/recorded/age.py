"""How old what a screen shows is, and what was never recorded: said, not left to be guessed."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from logtriage.recorded.figures import FIGURES, FIRST_TICK, Column
from logtriage.recorded.records import RecordedService, Recording

#: The figure that is sampled and not counted from requests.
_SAMPLED: Final = "cpu_bp"


def age_notes(recording: Recording, tick: int) -> Iterator[str]:
    """What a player must know of the screen at a tick, in words."""
    if not recording.windows:
        yield "no logs were recorded"
    elif tick > recording.windows[-1].tick:
        yield f"logs were recorded up to tick {recording.windows[-1].tick}: its lines are shown"
    requests, samples = _last(recording, _of_requests), _last(recording, _of_samples)
    if requests is None and samples is None:
        yield "no figures were recorded"
    for what, last in (("figures of requests", requests), ("samples", samples)):
        if last is not None and tick > last:
            yield f"{what} were recorded up to tick {last}: they stand as they were then"
    if recording.baseline == "none":
        yield "no time without a fault was recorded: what is usual is not known"
    elif recording.baseline == "pre-fault":
        yield "what is usual was taken from the time just before the fault"


def _last(
    recording: Recording, columns: Callable[[RecordedService], Iterable[Column]]
) -> int | None:
    """The last tick for which any of the columns has a value; None if none has."""
    ends = [
        len(column)
        for service in recording.services
        for column in columns(service)
        if any(value is not None for value in column)
    ]
    return max(ends) + FIRST_TICK - 1 if ends else None


def _of_requests(service: RecordedService) -> Iterator[Column]:
    yield from (getattr(service.series, name) for name in FIGURES if name != _SAMPLED)
    yield from (service.new_errors.value, service.events.value)


def _of_samples(service: RecordedService) -> Iterator[Column]:
    yield getattr(service.series, _SAMPLED)
    yield from (metric.value for metric in service.metrics)
