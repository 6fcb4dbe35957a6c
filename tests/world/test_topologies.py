"""Random topologies: valid, varied, reproducible, within their limits."""

import pytest

from logtriage import SEVEN_SERVICES, InvalidInput, random_topology
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES


@pytest.mark.parametrize("size", [5, 6, 20, 60, 200])
def test_the_size_is_the_one_asked_for(size: int) -> None:
    assert len(random_topology(11, size)) == size
    assert (MIN_SERVICES, MAX_SERVICES) == (5, 200)


@pytest.mark.parametrize("size", [-1, 0, 4, 201])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(InvalidInput, match=rf"\[5, 200\], got {size}"):
        random_topology(1, size)


def test_the_same_seed_gives_the_same_graph_and_another_one_another() -> None:
    again = random_topology.__wrapped__(3, 30)
    assert again == random_topology(3, 30)
    assert len({random_topology(seed, 30).services for seed in range(50)}) == 50


def test_the_name_follows_from_the_content_and_tells_no_seed() -> None:
    graph = random_topology(3, 30)
    assert graph.name == random_topology.__wrapped__(3, 30).name
    assert graph.name.startswith("drawn-")
    names = {
        random_topology(seed, 5).name: random_topology(seed, 5).services for seed in range(500)
    }
    assert len(names) == len(set(names.values()))


def test_the_shape_holds_for_many_seeds() -> None:
    for seed in range(200):
        graph = random_topology(seed, 5 + seed % 60)
        assert graph.edges == (0,)
        assert graph.teams == SEVEN_SERVICES.teams
        assert all(0 <= depth <= 4 for depth in graph.depth)
        for service, callees in zip(graph.services, graph.calls, strict=True):
            assert not callees or service.tier in ("edge", "service")
        # A callee always comes later: no cycles.
        assert all(callee > caller for caller, row in enumerate(graph.calls) for callee in row)


def test_all_tiers_occur_and_owners_follow_them() -> None:
    owners = {
        (service.tier, service.owner)
        for seed in range(20)
        for service in random_topology(seed, 40).services
    }
    assert owners == {
        ("edge", "sre-team"),
        ("service", "backend-team"),
        ("datastore", "dba-team"),
        ("queue", "sre-team"),
    }
