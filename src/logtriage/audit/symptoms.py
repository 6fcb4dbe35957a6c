"""A fault is seen: at the edge, or in an alert of a service that it reaches.

An engineer who was never called cannot be blamed for not coming. A real fault must move the edge
panel from its usual figures, or let a service that it affects alert, before the horizon. Both are
drawn, so the public tables say how likely each hypothesis does neither.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import prod
from operator import mul

import attrs

from logtriage.actions import SEVERITIES
from logtriage.audit.findings import NOT_OF_A_WORLD, OF_SEVERAL, Outcome, judged, skipped, untested
from logtriage.audit.subject import Work
from logtriage.beliefs.model import Reader
from logtriage.beliefs.outcomes import MASS_BITS, UNSEEN, fitting
from logtriage.topology import Topology
from logtriage.world.channels import SCRAPE, Channel
from logtriage.world.conditions import Hypothesis, affected, errors_first
from logtriage.world.edge import edge_reading, edge_signs
from logtriage.world.histories import instant_of
from logtriage.world.prior import prior
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import places


@attrs.frozen
class Unseen:
    """How likely a hypothesis shows nothing before the horizon.

    ``chance`` is over all severities, ``mildest`` for a P3.
    """

    hypothesis: Hypothesis
    chance: Fraction
    mildest: Fraction

    def in_words(self, topology: Topology) -> str:
        """Kind and service."""
        return " and ".join(
            f"{kind} at {topology.names[at]}" for kind, at in self.hypothesis.faults
        )


def symptom(work: Work) -> Outcome:
    """No fault stays unseen too often."""
    limit = work.limits.unseen
    drawn = work.subject.incidents("test", work.sizes.panel)
    worlds = [(row, row.simulation) for row in drawn if row.simulation is not None]
    if not worlds:
        return skipped(NOT_OF_A_WORLD)
    if any(world.setting.several for _, world in worlds):
        return skipped(OF_SEVERAL)
    models = dict.fromkeys(
        (world.setting, world.topology, world.held, incident.horizon)
        for incident, world in worlds
        if not incident.truth.benign
    )
    if not models:
        return untested("no incident of the sample is a real fault")
    looked_at = list(models)[: work.sizes.models]
    rows = [(row, model[1]) for model in looked_at for row in chances(*model)]
    worst, where = max(rows, key=lambda row: row[0].chance)
    above = sum(row.chance > limit for row, _ in rows)
    return judged(
        not above,
        f"{above:,} of {len(rows):,} faults stay unseen, at the edge and in alerts, more often "
        f"than {limit:g}; most often {worst.in_words(where)}: {float(worst.chance):.2g}, as a P3 "
        f"{float(worst.mildest):.2g}",
        hypotheses=len(rows),
        models=len(looked_at),
        above=above,
        threshold=limit,
        most=float(worst.chance),
        most_as_p3=float(max(row.mildest for row, _ in rows)),
        who=worst.in_words(where),
    )


@lru_cache(maxsize=64)
def chances(
    setting: Setting, topology: Topology, held: bool | None, horizon: int
) -> tuple[Unseen, ...]:
    """For each fault of the public prior: how likely nothing shows before the horizon."""
    whole = sum(setting.severities)
    rows = []
    for fault in prior(setting, topology, held).hypotheses:
        if fault.faults:
            silence = _no_alert(setting, topology, fault, horizon)
            calm = [_edge_calm(setting, rank, fault, horizon) for rank in range(len(SEVERITIES))]
            mixed = sum(map(mul, setting.severities, calm), start=Fraction(0)) / whole
            rows.append(Unseen(fault, silence * mixed, silence * calm[-1]))
    return tuple(rows)


def _edge_calm(setting: Setting, severity: int, fault: Hypothesis, horizon: int) -> Fraction:
    """How likely every reading of the edge panel is the usual reading."""
    first, starts = errors_first(setting.world, fault), range(0, horizon, SCRAPE)
    calm = Fraction(0)
    for sign, weight in zip(*edge_signs(setting, severity, first), strict=True):
        usual = (edge_reading(setting, severity, sign, start)[0] for start in starts)
        calm += Fraction(weight, FULL) * _all(usual)
    return calm


def _all(weights: Iterable[int]) -> Fraction:
    """The probability that independent events of these weights all happen."""
    return prod((Fraction(weight, FULL) for weight in weights), start=Fraction(1))


def _no_alert(setting: Setting, topology: Topology, fault: Hypothesis, horizon: int) -> Fraction:
    """How likely none of the services that a fault reaches ever alerts."""
    last, quiet = instant_of(horizon - 1), Fraction(1)
    for service, condition in affected(setting.world, topology, fault).items():
        reader = Reader(setting, places(topology)[service], (condition,))
        for sort in setting.world.slots[Channel.ALERT]:
            masses = fitting(reader, sort, UNSEEN.heard(last, fires=False))
            quiet *= Fraction(int(masses.sum()), 1 << MASS_BITS)
    return quiet
