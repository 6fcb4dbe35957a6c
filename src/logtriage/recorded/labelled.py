"""Importer for incidents of one's own: a folder of CSV files and a few labels.

::

    labels.csv    id, opened, root_cause, kind [, baseline_start, baseline_end, fault_class]
    logs.csv      time, service, level, message [, trace]
    calls.csv     time, caller, callee, latency_ms [, network_ms, self_ms, trace]
    metrics.csv   time, service [, cpu_percent, p99_ms, any other number]

Only ``labels.csv`` and one of the others are needed; each may end in ``.csv.gz``.
Columns may stand in any order; of metrics every numeric column is a signal, and elsewhere
other columns are left alone. Unlike a published data set these files can be mended, so the
first bad field is an error.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from logtriage.errors import BundleError
from logtriage.recorded.clock import interval_of
from logtriage.recorded.figures import FIRST_TICK
from logtriage.recorded.labelled_rows import (
    NEEDED,
    Label,
    call_of,
    label_of,
    log_of,
    read_metrics,
    records_of,
    text_of,
    time_of,
)
from logtriage.recorded.measure import condensed
from logtriage.recorded.paths import Names, find_csv
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.rows import Rows
from logtriage.recorded.rowstore import RowStore
from logtriage.recorded.stretches import TASKS, Stretch, as_labelled, for_models, refuse_overlap
from logtriage.world.telemetry import TICK_SECONDS

#: How much is taken of the time around an opening, in milliseconds, and in ticks if these
#: are longer: as many as are shown, and some before.
AROUND_MS: Final = 600_000
_BEFORE_TICKS: Final = 1 - FIRST_TICK
#: A line of ``labels.csv``, for whoever has none yet.
SAMPLE_LABEL: Final = "shop/2031-05-06,2031-05-06T10:04:00Z,payments,overload"
#: So many rows of metrics tell how often they were sampled.
_ENOUGH_ROWS: Final = 10_000


def import_labelled(
    directory: str | Path,
    *,
    horizon: int = 8,
    tick_seconds: int | None = None,
    models: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> tuple[RecordedIncident, ...]:
    """Import incidents from one's own logs, calls and metrics, and a file of labels.

    Rows are read once and kept on disk; one incident at a time is in memory.

    Args:
        directory: holds ``labels.csv`` and the rest.
        horizon: ticks of each incident.
        tick_seconds: how long a tick is. None: 30 s, or the interval of the samples if that
            is longer and there are metrics alone.
        models: make incidents of ``recorded/2``, those without a fault included.
        note: is told what was left out, in words.

    Raises:
        BundleError: naming file, line and field, on the first row that cannot be used, and
            on a baseline that overlaps its incident; naming the path of a file that is no
            file, leads outside of the directory or is damaged.
        OSError: if a file cannot be read.
    """
    root, names = Path(directory), Names()
    labels = labels_of(root, names)
    tick = tick_seconds or _tick_of(root)
    around = around_of(horizon, tick)
    wanted = stretches_of(labels, horizon, tick, note, models=models)
    with RowStore(times_of(wanted, around)) as store:
        for where, row in records_of(root, "logs"):
            store.add(log_of(where, row, names))
        for where, row in records_of(root, "calls"):
            store.add(call_of(where, row, names))
        read_metrics(root, names, store, note)
        if not store.offered:
            raise BundleError(f"{root}: no rows in logs.csv, calls.csv or metrics.csv")
        return tuple(incident_of(one, store.between, horizon, tick) for one in wanted)


def labels_of(root: Path, names: Names) -> tuple[Label, ...]:
    """The lines of ``labels.csv``.

    Raises:
        BundleError: naming line and field; also where there are none, or an id is there twice;
            naming the folder, where it is none or has no ``labels.csv``.
    """
    if not root.is_dir():
        given = "got a file" if root.exists() else "there is no such folder"
        raise BundleError(f"{root}: must be a folder with labels.csv in it, {given}")
    path = find_csv(root, root, "labels")
    if path is None:
        raise BundleError(
            f"{root}: no labels.csv; expected one with the columns {','.join(NEEDED['labels'])} "
            f"and a line for each incident, such as {SAMPLE_LABEL}"
        )
    found: dict[str, Label] = {}
    for where, row in records_of(root, "labels"):
        label = label_of(where, row, names)
        if label.id in found:
            raise BundleError(f"{where}: field id: {label.id!r} appears twice")
        found[label.id] = label
    if not found:
        raise BundleError(f"{path.name}: only a header; expected a line for each incident below it")
    return tuple(found.values())


def around_of(horizon: int, tick_seconds: int) -> int:
    """How much is taken of the time before and after an opening, in milliseconds."""
    return max(AROUND_MS, 1000 * tick_seconds * (max(horizon, 0) + _BEFORE_TICKS))


def stretches_of(
    labels: Sequence[Label],
    horizon: int,
    tick_seconds: int,
    note: Callable[[str], None],
    *,
    models: bool,
) -> tuple[Stretch, ...]:
    """The incidents to be made of labels; of ``models`` by id, which says nothing of them.

    Raises:
        BundleError: naming the line of a label whose baseline overlaps its incident.
    """
    for label in labels:
        refuse_overlap(label, horizon, tick_seconds)
    if not models:
        return tuple(one for label in labels for one in as_labelled(label))
    found = [one for label in labels for one in for_models(label, horizon, tick_seconds, note)]
    return tuple(sorted(found, key=lambda one: one.id))


def times_of(stretches: Sequence[Stretch], around: int) -> list[tuple[int, int]]:
    """The times of all rows that stretches need, in Unix milliseconds."""
    times = [(one.opened - around, one.opened + around) for one in stretches]
    return times + [one.usual for one in stretches if one.usual is not None]


def incident_of(
    stretch: Stretch, between: Callable[[int, int], Rows], horizon: int, tick_seconds: int
) -> RecordedIncident:
    """The incident of a stretch; ``between`` gives the rows of a span of time.

    Raises:
        BundleError: naming the line of the label.
    """
    label, around = stretch.label, around_of(horizon, tick_seconds)
    until = stretch.opened + around
    rows = between(
        stretch.opened - around, until if stretch.until is None else min(until, stretch.until)
    )
    usual = Rows() if stretch.usual is None else between(*stretch.usual)
    baseline = "fault-free" if usual.services else "none"
    if not rows.services:
        raise BundleError(
            f"{label.where}: field opened: no rows within {around // 60_000} minutes of it"
        )
    return condensed(
        rows,
        usual,
        stretch.truth,
        where=label.where,
        name=stretch.id,
        opened=stretch.opened,
        horizon=horizon,
        baseline=baseline,
        task=TASKS[stretch.rubric],
        origin=stretch.origin,
        rubric=stretch.rubric,
        tick_seconds=tick_seconds,
    )


def _tick_of(root: Path) -> int:
    """The length of a tick in seconds: as often as there is something new, at most every 30 s."""
    if find_csv(root, root, "logs") or find_csv(root, root, "calls"):
        return TICK_SECONDS
    times: dict[str, list[int]] = {}
    for where, row in islice(records_of(root, "metrics"), _ENOUGH_ROWS):
        times.setdefault(text_of(where, row, "service"), []).append(time_of(where, row, "time"))
    steps = [step for one in times.values() if (step := interval_of(one)) is not None]
    return max([TICK_SECONDS, min(steps) // 1000] if steps else [TICK_SECONDS])
