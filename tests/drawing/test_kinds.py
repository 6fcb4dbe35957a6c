"""Incidents of given kinds."""

from functools import partial

import attrs
import pytest

from logtriage import make_incident
from logtriage.drawing.kinds import ids_of_kinds, kinds_drawn, kinds_of
from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import TaskSpec, get_task

CRASH = get_task("single_crash-v4")
CREEPING = get_task("silent_degradation-v4")
SEVERAL = get_task("compound_failure-v4")


@pytest.mark.parametrize("kinds", [("memory_leak",), ("load_test", "bad_deploy")])
@pytest.mark.parametrize("task", [CRASH, SEVERAL])
def test_they_are_all_of_their_kinds_from_the_start(task: TaskSpec, kinds: tuple[str, ...]) -> None:
    found = ids_of_kinds(kinds, task, "test", 4, 7, make_incident)
    last = int(found[-1].rpartition("/")[2])
    every = [f"{task.id}/test/{number}" for number in range(7, last + 1)]
    assert list(found) == [name for name in every if kinds_of(make_incident(name)) & set(kinds)]


@pytest.mark.parametrize("task", [CRASH, CREEPING])
def test_what_a_task_draws_is_what_its_incidents_have(task: TaskSpec) -> None:
    drawn = [kinds_of(make_incident(f"{task.id}/test/{number}")) for number in range(1500)]
    assert frozenset(kinds_drawn(task, "test")) == frozenset().union(*drawn)


def test_kinds_that_cannot_be_found_are_refused_with_the_choices() -> None:
    find = partial(ids_of_kinds, split="test", count=1, start=0, incident_of=make_incident)
    with pytest.raises(UnknownName, match=r"unknown kind 'memory_leek' \(did you mean 'memory_le"):
        find(("memory_leek",), CRASH)
    own = attrs.evolve(CRASH.world, kinds=(*CRASH.world.kinds, attrs.evolve(LEAK, name="my_own")))
    with pytest.raises(UnknownName) as error:
        find(("nonsense",), attrs.evolve(CRASH, setting=attrs.evolve(CRASH.setting, world=own)))
    assert error.value.known[0] == "my_own"
    assert str(error.value).count(",") == len(own.kinds) + len(own.benign) - 1
    with pytest.raises(InvalidInput, match="-v4 never draws it in split 'test'; it draws config_d"):
        find(("bad_deploy",), CREEPING)
    with pytest.raises(InvalidInput, match="a world of its own"):
        find(("bad_deploy",), get_task("unseen_world-v4"))
    with pytest.raises(InvalidInput, match="0 of 1 incidents found among numbers 5 to 11004 of"):
        find(("bad_deploy",), CRASH, start=5, incident_of=lambda _: make_incident(BENIGN))


LEAK = CRASH.world.kind("memory_leak")
BENIGN = ids_of_kinds(("load_test",), CRASH, "test", 1, 0, make_incident)[0]
