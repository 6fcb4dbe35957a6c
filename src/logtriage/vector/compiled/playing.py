"""Actions and time row by row, as :mod:`logtriage.vector.episodes` has them for many at once."""

from typing import Any, Final

import numpy as np

from logtriage.jit import kernel
from logtriage.vector.compiled.draws import Int
from logtriage.vector.episodes import (
    MISROUTED,
    OPEN,
    OUT_OF_TIME,
    RESTART,
    ActionTable,
    Episodes,
)
from logtriage.vector.incidents import IncidentArrays

_MISROUTED: Final = np.int8(MISROUTED)
_OUT_OF_TIME: Final = np.int8(OUT_OF_TIME)


@kernel
def _apply(
    row: Int,
    action: Int,
    lane: Int,
    episodes: Episodes,
    incidents: IncidentArrays,
    table: ActionTable,
) -> None:
    now = episodes
    if table.severity[action] >= 0 and now.severity[row] < 0:
        now.severity[row] = table.severity[action]
    if table.root_cause[action] >= 0 and now.root_cause[row] < 0:
        now.root_cause[row] = table.root_cause[action]
    request = table.request[action]
    now.requested[row, lane] = request
    if request >= 0:
        now.asked[row, request] = True
    if table.closes[action] >= 0:
        now.closing[row] = table.closes[action]
    team = table.team[action]
    if team >= 0:
        now.paged[row, team] = True
        if team == incidents.team[row]:
            now.paged_rightly[row] = True
        else:
            now.paged_wrongly[row] = True
            now.closing[row] = _MISROUTED
    remedy, target = table.remedy[action], table.target[action]
    if remedy >= 0:
        now.remedied[row, target] = True
        now.applied[row, remedy] = True
        now.remedies[row] += 1
        if target == incidents.root[row] and incidents.remedies[row, remedy]:
            now.fixed_at[row] = min(now.fixed_at[row], now.tick[row])
        else:
            now.wrong_remedies[row] += 1
            if remedy == RESTART:
                now.restarted[row, now.tick[row], lane] = target


@kernel
def apply_rows(
    rows: Any,
    actions: Any,
    lane: Int,
    episodes: Episodes,
    incidents: IncidentArrays,
    table: ActionTable,
) -> None:
    """As :func:`logtriage.vector.episodes.apply`."""
    for place in range(len(rows)):
        _apply(np.uint64(rows[place]), actions[place], lane, episodes, incidents, table)


@kernel
def pass_time_rows(rows: Any, episodes: Episodes, horizon: Int) -> None:
    """As :func:`logtriage.vector.episodes.pass_time`."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        episodes.tick[row] += 1
        if episodes.tick[row] >= horizon and episodes.closing[row] == OPEN:
            episodes.closing[row] = _OUT_OF_TIME


@kernel
def put_rows(rows: Any, arrays: Any, fresh: Any) -> None:
    """Copy the row of each of ``fresh`` (1, bytes) into ``rows`` of its ``arrays`` (N, bytes)."""
    for which in range(len(arrays)):
        array, source = arrays[which], fresh[which]
        for place in range(len(rows)):
            for byte in range(source.shape[1]):
                array[np.uint64(rows[place]), np.uint64(byte)] = source[0, byte]
