"""The rooms around a world read its rows: ``tiny`` is prompted, played, shown and exported."""

import attrs

import logtriage as lt
from logtriage.evaluation import play_joint_episode
from logtriage.policies.notebook import Notebook, write_down
from logtriage.policies.suspicion import suspects
from logtriage.registry import make_team
from logtriage.report.replay.knowledge import knowledge
from logtriage.roles import role_actions
from logtriage.roles.splits import TRIO
from logtriage.world.channels import DOWN
from logtriage.world.loading import load_world
from tests.rendering.reader_notation import states_of
from tests.worlds.test_names import HOMONYMS, names

TINY = load_world("tiny")
IDS = tuple(lt.incident_ids("tiny:outage", "test", 12))


def incident(number: int = 3) -> lt.Incident:
    return lt.make_incident(IDS[number])


def screens(policy: str, of: lt.Incident) -> list[lt.Observation]:
    """What a policy is shown from the first screen to the last."""
    return [lt.observe(state) for state in states_of(lt.play(of, policy))]


def test_the_prompt_has_a_row_for_everything_that_the_world_has() -> None:
    prompt = lt.system_prompt(incident())
    for fact in (
        "SERVICES (-> calls). edge: web -> shop. service: shop -> shop-db. datastore: shop-db.",
        "Directly or not, its callers are waiting and, under overload, all that it calls is "
        "loaded.",
        "Others, each: 20% releases; 10% a minor fault",
        "cpu %: hot 85-99. workers of 16: full 16.",
        "DIRECTORY, by chance: any of web-team, data-team.",
        "code (page the owner):\n"
        "bad_release! es rollback: 70 own errors, release; 50 failed\n"
        "data (page the owner):\nheavy_query d kill-query: ",
        "capacity (page ops-team):\noverload any scale: ",
        '"value": "rollback:shop-db"',
    ):
        assert fact in prompt


def test_nothing_that_only_the_default_world_names_stands_in_prompt_and_screens() -> None:
    own = {*TINY.signatures, *TINY.tier_names, *TINY.rules.teams, *TINY.rules.remedies}
    other = set(names()["conditions"] | names()["teams"] | names()["remedies"]) - own - HOMONYMS
    other = {name for name in other if "_" in name or "-" in name}
    assert "slow_query" in other
    shown = [
        lt.system_prompt(incident()),
        *map(lt.render_observation, screens("observer", incident())),
    ]
    assert not [name for text in shown for name in other if name in text]


def test_the_expert_suspects_what_the_world_has_and_names_its_remedies() -> None:
    first = lt.observe(lt.initial_state(incident()))
    found = suspects(first, write_down(first, Notebook()))
    assert {one.kind for one in found} == {*TINY.kind_names, "backup"}
    assert {one.remedy for one in found if one.kind == "overload"} == {
        ("scale", name) for name in first.topology.names
    }
    assert {one.team(first) for one in found if one.kind == "overload"} == {"ops-team"}


def test_roles_say_its_kinds_and_what_is_seen_in_it() -> None:
    topology = incident().topology
    for role in TRIO.roles:
        said = [
            one.message for one in role_actions(role, topology, TINY) if isinstance(one, lt.Report)
        ]
        assert said[:4] == ["bad_release", "heavy_query", "overload", "no_fault"]
        assert {"failed", "cpu_high", "workers_full", "web", "shop", "shop-db"} <= set(said)
        assert "slow_query" not in said
    for team in ("expert", "observer"):
        assert play_joint_episode(incident(), make_team(team, TRIO)(incident()), TRIO).is_closed


def test_readings_that_are_not_as_usual_are_signs() -> None:
    for name in IDS:
        for seen in screens("observer", lt.make_incident(name)):
            alone = attrs.evolve(seen, alerts=(), window=(), inspection=())
            odd: dict[str, int] = {}
            for one in alone.readings:
                signs = not set(one.tokens) <= {"usual", "nowhere", DOWN}
                odd[one.service] = odd.get(one.service, 0) + signs
            (known,) = knowledge([alone])
            assert known.signs == tuple(odd.get(one, 0) for one in seen.topology.names)
