"""Random topologies: valid, varied, reproducible, within their limits."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from logtriage import InvalidInput, get_task
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.env import TriageEnv
from logtriage.errors import TopologyError, WorldError
from logtriage.topology import Service, Tier
from logtriage.vector import BatchedTriage
from logtriage.world.loading import load_world
from logtriage.world.schema.parts import MAX_SERVICES, MIN_SERVICES
from logtriage.world.topologies import fitting, random_topology
from tests.builders import FIVE_TEAMS
from tests.worlds.folders import copy_of, edit


@pytest.mark.parametrize("size", [5, 6, 20, 60, 200])
def test_the_size_is_the_one_asked_for(size: int) -> None:
    assert len(random_topology(11, size)) == size
    assert (MIN_SERVICES, MAX_SERVICES) == (5, 200)


@pytest.mark.parametrize("size", [-1, 0, 4, 201])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(InvalidInput, match=rf"\[5, 200\], got {size}"):
        random_topology(1, size)


def test_a_seed_gives_one_graph_and_one_name_that_tells_no_seed() -> None:
    again = random_topology.__wrapped__(3, 30)
    assert again == random_topology(3, 30)
    assert len({random_topology(seed, 30).services for seed in range(50)}) == 50
    assert again.name == random_topology(3, 30).name
    assert again.name.startswith("drawn-")
    names = {random_topology(one, 5).name: random_topology(one, 5).services for one in range(500)}
    assert len(names) == len(set(names.values()))


def test_all_tiers_occur_and_no_service_names_an_owner() -> None:
    drawn = [service for seed in range(20) for service in random_topology(seed, 40).services]
    assert {service.tier for service in drawn} == {"edge", "service", "datastore", "queue"}
    assert {service.owner for service in drawn} == {None}


ONCALL, TINY = load_world("oncall"), load_world("tiny")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"paged": {"security": "sre-team"}}, "paged: class 'capacity' has no team here"),
        ({"paged": {"capacity": "sre-team", "security": "sre-team", "data": "sre-team"}},
         "paged: unknown class 'data'; known: capacity, security"),
        ({"remedies": ("restart",)}, "remedies: expected restart, rollback, scale, flush-cache"),
        ({"tiers": (Tier("edge", entry=True), *FIVE_TEAMS.tiers[1:])},
         "tiers: expected some of Tier(name='edge', entry=True, calls=True)"),
    ],
)  # fmt: skip
def test_a_topology_that_is_of_no_world_is_refused_by_the_field(
    changes: dict[str, Any], message: str
) -> None:
    own = attrs.evolve(FIVE_TEAMS, name="mine", **changes)
    task = get_task("single_crash-v4")
    with pytest.raises(TopologyError) as caught:
        draw_incident(task, IncidentId(task, "train", 0), own)
    assert str(caught.value).startswith(f"topology 'mine' in world 'oncall': {message}")
    for env in (BatchedTriage, TriageEnv):
        with pytest.raises(TopologyError, match="in world 'oncall'"):
            env("single_crash-v4", topology=own)


def test_a_team_that_a_kind_pages_must_be_there() -> None:
    kinds = tuple(attrs.evolve(kind, pages="data-team") for kind in TINY.kinds)
    shop = attrs.evolve(TINY.topologies["shop"], teams=("web-team", "ops-team"), services=(
        Service("web", "edge", "web-team"),
    ))  # fmt: skip
    assert fitting(shop, TINY) is shop
    with pytest.raises(TopologyError, match="teams: kind 'bad_release' pages 'data-team'"):
        fitting(shop, attrs.evolve(TINY, kinds=kinds))


def test_a_layout_without_a_team_that_its_world_pages_is_refused(tmp_path: Path) -> None:
    copy = copy_of("tiny", tmp_path)
    teams = 'teams = ["web-team", "data-team"]'
    edit(copy / "topologies/shop.toml", "services =", f"{teams}\nservices =")
    with pytest.raises(WorldError, match="paged: capacity: unknown team 'ops-team'"):
        load_world(copy)
