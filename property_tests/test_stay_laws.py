"""Law: signs stay as the rules say: two readings of one sign agree, and readings of two do not.

A sign is drawn once for a condition and read with error. So the public tables say how often two
readings show the same: often while the condition stays, also through a remedy that changes
nothing, and by chance alone once it has changed. Each incident is played with requests around a
remedy, which is wrong in every other incident. Two readings of each sign count, so that counts are
sums of independent draws.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from math import sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import attrs
import numpy as np
import pytest
from logtriage.world.signs import (
    edge_reading,
    edge_signs,
    is_root,
    reading,
    sign_weights,
    silent,
)
from numpy.typing import NDArray

from logtriage.actions import (
    SEVERITIES,
    Action,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
)
from logtriage.drawing.generator import make_incident
from logtriage.dynamics import transition
from logtriage.evidence import evidence
from logtriage.incident import Incident
from logtriage.state import initial_state
from logtriage.tasks import DRAWN_TASKS
from logtriage.world.channels import NOTHING_READ, Channel, Evidence
from logtriage.world.conditions import Condition, errors_first
from logtriage.world.outcomes import edge_state, fixed_at, spell
from logtriage.world.schedule import Doings
from logtriage.world.setting import FULL
from logtriage.world.simulation import Simulation
from logtriage.world.tables import base_of, places
from tests.audit.planted.tasks import flickering

#: A count of agreements is tested where its variance is at least this.
_LEAST_VARIANCE: Final = 5.0
#: So many services are asked: the treated service, and others.
_AROUND: Final = 3
Floats = NDArray[np.float64]


@attrs.frozen
class Sign:
    """A sign behind readings: a sort of a service, its condition, and the tick since when.

    ``hidden`` is whether a root keeps its own sign to itself. The edge has no condition, but a
    ``severity``.
    """

    service: int
    sort: str
    begin: int
    condition: Condition | None = None
    hidden: bool = False
    severity: int = 0


class Read(NamedTuple):
    """A reading of a sign. ``likely`` (signs, tokens) says what it shows given each sign."""

    start: int
    token: str
    likely: Floats


def strays(incidents: list[Incident]) -> dict[str, float]:
    """By how many standard errors agreements of each group differ from what the rules say."""
    counts: dict[str, _Count] = defaultdict(_Count)
    for number, incident in enumerate(incidents):
        for group, agreed, expected in _pairs(incident, wrong=bool(number % 2)):
            counts[group].add(agreed, expected)
    tested = {name: row for name, row in counts.items() if row.variance >= _LEAST_VARIANCE}
    return {name: row.stray for name, row in tested.items()}


@pytest.mark.parametrize("task", [*DRAWN_TASKS, "compound_failure-v3"])
def test_two_readings_of_a_sign_agree_as_often_as_the_rules_say(task: str) -> None:
    found = strays([make_incident(f"{task}/test/{number}") for number in range(60)])
    assert len(found) > 3
    assert max(map(abs, found.values())) < bar(found)


def test_signs_that_do_not_stay_are_noticed() -> None:
    found = strays([flickering("test", number) for number in range(40)])
    assert max(map(abs, found.values())) > bar(found)


def bar(groups: Collection[str]) -> float:
    """The distance that some group exceeds by chance in 1 of 100 cases."""
    return NormalDist().inv_cdf(1.0 - 0.01 / (2 * len(groups)))


@attrs.define
class _Count:
    """Pairs of readings: how many agreed, and how many should have."""

    pairs: int = 0
    agreed: int = 0
    expected: float = 0.0
    variance: float = 0.0

    def add(self, agreed: bool, chance: float) -> None:
        """One more pair, and the chance that it agrees."""
        self.pairs += 1
        self.agreed += agreed
        self.expected += chance
        self.variance += chance * (1.0 - chance)

    @property
    def stray(self) -> float:
        """How far the count is from what is expected, in standard errors."""
        return (self.agreed - self.expected) / sqrt(self.variance) if self.variance else 0.0


# -- pairs of readings -------------------------------------------------------------------


def _pairs(incident: Incident, *, wrong: bool) -> Iterator[tuple[str, bool, float]]:
    """(group, whether they agree, how likely they do) of pairs of readings of one incident."""
    shown, doings, when = _played(incident, wrong=wrong)
    world = incident.simulation
    assert world is not None, "only incidents of a world are looked at"
    readings: dict[Sign, list[Read]] = defaultdict(list)
    for cell in shown:
        sign = _sign(world, doings, cell)
        if sign is not None and cell.token not in NOTHING_READ:
            readings[sign].append(Read(cell.start, cell.token, _likely(world, sign, cell)))
    spells: dict[tuple[int, str, bool], list[Sign]] = defaultdict(list)
    for sign, reads in readings.items():
        spells[sign.service, sign.sort, sign.hidden].append(sign)
        before = [read for read in reads if read.start <= when]
        after = [read for read in reads if read.start > when]
        through = wrong and bool(before) and bool(after)
        first, last = (before[0], after[-1]) if through else (reads[0], reads[-1])
        if len(reads) > 1:
            group = f"{sign.sort}, {'through a wrong remedy' if through else 'while it stays'}"
            both = (first.likely * last.likely).sum(axis=1)
            yield group, first.token == last.token, float(_weights(world, sign) @ both)
    for signs in spells.values():
        if len(signs) > 1:
            old, new = sorted(signs, key=lambda sign: sign.begin)[:2]
            first, last = readings[old][0], readings[new][-1]
            chance = (_weights(world, old) @ first.likely) @ (_weights(world, new) @ last.likely)
            yield f"{old.sort}, after the fix", first.token == last.token, float(chance)


def _played(incident: Incident, *, wrong: bool) -> tuple[list[Evidence], Doings, int]:
    """The evidence from requests around a remedy, the actions, and the tick of the remedy."""
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
    unhelpful = next(
        remedy for remedy in remedies if (remedy, target) not in incident.truth.remedies
    )
    remedy = Remediate(unhelpful, target) if wrong or not wanted else Remediate(*wanted[0])
    before, after = asked[: middle - 1], asked[: incident.horizon - middle - 1]
    state = initial_state(incident)
    for action in (*before, remedy, *after):
        state = transition(state, action)
    seen = {cell.cell: cell for cell in evidence(state)}
    return list(seen.values()), state.facts.doings, len(before)


def _sign(world: Simulation, doings: Doings, cell: Evidence) -> Sign | None:
    """The sign that a cell reads; None for a cell that reads none twice."""
    setting, topology = world.setting, world.topology
    if cell.channel is Channel.EDGE:
        fixed = fixed_at(setting.world, topology, world.truth, doings)
        severity = SEVERITIES.index(world.severity)
        shown, begin = edge_state(world.truth, severity, fixed, cell.start)
        return Sign(-1, str(Channel.EDGE), begin, severity=shown)
    if cell.service < 0 or cell.channel is Channel.CHANGE:
        return None
    condition, begin = world.conditions[cell.service], 0
    if cell.service in world.reached:
        condition, begin, _ = spell(
            setting.world, topology, world.truth, doings, cell.start, cell.service, condition
        )
    sort = setting.world.sort_of(cell.channel, cell.slot)
    hidden = silent(setting, sort, cell.start) and is_root(setting.world, condition)
    return Sign(cell.service, base_of(sort), begin, condition, hidden)


def _weights(world: Simulation, sign: Sign) -> Floats:
    """How likely each sign is (signs,)."""
    setting = world.setting
    if sign.condition is None:
        first = errors_first(setting.world, world.truth)
        row = edge_signs(setting, sign.severity, first)[1]
    else:
        place = places(world.topology)[sign.service]
        row = sign_weights(setting, sign.sort, place, sign.condition, hidden=sign.hidden)
    return np.array(row, np.float64) / FULL


def _likely(world: Simulation, sign: Sign, cell: Evidence) -> Floats:
    """How likely a cell shows each token given each sign (signs, tokens), if it shows any."""
    setting = world.setting
    if sign.condition is None:
        first = errors_first(setting.world, world.truth)
        tokens, _ = edge_signs(setting, sign.severity, first)
        rows = [edge_reading(setting, sign.severity, token, cell.start) for token in tokens]
        return np.array(rows, np.float64) / FULL
    sort = setting.world.sort_of(cell.channel, cell.slot)
    row = reading(setting, sort, places(world.topology)[cell.service], cell.start)
    other = np.array(row.other, np.float64)
    likely: Floats = (np.eye(len(other)) * row.sign + other) / (FULL - row.gap)
    return likely
