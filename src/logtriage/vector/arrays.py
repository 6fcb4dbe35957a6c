"""Types of arrays, and tables of several worlds laid side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Ints = NDArray[np.signedinteger[Any]]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]


def padded(rows: Sequence[Sequence[Any]], fill: Any, least: int = 1) -> NDArray[Any]:
    """R rows of different lengths as one array (R, L), filled up; L is at least ``least``."""
    table = np.full((len(rows), max(least, *map(len, rows))), fill)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def stacked(tables: Sequence[Any], fill: Any = 0) -> NDArray[Any]:
    """The tables of W worlds as one array (W, …); ``fill`` fills smaller tables up."""
    arrays = [np.asarray(table) for table in tables]
    shape = np.max([array.shape for array in arrays], axis=0, initial=0).astype(int)
    whole = np.full((len(arrays), *shape), fill, arrays[0].dtype)
    for number, array in enumerate(arrays):
        corner: Any = (number, *map(slice, array.shape))
        whole[corner] = array
    whole.setflags(write=False)
    return whole


def side_by_side(tables: Sequence[Any], fills: Mapping[str, Any]) -> Any:
    """The named tuples of W worlds as one of arrays (W, …).

    ``fills`` says by field what fills smaller arrays up, by default 0. Fields that hold an integer
    or a tuple are taken from the first world.
    """
    first = tables[0]
    return first._replace(
        **{
            name: stacked([getattr(table, name) for table in tables], fills.get(name, 0))
            for name in first._fields
            if not isinstance(getattr(first, name), int | tuple)
        }
    )
