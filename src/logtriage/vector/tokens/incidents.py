"""Incidents as a structure of arrays.

Each row holds what :func:`logtriage.drawing.generator.make_incident` draws for the same id; a law
checks this.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES, Severity
from logtriage.drawing.ids import SCRAMBLE, SEED_BITS, SEED_MASK, SPLITS, task_offset
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.vector.arrays import Bits, Ints
from logtriage.vector.tokens.layout import PARTS, WORTH_UNIT, TokenLayout

#: The instant of an onset or an alert that never comes.
NEVER_SHOWN: Final = 255
P3: Final = SEVERITIES.index(Severity.P3)
#: The worths that a hand-over can have: as numbers of layout units, then each worth at its number.
WORTH_NUMBERS: Final = np.array([round(worth / WORTH_UNIT) for worth in WORTHS_OF_HAND_OVER])
WORTHS: Final = np.zeros(WORTH_NUMBERS.max() + 1)
WORTHS[WORTH_NUMBERS] = WORTHS_OF_HAND_OVER


class TokenIncidents(NamedTuple):
    """N incidents of n services each.

    ``index`` and ``seed`` (N,); ``world`` (N,) is a place in the pool, ``hypothesis`` (N,) that of
    the true hypothesis in the prior, ``severity`` (N,) a rank, ``team`` (N,) the team to page, -2
    for nobody, ``conditions`` (N, n) the condition of each service. ``token`` and ``onset`` (N, n,
    sorts) are the histories; an ordinary token has the onset ``NEVER_SHOWN``. ``fires`` (N, n, R)
    are the instants from which alerts fire, ``down`` (N, n, 3) the ``PARTS`` that are down for the
    whole incident. ``board`` (N, D) holds the numbers of the layout, in their units: from column
    ``first_public`` on, what never changes; before it, what the episode writes.
    """

    index: Ints  # type: ignore[assignment]
    seed: Bits
    world: NDArray[np.uint8]
    hypothesis: NDArray[np.int32]
    severity: NDArray[np.int8]
    team: NDArray[np.int8]
    conditions: Ints
    token: NDArray[np.uint8]
    onset: NDArray[np.uint8]
    fires: NDArray[np.uint8]
    down: NDArray[np.bool_]
    board: NDArray[np.uint8]
    first_public: int

    @property
    def worth(self) -> NDArray[np.uint8]:
        """The worth of a hand-over (N,) in units of the layout."""
        return self.board[:, self.first_public]

    @classmethod
    def empty(
        cls, count: int, n: int, conditions: np.dtype[Any], layout: TokenLayout
    ) -> "TokenIncidents":
        """Room for ``count`` incidents; ``conditions`` is the type of the array of that name."""
        sorts, rules = len(layout.sizes), len(layout.world.tokens.alert.tokens)
        return cls(
            index=np.empty(count, np.int64),
            seed=np.empty(count, np.uint64),
            world=np.zeros(count, np.uint8),
            hypothesis=np.empty(count, np.int32),
            severity=np.empty(count, np.int8),
            team=np.empty(count, np.int8),
            conditions=np.empty((count, n), conditions),
            token=np.empty((count, n, sorts), np.uint8),
            onset=np.empty((count, n, sorts), np.uint8),
            fires=np.empty((count, n, rules), np.uint8),
            down=np.empty((count, n, len(PARTS)), np.bool_),
            board=np.zeros((count, layout.size), np.uint8),
            first_public=layout.first_public,
        )


def seeds_of(task_id: str, split: str, index: Ints) -> Bits:
    """The seeds of the incidents ``index`` (N,) of a split, equal to those drawn by their ids."""
    mask = np.uint64(SEED_MASK)
    value = (index.astype(np.uint64) + np.uint64(task_offset(task_id))) & mask
    for shift, factor in SCRAMBLE:
        value = ((value ^ (value >> np.uint64(shift))) * np.uint64(factor)) & mask
    return value | np.uint64(SPLITS.index(split) << SEED_BITS)
