"""The shipped world ``second`` is today's simulated world, table by table, exactly."""

from collections.abc import Iterator, Mapping
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
from logtriage.world.model import HEALTHY, LOADED, WAITING, World
from logtriage.world.prior import prior
from logtriage.world.runbook import SEVERITY_RULE
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import Place, alphabet, edge_weights, note_weights, places, weights
from logtriage.world.topologies import random_topology
from logtriage.world.vocabulary import CHANGE, LOG
from tests.builders import FIVE_TEAMS, SEVEN_SERVICES, TIERS

FOGS = range(4)


@pytest.fixture(scope="module")
def world() -> World:
    return load_world("oncall")


TOPOLOGIES = (SEVEN_SERVICES, FIVE_TEAMS, random_topology(5, 30, FIVE_TEAMS.teams))


TASK_NAMES = tuple(load_world("oncall").tasks)


def _setting(name: str, fog: int) -> Setting:
    second = load_world("oncall")
    return setting_of(second, second.tasks[name], fog)


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


def _mixed(first: list[int], second: list[int], share: int) -> list[int]:
    mixed = [(a * (FULL - share) + b * share) // FULL for a, b in zip(first, second, strict=True)]
    mixed[0] += FULL - sum(mixed)
    return mixed


def _expected(
    world: World, setting: Setting, sort: str, place: Place, condition: Condition, start: int
) -> list[int]:
    """The weights of a cell, worked out from the world's files alone."""
    base = LOG if sort == "window" else sort
    tokens = _alphabet(world, base, place, setting.fog)
    naming = world.naming_tokens(base)

    def shares(row: Mapping[str, int], about: tuple[int, ...]) -> list[int]:
        found = []
        targets = [one for one in about if one in place.calls]
        for token in tokens:
            name, _, index = token.partition(":")
            share = row.get(name, 0) * FULL // 100
            if name in naming:
                share = share // len(targets) if int(index) in targets else 0
            found.append(share)
        found[0] += FULL - sum(found)
        return found

    def only(token: str) -> list[int]:
        return [FULL * (one == token) for one in tokens]

    healthy = world.signatures[HEALTHY]
    root = condition.name in world.kind_names
    silent = root and start < setting.root_silent and sort in ("alert", "window")
    shown = healthy if silent else world.signatures[condition.name]
    row = shares(shown.get(base, {}), condition.sick)
    naming_weight = world.naming_weights[setting.fog]
    if base == LOG and root and not silent and naming_weight:
        row = _mixed(row, only(f"names:{condition.name}"), naming_weight)
    grows = root or condition.name in (WAITING, LOADED, *(one.name for one in world.benign))
    if grows and base != CHANGE:
        row = _mixed(shares(healthy.get(base, {}), ()), row, setting.strength(start))
    background = shares(world.rules.background.get(base, {}), place.calls)
    row = _mixed(row, background, world.fog_weights[setting.fog])
    return _mixed(row, only(tokens[0]), setting.noise * FULL // 1000) if sort == "window" else row


def _conditions(topology: Topology) -> Iterator[tuple[Place, Condition]]:
    """Every condition that a service can be in, with the places where it can."""
    setting = _setting("single_crash", 0)
    for hypothesis in prior(setting, topology, None).hypotheses:
        for service, condition in affected(setting.world, topology, hypothesis).items():
            yield places(topology)[service], condition
    for place in places(topology):
        yield from ((place, condition) for condition, _ in unaffected(setting.world, place.tier))


@pytest.mark.parametrize("name", TASK_NAMES)
@pytest.mark.parametrize("fog", FOGS)
def test_weights_follow_from_the_files_for_every_condition(
    world: World, name: str, fog: int
) -> None:
    setting = _setting(name, fog)
    pairs = sorted(set(_conditions(FIVE_TEAMS)), key=repr)
    starts = {0, 3, setting.root_silent, setting.grows_for}
    for (place, condition), sort in product(pairs, (*world.ordinary, "window")):
        for start in starts:
            expected = _expected(world, setting, sort, place, condition, start)
            assert list(weights(setting, sort, place, condition, start)) == expected


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
