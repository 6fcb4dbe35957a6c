"""What the observer is worth when its model of the world is wrong: net value over how wrong.

python scripts/wrong_models.py COUNT TARGET.csv

Each row is one wrongness of one sort; rows are written as they come, and those that are there
already are not played again. ``python scripts/wrong_models.py --draw TARGET.csv`` draws them.
"""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import exp, log
from pathlib import Path
from types import MappingProxyType
from typing import Final

import attrs
import numpy as np

import logtriage as lt
from logtriage.beliefs.beliefs import Belief
from logtriage.beliefs.cases import Standing
from logtriage.beliefs.model import any_model_of
from logtriage.beliefs.posterior import Seen, posterior
from logtriage.beliefs.stakes import stakes_for
from logtriage.evaluation import play_episode
from logtriage.evaluation.net_values import NetValue, net_value_of
from logtriage.evidence import evidence
from logtriage.policies import Policy
from logtriage.policies.base import Memory
from logtriage.policies.observer import followed, next_action
from logtriage.rng import draw, hash_name, subkey
from logtriage.state import Closing, State
from logtriage.world.channels import DOWN, Channel, Evidence
from logtriage.world.conditions import Condition
from logtriage.world.kept import Kept, channel_key
from logtriage.world.loading import build
from logtriage.world.model import World
from logtriage.world.schedule import Cell, Spot
from logtriage.world.schema.canonical import document_of
from logtriage.world.schema.parts import Signature
from logtriage.world.setting import FULL, Setting
from logtriage.world.signs import (
    blinded,
    is_down,
    is_root,
    picked,
    readings,
    sign_weights,
    silent,
)
from logtriage.world.simulation import Simulation
from logtriage.world.tables import base_of, places

TASK: Final = "single_crash-v3"
#: How wrong, by sort of wrongness; the first of each is right.
AXES: Final = {
    "fog believed (2 is right)": (2.0, 0.0, 1.0, 3.0),
    "benign share believed (0.15 is right)": (0.15, 0.01, 0.4, 0.7),
    "tables perturbed, in standard deviations of log odds": (0.0, 0.5, 1.0, 2.0),
    "share of services whose signs hang together": (0.0, 0.5, 1.0),
}
FOG, BENIGN, TABLES, TOGETHER = AXES
COLUMNS: Final = ("axis", "amount", "incidents", "net_value", "low", "high", "handed_over")


@attrs.frozen
class WrongObserver:
    """The observer, with a belief under another setting than that of the incident."""

    incident: lt.Incident
    setting: Setting

    def act(self, observation: lt.Observation, memory: Memory) -> tuple[lt.Action, Memory]:
        """As :class:`logtriage.policies.ObserverPolicy`."""
        state = followed(self.incident, observation, memory)
        return next_action(self._belief(state)), state

    def _belief(self, state: State) -> Belief:
        incident, facts, right = state.incident, state.facts, state.incident.setting
        assert right is not None
        model = any_model_of(self.setting, incident.topology, incident.held)
        misrouted = state.closing is Closing.MISROUTED
        seen = Seen(incident.directory, evidence(state), facts.doings, misrouted)
        stakes = stakes_for(incident, right.par, right.par_benign)
        standing = Standing.of(state.tick, stakes, facts, state.closing)
        return Belief(posterior(model.listed, seen), standing)


def perturbed(world: World, sigma: float) -> World:
    """The world with every share of a signature moved by a normal step of its log odds."""
    dice = np.random.default_rng(1)

    def moved(signature: Signature) -> Signature:
        rows = {}
        for sort, shares in signature.items():
            row = {}
            for token, share in shares.items():
                odds = min(max(share, 1), 99) / 100
                step = exp(log(odds / (1 - odds)) + sigma * dice.normal())
                row[token] = max(1, round(100 * step / (1 + step)))
            while sum(row.values()) > 99 - sum(world.rules.common.get(sort, {}).values()):
                row[max(row, key=row.__getitem__)] -= 1
            rows[sort] = MappingProxyType(row)
        return MappingProxyType(rows)

    rules = world.rules
    affected = attrs.evolve(
        rules.affected, waiting=moved(rules.affected.waiting), loaded=moved(rules.affected.loaded)
    )
    changed = attrs.evolve(
        world,
        rules=attrs.evolve(rules, affected=affected),
        kinds=tuple(attrs.evolve(one, signature=moved(one.signature)) for one in world.kinds),
        benign=tuple(attrs.evolve(one, signature=moved(one.signature)) for one in world.benign),
    )
    return build(document_of(changed), world.name)


def wrong(axis: str, amount: float) -> Callable[[Setting], Setting]:
    """What the observer takes for the setting of an incident."""
    if axis == FOG:
        return lambda right: attrs.evolve(right, fog=int(amount))
    if axis == BENIGN:
        return lambda right: attrs.evolve(right, benign=round(1000 * amount))
    if axis == TABLES and amount:
        return lambda right: attrs.evolve(right, world=perturbed(right.world, amount))
    return lambda right: right


class Together(Kept):
    """The tokens of a system in which all signs of a share of the services have one point."""

    def __init__(self, system: Simulation, share: float) -> None:
        super().__init__(system.setting, system.topology, system.seed, system.conditions)
        self.system, self.share = system, share
        self.key = subkey(system.seed, hash_name("together"))

    def row(self, channel: Channel, start: int, spots: Iterable[Spot]) -> list[Evidence]:
        """As :meth:`Kept.row`."""
        found = []
        for service, slot in spots:
            if self.is_independent(service):
                found += super().row(channel, start, ((service, slot),))
            else:
                cell = channel, service, slot, start
                condition = self.system.conditions[service]
                found.append(Evidence(*cell, self.token(cell, condition, 0)))
        return found

    def changed(self, cell: Cell, condition: Condition, begin: int) -> str:
        """As :meth:`Kept.changed`."""
        if self.is_independent(cell[1]):
            return super().changed(cell, condition, begin)
        return self.token(cell, condition, begin)

    def is_independent(self, service: int) -> bool:
        """Whether the signs of a service are drawn as the belief takes it."""
        return draw(self.key, service) >> 48 >= self.share * FULL

    def token(self, cell: Cell, condition: Condition, begin: int) -> str:
        """The token of a cell of a service whose signs hang together."""
        channel, service, slot, start = cell
        setting, seed = self.system.setting, self.system.seed
        blind = blinded(channel)
        if blind is not None and is_down(setting, seed, service, blind):
            return DOWN
        sort, place = setting.world.sort_of(channel, slot), places(self.system.topology)[service]
        hidden = silent(setting, sort, start) and is_root(setting.world, condition)
        row = sign_weights(setting, base_of(sort), place, condition, hidden=hidden)
        sign = picked(row, draw(subkey(self.key, service << 1 | hidden), begin) >> 48)
        point = draw(channel_key(seed, channel), service << 16 | slot, start) >> 48
        return readings(setting, sort, place).token(start, sign, point)


@attrs.frozen(cache_hash=True)
class Dependent(Simulation):
    """A simulated system in which the signs of a ``share`` of the services hang together."""

    share: float = 0.0

    @cached_property
    def kept(self) -> Kept:
        """What services and edge show."""
        return Together(self, self.share)


def hanging_together(incident: lt.Incident, share: float) -> lt.Incident:
    """The incident as it looks if the signs of a share of the services hang together."""
    system = incident.simulation
    assert system is not None
    fields = {row.name: getattr(system, row.name) for row in attrs.fields(Simulation)}
    return attrs.evolve(incident, telemetry=Dependent(**fields, share=share))


def net(axis: str, amount: float, count: int) -> NetValue:
    """The net value of the observer over the first incidents of the test split."""
    change, settings = wrong(axis, amount), {}
    played = []
    for number in range(count):
        incident = lt.make_incident(f"{TASK}/test/{number}")
        if axis == TOGETHER:
            incident = hanging_together(incident, amount)
        assert incident.setting is not None
        if incident.setting not in settings:
            settings[incident.setting] = change(incident.setting)
        policy: Policy = WrongObserver(incident, settings[incident.setting])
        state = play_episode(incident, policy)
        score = lt.grade(state).score
        assert score is not None
        played.append((state, score))
    found = net_value_of(played)
    assert found is not None
    return found


def rows_of(target: Path) -> Iterator[dict[str, str]]:
    """The rows that are written already."""
    if target.exists():
        with target.open() as file:
            yield from csv.DictReader(file)


def play(count: int, target: Path) -> None:
    known = {(row["axis"], float(row["amount"])): row for row in rows_of(target)}
    if not known:
        with target.open("w") as file:
            csv.writer(file, lineterminator="\n").writerow(COLUMNS)
    for axis, amounts in AXES.items():
        for amount in amounts:
            if (axis, amount) in known:
                continue
            right = known.get((FOG, AXES[FOG][0]))
            if amount == amounts[0] and right is not None:  # the same episodes on every axis
                cells = [right[name] for name in COLUMNS[2:]]
            else:
                found = net(axis, amount, count)
                whole = found.net
                figures = (whole.mean, whole.low, whole.high, found.handed_over)
                cells = [str(count), *(f"{one:.4f}" for one in figures)]
            known[axis, amount] = dict(zip(COLUMNS, (axis, str(amount), *cells), strict=True))
            with target.open("a") as file:
                csv.writer(file, lineterminator="\n").writerow([axis, amount, *cells])


def drawing(target: Path) -> None:
    """One panel a sort of wrongness, with 95 % intervals."""
    from matplotlib import pyplot as plt

    rows = list(rows_of(target))
    figure, panels = plt.subplots(1, len(AXES), figsize=(14, 3.2), sharey=True)
    for panel, axis in zip(panels, AXES, strict=True):
        mine = [row for row in rows if row["axis"] == axis]
        mine.sort(key=lambda row: float(row["amount"]))
        amounts, values, lows, highs = (
            [float(row[key]) for row in mine] for key in ("amount", "net_value", "low", "high")
        )
        spans = [
            [abs(end - value) for end, value in zip(ends, values, strict=True)]
            for ends in (lows, highs)
        ]
        panel.errorbar(amounts, values, spans, marker="o", capsize=3)
        panel.axhline(0, color="grey", linewidth=0.8)
        panel.set_xlabel(axis, fontsize=8)
    panels[0].set_ylabel("net value of the observer")
    figure.tight_layout()
    figure.savefig(target.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    if sys.argv[1] == "--draw":
        drawing(Path(sys.argv[2]))
    else:
        play(int(sys.argv[1]), Path(sys.argv[2]))
