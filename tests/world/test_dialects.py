"""Log lines in the dialect of a technology: frames, requests, wordings; and who runs on what."""

import re
from collections import defaultdict

import attrs
import pytest

from logtriage.codec import topology_from_json, topology_to_json
from logtriage.errors import TopologyError
from logtriage.topology import Topology
from logtriage.world.channels import Channel, Evidence
from logtriage.world.loading import load_world
from logtriage.world.schema.parts import Technology
from logtriage.world.telemetry import LogLine
from logtriage.world.topologies import fitting, random_topology
from logtriage.world.voice import Voice
from tests.builders import FIVE_TEAMS

WORLD = load_world("oncall")
DB = FIVE_TEAMS.index("user-db")
HOLE = re.compile(r"\{\w+\}")
every_technology = pytest.mark.parametrize(
    "technology", WORLD.technologies, ids=lambda row: row.name
)


def line(
    token: str, *, service: int = DB, start: int = 0, seed: int = 7, group: int = 0,
    topology: Topology = FIVE_TEAMS, beside: tuple[Evidence, ...] = (),
) -> LogLine:  # fmt: skip
    """What a service says at a tick, with other cells on the screen."""
    cell = Evidence(Channel.LOGS, service, 0, start, token)
    said = Voice(WORLD, topology, seed, group).lines([cell, *beside])
    return next(row for row in said if row.service == topology.names[service])


def on(technology: str, service: int = DB) -> Topology:
    """The default topology with another technology at a service."""
    rows = list(FIVE_TEAMS.services)
    rows[service] = attrs.evolve(rows[service], technology=technology)
    return attrs.evolve(FIVE_TEAMS, services=tuple(rows))


def test_a_line_depends_on_its_own_token_service_technology_tick_and_seed_alone() -> None:
    said = line("lock_wait")
    others = [
        Evidence(Channel.LOGS, 0, 0, 0, "restarted"),
        Evidence(Channel.LOGS, 1, 0, -3, "queueing"),
    ]
    assert line("lock_wait", beside=tuple(others)) == said
    elsewhere = attrs.evolve(FIVE_TEAMS.services[0], technology="nginx")
    moved = attrs.evolve(FIVE_TEAMS, services=(elsewhere, *FIVE_TEAMS.services[1:]))
    assert line("lock_wait", topology=moved) == said
    changed = [
        line("lag"), line("lock_wait", topology=on("mysql")), line("lock_wait", start=3),
        line("lock_wait", seed=8), line("lock_wait", group=1),
    ]  # fmt: skip
    assert len({said.message, *(row.message for row in changed)}) == 6


@every_technology
def test_a_technology_words_all_topics_of_its_tiers_often_enough(technology: Technology) -> None:
    topics = {row.name for row in WORLD.topics if set(row.tiers) & set(technology.tiers)}
    assert set(technology.topics) == topics
    for name, wording in technology.topics.items():
        counts = [len(group) for group in wording.groups]
        least = (30, 15, 15) if name == "everyday" else (6, 3, 3)
        assert all(map(int.__ge__, counts, least)), (name, counts)


def test_the_form_of_a_wording_belongs_to_one_topic_and_one_group() -> None:
    places = defaultdict(set)
    for technology in WORLD.technologies:
        for topic, wording in technology.topics.items():
            for group, phrases in enumerate(wording.groups):
                for _, text in phrases:
                    places[technology.name, HOLE.sub("{}", text)].add((topic, group))
    assert {form: where for form, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize("group", range(3))
def test_every_wording_of_a_group_is_said_and_no_other(group: int) -> None:
    technology = WORLD.technology_names["postgres"]
    for topic, wording in technology.topics.items():
        if topic == "timeout":
            continue  # it names a service
        forms = {
            re.compile(".*".join(map(re.escape, HOLE.split(text)))): text
            for _, text in wording.groups[group]
        }
        said = {
            text
            for seed in range(25 * len(forms))
            for form, text in forms.items()
            if form.search(line(topic, seed=seed, group=group).message)
        }
        assert said == set(forms.values()), topic


def test_requests_recur_along_a_call_and_pods_stay() -> None:
    topology = on("go", FIVE_TEAMS.index("auth-service"))
    services = [FIVE_TEAMS.index(name) for name in ("api-gateway", "auth-service", "user-db")]
    ids, pods = defaultdict(set), set()
    for start in range(0, 30, 3):
        for service in services:
            message = line("everyday", service=service, start=start, topology=topology).message
            ids[start].update(re.findall(r"\b[0-9a-f]{8}\b", message)[:1])
            pods.update(re.findall(r"pod=(\w+)", message))
    assert all(1 <= len(seen) <= 3 for seen in ids.values())
    assert any(len(seen) < len(services) for seen in ids.values())
    assert len(set().union(*ids.values())) == sum(map(len, ids.values()))
    assert len(pods) == 1


def test_some_lines_stand_for_several_unless_they_are_unique() -> None:
    for token, least, most in (("everyday", 25, 80), ("lock_wait", 8, 40)):
        said = [line(token, seed=seed).message for seed in range(400)]
        assert least <= sum(bool(re.search(r"\(x\d+\)", text)) for text in said) <= most


def technologies(topology: Topology, tier: str) -> set[str | None]:
    return {row.technology for row in topology.services if row.tier == tier}


def test_held_out_technologies_are_drawn_where_they_are_asked_for() -> None:
    for seed in range(5):
        usual, held = random_topology(seed, 30), random_topology(seed, 30, held_out=True)
        assert technologies(usual, "datastore") == {"postgres", "mysql"}
        assert technologies(usual, "service") == {"java", "go", "python"}
        assert technologies(held, "datastore") == {"redis"}
        assert technologies(held, "service") == {"node"}
        assert technologies(held, "edge") <= {"envoy", "nginx"}
        assert usual.names == held.names
        assert usual.name != held.name
    assert {random_topology(seed, 10).services[0].technology for seed in range(20)} == {
        "envoy",
        "nginx",
    }


def test_a_topology_without_technologies_has_some_of_its_tiers() -> None:
    bare = attrs.evolve(
        FIVE_TEAMS, services=tuple(attrs.evolve(s, technology=None) for s in FIVE_TEAMS.services)
    )
    found = [WORLD.technology_of(service) for service in fitting(bare, WORLD).services]
    for service, technology in zip(bare.services, found, strict=True):
        assert technology is not None
        assert service.tier in technology.tiers
        assert not technology.held_out
    assert load_world("tiny").technology_of(bare.services[0]) is None


def test_a_topology_says_its_technologies_in_json_and_has_none_of_another_tier() -> None:
    data = topology_to_json(FIVE_TEAMS)
    assert data["services"][DB]["technology"] == "postgres"
    assert topology_from_json(data) == FIVE_TEAMS
    with pytest.raises(TopologyError, match="unknown technology of tier datastore 'java'; known: "):
        fitting(on("java"), WORLD)
