"""Labels of incidents, and the stretches of time that become incidents.

With a dashboard a stretch is the time around a label's opening. Shown on request it opens up to
:data:`MAX_LEAD` ticks earlier, so that the fault may begin while the agent watches; the second half
of a long enough baseline is then an incident without a fault, and the first half is the baseline.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Final

import attrs

from logtriage.actions import FAULT_CATEGORIES
from logtriage.errors import BundleError
from logtriage.recorded.figures import FIRST_TICK
from logtriage.recorded.importing.csv_rows import read_records
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.names import Names
from logtriage.recorded.importing.source_files import find_csv
from logtriage.recorded.records import DASHBOARD, ON_REQUEST
from logtriage.recorded.truth import NO_FAULT, RecordedTruth

#: The most ticks by which an incident opens earlier than its label says.
MAX_LEAD: Final = 4
#: Ticks of a stretch without a fault before its opening, for the figures.
_CALM_TICKS: Final = 4
#: Time read before and after an opening: at least these ms, and these ticks plus the horizon.
AROUND_MS: Final = 600_000
_AROUND_TICKS: Final = 1 - FIRST_TICK
_COLUMNS: Final = ("id", "opened", "root_cause", "kind")
_EXAMPLE: Final = "shop/2031-05-06,2031-05-06T10:04:00Z,payments,overload"


@attrs.frozen
class Stretch:
    """A stretch of time that becomes an incident; times in Unix milliseconds.

    ``where`` and ``label`` are the line of ``labels.csv`` and its id. ``usual`` is the baseline
    (since, until), ``until`` the end of the stretch's rows, None if they go on.
    """

    where: str
    label: str
    id: str
    opened: int
    truth: RecordedTruth
    usual: tuple[int, int] | None
    view: str = DASHBOARD
    until: int | None = None
    origin: str = ""


def labels_of(root: Path, names: Names) -> tuple[Stretch, ...]:
    """The stretches that ``labels.csv`` names, at least one; a BundleError says what is wrong."""
    if not root.is_dir():
        what = "got a file" if root.exists() else "there is no such folder"
        raise BundleError(f"{root}: must be a folder with labels.csv in it, {what}")
    path = find_csv(root, root, "labels")
    if path is None:
        raise BundleError(
            f"{root}: no labels.csv; expected one with the columns {','.join(_COLUMNS)} "
            f"and a line for each incident, such as {_EXAMPLE}"
        )
    labels: dict[str, Stretch] = {}
    for row in read_records(path, _COLUMNS, path.name):
        label = _label(row, names)
        if label.id in labels:
            raise BundleError(f"{row.where}: field id: {label.id!r} appears twice")
        labels[label.id] = label
    if not labels:
        raise BundleError(f"{path.name}: only a header; expected a line for each incident below it")
    return tuple(labels.values())


def _label(row: Field, names: Names) -> Stretch:
    baseline = None
    if row["baseline_start"].text or row["baseline_end"].text:
        baseline = row["baseline_start"].needed_time, row["baseline_end"].needed_time
        if baseline[0] >= baseline[1]:
            raise row["baseline_end"].bad("a time after baseline_start")
    category, kind = row["fault_class"].text, row["kind"].needed
    if category not in ("", *FAULT_CATEGORIES):
        raise row["fault_class"].bad(f"empty, or {', '.join(FAULT_CATEGORIES)}")
    causes: tuple[str, ...] = ()
    if kind != NO_FAULT:
        roots = row["root_cause"].needed.split("|")
        causes = tuple(names(root.strip(), row.where, is_address=True) for root in roots)
    elif row["root_cause"].text:
        raise row["root_cause"].bad(f"empty, since the kind is {NO_FAULT!r}")
    # Openings are written in whole seconds.
    opened = row["opened"].needed_time // 1000 * 1000
    try:
        truth = RecordedTruth(causes, kind, category)
    except BundleError as error:
        raise BundleError(f"{row.where}: {error}") from None
    name = row["id"].needed
    return Stretch(row.where, name, name, opened, truth, baseline)


def stretches_of(
    labels: Sequence[Stretch],
    horizon: int,
    tick_seconds: int,
    note: Callable[[str], None],
    *,
    models: bool,
) -> tuple[Stretch, ...]:
    """The stretches of labels, in their order; for ``models`` by id, a hash that tells nothing.

    Raises:
        BundleError: naming the line of a label whose baseline overlaps its incident.
    """
    for label in labels:
        _refuse_overlap(label, horizon, tick_seconds)
    if not models:
        return tuple(labels)
    stretches = (row for label in labels for row in for_models(label, horizon, tick_seconds, note))
    return tuple(sorted(stretches, key=lambda stretch: stretch.id))


def _refuse_overlap(label: Stretch, horizon: int, tick_seconds: int) -> None:
    """Refuse a baseline that overlaps its incident: the fault would count as usual."""
    if label.usual is None:
        return
    since, until = label.usual
    closed = label.opened + 1000 * tick_seconds * horizon
    # ``opened`` has whole seconds, so the end of the baseline counts in whole seconds, too.
    if since < closed and until // 1000 * 1000 > label.opened:
        opened, first, last = (
            f"{datetime.fromtimestamp(at / 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"
            for at in (label.opened, since, until)
        )
        raise BundleError(
            f"{label.where}: field baseline_end: the baseline must not overlap the incident: it "
            f"must end by opened ({opened}), or start after the last of {horizon} ticks of "
            f"{tick_seconds} s, got {first} to {last}"
        )


def for_models(
    label: Stretch, horizon: int, tick_seconds: int, note: Callable[[str], None]
) -> Iterator[Stretch]:
    """Yield a label's stretches that show figures on request; their ids hide which has a fault."""
    tick, source = 1000 * tick_seconds, label.id.partition("/")[0]
    lead = int(_hash(label.id, "lead"), 16) % (MAX_LEAD + 1)
    fault = attrs.evolve(
        label,
        id=f"{source}-models/{_hash(label.id, 'fault')}",
        opened=label.opened - lead * tick,
        view=ON_REQUEST,
        origin=f"made of {label.id}",
    )
    if label.usual is None:
        yield fault
        return
    since, until = label.usual
    middle = (since + until) // 2000 * 1000  # in whole seconds
    opened = middle + _CALM_TICKS * tick
    if opened + horizon * tick > until:
        note(
            f"{label.where}: no incident without a fault: it takes a baseline of "
            f"{2 * (_CALM_TICKS + horizon) * tick_seconds} s, of {label.id} it has "
            f"{(until - since) // 1000} s"
        )
        yield fault
        return
    fault = attrs.evolve(fault, usual=(since, middle))
    yield fault
    yield attrs.evolve(
        fault,
        id=f"{source}-models/{_hash(label.id, 'calm')}",
        opened=opened,
        until=until,
        truth=RecordedTruth((), NO_FAULT),
    )


def _hash(*parts: str) -> str:
    return blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()


def around_of(horizon: int, tick_seconds: int) -> int:
    """How much time is read before and after an opening, in milliseconds."""
    return max(AROUND_MS, 1000 * tick_seconds * (max(horizon, 0) + _AROUND_TICKS))
