"""A fault is seen: at the edge, or in an alert of a service that it reaches.

Whoever was never called cannot be blamed for not coming. A real fault must move the edge
panel from its usual figures, or let a service that it affects alert, before the horizon;
and since both are drawn, the chance that a fault of some kind at some place does neither
follows from the public tables. It is computed here for every hypothesis, and the incidents
that show nothing must not be more than that.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import prod, sqrt
from typing import Final

import attrs

from logtriage.actions import SEVERITIES
from logtriage.audit.findings import NOT_OF_A_WORLD, OF_SEVERAL, Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.incident import Incident
from logtriage.topology import Topology
from logtriage.world.channels import EPOCH, Channel, Evidence
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
#: A setting on a topology: what the chances hang on, besides the horizon.
_Model = tuple[Setting, Topology, bool | None, int]


def symptoms(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The check ``symptom``."""
    yield Check("symptom", lambda: _symptom(subject, sizes, limits))


@attrs.frozen
class Unseen:
    """How likely a hypothesis shows nothing before the horizon.

    ``chance`` over all severities, ``mildest`` if it is a P3.
    """

    hypothesis: Hypothesis
    chance: Fraction
    mildest: Fraction

    def told(self, topology: Topology) -> str:
        """Kind and service."""
        return " and ".join(
            f"{kind} at {topology.names[at]}" for kind, at in self.hypothesis.faults
        )


def _symptom(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    incidents = [one for one in subject.incidents("test", sizes.panel) if one.simulation]
    if not incidents:
        return Finding.skipped("symptom", NOT_OF_A_WORLD)
    if any(one.setting is not None and one.setting.several for one in incidents):
        return Finding.skipped("symptom", OF_SEVERAL)
    faults = [one for one in incidents if not one.truth.benign]
    if not faults:
        return Finding.untested("symptom", "no incident of the sample is a real fault")
    models: dict[_Model, list[Incident]] = {}
    for one in faults:
        world = _world(one)
        models.setdefault((world.setting, world.topology, world.held, one.horizon), []).append(one)
    chosen = dict(list(models.items())[: sizes.models])
    known = {model: chances(*model) for model in chosen}
    rows = [(row, topology) for (_, topology, *_), found in known.items() for row in found]
    worst, where = max(rows, key=lambda row: row[0].chance)
    above = sum(row.chance > limits.unseen for row, _ in rows)
    counted = [one for drawn in chosen.values() for one in drawn]
    unseen = [one.id for one in counted if not is_seen(one)]
    expected = [
        float(next(row.chance for row in known[model] if row.hypothesis == _world(one).truth))
        for model, drawn in chosen.items()
        for one in drawn
    ]
    error = sqrt(sum(chance * (1.0 - chance) for chance in expected))
    often = len(unseen) > sum(expected) + ERRORS * error
    told = (
        f"{len(counted) - len(unseen):,} of {len(counted):,} faults move the edge panel or an "
        f"alert of a service that they reach{f'; not {unseen[0]}' if unseen else ''}, where the "
        f"tables expect {sum(expected):.1f} that do not; of {len(rows):,} hypotheses {above:,} "
        f"stay unseen more often than {limits.unseen:g}, most "
        f"often {worst.told(where)}: {float(worst.chance):.2g}, as a P3 {float(worst.mildest):.2g}"
    )
    return Finding.judged(
        "symptom",
        not often and not above,
        told,
        faults=len(counted),
        unseen=unseen[:5],
        expected=sum(expected),
        hypotheses=len(rows),
        models=len(chosen),
        above=above,
        threshold=limits.unseen,
        most=float(worst.chance),
        most_as_p3=float(max(row.mildest for row, _ in rows)),
        who=worst.told(where),
    )


def _world(incident: Incident) -> Simulation:
    world = incident.simulation
    assert world is not None, "only incidents of a world are looked at"
    return world


def is_seen(incident: Incident) -> bool:
    """Whether a screen before the horizon shows the fault, if nothing is done."""
    world = _world(incident)
    return any(
        _shows(one, world) for now in range(incident.horizon) for one in world.shown(now, Doings())
    )


def _shows(item: Evidence, world: Simulation) -> bool:
    public = world.setting.world
    if item.channel is Channel.EDGE:
        return item.token != public.edge_tokens[0]
    alerts = item.channel is Channel.ALERT and item.token != public.ordinary[ALERT]
    return alerts and item.service in world.reached


@lru_cache(maxsize=64)
def chances(
    setting: Setting, topology: Topology, held: bool | None, horizon: int
) -> tuple[Unseen, ...]:
    """For each fault of the public prior: how likely nothing shows before the horizon."""
    whole = sum(setting.severities)
    found = []
    for one in prior(setting, topology, held).hypotheses:
        if not one.faults:
            continue
        silent = _no_alert(setting, topology, one, horizon)
        calm = [_edge_calm(setting, rank, one, horizon) for rank in range(len(SEVERITIES))]
        mixed = sum(
            (
                Fraction(share, whole) * part
                for share, part in zip(setting.severities, calm, strict=True)
            ),
            start=Fraction(0),
        )
        found.append(Unseen(one, silent * mixed, silent * calm[-1]))
    return tuple(found)


def _edge_calm(setting: Setting, severity: int, one: Hypothesis, horizon: int) -> Fraction:
    """How likely every reading of the edge panel is the usual one."""
    first, starts = errors_first(setting.world, one), range(0, horizon, EPOCH)
    return sum(
        (
            Fraction(weight, FULL)
            * _all(edge_reading(setting, severity, sign, at)[0] for at in starts)
            for sign, weight in zip(*edge_signs(setting, severity, first), strict=True)
        ),
        start=Fraction(0),
    )


def _all(weights: Iterable[int]) -> Fraction:
    """How likely all of what has these weights happens, each by itself."""
    return prod((Fraction(weight, FULL) for weight in weights), start=Fraction(1))


def _no_alert(setting: Setting, topology: Topology, one: Hypothesis, horizon: int) -> Fraction:
    """How likely none of the services that a fault reaches ever alerts."""
    starts = [start for start in setting.alert_ticks if start < horizon]
    quiet = Fraction(1)
    for service, condition in affected(setting.world, topology, one).items():
        quiet *= _quiet(setting, places(topology)[service], condition, starts)
    return quiet


def _quiet(setting: Setting, place: Place, condition: Condition, starts: list[int]) -> Fraction:
    """How likely a service's readings of its alert are all the ordinary one."""
    root, quiet = is_root(setting.world, condition), Fraction(1)
    for hidden in (False, True):
        read = [at for at in starts if (root and silent(setting, ALERT, at)) is hidden]
        row = sign_weights(setting, ALERT, place, condition, hidden=hidden)
        shown = [reading(setting, ALERT, place, start) for start in read]
        own = _all(one.sign + one.other[0] for one in shown)
        others = _all(one.other[0] for one in shown)
        quiet *= Fraction(row[0], FULL) * own + Fraction(FULL - row[0], FULL) * others
    return quiet
