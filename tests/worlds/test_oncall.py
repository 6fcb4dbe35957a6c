"""The tables of the shipped world ``oncall``, worked out from its files alone."""

from collections.abc import Iterator
from itertools import product

import attrs
import pytest

from logtriage.actions import SEVERITIES, Severity
from logtriage.tasks import setting_of
from logtriage.topology import Topology
from logtriage.world import tables
from logtriage.world.conditions import (
    Condition,
    accepted_remedies,
    affected,
    unaffected,
)
from logtriage.world.loading import load_world
from logtriage.world.model import HEALTHY, World
from logtriage.world.prior import prior
from logtriage.world.runbook import SEVERITY_RULE
from logtriage.world.setting import FULL, Setting
from logtriage.world.signs import sign_weights
from logtriage.world.tables import Place, alphabet, edge_weights, note_weights, places
from logtriage.world.topologies import random_topology
from logtriage.world.vocabulary import LOG
from tests.builders import FIVE_TEAMS, SEVEN_SERVICES, TIERS

FOGS = range(4)


@pytest.fixture(scope="module")
def world() -> World:
    return load_world("oncall")


TOPOLOGIES = (SEVEN_SERVICES, FIVE_TEAMS, random_topology(5, 30, FIVE_TEAMS.teams))


TASK_NAMES = tuple(load_world("oncall").tasks)


def _setting(name: str, fog: int) -> Setting:
    oncall = load_world("oncall")
    return setting_of(oncall, oncall.tasks[name], fog)


# --- kinds, classes, teams ---------------------------------------------------------------


def test_the_same_teams_are_paged(world: World) -> None:
    for topology, kind in product((SEVEN_SERVICES, FIVE_TEAMS), world.kinds):
        directory = tuple(f"owner-{number}" for number in range(len(topology)))
        for service in range(len(topology)):
            paged = {"capacity": "sre-team", "security": "security-team"}
            expected = paged.get(kind.fault_class, directory[service])
            assert world.team_of(topology, directory, kind.name, service) == expected
        assert set(paged.values()) == set(topology.teams) - set(world.owning_teams(topology))


# --- signatures and weights --------------------------------------------------------------


def _alphabet(world: World, sort: str, place: Place, fog: int) -> tuple[str, ...]:
    base = LOG if sort == "window" else sort
    tokens = world.tokens_at(base, place.tier)
    about = [f"{name}:{one}" for name in world.naming_tokens(base) for one in place.calls]
    named = [f"names:{kind.name}" for kind in world.kinds_at(place.tier)]
    if base != LOG or not world.naming_weights[fog]:
        named = []
    return (*tokens, *about, *named)


def _every_place() -> list[Place]:
    return sorted({one for topology in TOPOLOGIES for one in places(topology)}, key=repr)


@pytest.mark.parametrize("fog", FOGS)
def test_alphabets_are_the_same_at_every_place(world: World, fog: int) -> None:
    setting = _setting("single_crash", fog)
    for place, sort in product(_every_place(), (*world.ordinary, "window")):
        assert _alphabet(world, sort, place, fog) == alphabet(setting, sort, place)


def _expected(
    world: World, setting: Setting, sort: str, place: Place, condition: Condition, hidden: bool
) -> list[int]:
    """The weights of a sign, worked out from the world's files alone."""
    tokens, naming = _alphabet(world, sort, place, setting.fog), world.naming_tokens(sort)
    row = world.signatures[HEALTHY if hidden else condition.name].get(sort, {})
    targets = [] if hidden else [one for one in condition.sick if one in place.calls]
    found = []
    for token in tokens:
        name, _, index = token.partition(":")
        share = row.get(name, 0) * FULL // 100
        if name in naming:
            share = share // len(targets) if int(index) in targets else 0
        found.append(share)
    found[0] += FULL - sum(found)
    named = world.naming_weights[setting.fog]
    if sort != LOG or hidden or condition.name not in world.kind_names or not named:
        return found
    only = [FULL * (one == f"names:{condition.name}") for one in tokens]
    mixed = [(a * (FULL - named) + b * named) // FULL for a, b in zip(found, only, strict=True)]
    mixed[0] += FULL - sum(mixed)
    return mixed


def _conditions(topology: Topology) -> Iterator[tuple[Place, Condition]]:
    """Every condition that a service can be in, with the places where it can."""
    setting = _setting("single_crash", 0)
    for hypothesis in prior(setting, topology, None).hypotheses:
        for service, condition in affected(setting.world, topology, hypothesis).items():
            yield places(topology)[service], condition
    for place in places(topology):
        yield from ((place, condition) for condition, _ in unaffected(setting.world, place.tier))


@pytest.mark.parametrize("fog", FOGS)
def test_weights_of_signs_follow_from_the_files_for_every_condition(world: World, fog: int) -> None:
    setting = _setting("single_crash", fog)
    pairs = sorted(set(_conditions(FIVE_TEAMS)), key=repr)
    for (place, condition), sort, hidden in product(pairs, world.ordinary, (False, True)):
        expected = _expected(world, setting, sort, place, condition, hidden)
        assert list(sign_weights(setting, sort, place, condition, hidden=hidden)) == expected


def test_notes_are_drawn_from_the_topics_of_the_kind_in_the_order_of_its_file(
    world: World,
) -> None:
    for kind, fog in product(world.kinds, FOGS):
        for tier in kind.tiers:
            here = world.tokens_at(LOG, tier)
            signs = {name: n for name, n in kind.signature[LOG].items() if name in here}
            share, total = FULL - world.fog_weights[fog], sum(signs.values())
            rows = [(name, percent * share // total) for name, percent in signs.items()]
            assert note_weights(_setting("single_crash", fog), kind.name, tier)[1:] == tuple(rows)


def test_fog_is_rounded_as_in_the_tables(world: World) -> None:
    assert world.fog_weights == (3277, 9830, 18350, 26214)
    assert world.naming_weights == (16384, 3932, 0, 0)


# --- the edge -------------------------------------------------------------------------------


def _edge_row(world: World, severity: int, errors_first: bool | None) -> dict[str, int]:
    edge = world.rules.edge
    names = [band.name for band in edge.bands]
    rows = dict.fromkeys((f"{errors}/{p99}" for errors in names for p99 in names), 0)
    if severity >= len(SEVERITIES):
        listed = edge.calm if severity == len(SEVERITIES) else edge.recovered
        parts = {(one.errors, one.p99): one.weight for one in listed}
    else:
        errors, both, p99 = edge.leads if errors_first else edge.leads[::-1]
        usual, slight = names[:2]
        if severity == len(SEVERITIES) - 1:
            left = 16 - edge.unmoved
            parts = {
                (usual, usual): 16 * edge.unmoved,
                (slight, usual): errors * left,
                (slight, slight): both * left,
                (usual, slight): p99 * left,
            }
        else:
            band = names[-1 - severity]
            parts = {
                (band, slight): errors,
                (band, usual): errors,
                (band, band): 2 * both,
                (slight, band): p99,
                (usual, band): p99,
            }
    whole = sum(parts.values())
    for (first, second), part in parts.items():
        rows[f"{first}/{second}"] = part * FULL // whole
    first, second = next(iter(parts))
    rows[f"{first}/{second}"] += FULL - sum(rows.values())
    return rows


@pytest.mark.parametrize("name", TASK_NAMES)
def test_the_edge_shows_severities_as_often(world: World, name: str) -> None:
    setting, edge = _setting(name, 2), world.rules.edge

    def mixed(first: list[int], second: list[int], share: int) -> list[int]:
        found = [
            (a * (FULL - share) + b * share) // FULL for a, b in zip(first, second, strict=True)
        ]
        found[found.index(max(found))] += FULL - sum(found)
        return found

    for severity, errors_first, start in product(range(5), (True, False, None), range(8)):
        row = list(_edge_row(world, severity, errors_first).values())
        if start < setting.severity_from and severity < tables.CALM:
            milder = list(_edge_row(world, min(severity + 1, 2), errors_first).values())
            calm = list(_edge_row(world, tables.CALM, None).values())
            row = mixed(row, milder, edge.early_milder * FULL // 100)
            row = mixed(row, calm, edge.early_calm * FULL // 100)
        assert list(edge_weights(setting, severity, errors_first, start)) == row
    assert list(_edge_row(world, 0, None)) == list(world.edge_tokens)


def test_the_severity_rule_is_the_runbooks(world: World) -> None:
    assert world.rules.severity_rule == SEVERITY_RULE
    assert world.rules.severity_rule[0].severity is Severity.P1


# --- topologies and tasks ----------------------------------------------------------------


def test_topologies_are_equal_to_those_in_code(world: World) -> None:
    assert dict(world.topologies) == {one.name: one for one in (SEVEN_SERVICES, FIVE_TEAMS)}


def test_drawn_topologies_follow_the_rules(world: World) -> None:
    drawn = world.rules.drawn_topologies
    assert drawn is not None
    tiers = {one.tier: one for one in drawn.tiers}
    calling = {tier.name for tier in world.rules.tiers if tier.calls}
    counts = dict.fromkeys(TIERS, 0)
    for seed in range(60):
        topology = random_topology(seed, 200, FIVE_TEAMS.teams)
        gateway, *inner = topology.services
        assert (gateway.name, gateway.tier, gateway.owner) == attrs.astuple(drawn.gateway)
        assert max(topology.depth) == drawn.max_depth
        for service in inner:
            row = tiers[service.tier]
            counts[service.tier] += 1
            assert service.owner == row.owner
            noun, _, suffix = service.name.partition("-")
            assert noun in drawn.nouns
            assert suffix.partition("-")[0] == row.suffix
            assert not service.calls or service.tier in calling
    for tier, row in tiers.items():
        assert counts[tier] / sum(counts.values()) == pytest.approx(row.share / 100, abs=0.02)


def test_remedies_fix_the_same_faults(world: World) -> None:
    setting = _setting("single_crash", 2)
    for hypothesis in prior(setting, FIVE_TEAMS, None).hypotheses:
        expected = {
            (remedy, FIVE_TEAMS.names[service])
            for kind, service in hypothesis.faults
            for remedy in world.kind(kind).remedies
        }
        assert accepted_remedies(world, FIVE_TEAMS, hypothesis) == expected
