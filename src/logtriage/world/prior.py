"""The public prior: every hypothesis of a task on a topology, with a whole-number weight.

Truths are drawn from this table, and beliefs start from it.
"""

from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.conditions import Hypothesis
from logtriage.world.schema.parts import Kind
from logtriage.world.setting import Setting

#: The weights of all hypotheses sum to this, before rounding.
TOTAL: Final = 1 << 48
#: About one in seven (service, kind) pairs is kept for split ``ood``; the pattern leaves
#: every service some of both.
_HELD_OUT_EVERY: Final = 7
_HELD_OUT_OFFSET: Final = 2


def held_out(topology: Topology, service: int, kind: Kind) -> bool:
    """Whether a (service, kind) pair is kept from every split but ``ood``.

    A kind that can strike only one service is never held out: no kind is unseen.
    """
    if sum(service.tier in kind.tiers for service in topology.services) == 1:
        return False
    return (service + 2 * kind.order + _HELD_OUT_OFFSET) % _HELD_OUT_EVERY == 0


@attrs.frozen(eq=False)
class Prior:
    """Hypotheses and their weights, both in one order; ``total`` is their sum."""

    hypotheses: tuple[Hypothesis, ...]
    weights: tuple[int, ...]
    total: int

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The cumulative weights, in the order of the hypotheses."""
        return tuple(accumulate(self.weights))


@lru_cache(maxsize=256)
def prior(setting: Setting, topology: Topology, held: bool | None) -> Prior:
    """The prior of a setting on a topology.

    ``held`` False leaves out the :func:`held_out` pairs; True raises them to half of the faults'
    weight; None treats all pairs alike (drawn topologies, and your own).

    Raises:
        InvalidInput: if the topology has no place for a fault of the setting.
    """
    fault_total = TOTAL * (1000 - setting.benign) // 1000
    faults = _faults(setting, topology, held)
    if not faults:
        raise InvalidInput(
            f"topology {topology.name!r} has no place for a fault of this task"
            + (": it needs a service that another one calls" if setting.called_only else "")
        )
    whole = sum(weight for _, weight, _ in faults)
    held_back = sum(weight for _, weight, out in faults if out)
    rows: list[tuple[Hypothesis, int]] = []
    halves = held and 0 < held_back < whole
    for hypothesis, weight, out in faults:
        if halves:
            half = held_back if out else whole - held_back
            rows.append((hypothesis, weight * (fault_total // 2) // half))
        else:
            rows.append((hypothesis, weight * fault_total // whole))
    benign = [
        Hypothesis(benign=(kind.name, service))
        for service, row in enumerate(topology.services)
        for kind in setting.world.benign_at(row.tier)
    ]
    each = TOTAL * setting.benign // 1000 // len(benign)
    rows.extend((hypothesis, each) for hypothesis in benign)
    weights = tuple(weight for _, weight in rows)
    return Prior(tuple(hypothesis for hypothesis, _ in rows), weights, sum(weights))


def _faults(
    setting: Setting, topology: Topology, held: bool | None
) -> list[tuple[Hypothesis, int, bool]]:
    """(hypothesis, weight, whether it is held out) of every single fault."""
    faults: list[tuple[Hypothesis, int, bool]] = []
    world = setting.world
    for service, row in enumerate(topology.services):
        if setting.called_only and not topology.callers[service]:
            continue
        kinds = [
            kind
            for kind in world.kinds_at(row.tier)
            if (kind.drifts or not setting.creeping)
            and not (held is False and held_out(topology, service, kind))
        ]
        present = {kind.fault_class for kind in kinds}
        shares = sum(world.classes[name].weight for name in present)
        # 2^32 of each service, parted among classes by their weights, then evenly among kinds.
        for kind in kinds:
            alike = sum(other.fault_class == kind.fault_class for other in kinds)
            weight = (1 << 32) * world.classes[kind.fault_class].weight // shares // alike
            out = held_out(topology, service, kind)
            faults.append((Hypothesis(((kind.name, service),)), weight, out))
    return faults
