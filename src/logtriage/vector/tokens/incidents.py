"""Incidents as a structure of arrays, drawn without a Python loop.

Row by row the numbers are those that :func:`logtriage.generator.make_incident` draws for
the same id; a law holds it.
"""

from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES, Severity
from logtriage.drawing import (
    DIRECTORY_STREAM,
    PRICES_OF_SILENCE,
    TRUTH_STREAM,
    Slot,
    owning_teams,
)
from logtriage.tasks import TaskSpec
from logtriage.vector import arrays as vec
from logtriage.vector.arrays import Bits, Ints
from logtriage.vector.seeds import seeds_of
from logtriage.vector.tokens.layout import PRICE_UNIT, TokenLayout
from logtriage.vector.tokens.tables import OWNER, TokenTables
from logtriage.world.simulation import CONDITION_STREAM

P3: Final = SEVERITIES.index(Severity.P3)
#: The prices of silence in units of the layout, and by number of unit.
PRICE_NUMBERS: Final = np.array([round(price / PRICE_UNIT) for price in PRICES_OF_SILENCE])
PRICES: Final = np.zeros(PRICE_NUMBERS.max() + 1)
PRICES[PRICE_NUMBERS] = PRICES_OF_SILENCE

_LOW: Final = np.uint64(0xFFFFFFFF)
_32: Final = np.uint64(32)
_48: Final = np.uint64(48)


@attrs.define(eq=False)
class TokenIncidents:
    """N incidents of one task on one topology of n services.

    ``index`` and ``seed`` (N,); ``hypothesis`` (N,) which of the prior's is true;
    ``severity`` (N,) rank; ``team`` (N,) whom to page, -2 if nobody; ``conditions`` (N, n)
    places of what each service is; ``board`` (N, D) the numbers of the layout, in their
    units: the columns that never change within an incident, price of silence and owners,
    belong to it, the others to the episode that shares the board.
    """

    index: Ints
    seed: Bits
    hypothesis: NDArray[np.int16]
    severity: NDArray[np.int8]
    team: NDArray[np.int16]
    conditions: Ints
    board: NDArray[np.uint8]
    first_public: int

    @property
    def public(self) -> NDArray[np.uint8]:
        """The columns (N, P) that never change within an incident."""
        return self.board[:, self.first_public :]

    @property
    def price(self) -> NDArray[np.uint8]:
        """The price of silence (N,) in units of the layout."""
        return self.board[:, self.first_public]

    @classmethod
    def empty(
        cls, count: int, n: int, conditions: np.dtype[Any], layout: TokenLayout
    ) -> "TokenIncidents":
        """Room for so many, with ``conditions`` the type of a condition's place."""
        return cls(
            index=np.empty(count, np.int64),
            seed=np.empty(count, np.uint64),
            hypothesis=np.empty(count, np.int16),
            severity=np.empty(count, np.int8),
            team=np.empty(count, np.int16),
            conditions=np.empty((count, n), conditions),
            board=np.zeros((count, layout.size), np.uint8),
            first_public=layout.first_public,
        )

    def at(self, rows: Ints) -> "TokenIncidents":
        """Some rows, in arrays of their own."""
        names = ("index", "seed", "hypothesis", "severity", "team", "conditions", "board")
        found = {name: getattr(self, name)[rows] for name in names}
        return TokenIncidents(**found, first_public=self.first_public)

    def put(self, rows: Ints, new: "TokenIncidents") -> None:
        """Replace some rows by the incidents of ``new``."""
        for name in ("index", "seed", "hypothesis", "severity", "team", "conditions", "public"):
            getattr(self, name)[rows] = getattr(new, name)


def high_product(bits: Bits, whole: int) -> Bits:
    """``bits * whole >> 64``, of 64 random bits and a whole number below 2**64."""
    low, high = np.uint64(whole & 0xFFFFFFFF), np.uint64(whole >> 32)
    first = (bits & _LOW) * low >> _32
    middle = (bits >> _32) * low + first
    carried = (bits & _LOW) * high + (middle & _LOW)
    product: Bits = (bits >> _32) * high + (middle >> _32) + (carried >> _32)
    return product


def draw_incidents(
    task: TaskSpec, split: str, index: Ints, tables: TokenTables, layout: TokenLayout
) -> TokenIncidents:
    """The incidents of ``index`` (N,) of a split, on the topology of ``tables``."""
    found = TokenIncidents.empty(len(index), tables.n, tables.condition_type, layout)
    rows = np.arange(len(index))
    found.index = index.copy()
    found.seed = seeds = seeds_of(task.id, split, index)
    truth = vec.subkey(seeds, TRUTH_STREAM)
    point = high_product(vec.at(truth, Slot.TRUTH), tables.total)
    chosen = np.searchsorted(tables.prior_steps, point, side="right")
    found.hypothesis[:] = chosen
    weights = np.broadcast_to(tables.setting.severities, (len(rows), len(SEVERITIES)))
    severity = vec.weighted(vec.at(truth, Slot.SEVERITY), weights)
    found.severity[:] = np.where(tables.recovers[chosen], severity, P3)
    price = vec.below(vec.at(truth, Slot.PRICE), len(PRICES_OF_SILENCE))
    found.public[:, 0] = PRICE_NUMBERS[price]
    owners = _owners(seeds, tables, found.public[:, 1:])
    team = tables.team[chosen]
    found.team[:] = np.where(team == OWNER, owners[rows, tables.root[chosen]], team)
    found.conditions[:] = _conditions(seeds, tables, chosen)
    return found


def _owners(seeds: Bits, tables: TokenTables, out: NDArray[np.uint8]) -> Ints:
    """The team of each service (N, n); flags of who owns what in ``out`` (N, owners n)."""
    topology, n = tables.topology, tables.n
    able = owning_teams(topology)
    pick = vec.below(vec.each(vec.subkey(seeds, DIRECTORY_STREAM), 0, n), len(able))
    np.put_along_axis(out, pick * n + np.arange(n), 1, axis=1)
    return np.array([topology.teams.index(team) for team in able])[pick]


def _conditions(seeds: Bits, tables: TokenTables, chosen: Ints) -> Ints:
    """The place of what each service is: as the truth has it, or as an unaffected one may be."""
    key = vec.subkey(seeds, CONDITION_STREAM)
    point = vec.draw(key[:, None] + vec.offsets_a(np.arange(tables.n))) >> _48
    steps = tables.unaffected_steps
    by_itself: Ints = (point[:, :, None].astype(np.int32) >= steps).sum(axis=2)
    reached = tables.condition_of[chosen]
    return np.where(reached >= 0, reached, by_itself)
