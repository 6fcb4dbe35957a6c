"""Check the screens given to a batch of beliefs before it takes in any of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.errors import InvalidInput
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.cells import CHANNELS, FIELDS, Cells
from logtriage.vector.checks import checked_integers

Ints = NDArray[Any]


class WrongCell(NamedTuple):
    """Which number of which cell cannot be, and its range, by places: row, cell, field.

    A ``field`` of -1 stands for a row that has seen all screens of its horizon.
    """

    row: int
    cell: int
    field: int
    low: int
    high: int


def as_cells(cells: ArrayLike, count: int) -> Cells:
    """Cells (R, M, 5) in the type that beliefs take; ``count`` is R.

    Raises:
        InvalidInput: for another shape or type.
    """
    array = np.asarray(cells)
    if array.ndim != 3 or array.shape[0] != count or array.shape[2] != len(FIELDS):
        raise InvalidInput(
            f"cells: shape {array.shape}, expected ({count}, M, {len(FIELDS)}), "
            f"the five numbers being {', '.join(FIELDS)}"
        )
    if array.dtype != np.int16:
        bounds = np.iinfo(np.int16)
        array = checked_integers("cells", array, array.shape, bounds.min, bounds.max)
    return np.ascontiguousarray(array, np.int16)


def refusal(state: BeliefState, rows: Ints, cells: Cells, wrong: WrongCell) -> InvalidInput:
    """Why a screen of rows (R,) with cells (R, M, 5) cannot be taken in."""
    row, screens = rows[wrong.row], state.panel.shape[1]
    if wrong.field < 0:
        return InvalidInput(
            f"row {row} has seen the {screens} screens of its horizon; "
            "begin a new episode with reset"
        )
    cell, name = cells[wrong.row, wrong.cell], FIELDS[wrong.field]
    kind = f" ({CHANNELS[cell[0]]})" if wrong.field else ""
    wanted = f"{wrong.low} to {wrong.high}"
    if wrong.high < wrong.low:
        wanted = "none: no remedy was applied just before"
    return InvalidInput(
        f"cells: row {row}: {name} of a cell{kind} is {cell[wrong.field]}, expected {wanted}"
    )
