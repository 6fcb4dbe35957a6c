"""Two worlds that differ in one share are played in turn, and each as if it were alone.

Whatever is kept between calls must be kept by world: here all public facts but one are equal,
so that a key which forgets the world finds the other world's value.
"""

import gc
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from itertools import zip_longest
from typing import Any

import attrs
import numpy as np
import pytest

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.tasks import TaskSpec
from logtriage.topology import Service
from logtriage.vector import BatchedTriage, BeliefScreens
from logtriage.world.loading import load_world
from logtriage.world.model import World
from logtriage.world.schema.parts import Kind

ONCALL = load_world("oncall")
TASK = lt.get_task("compound_failure-v4")
ONE_FAULT = lt.get_task("single_crash-v4")
NUMBERS = range(2)
ROWS = np.arange(20)
#: A service of each tier: sets of faults are some 2,000 here, and 20,000 on seven services.
FOUR = (
    Service("front", "edge", calls=("shop", "mail")), Service("shop", "service", calls=("store",)),
    Service("store", "datastore"), Service("mail", "queue"),
)  # fmt: skip
#: Where something is kept of what a world says.
KEEPING = ("logtriage.world", "logtriage.beliefs", "logtriage.vector", "logtriage.drawing")


def louder(kind: Kind) -> Kind:
    """The kind with another share of errors of its own."""
    return attrs.evolve(kind, signature={**kind.signature, "errors": {"itself": 99}})


def with_kinds(*changed: Kind) -> World:
    by_name = {kind.name: kind for kind in changed}
    return attrs.evolve(ONCALL, kinds=tuple(by_name.get(one.name, one) for one in ONCALL.kinds))


def other_remedy(kind: Kind) -> Kind:
    return attrs.evolve(
        kind, remedies=("restart",) if kind.remedies != ("restart",) else ("scale",)
    )


def with_rules(**changes: Any) -> World:
    return attrs.evolve(ONCALL, rules=attrs.evolve(ONCALL.rules, **changes))


REPAGED = [
    attrs.evolve(row, pages="dba-team") if row.name == "data" else row
    for row in ONCALL.rules.classes
]
#: Worlds that differ from the shipped one in a share, a flag, a remedy, a team, or a rule.
OTHERS = {
    "share": with_kinds(*map(louder, ONCALL.kinds)),
    "load": with_kinds(*(attrs.evolve(kind, pours_load=True) for kind in ONCALL.kinds)),
    "errors first": with_kinds(
        *(attrs.evolve(kind, errors_first=not kind.errors_first) for kind in ONCALL.kinds)
    ),
    "remedy": with_kinds(*map(other_remedy, ONCALL.kinds)),
    "pages": with_rules(classes=tuple(REPAGED)),
    "owners": with_rules(owners=("sre-team", "backend-team")),  # who are paged, too
    "kind pages": with_kinds(
        *(attrs.evolve(kind, pages="platform-team") for kind in ONCALL.kinds_at("queue"))
    ),
    "secondary": with_rules(secondary_fault=None),
}


def of_world(task: TaskSpec, world: World) -> TaskSpec:
    assert task.setting is not None
    topology = None if task.topology is None else world.topologies[task.topology.name]
    setting = attrs.evolve(task.setting, world=world)
    return attrs.evolve(task, setting=setting, topology=topology)


def told(state: lt.State) -> str:
    """All that is drawn, shown, right and believed."""
    held, of = belief(state), state.incident
    shown = (of.truth, of.directory, lt.observe(state))
    return repr((*shown, held.weights, held.teams, held.remedies, held.calls))


def lines(task: TaskSpec) -> Iterator[str]:
    """What is told step by step, on four services with the teams of the world's own topology."""
    assert task.topology is not None
    small = attrs.evolve(task.topology, name="small", services=FOUR)
    for number in NUMBERS:
        incident: lt.Incident = draw_incident(task, IncidentId(task, "test", number), small)
        state, (first, *_, last) = lt.initial_state(incident), incident.topology.names
        for action in (lt.RequestMetrics(first), lt.RequestTraces(last), lt.RequestMoreLogs(None)):
            yield told(state)
            state = lt.transition(state, action)
        yield told(state)


def forget() -> None:
    """Empty what is kept between calls of what a world says; worlds and kernels stay."""
    for one in gc.get_objects():
        if type(one) is _lru_cache_wrapper:  # to ask a proxy of a dead object would raise
            module = str(getattr(one, "__module__", ""))
            if module.startswith(KEEPING) and "compiled" not in module and "loading" not in module:
                one.cache_clear()


@pytest.fixture(scope="module")
def shipped_alone() -> list[str]:
    """The steps of the shipped world before any other world is drawn from."""
    forget()
    return list(lines(of_world(TASK, ONCALL)))


@pytest.mark.parametrize("other", OTHERS)
def test_two_worlds_in_turn_are_each_as_if_alone(other: str, shipped_alone: list[str]) -> None:
    tasks = [of_world(TASK, world) for world in (ONCALL, OTHERS[other])]
    forget()
    alone = [shipped_alone, list(lines(tasks[1]))]
    assert alone[0] != alone[1]
    forget()
    together = list(zip_longest(*(lines(task) for task in tasks)))
    assert [[mine for mine, _ in together], [theirs for _, theirs in together]] == alone


def rows(task: TaskSpec) -> Iterator[list[float]]:
    """Observations and beliefs of a batch, tick by tick."""
    batch = BatchedTriage(task)
    screens = BeliefScreens(batch)
    screen = batch.reset("train", ROWS)
    held = screens.begin(screen)
    for tick in range(4):
        yield [*screen.observation.ravel().tolist(), *held.ravel().tolist()]
        actions = (ROWS * 7 + tick) % batch.action_count
        screen = batch.step(actions)
        held = screens.read(screen, actions)


@pytest.mark.parametrize("other", ["share", "pages", "owners", "kind pages", "remedy"])
def test_batches_of_two_worlds_in_turn_are_each_as_if_alone(other: str) -> None:
    pytest.importorskip("numba")
    tasks = [of_world(ONE_FAULT, world) for world in (ONCALL, OTHERS[other])]
    alone = []
    for task in tasks:
        forget()
        alone.append(list(rows(task)))
    assert alone[0] != alone[1]
    forget()
    together = list(zip(*(rows(task) for task in tasks), strict=True))
    assert [[mine for mine, _ in together], [theirs for _, theirs in together]] == alone


def test_the_owners_of_a_world_own_its_services_though_they_are_paged_too() -> None:
    """On a topology with other teams nobody said who owns what: those who are not paged do."""
    other = OTHERS["owners"]
    incidents = [
        draw_incident(of_world(ONE_FAULT, other), IncidentId(ONE_FAULT, "test", number))
        for number in range(20)
    ]
    assert {team for one in incidents for team in one.directory} == set(other.rules.owners)
    strangers = attrs.evolve(
        incidents[0].topology,
        name="strangers",
        teams=("red", "blue", "green"),
        paged={"capacity": "red", "security": "red"},
    )
    assert other.owning_teams(strangers) == ("blue", "green")
