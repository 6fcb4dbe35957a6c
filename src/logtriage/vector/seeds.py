"""Seeds of many incident ids at once, as :class:`logtriage.tasks.IncidentId` has them."""

import numpy as np

from logtriage.tasks import SCRAMBLE, SEED_BITS, SEED_MASK, SPLITS, task_offset
from logtriage.vector.arrays import Bits, Ints


def seeds_of(task_id: str, split: str, index: Ints) -> Bits:
    """The seeds of the incidents ``index`` (N,) of a split of a task."""
    mask = np.uint64(SEED_MASK)
    value = (index.astype(np.uint64) + np.uint64(task_offset(task_id))) & mask
    for shift, factor in SCRAMBLE:
        value = ((value ^ (value >> np.uint64(shift))) * np.uint64(factor)) & mask
    return value | np.uint64(SPLITS.index(split) << SEED_BITS)
