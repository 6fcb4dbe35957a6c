"""Signs stay as the rules say: two readings of one sign agree, and those of two do not.

A world whose signs stay draws a sign once for a condition and reads it with error. So how often
two readings show the same follows from the public tables: often while the condition stays, also
through a remedy that changes nothing, and by chance alone once it has changed. Each incident is
played with requests around a remedy, wrong in every other one; of each sign two readings count, so
that counts are sums of independent draws.
"""

from collections import defaultdict
from collections.abc import Iterator
from math import sqrt
from statistics import NormalDist
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    SEVERITIES,
    Action,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
)
from logtriage.audit.findings import Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.evidence import evidence
from logtriage.incident import Incident
from logtriage.state import initial_state
from logtriage.transition import transition
from logtriage.world.channels import NOTHING_READ, Channel, Evidence
from logtriage.world.conditions import Condition, errors_first
from logtriage.world.outcomes import edge_state, fixed_at, spell
from logtriage.world.schedule import Doings
from logtriage.world.setting import FULL
from logtriage.world.signs import (
    edge_reading,
    edge_signs,
    is_root,
    reading,
    sign_weights,
    silent,
)
from logtriage.world.simulation import Simulation
from logtriage.world.tables import base_of, places

NO_SIGNS: Final = "these incidents are not drawn from a world, whose signs stay"
#: A count of agreements is tested where its variance is at least this.
_LEAST_VARIANCE: Final = 5.0
#: Services that are asked: the one that is treated, and others.
_AROUND: Final = 3
Floats = NDArray[np.float64]


@attrs.frozen
class Sign:
    """What a reading may show: a sort of a service, its condition, and since when that holds.

    ``hidden`` is whether a root keeps its own sign to itself. The edge has no condition, but a
    ``severity``.
    """

    service: int
    sort: str
    begin: int
    condition: Condition | None = None
    hidden: bool = False
    severity: int = 0


@attrs.frozen
class Read:
    """A reading of a sign. ``likely`` (signs, tokens) is what it shows given each sign."""

    token: str
    likely: Floats


def stays(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    """The check ``stays``."""
    incidents = subject.incidents("test", sizes.signs)
    simulated = [one.simulation for one in incidents if one.simulation is not None]
    if not simulated:
        return Finding.skipped("stays", NO_SIGNS)
    counts: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for number, incident in enumerate(incidents):
        for group, agreed, expected in _pairs(incident, wrong=bool(number % 2)):
            counts[group].append((agreed, expected))
    rows = {group: _Count.of(pairs) for group, pairs in sorted(counts.items())}
    tested = {group: one for group, one in rows.items() if one.variance >= _LEAST_VARIANCE}
    if not tested:
        return Finding.untested("stays", "no sign was read twice often enough")
    bar = NormalDist().inv_cdf(1.0 - limits.leak / (2 * len(tested)))
    off = [group for group, one in tested.items() if abs(one.stray) > bar]
    worst = max(tested, key=lambda group: abs(tested[group].stray))
    told = [f"{group}: {rows[group].told}" for group in off[:3] or [worst]]
    return Finding.judged(
        "stays",
        not off,
        f"two readings agree in {sum(one.pairs for one in rows.values()):,} pairs of "
        f"{len(tested)} groups as often as the rules say{'; not' if off else ', furthest'} "
        + "; ".join(told),
        incidents=len(incidents),
        groups={group: attrs.asdict(one) for group, one in rows.items()},
        off=off,
        threshold=bar,
    )


@attrs.frozen
class _Count:
    """Pairs of readings: how many agreed, and how many should have."""

    pairs: int
    agreed: int
    expected: float
    variance: float

    @classmethod
    def of(cls, pairs: list[tuple[bool, float]]) -> "_Count":
        chances = [chance for _, chance in pairs]
        return cls(
            len(pairs),
            sum(agreed for agreed, _ in pairs),
            sum(chances),
            sum(chance * (1.0 - chance) for chance in chances),
        )

    @property
    def stray(self) -> float:
        """How far the count is from what is expected, in standard errors."""
        return (self.agreed - self.expected) / sqrt(self.variance) if self.variance else 0.0

    @property
    def told(self) -> str:
        return (
            f"{self.agreed / self.pairs:.1%} of {self.pairs:,} agree, "
            f"{self.expected / self.pairs:.1%} expected, {abs(self.stray):.1f} standard errors"
        )


# -- pairs of readings -------------------------------------------------------------------


def _pairs(incident: Incident, *, wrong: bool) -> Iterator[tuple[str, bool, float]]:
    """(group, whether they agree, how likely they do) of pairs of readings of one incident."""
    shown, doings, when = _played(incident, wrong=wrong)
    world = incident.simulation
    assert world is not None, "only incidents of a world are looked at"
    readings: dict[Sign, list[tuple[int, Read]]] = defaultdict(list)
    for one in shown:
        sign = _sign(world, doings, one)
        if sign is not None and one.token not in NOTHING_READ:
            readings[sign].append((one.start, Read(one.token, _likely(world, sign, one))))
    spells: dict[tuple[int, str, bool], list[Sign]] = defaultdict(list)
    for sign, rows in readings.items():
        spells[sign.service, sign.sort, sign.hidden].append(sign)
        before = [read for start, read in rows if start <= when]
        after = [read for start, read in rows if start > when]
        through = wrong and bool(before) and bool(after)
        pair = (before[0], after[-1]) if through else (rows[0][1], rows[-1][1])
        if len(rows) > 1:
            group = f"{sign.sort}, {'through a wrong remedy' if through else 'while it stays'}"
            yield group, *_agreement(world, sign, *pair)
    for signs in spells.values():
        if len(signs) > 1:
            first, second = sorted(signs, key=lambda one: one.begin)[:2]
            reads = readings[first][0][1], readings[second][-1][1]
            yield f"{first.sort}, after the fix", *_apart(world, (first, second), reads)


def _played(incident: Incident, *, wrong: bool) -> tuple[list[Evidence], Doings, int]:
    """All that requests around a remedy show, what was done, and the tick of the remedy."""
    names = incident.topology.names
    wanted = sorted(incident.truth.remedies)
    target = wanted[0][1] if wanted else names[0]
    others = [name for name in names if name != target]
    order = [target, *others][:_AROUND]
    asked: list[Action] = [
        kind(name) for name in order for kind in (RequestMetrics, RequestTraces, RequestMoreLogs)
    ]
    middle = incident.horizon // 2
    remedies = incident.topology.remedies
    unhelpful = next(one for one in remedies if (one, target) not in incident.truth.remedies)
    remedy = Remediate(unhelpful, target) if wrong or not wanted else Remediate(*wanted[0])
    before, after = asked[: middle - 1], asked[: incident.horizon - middle - 1]
    state = initial_state(incident)
    for action in (*before, remedy, *after):
        state = transition(state, action)
    seen = {one.cell: one for one in evidence(state)}
    return list(seen.values()), state.facts.doings, len(before)


def _sign(world: Simulation, doings: Doings, one: Evidence) -> Sign | None:
    """The sign that a cell reads; None for a cell that reads none twice."""
    setting, topology = world.setting, world.topology
    if one.channel is Channel.EDGE:
        fixed = fixed_at(setting.world, topology, world.truth, doings)
        severity = SEVERITIES.index(world.severity)
        shown, begin = edge_state(world.truth, severity, fixed, one.start)
        return Sign(-1, str(Channel.EDGE), begin, severity=shown)
    if one.service < 0 or one.channel is Channel.CHANGE:
        return None
    condition, begin = world.conditions[one.service], 0
    if one.service in world.reached:
        condition, begin, _ = spell(
            setting.world, topology, world.truth, doings, one.start, one.service, condition
        )
    sort = setting.world.sort_of(one.channel, one.slot)
    hidden = silent(setting, sort, one.start) and is_root(setting.world, condition)
    return Sign(one.service, base_of(sort), begin, condition, hidden)


def _weights(world: Simulation, sign: Sign) -> Floats:
    """How likely each sign is (signs,)."""
    setting = world.setting
    if sign.condition is None:
        first = errors_first(setting.world, world.truth)
        row = edge_signs(setting, sign.severity, first)[1]
    else:
        place = places(world.topology)[sign.service]
        row = sign_weights(setting, sign.sort, place, sign.condition, hidden=sign.hidden)
    found: Floats = np.array(row, np.float64) / FULL
    return found


def _likely(world: Simulation, sign: Sign, one: Evidence) -> Floats:
    """How likely a cell shows each token given each sign (signs, tokens), if it shows any."""
    setting = world.setting
    if sign.condition is None:
        first = errors_first(setting.world, world.truth)
        tokens, _ = edge_signs(setting, sign.severity, first)
        rows = [edge_reading(setting, sign.severity, token, one.start) for token in tokens]
        return np.array(rows, np.float64) / FULL
    sort = setting.world.sort_of(one.channel, one.slot)
    row = reading(setting, sort, places(world.topology)[one.service], one.start)
    other = np.array(row.other, np.float64)
    found: Floats = (np.eye(len(other)) * row.sign + other) / (FULL - row.gap)
    return found


def _agreement(world: Simulation, sign: Sign, one: Read, other: Read) -> tuple[bool, float]:
    """Whether two readings of a sign agree, and how likely they do."""
    both = (one.likely * other.likely).sum(axis=1)
    return one.token == other.token, float(_weights(world, sign) @ both)


def _apart(
    world: Simulation, signs: tuple[Sign, Sign], reads: tuple[Read, Read]
) -> tuple[bool, float]:
    """Whether readings of two signs agree, and how likely they do by chance."""
    first, second = (
        _weights(world, sign) @ read.likely for sign, read in zip(signs, reads, strict=True)
    )
    return reads[0].token == reads[1].token, float(first @ second)
