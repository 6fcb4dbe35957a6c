"""The posterior over sets of faults: Bayes' rule as for one, for all sets at once.

Every set that may occur is a hypothesis, weighed in whole numbers by the same tables as a
single fault. Thousands of them are taken together as arrays; those that keep a weight
become the hypotheses of a model that everything else reads as it reads any other.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import combinations, product
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.belief.fixedpoint import (
    BITS,
    COARSE,
    EXP_BITS,
    FINE,
    LOST,
    NEVER,
    ONE,
    RULED_OUT,
    log2,
)
from logtriage.belief.model import HEALTHY_PLACE, Model
from logtriage.faults import fault_kind
from logtriage.topology import Topology
from logtriage.world.compounds import LINKED, SetPrior, set_prior
from logtriage.world.conditions import POOL, Condition, Hypothesis, affected, exhausts, unaffected
from logtriage.world.setting import Setting
from logtriage.world.signatures import POURS_LOAD

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: Stands for no fault, no service, no place.
NONE: Final = -1

_COARSE: Final = np.array(COARSE, np.int64)
_FINE: Final = np.array(FINE, np.int64)


def exp2(down: Longs) -> Longs:
    """2 to the power of ``-down``, as :func:`logtriage.belief.fixedpoint.exp2` of ``-down``."""
    fraction = down & (ONE - 1)
    found: Longs = _COARSE[fraction >> BITS // 2] * _FINE[fraction & (1 << BITS // 2) - 1]
    found >>= EXP_BITS
    found >>= np.minimum(down >> BITS, EXP_BITS + 1)
    found[down >= LOST] = 0
    return found


@attrs.frozen(eq=False)
class Listed:
    """Sets of faults as arrays, the benign hypotheses after them.

    ``members`` (H, K) are indices of single faults in the order of services, ``NONE`` for
    none; ``place`` (H, n) is what each service is, an index into ``conditions``, ``NONE``
    where nothing reaches it; ``errors_first`` (H,) is whether errors lead.
    """

    members: Longs
    place: Longs
    conditions: tuple[tuple[Condition, ...], ...]
    errors_first: Bools
    benign: tuple[Hypothesis, ...]

    @property
    def sets(self) -> int:
        """How many of the hypotheses have a fault."""
        return len(self.members) - len(self.benign)

    @cached_property
    def _keys(self) -> tuple[Longs, Longs]:
        keys = key_of(self.members[: self.sets])
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def row_of(self, members: Longs) -> Longs:
        """The row of each set (…, K), given in the order of services; ``NONE`` for no fault."""
        keys, order = self._keys
        wanted = key_of(members)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, order[at], NONE)


def key_of(members: Longs) -> Longs:
    """A number for each set of at most three faults, whatever the places of the gaps."""
    ordered = np.sort(members, axis=-1)
    key = np.zeros(ordered.shape[:-1], np.int64)
    for column in range(ordered.shape[-1]):
        key = key << 20 | (ordered[..., column] + 1)
    return key


@attrs.frozen(eq=False)
class SetModel(Model):
    """What a belief over sets of faults knows before any evidence.

    The hypotheses themselves are made for those alone that keep a weight.
    """

    @cached_property
    def sets(self) -> SetPrior:
        """The prior over sets."""
        return set_prior(self.setting, self.topology, self.held)

    @cached_property
    def singles(self) -> tuple[tuple[str, int], ...]:
        """Every single fault (kind, service), in the order of services."""
        return tuple(sorted(self.sets.weight_of, key=lambda one: one[1]))

    @cached_property
    def listed(self) -> Listed:
        """Every set that may occur.

        Raises:
            InvalidInput: for a topology with too many of them.
        """
        self.sets.check_listed()
        by_service: list[list[int]] = [[] for _ in self.topology.services]
        for number, (_, service) in enumerate(self.singles):
            by_service[service].append(number)
        places = [row for row in by_service if row]
        most = len(self.sets.counts)
        rows = [
            (*chosen, *(NONE for _ in range(most - size)))
            for size in range(1, most + 1)
            for services in combinations(places, size)
            for chosen in product(*services)
        ]
        return self.compiled(np.array(rows, np.int64).reshape(-1, most))

    def compiled(self, members: Longs) -> Listed:
        """Sets given by their members, with all benign hypotheses."""
        benign = self.sets.calm
        known: list[dict[Condition, int]] = [
            {condition: place for place, (condition, _) in enumerate(unaffected(row.tier))}
            for row in self.topology.services
        ]
        place = np.full((len(members) + len(benign), len(self.topology)), NONE, np.int64)
        self._place_sets(members, known, place)
        for row, one in enumerate(benign, len(members)):
            for service, condition in affected(self.topology, one).items():
                place[row, service] = known[service].setdefault(condition, len(known[service]))
        leads = np.array([fault_kind(kind).errors for kind, _ in self.singles] + [False])
        gaps = np.full((len(benign), members.shape[1]), NONE, np.int64)
        return Listed(
            np.concatenate([members, gaps]),
            place,
            tuple(map(tuple, known)),
            np.concatenate([leads[members].any(axis=1), np.zeros(len(benign), np.bool_)]),
            benign,
        )

    def _place_sets(self, members: Longs, known: list[dict[Condition, int]], place: Longs) -> None:
        """Fill in what each service is: sets that differ in kinds of one sort share all else."""
        plain = np.array([self._sort(one) for one in self.singles] + [NONE], np.int64)
        groups, which = np.unique(plain[members], axis=0, return_inverse=True)
        service_of = np.array([service for _, service in self.singles])
        own = np.array(
            [
                known[service].setdefault(Condition(kind), len(known[service]))
                for kind, service in self.singles
            ]
        )
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel(), minlength=len(groups)))
        for start, end in zip((0, *ends[:-1].tolist()), ends.tolist(), strict=True):
            rows = order[start:end]
            faults = [self.singles[one] for one in members[rows[0]] if one != NONE]
            reached = affected(self.topology, Hypothesis(tuple(faults)))
            for service, condition in reached.items():
                place[rows, service] = known[service].setdefault(condition, len(known[service]))
            for column, (kind, service) in enumerate(faults):
                if reached[service].name == kind:
                    chosen = members[rows, column]
                    place[rows, service_of[chosen]] = own[chosen]

    def _sort(self, fault: tuple[str, int]) -> int:
        """Faults of one sort at a service reach others alike."""
        kind, service = fault
        return service * 3 + (1 if kind in POURS_LOAD else 2 if kind == POOL else 0)

    def log_weights(self, listed: Listed) -> Longs:
        """The logarithms of the prior weights of sets, then of the benign hypotheses."""
        table, singles = self.sets, self.singles
        alone = np.array([log2(table.weight_of[one]) for one in singles] + [0], np.int64)
        members = listed.members[: listed.sets]
        sizes = (members != NONE).sum(axis=1)
        of_size = np.array(
            [
                0,
                *(
                    log2(share) - log2(total) if share and total else NEVER
                    for share, total in zip(table.shares[1:], table.raw_totals, strict=True)
                ),
            ],
            np.int64,
        )
        links = np.zeros(len(members), np.int64)
        for first, second in product(range(members.shape[1]), repeat=2):
            links += self._linked[members[:, first], members[:, second]]
        factors = np.array(
            [log2(1 + LINKED * one) for one in range(int(links.max(initial=0)) + 1)], np.int64
        )
        found = alone[members].sum(axis=1) + of_size[sizes] + factors[links]
        calm = log2(table.shares[0]) - log2(len(listed.benign)) if table.shares[0] else NEVER
        return np.concatenate([found, np.full(len(listed.benign), calm)])

    @cached_property
    def _linked(self) -> Longs:
        """1 where the first fault exhausts the pool that is the second; the last is none."""
        count = len(self.singles)
        found = np.zeros((count + 1, count + 1), np.int64)
        for one, (_, below) in enumerate(self.singles):
            for other, (kind, caller) in enumerate(self.singles):
                found[one, other] = (
                    kind == POOL
                    and exhausts(self.topology, below)
                    and below in self.topology.calls[caller]
                )
        return found

    @cached_property
    def log_listed(self) -> Longs:
        """The logarithms of the prior weights of every set that may occur."""
        return self.log_weights(self.listed)

    def chosen(self, listed: Listed, rows: Sequence[int]) -> "Chosen":
        """The model of some of the hypotheses, in the order given."""
        return Chosen(self.setting, self.topology, self.held, self, listed, tuple(rows))


@attrs.frozen(eq=False)
class Chosen(Model):
    """Some of the hypotheses of a model over sets: those that kept a weight."""

    whole: SetModel
    listed: Listed
    rows: tuple[int, ...]

    @property
    def exact(self) -> bool:
        """Whether every set was weighed before these were chosen."""
        return self.whole.sets.listable

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that are left."""
        return tuple(map(self.hypothesis, range(len(self.rows))))

    def hypothesis(self, place: int) -> Hypothesis:
        """The hypothesis at a place; the others are not made for it."""
        row = self.rows[place]
        if row >= self.listed.sets:
            return self.listed.benign[row - self.listed.sets]
        members: Iterable[Any] = self.listed.members[row].tolist()
        return Hypothesis(tuple(self.whole.singles[one] for one in members if one != NONE))

    @property
    def conditions(self) -> tuple[tuple[Condition, ...], ...]:
        """What each service can be."""
        return self.listed.conditions

    def reached_by(self, chosen: Sequence[int]) -> Longs:
        """What each service is under some of them (len(chosen), n); ``NONE`` if not reached."""
        found: Longs = self.listed.place[[self.rows[one] for one in chosen]]
        return found

    @cached_property
    def reach(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """What each hypothesis makes of the services that it reaches."""
        found = self.listed.place[list(self.rows)].tolist()
        return tuple(
            tuple((service, place) for service, place in enumerate(row) if place != NONE)
            for row in found
        )


@lru_cache(maxsize=8)
def set_model_of(setting: Setting, topology: Topology, held: bool | None) -> SetModel:
    """The compiled model; kept, since every incident of a task on a topology shares it."""
    return SetModel(setting, topology, held)


__all__ = ["HEALTHY_PLACE", "NEVER", "NONE", "RULED_OUT", "Listed", "SetModel", "set_model_of"]
