"""What a batch of beliefs is given, checked before anything is taken in."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.errors import InvalidInput
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import BeliefTables
from logtriage.vector.cells import CHANNELS, EFFECTS, FIELDS, Cells, FlatCells
from logtriage.world.channels import NOTHING_READ, Channel

Ints = NDArray[Any]

_NOTE: Final = CHANNELS.index(Channel.NOTE)
_EFFECT: Final = CHANNELS.index(Channel.EFFECT)


def checked_integers(
    name: str, given: ArrayLike, shape: tuple[int, ...], low: int | None, high: int | None
) -> Ints:
    """An array of integers of that shape, within ``low`` and ``high`` if there are such.

    Raises:
        InvalidInput: naming the array, and what was expected.
    """
    array = np.asarray(given)
    if array.dtype.kind not in ("i", "u"):
        raise InvalidInput(f"{name}: expected integers, got an array of {array.dtype}")
    if array.shape != shape:
        raise InvalidInput(f"{name}: shape {array.shape}, expected {shape}")
    if low is not None and high is not None:
        bad = (array < low) | (array > high)
        if bad.any():
            place = tuple(map(int, np.argwhere(bad)[0]))
            raise InvalidInput(f"{name}{list(place)}: {array[place]} is not in {low} to {high}")
    return array


def as_rows(rows: ArrayLike | None, every: Ints) -> Ints:
    """The rows that are meant: these, or every one.

    Raises:
        InvalidInput: for rows that are not among the batch's, or named twice.
    """
    if rows is None:
        return every
    array = np.asarray(rows)
    chosen = checked_integers("rows", array, (array.size,), 0, len(every) - 1).astype(np.int64)
    if len(np.unique(chosen)) != len(chosen):
        raise InvalidInput("rows: each row may be named once")
    return chosen


def as_cells(cells: ArrayLike, count: int) -> Cells:
    """Cells (R, M, 5) in the type that beliefs take; ``count`` is R.

    Raises:
        InvalidInput: for another shape or type.
    """
    array = np.asarray(cells)
    if array.dtype.kind not in ("i", "u"):
        raise InvalidInput(f"cells: expected integers, got an array of {array.dtype}")
    if array.ndim != 3 or array.shape[0] != count or array.shape[2] != len(FIELDS):
        raise InvalidInput(
            f"cells: shape {array.shape}, expected ({count}, M, {len(FIELDS)}), "
            f"the five numbers being {', '.join(FIELDS)}"
        )
    bounds = np.iinfo(np.int16)
    if array.dtype != np.int16 and array.size:
        checked_integers("cells", array, array.shape, bounds.min, bounds.max)
    return np.ascontiguousarray(array, np.int16)


def check_cells(
    state: BeliefState, tables: BeliefTables, rows: Ints, cells: FlatCells, actions: Ints
) -> None:
    """Refuse cells of rows (R,) that cannot be.

    Raises:
        InvalidInput: naming the first such cell, the number that is wrong, and its range.
    """
    horizon = state.panel.shape[1] - 1
    late = state.screens[rows] > horizon + 1
    if late.any():
        raise InvalidInput(
            f"row {rows[late.argmax()]} has seen the {horizon + 1} screens of its horizon; "
            "begin a new episode with reset"
        )
    _refuse(rows, cells, "channel", 0, len(CHANNELS) - 1)
    # All worlds of a batch have the same channels, alphabets and remedies.
    first_sort = tables.first_sort[0, cells.channel]
    owned = first_sort >= 0
    several = tables.slots[0, cells.channel]
    low, services = owned - 1, owned * tables.services  # -1 alone for what has no service
    _refuse(rows, cells, "service", low, services - 1)
    last = np.where(several > 0, several - 1, np.iinfo(np.int16).max)
    first = np.zeros(len(last), np.int64)
    tokens = np.full(len(last), tables.edges.panels.shape[3])
    tokens[cells.channel == _NOTE] = 1 + tables.services * (tables.note.shape[1] - 1)
    effects = np.flatnonzero(cells.channel == _EFFECT)
    if len(effects):
        applied, before = _applied(state, tables, rows, actions)
        row = cells.row[effects]
        first[effects], last[effects] = before[row], (before + applied)[row] - 1
        tokens[effects] = len(EFFECTS)
    _refuse(rows, cells, "slot", first, last)
    _refuse(rows, cells, "start", 0, horizon)
    sort = (first_sort + cells.slot * (several > 0)) * owned
    pool = tables.pools.pool_of[0, sort]
    sizes = tables.pools.tokens[0, np.maximum(cells.service, 0), pool] + len(NOTHING_READ)
    _refuse(rows, cells, "token", 0, np.where(owned, sizes, tokens) - 1)


def _applied(
    state: BeliefState, tables: BeliefTables, rows: Ints, actions: Ints
) -> tuple[Ints, Ints]:
    """How many remedies each row applied in the last tick, and how many before (R,)."""
    given = actions - tables.first_remedy
    remedies = ((given >= 0) & (given < tables.accepts.shape[1])).sum(axis=1)
    return remedies * (state.screens[rows] > 0), state.remedies[rows].astype(np.int64)


def _refuse(rows: Ints, cells: FlatCells, name: str, low: Any, high: Any) -> None:
    """Refuse numbers out of their range."""
    values = getattr(cells, name)
    bad = (values < low) | (values > high)
    if not bad.any():
        return
    place = int(bad.argmax())
    least, most = (int(np.broadcast_to(one, values.shape)[place]) for one in (low, high))
    wanted = f"{least} to {most}" if most >= least else "none: no remedy was applied just before"
    kind = f" ({CHANNELS[cells.channel[place]]})" if name != "channel" else ""
    raise InvalidInput(
        f"cells: row {rows[cells.row[place]]}: {name} of a cell{kind} is {values[place]}, "
        f"expected {wanted}"
    )
