"""The pools of a model as arrays: how readings of signs that stay speak for its conditions."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.fixedpoint import log2
from logtriage.beliefs.model import Model, Reader
from logtriage.beliefs.pools import LOGS, sign_matrix
from logtriage.vector.arrays import Bools, Longs
from logtriage.world.setting import Setting
from logtriage.world.signs import is_root, reading
from logtriage.world.tables import SILENT_SORTS, alphabet, base_of
from logtriage.world.vocabulary import CHANGE

#: No reading of a pool can hide a root's sign.
NEVER_HIDDEN: Final = -1


class PoolTables(NamedTuple):
    """The pools of n services: one for each of B sorts that have signs.

    ``number`` is that of the world; each world has such pools.

    A cell's *sort* has the pool ``pool_of`` (sorts,); a reading that starts before ``hidden``
    (sorts,) shows no root's sign. What a reading gains for its token, log2(1 + f/q), stands in
    ``gains``, those of a (service, sort) from ``first_gain`` on, a stage and a token at a time;
    a reading is of the stage in which it starts, of the last of ``stages`` (sorts,) later on.

    ``tokens`` (n, B) are the sizes of alphabets. The sums of gains of a pool stand in a row of
    T = ``sums`` numbers from ``first_sum`` (n, B) on, those of its hidden readings again from
    ``first_hidden`` on, :data:`NEVER_HIDDEN` where there are none. Conditions that weigh all
    signs of a pool alike are one *row* of it: rows are numbered from ``first_row`` to
    ``end_row`` (n, B), ``row_of`` has the row of each condition, those of a pool from
    ``first_condition`` on, of which a service has ``conditions`` (n,). The ``weights`` of a row's
    signs, and their ``logs``, stand from ``first_weight`` (rows,) on; ``root`` (rows,) are
    conditions whose sign hidden readings do not show.
    """

    number: Any
    pool_of: Longs
    hidden: Longs
    stages: Longs
    gains: Longs
    first_gain: Longs
    tokens: Longs
    sums: int
    first_sum: Longs
    first_hidden: Longs
    first_row: Longs
    end_row: Longs
    row_of: Longs
    first_condition: Longs
    conditions: Longs
    weights: NDArray[np.int32]
    logs: Longs
    first_weight: Longs
    root: Bools


def pools_of(model: Model) -> PoolTables:
    """The pools of a model of signs that stay."""
    setting, readers = model.setting, model.listed.readers
    sorts = setting.world.cell_sorts
    bases = tuple(dict.fromkeys(map(base_of, sorts)))
    silent = [setting.root_silent * (sort in SILENT_SORTS) for sort in sorts]
    hiding = {base_of(sort) for sort, until in zip(sorts, silent, strict=True) if until}
    shape = (len(readers), len(bases))
    tokens, first_sum, first_row, end_row, first_condition = np.zeros((5, *shape), np.int64)
    first_hidden = np.full(shape, NEVER_HIDDEN)
    first_gain = np.zeros((len(readers), len(sorts)), np.int64)
    gains: list[Longs] = []
    weights: list[Longs] = []
    row_of: list[Longs] = []
    root: list[Bools] = []
    sums = gained = placed = rows = 0
    for service, reader in enumerate(readers):
        for number, base in enumerate(bases):
            size = len(alphabet(setting, base, reader.place))
            tokens[service, number], first_sum[service, number] = size, sums
            sums += size
            if base in hiding:
                first_hidden[service, number] = sums
                sums += size
            table, flags, which = _rows(reader, base, hides=base in hiding)
            first_row[service, number], first_condition[service, number] = rows, placed
            row_of.append(rows + which)
            weights.append(table)
            root.append(flags)
            rows, placed = rows + len(table), placed + len(which)
            end_row[service, number] = rows
        for number, sort in enumerate(sorts):
            first_gain[service, number] = gained
            gains.append(_gains(setting, sort, reader))
            gained += len(gains[-1])
    sizes = np.concatenate([np.full(len(matrix), matrix.shape[1]) for matrix in weights])
    flat = np.concatenate([matrix.ravel() for matrix in weights])
    return PoolTables(
        number=0,
        pool_of=np.array([bases.index(base_of(sort)) for sort in sorts]),
        hidden=np.array(silent),
        stages=np.array([_stages(setting, sort) for sort in sorts]),
        gains=np.concatenate(gains),
        first_gain=first_gain,
        tokens=tokens,
        sums=sums,
        first_sum=first_sum,
        first_hidden=first_hidden,
        first_row=first_row,
        end_row=end_row,
        row_of=np.concatenate(row_of),
        first_condition=first_condition,
        conditions=np.array([len(reader.conditions) for reader in readers]),
        weights=flat.astype(np.int32),
        logs=LOGS[flat],
        first_weight=np.cumsum([0, *sizes[:-1]]),
        root=np.concatenate(root),
    )


def _stages(setting: Setting, sort: str) -> int:
    """Count the starts that have their own distribution of readings."""
    return 1 if sort == CHANGE else 1 + setting.grows_for


def _gains(setting: Setting, sort: str, reader: Reader) -> Longs:
    gains = []
    for start in range(_stages(setting, sort)):
        row = reading(setting, sort, reader.place, start)
        gains += [log2(other + row.sign) - log2(other) for other in row.other]
    return np.array(gains, np.int64)


def _rows(reader: Reader, base: str, *, hides: bool) -> tuple[Longs, Bools, Longs]:
    """(weights (R, A) of a pool's rows, whether they are roots' (R,), rows of conditions (C,))."""
    matrix = sign_matrix(reader, base, hidden=False)
    world = reader.setting.world
    mine = [hides and is_root(world, condition) for condition in reader.conditions]
    rows, which = np.unique(np.column_stack([mine, matrix]), axis=0, return_inverse=True)
    return rows[:, 1:], rows[:, 0] != 0, which.ravel()
