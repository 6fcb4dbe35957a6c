"""What N systems show, as the numeric observation: read off the arrays, block by block."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.propagation import Mode
from logtriage.tasks import TaskSpec
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.episodes import OPEN, Episodes
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.layout import Floats, Layout, scale_error, scale_p99, scale_trend
from logtriage.vector.signals import Readings, fault_alerts, read_requested, read_window
from logtriage.vector.team_layout import READ_BLOCKS


@attrs.frozen(eq=False)
class Screens:
    """What the screens of N rows show: readings, and alerts (N, n) that a fault raises."""

    readings: Readings
    alerts: Bools


def read_screens(task: TaskSpec, incidents: IncidentArrays, episodes: Episodes) -> Screens:
    """Read the screens of all rows, and note in ``episodes`` what they said."""
    seen = Readings(incidents, episodes)
    level = seen.level[:, 1:]
    read_window(incidents, episodes, level, task.noise, task.mode is Mode.LOUD)
    read_requested(incidents, episodes, level)
    np.minimum(episodes.worst, seen.worst(), out=episodes.worst)
    return Screens(seen, fault_alerts(incidents, level, episodes.tick))


def write_observation(
    layout: Layout,
    horizon: int,
    incidents: IncidentArrays,
    episodes: Episodes,
    screens: Screens,
    out: Floats,
) -> None:
    """Write the numeric observation into ``out`` (N, D)."""
    one, now, seen = incidents, episodes, screens.readings
    rows = np.arange(len(out))
    known = screens.alerts | one.distractor_alerts | now.asked
    error, p99, trend = scale_error(seen.error), scale_p99(seen.p99), scale_trend(seen.rise)
    owned = [one.owners == team for team in range(len(layout.topology.teams))]
    noted = [now.asked, now.blamed > 0, now.complaining > 0, now.named > 0, now.remedied]
    out[...] = 0
    # Blocks that lie side by side are joined first: one cast of long rows in place of several
    # of short ones takes a third of the time.
    out[:, layout.span("fault_alert", "known")] = _joined(
        screens.alerts, one.distractor_alerts, known
    )
    out[:, layout.span("error", "trend")] = _joined(
        *(figure[:, 1:] * known for figure in (error, p99, trend))
    )
    out[:, layout.span("asked", "remedied")] = _joined(*noted)
    out[:, layout.span(*layout.public)] = _joined(*owned, one.changes)
    out[:, layout.span("paged", "applied")] = _joined(now.paged, now.applied)
    out[:, layout["time"].start] = now.tick.astype(np.float32) / np.float32(horizon)
    out[:, layout["slo"]] = np.stack([error[:, 0], p99[:, 0], trend[:, 0]], axis=1)
    out[rows, layout["worst"].start + now.worst.astype(np.int64)] = 1
    _one_hot(out, layout["severity"], now.severity)
    _one_hot(out, layout["declared"], now.root_cause)
    _write_named(layout, one, now.named > 0, out)
    out[:, layout["closed"].start] = now.closing != OPEN


def write_read(
    layout: Layout, sources: int, incidents: IncidentArrays, episodes: Episodes, out: Floats
) -> None:
    """Write anew what was read in log lines, of the given sources alone, into ``out`` (N, D).

    ``layout`` may be that of a role; blocks that it does not have are left out.
    """
    bits = np.uint8(sources)
    for name in READ_BLOCKS:
        if name in layout.blocks:
            noted = getattr(episodes, name, None)
            out[:, layout[name]] = 0 if noted is None else (noted & bits) > 0
    _write_named(layout, incidents, (episodes.named & bits) > 0, out)


def _write_named(layout: Layout, one: IncidentArrays, named: Bools, out: Floats) -> None:
    """Write the fault kind that was named, and who owns the service that named it."""
    rows = np.flatnonzero(named.any(axis=1))
    out[rows, layout["kind"].start + one.kind[rows].astype(np.int64)] = 1
    if "named_owner" in layout.blocks:
        owner = one.owners[rows, one.root[rows]].astype(np.int64)
        out[rows, layout["named_owner"].start + owner] = 1


def _joined(*blocks: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate(blocks, axis=1)


def _one_hot(out: Floats, at: slice, values: NDArray[np.integer]) -> None:
    rows: Ints = np.flatnonzero(values >= 0)
    out[rows, at.start + values[rows].astype(np.int64)] = 1
