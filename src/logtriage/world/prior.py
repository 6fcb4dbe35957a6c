"""The public prior: every hypothesis of a task on a topology, with a whole-number weight.

The generator draws truths from this table, and the belief starts from it.
"""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.faults import FAULT_KINDS, FaultClass, FaultKind
from logtriage.topology import Topology
from logtriage.world.conditions import Hypothesis, benign_kinds
from logtriage.world.setting import Setting

#: Weights of all hypotheses together, before rounding.
TOTAL: Final = 1 << 48
#: Shares of the fault classes, per cent: of code, data, capacity, security. A third of
#: code and data is each owner's, so that no team is right in more than 35 % of the faults.
_CLASS_WEIGHTS: Final = {FaultClass.CODE: 34, FaultClass.DATA: 26, FaultClass.CAPACITY: 20,
                         FaultClass.SECURITY: 20}  # fmt: skip
#: About one in seven (service, kind) pairs is kept for split ``ood``; the pattern leaves
#: every service some of both.
_HELD_OUT_EVERY: Final = 7
_HELD_OUT_OFFSET: Final = 2


def held_out(topology: Topology, service: int, kind: FaultKind) -> bool:
    """Whether a (service, fault) pair is kept from every split but ``ood``.

    A kind that can strike only one service is never held out: no kind is unseen.
    """
    if sum(one.tier in kind.tiers for one in topology.services) == 1:
        return False
    number = FAULT_KINDS.index(kind)
    return (service + 2 * number + _HELD_OUT_OFFSET) % _HELD_OUT_EVERY == 0


@attrs.frozen(eq=False)
class Prior:
    """Hypotheses and their weights, both in one order; ``total`` is their sum."""

    hypotheses: tuple[Hypothesis, ...]
    weights: tuple[int, ...]
    total: int


@lru_cache(maxsize=256)
def prior(setting: Setting, topology: Topology, held: bool | None) -> Prior:
    """The prior of a setting on a topology.

    ``held`` False leaves out the pairs that are kept for ``ood``; True raises them to
    half of the weight; None treats all pairs alike (topologies of one's own).

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
    kept = sum(weight for _, weight, out in faults if out)
    rows: list[tuple[Hypothesis, int]] = []
    for hypothesis, weight, out in faults:
        if held and 0 < kept < whole:
            part, base = fault_total // 2, kept if out else whole - kept
        else:
            part, base = fault_total, whole
        rows.append((hypothesis, weight * part // base))
    benign = [
        Hypothesis(benign=(kind, service))
        for service, row in enumerate(topology.services)
        for kind in benign_kinds(row.tier)
    ]
    each = TOTAL * setting.benign // 1000 // len(benign)
    rows.extend((hypothesis, each) for hypothesis in benign)
    weights = tuple(weight for _, weight in rows)
    return Prior(tuple(hypothesis for hypothesis, _ in rows), weights, sum(weights))


def _faults(
    setting: Setting, topology: Topology, held: bool | None
) -> list[tuple[Hypothesis, int, bool]]:
    """Every fault with its weight, and whether its pair is kept for ``ood``."""
    found: list[tuple[Hypothesis, int, bool]] = []
    for service, row in enumerate(topology.services):
        if setting.called_only and not topology.callers[service]:
            continue
        kinds = [
            kind
            for kind in FAULT_KINDS
            if row.tier in kind.tiers
            and (kind.drifts or not setting.creeping)
            and not (held is False and held_out(topology, service, kind))
        ]
        present = {kind.fault_class for kind in kinds}
        shares = sum(_CLASS_WEIGHTS[one] for one in present)
        for kind in kinds:
            alike = sum(one.fault_class is kind.fault_class for one in kinds)
            weight = (1 << 32) * _CLASS_WEIGHTS[kind.fault_class] // shares // alike
            out = held_out(topology, service, kind)
            found.append((Hypothesis(((kind.name, service),)), weight, out))
    return found
