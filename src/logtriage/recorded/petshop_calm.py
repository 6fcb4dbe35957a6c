"""Incidents without a fault from the fault-free metrics of the PetShop data set.

A scenario's ``noissue`` metrics are a day or two of normal operation. The first half of them
is what is usual, as in :mod:`logtriage.recorded.stretches`; the second is cut into stretches
that do not overlap, each an incident of ``recorded/2`` without a fault. The issues themselves
have no class of fault, so that only ``recorded/1`` plays them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.figures import FIRST_TICK
from logtriage.recorded.imported import Imported, ImportReport
from logtriage.recorded.measure import record
from logtriage.recorded.names import Names
from logtriage.recorded.paths import find_csv
from logtriage.recorded.petshop import HORIZON, ORIGIN, TICK_SECONDS
from logtriage.recorded.petshop_files import graph, normal
from logtriage.recorded.records import RUBRICS, RecordedIncident
from logtriage.recorded.rows import Rows
from logtriage.recorded.tally import Tally
from logtriage.recorded.truth import NO_FAULT, RecordedTruth

_TASK: Final = "recorded_petshop_models"
#: The samples of one incident: those before its opening, and one for each tick.
_SAMPLES: Final = HORIZON - FIRST_TICK


def calm_petshop(directory: str | Path) -> Imported:
    """Incidents without a fault, of every scenario that has fault-free metrics.

    Args:
        directory: holds the scenarios, as for
            :func:`~logtriage.recorded.petshop.import_petshop`.

    Raises:
        BundleError: naming the file and what was expected, if there are no fault-free metrics,
            they are too short, or a file is not of the layout.
    """
    root, tally = Path(directory), Tally(Path(directory), strict=True)
    notes: list[str] = []
    found = [
        one
        for scenario in sorted(root.glob("*/"))
        if find_csv(root, scenario / "noissue", "metrics") is not None
        for one in _of_scenario(root, scenario, tally, notes)
    ]
    if not found:
        raise BundleError(f"{root}: no <scenario>/noissue/metrics.csv found")
    report = ImportReport(tally.files, tally.rows, (), tuple(notes))
    return Imported(tuple(sorted(found, key=lambda one: one.id)), report)


def _of_scenario(
    root: Path, scenario: Path, tally: Tally, notes: list[str]
) -> Iterator[RecordedIncident]:
    rows, names = normal(root, scenario, tally, notes), Names()
    whole = attrs.evolve(rows, usage=(), graph=tuple(graph(root, scenario, tally, names)))
    times = sorted({one.at for one in rows.samples})
    half, tick = len(times) // 2, 1000 * TICK_SECONDS
    if len(times) - half < _SAMPLES:
        raise BundleError(
            f"{tally.name(scenario)}/noissue/metrics.csv: no incident without a fault: it takes "
            f"{2 * _SAMPLES} samples, there are {len(times)}"
        )
    usual = whole.between(times[0], times[half])
    for first in range(half, len(times) - _SAMPLES + 1, _SAMPLES):
        opened = times[first - FIRST_TICK]
        if times[first + _SAMPLES - 1] - times[first] > (_SAMPLES - 1) * tick:
            continue  # some samples are missing
        yield _incident(
            whole.between(times[first], times[first + _SAMPLES - 1] + 1),
            usual,
            opened,
            blake2b(f"{scenario.name}\n{opened}".encode(), digest_size=6).hexdigest(),
        )


def _incident(rows: Rows, usual: Rows, opened: int, name: str) -> RecordedIncident:
    return RecordedIncident(
        id=f"petshop-models/{name}",
        opened=f"{datetime.fromtimestamp(opened // 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}",
        recording=record(
            rows,
            usual,
            opened=opened,
            horizon=HORIZON,
            baseline="fault-free",
            tick_seconds=TICK_SECONDS,
        ),
        truth=RecordedTruth((), NO_FAULT),
        task=_TASK,
        horizon=HORIZON,
        origin=ORIGIN,
        rubric=RUBRICS[1],
    )
