"""Who owns what: mostly the team of the tier, with exceptions, whatever is the matter."""

from collections import Counter
from pathlib import Path

import attrs
import pytest

from logtriage import incident_ids, make_incident, system_prompt
from logtriage.world.loading import load_world
from tests.worlds.folders import copy_of, edit, refused

ONCALL = load_world("oncall")


def counts(task: str, count: int) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for one in incident_ids(task, "val", count):
        incident = make_incident(one)
        for service, owner in zip(incident.topology.services, incident.directory, strict=True):
            found.setdefault(service.tier, Counter())[owner] += 1
    return found


def test_most_services_of_a_tier_are_those_of_one_team_and_the_rest_is_even() -> None:
    found = counts("single_crash-v4", 800)
    for tier in ONCALL.rules.tiers:
        assert tier.owner is not None
        row = found[tier.name]
        for team in ONCALL.rules.owners:
            share = 1 - tier.others / 100 if team == tier.owner else tier.others / 200
            assert abs(row[team] / row.total() - share) < 0.04


def test_where_no_tier_has_a_team_of_its_own_owners_are_even() -> None:
    owners = load_world("tiny").rules.owners
    for row in counts("tiny:outage", 800).values():
        assert all(abs(row[team] / row.total() - 1 / len(owners)) < 0.05 for team in owners)


def test_the_owner_of_the_root_is_no_exception() -> None:
    """Owners are drawn whatever the truth: at the root they are as elsewhere."""
    at_root, every = Counter[bool](), Counter[bool]()
    tiers = ONCALL.tiers
    for one in incident_ids("cascading_failure-v4", "val", 800):
        incident = make_incident(one)
        for service, owner in zip(incident.topology.services, incident.directory, strict=True):
            usual = tiers[service.tier].owner == owner
            every[usual] += 1
            at_root[usual] += service.name in incident.truth.root_causes
    assert abs(at_root[True] / at_root.total() - every[True] / every.total()) < 0.04


def test_an_owner_that_the_folder_names_owns_the_service_in_every_incident(tmp_path: Path) -> None:
    own = copy_of("tiny", tmp_path)
    edit(own / "topologies/shop.toml", 'tier = "service"', 'tier = "service", owner = "data-team"')
    world = load_world(own)
    drawn = [make_incident(f"outage/train/{number}", world=world) for number in range(40)]
    assert {incident.directory[1] for incident in drawn} == {"data-team"}
    assert {incident.directory[0] for incident in drawn} == {"web-team", "data-team"}
    line = "by chance: any of web-team, data-team; always data-team of shop."
    assert f"DIRECTORY, {line}" in system_prompt(drawn[0])


def test_where_the_folder_names_every_owner_nothing_is_drawn(tmp_path: Path) -> None:
    own = copy_of("tiny", tmp_path)
    text = (own / "topologies/shop.toml").read_text()
    (own / "topologies/shop.toml").write_text(
        text.replace('", tier', '", owner = "web-team", tier')
    )
    incident = make_incident("outage/train/0", world=load_world(own))
    assert incident.directory == ("web-team",) * 3
    assert "DIRECTORY, always: web-team of web, shop, shop-db." in system_prompt(incident)


def test_on_a_topology_with_other_teams_owners_are_even() -> None:
    topology = make_incident("single_crash-v4/val/4193").topology
    teams = (*(one for one in topology.teams if one != "dba-team"), "blue")
    strange = attrs.evolve(topology, teams=teams)
    owners = ONCALL.owning_teams(strange)
    assert "dba-team" not in owners
    assert ONCALL.owner_weights(strange, "datastore") == (1,) * len(owners)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('owner = "dba-team", others', 'owner = "sre-team", others', "unknown owner 'sre-"),
        ("others = 30 },", "others = 130 },", "tiers: edge: others: expected 0 to 100"),
        (', owner = "dba-team", others', ", others", "datastore: others: needs an own"),
    ],
)
def test_a_wrong_owner_of_a_tier_is_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    own = copy_of("oncall", tmp_path)
    edit(own / "world.toml", old, new)
    assert what in refused(own)
