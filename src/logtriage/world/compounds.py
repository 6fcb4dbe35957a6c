"""The public prior over sets of faults at distinct services. Draws and beliefs both use it.

Among sets of one size, a set weighs the product of its faults' own weights: the faults are
independent, but sit at distinct services. In some worlds a fault can bring about a secondary fault
at a caller (:func:`logtriage.world.conditions.secondary`). A set weighs more for each such pair.

The weights of all sets of one size sum to an elementary symmetric polynomial of the services'
weights. So a set can be drawn on any topology without a list of all sets.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, combinations, product
from math import prod
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.conditions import Hypothesis, brings_about
from logtriage.world.prior import TOTAL, Prior, prior
from logtriage.world.setting import Setting

#: The heaviest single fault keeps this many bits of its weight, the lightest a dozen.
_BITS: Final = 16
#: The most hypotheses that :attr:`SetPrior.listed` lists.
LISTED: Final = 150_000
#: A kind, and the index of the service that it strikes.
Fault = tuple[str, int]
#: A service, and the fault that its own faults may bring about at one of its callers.
Link = tuple[int, Fault]


@attrs.frozen(eq=False)
class SetPrior:
    """Sets of faults with their weights; ``single`` is the prior of one fault alone."""

    setting: Setting
    topology: Topology
    single: Prior

    @property
    def linked(self) -> int:
        """Each link in a set adds this many times the set's product weight; 0 without a rule."""
        rule = self.setting.world.rules.secondary_fault
        return 0 if rule is None else rule.weight

    @cached_property
    def weight_of(self) -> dict[Fault, int]:
        """The weight of each fault that may occur, in the order of services."""
        rows = [
            (hypothesis.faults[0], weight)
            for hypothesis, weight in zip(self.single.hypotheses, self.single.weights, strict=True)
            if hypothesis.faults
        ]
        cut = max(0, max(weight for _, weight in rows).bit_length() - _BITS)
        return {fault: max(1, weight >> cut) for fault, weight in rows}

    @cached_property
    def by_service(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """(kind, weight) of each kind that may occur, for each service."""
        rows: list[list[tuple[str, int]]] = [[] for _ in self.topology.services]
        for (kind, service), weight in self.weight_of.items():
            rows[service].append((kind, weight))
        return tuple(map(tuple, rows))

    @cached_property
    def at_service(self) -> tuple[int, ...]:
        """The sum of the weights of each service's faults."""
        return tuple(sum(weight for _, weight in row) for row in self.by_service)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All pairs of a service and the fault that it may bring about at a caller."""
        world = self.setting.world
        rule = world.rules.secondary_fault
        return tuple(
            (below, (rule.kind, caller))
            for caller, callees in enumerate(self.topology.calls)
            if rule is not None and (rule.kind, caller) in self.weight_of
            for below in callees
            if brings_about(world, self.topology, below) and self.at_service[below]
        )

    # --- weights -----------------------------------------------------------------------

    def raw(self, faults: Sequence[Fault]) -> int:
        """The weight of a set among those of its size; 0 if it cannot occur."""
        places = {service for _, service in faults}
        if len(places) < len(faults):
            return 0
        pairs = sum(below in places and fault in faults for below, fault in self.links)
        return prod(self.weight_of.get(fault, 0) for fault in faults) * (1 + self.linked * pairs)

    @cached_property
    def raw_totals(self) -> tuple[int, ...]:
        """The weight of all sets of 1, 2, ... faults; 0 if the topology has too few services."""
        return tuple(map(self._raw_total, range(1, len(self.setting.counts) + 1)))

    def _raw_total(self, size: int) -> int:
        with_link = sum(self._with_link(link, size) for link in self.links)
        return _symmetric(self.at_service, size) + with_link * self.linked

    def _with_link(self, link: Link, size: int) -> int:
        """The summed product weights of the sets of ``size`` faults that contain a link."""
        if size < 2:
            return 0
        below, fault = link
        pair = self.at_service[below] * self.weight_of[fault]
        return pair * _symmetric(self._others(link), size - 2)

    def _others(self, link: Link) -> tuple[int, ...]:
        """:attr:`at_service`, but 0 at the two services of a link."""
        below, (_, caller) = link
        return tuple(
            0 if service in (below, caller) else weight
            for service, weight in enumerate(self.at_service)
        )

    @cached_property
    def shares(self) -> tuple[int, ...]:
        """The weight of all benign hypotheses, then of all sets of 1, 2, ... faults."""
        real = TOTAL * (1000 - self.setting.benign) // 1000
        rows = zip(self.setting.counts, self.raw_totals, strict=True)
        possible = [count if total else 0 for count, total in rows]
        if not any(possible):
            raise InvalidInput(f"topology {self.topology.name!r} has too few places for faults")
        each = (real * share // sum(possible) for share in possible)
        return TOTAL * self.setting.benign // 1000, *each

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(self.shares)

    def weight(self, hypothesis: Hypothesis) -> int:
        """The weight of a hypothesis; all weights sum to :attr:`total`, but for rounding."""
        if not hypothesis.faults:
            return self.shares[0] // len(self.calm)
        size = len(hypothesis.faults)
        if size >= len(self.shares) or not self.raw_totals[size - 1]:
            return 0
        return self.raw(hypothesis.faults) * self.shares[size] // self.raw_totals[size - 1]

    # --- sets --------------------------------------------------------------------------

    @cached_property
    def calm(self) -> tuple[Hypothesis, ...]:
        """The benign hypotheses, equally likely."""
        return tuple(hypothesis for hypothesis in self.single.hypotheses if not hypothesis.faults)

    @cached_property
    def many(self) -> int:
        """How many hypotheses there are."""
        kinds = tuple(len(row) for row in self.by_service if row)
        sizes = range(1, min(len(self.setting.counts), len(kinds)) + 1)
        return len(self.calm) + sum(_symmetric(kinds, size) for size in sizes)

    def sets(self) -> Iterator[Hypothesis]:
        """Every set of faults: by size, then by services, then by kinds."""
        places = [service for service, row in enumerate(self.by_service) if row]
        for size in range(1, len(self.setting.counts) + 1):
            for chosen in combinations(places, size):
                for rows in product(*(self.by_service[service] for service in chosen)):
                    faults = [(kind, at) for (kind, _), at in zip(rows, chosen, strict=True)]
                    yield Hypothesis(tuple(faults))

    @cached_property
    def listed(self) -> Prior:
        """Every hypothesis; InvalidInput if there are more than :data:`LISTED`."""
        self.check_listed()
        hypotheses = (*self.sets(), *self.calm)
        weights = tuple(map(self.weight, hypotheses))
        return Prior(hypotheses, weights, sum(weights))

    @property
    def listable(self) -> bool:
        """Whether the sets are few enough to be listed."""
        return self.many <= LISTED

    def check_listed(self) -> None:
        """Raise InvalidInput if there are more than :data:`LISTED`."""
        if not self.listable:
            raise InvalidInput(
                f"topology {self.topology.name!r}: {self.many:,} sets of faults are possible; "
                f"up to {LISTED:,} are listed one by one"
            )

    # --- draws -------------------------------------------------------------------------

    def pick(self, size_bits: int, set_bits: int) -> Hypothesis:
        """The hypothesis that 64 bits for its number of faults and 64 bits for its set pick."""
        point = size_bits * self.total >> 64
        size = 0
        while point >= self.shares[size]:
            point -= self.shares[size]
            size += 1
        if not size:
            return self.calm[set_bits * len(self.calm) >> 64]
        return self.of_rank(size, set_bits * self.raw_totals[size - 1] >> 64)

    def of_rank(self, size: int, rank: int) -> Hypothesis:
        """The set of ``size`` faults at a rank from 0; a set has as many ranks as its weight."""
        # First come the ranks of product weights, then, link by link, those that the link adds.
        whole = _symmetric(self.at_service, size)
        if rank < whole:
            return _hypothesis(self._unranked(self.at_service, size, rank))
        rank -= whole
        for link in self.links:
            share = self.linked * self._with_link(link, size)
            if rank < share:
                break
            rank -= share
        below, fault = link
        rank //= self.linked * self.weight_of[fault]  # every choice of the others has so many
        rank, point = divmod(rank, self.at_service[below])
        rest = self._unranked(self._others(link), size - 2, rank)
        return _hypothesis([fault, self._fault(below, point), *rest])

    def _unranked(self, weights: tuple[int, ...], size: int, rank: int) -> list[Fault]:
        """The set at a rank among the ranks of product weights."""
        faults: list[Fault] = []
        table = _suffixes(weights, size)
        for service, weight in enumerate(weights):
            without = table[service + 1][size]  # the ranks of sets without it come first
            if size and rank >= without:
                rank, point = divmod(rank - without, weight)
                faults.append(self._fault(service, point))
                size -= 1
        return faults

    def _fault(self, service: int, point: int) -> Fault:
        """The fault of a service at a point below the weight of all its faults."""
        kinds = self.by_service[service]
        steps = list(accumulate(weight for _, weight in kinds))
        return kinds[bisect_right(steps, point)][0], service


def _hypothesis(faults: list[Fault]) -> Hypothesis:
    return Hypothesis(tuple(sorted(faults, key=lambda fault: fault[1])))


def _symmetric(weights: tuple[int, ...], size: int) -> int:
    """The elementary symmetric polynomial of degree ``size`` of ``weights``."""
    return _suffixes(weights, size)[0][size]


@lru_cache(maxsize=4096)
def _suffixes(weights: tuple[int, ...], size: int) -> tuple[tuple[int, ...], ...]:
    """``[n][k]`` is the elementary symmetric polynomial of degree k of ``weights[n:]``."""
    row = (1, *(0 for _ in range(size)))
    rows = [row]
    for weight in reversed(weights):
        row = (1, *(row[degree] + weight * row[degree - 1] for degree in range(1, size + 1)))
        rows.append(row)
    return tuple(reversed(rows))


@lru_cache(maxsize=64)
def set_prior(setting: Setting, topology: Topology, held: bool | None) -> SetPrior:
    """The prior over sets of faults; arguments and errors as of :func:`prior`."""
    return SetPrior(setting, topology, prior(setting, topology, held))
