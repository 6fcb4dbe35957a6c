"""The check that a fault shows in time: at the edge, or in an alert of a service that it reaches.

An engineer who was never called cannot be blamed. The public tables say how likely a fault shows
in neither before the horizon.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import prod
from operator import mul
from types import MappingProxyType
from typing import Final

from logtriage.actions import SEVERITIES
from logtriage.audit.findings import NOT_OF_A_WORLD, Outcome, Verdict, judged
from logtriage.audit.subject import Work
from logtriage.audit.vocabulary import matter
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

#: A sentence names this many faults.
_NAMED: Final = 3


def symptom(work: Work) -> Outcome:
    """No fault may stay unseen too often."""
    drawn = work.subject.incidents("test", work.sizes.panel)
    worlds = [(row, row.simulation) for row in drawn if row.simulation is not None]
    if not worlds:
        return Outcome(Verdict.SKIPPED, NOT_OF_A_WORLD)
    if any(world.setting.several for _, world in worlds):
        why = "these incidents may have several faults at once: the check knows single faults alone"
        return Outcome(Verdict.SKIPPED, why)
    models = dict.fromkeys(
        (world.setting, world.topology, world.held, incident.horizon)
        for incident, world in worlds
        if not incident.truth.benign
    )
    if not models:
        return Outcome(Verdict.UNTESTED, "no incident of the sample is a real fault")
    rows = {
        f"{matter(fault, topology)} on {topology.name}": chance
        for setting, topology, held, horizon in list(models)[: work.sizes.models]
        for fault, chance in chances(setting, topology, held, horizon).items()
    }
    return judged_unseen(rows, work.limits.unseen)


def judged_unseen(rows: Mapping[str, Fraction], most: float) -> Outcome:
    """The outcome: none of ``rows``, the chance to stay unseen by fault, may exceed ``most``."""
    worst = sorted(rows, key=lambda fault: -rows[fault])
    above = [fault for fault in worst if rows[fault] > most]
    examples = above[:_NAMED] or worst[:1]
    named = ", ".join(f"{fault} ({float(rows[fault]):.2g})" for fault in examples)
    more = f" and {len(above) - _NAMED:,} more" if len(above) > _NAMED else ""
    lead = f"of {len(rows):,} faults none stays unseen more often than {most:g}; most often {named}"
    if above:
        may = "faults may show neither at the edge nor in alerts"
        lead = f"{len(above):,} of {len(rows):,} {may}: {named}{more}"
    return judged(
        not above,
        lead,
        faults=len(rows),
        unseen={fault: float(rows[fault]) for fault in above},
        threshold=most,
    )


@lru_cache(maxsize=64)
def chances(
    setting: Setting, topology: Topology, held: bool | None, horizon: int
) -> Mapping[Hypothesis, Fraction]:
    """For each fault of the public prior, the chance that nothing shows before the horizon."""
    whole, ranks = sum(setting.severities), range(len(SEVERITIES))
    rows = {}
    for fault in prior(setting, topology, held).hypotheses:
        if fault.faults:
            # Alerts do not depend on the severity, so its mean is of the edge alone.
            calm = (_edge_calm(setting, rank, fault, horizon) for rank in ranks)
            mixed = sum(map(mul, setting.severities, calm), start=Fraction(0)) / whole
            rows[fault] = _no_alert(setting, topology, fault, horizon) * mixed
    return MappingProxyType(rows)


def _edge_calm(setting: Setting, severity: int, fault: Hypothesis, horizon: int) -> Fraction:
    """The chance that every scrape of the edge is usual under a severity (0, 1, 2)."""
    first, starts = errors_first(setting.world, fault), range(0, horizon, SCRAPE)
    calm = Fraction(0)
    for sign, weight in zip(*edge_signs(setting, severity, first), strict=True):
        # Token 0 is the usual one.
        usual = (Fraction(edge_reading(setting, severity, sign, at)[0], FULL) for at in starts)
        calm += prod(usual, start=Fraction(weight, FULL))
    return calm


def _no_alert(setting: Setting, topology: Topology, fault: Hypothesis, horizon: int) -> Fraction:
    """The chance that no service that the fault reaches alerts before the horizon."""
    last, quiet = instant_of(horizon - 1), Fraction(1)
    for service, condition in affected(setting.world, topology, fault).items():
        reader = Reader(setting, places(topology)[service], (condition,))
        for sort in setting.world.slots[Channel.ALERT]:
            masses = fitting(reader, sort, UNSEEN.heard(last, fires=False))
            quiet *= Fraction(int(masses.sum()), 1 << MASS_BITS)
    return quiet
