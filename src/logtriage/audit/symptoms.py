"""A fault is seen: at the edge, or in an alert of a service that it reaches.

An engineer who was never called cannot be blamed for not coming. A real fault must move the edge
panel from its usual figures, or let a service that it affects alert, before the horizon. Both are
drawn, so the public tables say how likely each hypothesis does neither. The check computes that,
and counts the incidents that show nothing.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import prod, sqrt
from operator import mul
from typing import Final

import attrs

from logtriage.actions import SEVERITIES
from logtriage.audit.findings import NOT_OF_A_WORLD, OF_SEVERAL, Outcome, judged, skipped, untested
from logtriage.audit.subject import Work
from logtriage.incident import Incident
from logtriage.topology import Topology
from logtriage.world.channels import EPOCH, Channel
from logtriage.world.conditions import Condition, Hypothesis, affected, errors_first
from logtriage.world.prior import prior
from logtriage.world.schedule import Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.signs import (
    edge_reading,
    edge_signs,
    is_root,
    reading,
    sign_weights,
    silent,
)
from logtriage.world.simulation import Simulation
from logtriage.world.tables import Place, places
from logtriage.world.vocabulary import ALERT

#: So many standard errors are allowed for.
ERRORS: Final = 3.0
#: Everything that the chances depend on: setting, topology, held-out places, horizon.
_Model = tuple[Setting, Topology, bool | None, int]


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
    """No fault stays unseen too often, and incidents do no more often than the tables say."""
    limit = work.limits.unseen
    drawn = work.subject.incidents("test", work.sizes.panel)
    incidents = [
        (incident, incident.simulation) for incident in drawn if incident.simulation is not None
    ]
    if not incidents:
        return skipped(NOT_OF_A_WORLD)
    if any(world.setting.several for _, world in incidents):
        return skipped(OF_SEVERAL)
    models: dict[_Model, list[tuple[Incident, Simulation]]] = {}
    for incident, world in incidents:
        if not incident.truth.benign:
            model = (world.setting, world.topology, world.held, incident.horizon)
            models.setdefault(model, []).append((incident, world))
    if not models:
        return untested("no incident of the sample is a real fault")
    rows: list[tuple[Unseen, Topology]] = []
    unseen, expected = list[str](), list[float]()
    for model, faults in list(models.items())[: work.sizes.models]:
        table = {row.hypothesis: row for row in chances(*model)}
        rows += [(row, model[1]) for row in table.values()]
        expected += [float(table[world.truth].chance) for _, world in faults]
        unseen += [incident.id for incident, _ in faults if not is_seen(incident)]
    worst, where = max(rows, key=lambda row: row[0].chance)
    above = sum(row.chance > limit for row, _ in rows)
    error = sqrt(sum(chance * (1.0 - chance) for chance in expected))
    often = len(unseen) > sum(expected) + ERRORS * error
    return judged(
        not often and not above,
        f"{len(expected) - len(unseen):,} of {len(expected):,} faults move the edge panel or an "
        f"alert of a service that they reach{f'; not {unseen[0]}' if unseen else ''}, where the "
        f"tables expect {sum(expected):.1f} that do not; of {len(rows):,} hypotheses {above:,} "
        f"stay unseen more often than {limit:g}, most "
        f"often {worst.in_words(where)}: {float(worst.chance):.2g}, as a P3 "
        f"{float(worst.mildest):.2g}",
        faults=len(expected),
        unseen=unseen[:5],
        expected=sum(expected),
        hypotheses=len(rows),
        models=min(len(models), work.sizes.models),
        above=above,
        threshold=limit,
        most=float(worst.chance),
        most_as_p3=float(max(row.mildest for row, _ in rows)),
        who=worst.in_words(where),
    )


def is_seen(incident: Incident) -> bool:
    """Whether a screen before the horizon shows the fault, if nothing is done."""
    world = incident.simulation
    assert world is not None, "only incidents of a world are looked at"
    usual = {
        Channel.EDGE: world.setting.world.edge_tokens[0],
        Channel.ALERT: world.setting.world.ordinary[ALERT],
    }
    return any(
        cell.token != usual.get(cell.channel, cell.token)
        and (cell.channel is Channel.EDGE or cell.service in world.reached)
        for now in range(incident.horizon)
        for cell in world.shown(now, Doings())
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
    """How likely every reading of the edge panel is the usual one."""
    first, starts = errors_first(setting.world, fault), range(0, horizon, EPOCH)
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
    starts = [start for start in setting.alert_ticks if start < horizon]
    quiet = Fraction(1)
    for service, condition in affected(setting.world, topology, fault).items():
        quiet *= _quiet(setting, places(topology)[service], condition, starts)
    return quiet


def _quiet(setting: Setting, place: Place, condition: Condition, starts: list[int]) -> Fraction:
    """How likely a service's readings of its alert are all the ordinary one."""
    root, quiet = is_root(setting.world, condition), Fraction(1)
    for hidden in (False, True):
        read = [at for at in starts if (root and silent(setting, ALERT, at)) is hidden]
        weights = sign_weights(setting, ALERT, place, condition, hidden=hidden)
        shown = [reading(setting, ALERT, place, start) for start in read]
        own = _all(row.sign + row.other[0] for row in shown)
        others = _all(row.other[0] for row in shown)
        quiet *= Fraction(weights[0], FULL) * own + Fraction(FULL - weights[0], FULL) * others
    return quiet
