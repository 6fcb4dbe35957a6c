"""Which stretch of time becomes an incident, and what is usual beside it.

For ``recorded/1`` that is the time around a label's opening. For ``recorded/2`` it is opened
up to :data:`MAX_LEAD` ticks earlier, so that the fault may begin while the agent watches, and
the second half of a long enough baseline is an incident without a fault. Then both are
compared with the first half.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.labelled_rows import Label
from logtriage.recorded.records import RUBRICS, RecordedIncident
from logtriage.recorded.truth import NO_FAULT, RecordedTruth

#: The tasks of incidents by their rubric: results of several must not be mixed.
TASKS: Final = dict(zip(RUBRICS, ("recorded", "recorded_models", "recorded_priced"), strict=True))
#: The most ticks by which an incident is opened earlier than its label says.
MAX_LEAD: Final = 4
#: So many ticks of a stretch without a fault come before its opening, for the figures.
_BEFORE: Final = 4


@attrs.frozen
class Stretch:
    """One incident to be made; times in Unix milliseconds.

    ``until`` is when its rows end, None where they go on. ``origin`` names the label.
    """

    label: Label
    id: str
    opened: int
    usual: tuple[int, int] | None
    until: int | None
    truth: RecordedTruth
    rubric: str
    origin: str = ""


def refuse_overlap(label: Label, horizon: int, tick_seconds: int) -> None:
    """Refuse a baseline that has part of its incident: what is usual would be the fault.

    Raises:
        BundleError: naming the line of the label.
    """
    if label.baseline is None:
        return
    since, until = label.baseline
    # ``opened`` has whole seconds, so the end of the baseline counts in whole seconds, too.
    if since < label.opened + 1000 * tick_seconds * horizon and until // 1000 * 1000 > label.opened:
        raise BundleError(
            f"{label.where}: field baseline_end: the baseline must not overlap the incident: it "
            f"must end by opened ({_time(label.opened)}), or start after the last of {horizon} "
            f"ticks of {tick_seconds} s, got {_time(since)} to {_time(until)}"
        )


def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"


def as_labelled(label: Label) -> Iterator[Stretch]:
    """The incident of a label as ``recorded/1`` plays it."""
    yield Stretch(label, label.id, label.opened, label.baseline, None, _truth(label), RUBRICS[0])


def for_models(
    label: Label, horizon: int, tick_seconds: int, note: Callable[[str], None]
) -> Iterator[Stretch]:
    """The incidents of a label as ``recorded/2`` plays them.

    Ids are hashes, since they must not say which has a fault.

    Args:
        label: a line of ``labels.csv``.
        horizon: ticks of each incident.
        tick_seconds: how long a tick is.
        note: is told of a baseline that is too short.
    """
    tick, usual = 1000 * tick_seconds, label.baseline
    calm = None
    if usual is not None:
        since, until = usual
        middle = (since + until) // 2000 * 1000
        opened = middle + _BEFORE * tick
        if opened + horizon * tick <= until:
            calm, usual = opened, (since, middle)
        else:
            note(
                f"{label.where}: no incident without a fault: it takes a baseline of "
                f"{2 * (_BEFORE + horizon) * tick_seconds} s, of {label.id} it has "
                f"{(until - since) // 1000} s"
            )
    lead = int(_hash(label.id, "lead"), 16) % (MAX_LEAD + 1)
    origin = f"made of {label.id}"
    yield Stretch(
        label,
        _id(label, "fault"),
        label.opened - lead * tick,
        usual,
        None,
        _truth(label),
        RUBRICS[1],
        origin,
    )
    if calm is not None and label.baseline is not None:
        truth, until = RecordedTruth((), NO_FAULT), label.baseline[1]
        yield Stretch(label, _id(label, "calm"), calm, usual, until, truth, RUBRICS[1], origin)


def on_request(record: RecordedIncident) -> RecordedIncident:
    """A record of ``recorded/1`` as ``recorded/2`` plays it, opened when it was.

    Raises:
        BundleError: if the class of its fault is not known.
    """
    return _played_by(record, RUBRICS[1], "models")


def priced(record: RecordedIncident) -> RecordedIncident:
    """A record of ``recorded/1`` as ``recorded/3`` plays it: with a price of hand-over.

    The price depends on the id alone.

    Raises:
        BundleError: if the class of its fault is not known.
    """
    return _played_by(record, RUBRICS[2], "priced")


def _played_by(record: RecordedIncident, rubric: str, name: str) -> RecordedIncident:
    source, _, rest = record.id.partition("/")
    try:
        return attrs.evolve(
            record,
            id=f"{source}-{name}/{rest}",
            task=record.task.replace(TASKS[RUBRICS[0]], TASKS[rubric], 1),
            rubric=rubric,
        )
    except BundleError as error:
        raise BundleError(f"{record.id}: {error}") from None


def _truth(label: Label) -> RecordedTruth:
    return RecordedTruth(label.root_causes, label.kind, label.fault_category)


def _id(label: Label, what: str) -> str:
    return f"{label.id.partition('/')[0]}-models/{_hash(label.id, what)}"


def _hash(*parts: str) -> str:
    return blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()
