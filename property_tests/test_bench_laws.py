"""The bench: a newcomer adds a kind in two files, and every law of the core holds in that world.

The two files are those that a newcomer writes by docs/own-world.md, in a copy made by
``logtriage world new``. The laws are the same functions that hold for the shipped world's
incidents; here their strategies draw those of the copy, every third one with a new kind. With
``--world DIR`` the copy is your own: the tasks of ``oncall``, and any kinds.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from logtriage import Incident
from logtriage.drawing import Seal
from logtriage.drawing.generator import draw_incident, make_incident
from logtriage.drawing.ids import IncidentId
from logtriage.tasks import TaskSpec, tasks_of
from logtriage.topology import Topology
from logtriage.world.copies import copy_world
from logtriage.world.loading import WORLDS_VARIABLE, load_world, shipped_worlds
from logtriage.world.model import World
from property_tests import strategies, test_world_value_laws
from tests.worlds.differences import differences
from tests.worlds.newcomer import FILES, KIND, TEAM, newcomers_world

#: The rooms whose laws are held to the new world.
MODULES: Final = tuple(
    import_module(f"property_tests.test_{room}_laws")
    for room in (
        *("belief", "episode", "grading", "joint", "observation", "parsing", "policy_team"),
        *("trace", "transition", "triage"),
    )
)
#: Every third number stands for an incident with the new kind, of the first few of a split.
FEW: Final = 3
#: New kinds are looked for among this many incidents; a task of slow faults may have none.
SEARCHED: Final = 300
#: No shrinking: what fails here is looked for in the law itself.
GENERATE: Final = (Phase.explicit, Phase.generate)


def laws(*modules: ModuleType) -> Iterator[Callable[..., None]]:
    """The laws of modules about incidents or episodes of drawn tasks."""
    for module in modules:
        for law in vars(module).values():
            inner = getattr(getattr(law, "hypothesis", None), "inner_test", None)
            if inner is None or law.__module__ != module.__name__:
                continue
            if {"incident", "states"} & set(inspect.signature(inner).parameters):
                yield law


LAWS: Final = tuple(laws(*MODULES))


@pytest.fixture(name="bench", scope="module")
def bench_world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """The world of a newcomer, found by its name as long as the laws of this module run."""
    own = request.config.getoption("--world")
    folder = Path(own).resolve() if own else tmp_path_factory.mktemp("worlds") / "bench"
    if not own:
        newcomers_world(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(WORLDS_VARIABLE, str(folder.parent))
        yield load_world(folder)


def in_copy(name: str, world: World) -> str:
    """The id in the copy of a task, an incident or a split of the shipped world, or of the copy."""
    return f"{world.name}:{name.removeprefix(f'{world.name}:').replace('-v4', '')}"


@lru_cache(maxsize=4096)
def of_bench(incident_id: str, world: World) -> Incident:
    """The incident of the copy that stands for one of the shipped world."""
    split, _, number = in_copy(incident_id, world).rpartition("/")
    new = new_ones(split, world) if int(number) % 3 == 0 else ()
    if new:
        return new[int(number) // 3 % len(new)]
    return make_incident(f"{split}/{number}", world=world)


@lru_cache(maxsize=256)
def new_ones(split: str, world: World) -> tuple[Incident, ...]:
    """The first incidents of a split whose fault is of a new kind."""
    new = set(world.kind_names) - set(load_world("oncall").kind_names)
    drawn = (make_incident(f"{split}/{number}", world=world) for number in range(SEARCHED))
    of_kind = (one for one in drawn if one.truth.fault and one.truth.fault.kind in new)
    return tuple(islice(of_kind, FEW))


@pytest.fixture(name="in_bench")
def strategies_of_the_bench(bench: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategies draw incidents of the copy."""

    def made(incident_id: str, *, seal: Seal | None = None) -> Incident:
        if seal is None:
            return of_bench(incident_id, bench)
        return make_incident(in_copy(incident_id, bench), seal=seal, world=bench)

    def drawn(task: TaskSpec, number: IncidentId, topology: Topology | None = None) -> Incident:
        mine = tasks_of(bench)[in_copy(task.id, bench)]
        if topology is None:
            return of_bench(str(number), bench)
        on = attrs.evolve(topology, teams=bench.rules.teams)
        return draw_incident(mine, attrs.evolve(number, task=mine), on)

    monkeypatch.setattr(strategies, "OTHER_WORLDS", (bench,))
    monkeypatch.setattr(strategies, "make_incident", made)
    monkeypatch.setattr(strategies, "draw_incident", drawn)


def test_there_are_laws_of_every_room() -> None:
    assert len(LAWS) > 40
    assert {law.__module__ for law in LAWS} == {one.__name__ for one in MODULES}


@pytest.mark.usefixtures("in_bench")
@pytest.mark.parametrize(
    "law",
    LAWS,
    ids=lambda law: f"{law.__module__.removeprefix('property_tests.test_')}-{law.__name__[5:]}",
)
def test_the_laws_hold_in_the_newcomer_s_world(law: Any) -> None:
    held = law.hypothesis
    again = given(**held._given_kwargs)(held.inner_test)
    settings(
        max_examples=6, derandomize=True, database=None, phases=GENERATE,
        suppress_health_check=list(HealthCheck),
    )(again)()  # fmt: skip


@given(st.data())
@settings(max_examples=20)
def test_the_newcomer_s_kind_is_drawn_where_it_belongs(bench: World, data: st.DataObject) -> None:
    if bench.name != "bench":
        pytest.skip("another world")
    number = 3 * data.draw(st.integers(0, 10_000))
    incident = of_bench(f"single_crash-v4/train/{number}", bench)
    assert incident.truth.fault is not None
    assert incident.truth.fault.kind == KIND
    (service,) = incident.truth.root_causes
    assert incident.topology.services[incident.topology.index(service)].tier == "service"
    assert incident.truth.teams == {TEAM}
    assert incident.truth.remedies == {("rollback", service)}


def test_the_copy_differs_by_its_name_and_the_two_files_alone(bench: World) -> None:
    if bench.name != "bench":
        pytest.skip("another world")
    changed = differences(load_world("oncall"), bench)
    assert [(one.file, one.field) for one in changed] == [
        ("world.toml", "name"),
        *((path, "") for path in FILES),
    ]


def test_every_law_of_worlds_as_values_holds(bench: World) -> None:
    kept = 0
    for name, law in vars(test_world_value_laws).items():
        held = getattr(law, "hypothesis", None)
        if held is None or list(inspect.signature(held.inner_test).parameters)[:1] != ["world"]:
            continue
        others = {name: one for name, one in held._given_kwargs.items() if name != "world"}
        again = given(world=st.just(bench), **others)(held.inner_test)
        settings(max_examples=5, derandomize=True, database=None)(again)()
        kept += 1
        assert name.startswith("test_")
    assert kept >= 4


def test_no_shipped_world_moved(bench: World, tmp_path: Path) -> None:
    """Golden transcripts hold the shipped worlds to their incidents; this, to their files."""
    for name in shipped_worlds():
        assert load_world(name) == copy_world_back(name, tmp_path)
        assert KIND not in load_world(name).kind_names
    assert bench.name not in shipped_worlds()


def copy_world_back(name: str, folder: Path) -> World:
    """A copy of a shipped world, under the name of that one."""
    copied = copy_world(name, folder / f"copy-of-{name}")
    return attrs.evolve(copied, rules=attrs.evolve(copied.rules, name=name))
