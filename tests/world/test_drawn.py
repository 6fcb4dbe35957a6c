"""Worlds drawn around another one: valid, the same rules, other shares, answers and names."""

import re
from collections import Counter
from itertools import combinations

import attrs
import pytest

from logtriage import InvalidInput
from logtriage.world import drawn
from logtriage.world.checking import problems
from logtriage.world.drawn import APART, apart, draw_world, first_valid, is_valid
from logtriage.world.loading import build, load_world
from logtriage.world.model import World
from logtriage.world.renaming import renamed
from logtriage.world.schema.canonical import document_of
from logtriage.world.schema.parts import OWNER, Signature

BASE = load_world("oncall")
SEEDS = range(6)
DRAWN = tuple(draw_world(BASE, seed) for seed in SEEDS)


def remembered(seed: int) -> World:
    """The base world under the names and in the order of the world that a seed draws."""
    return renamed(BASE, first_valid(BASE, seed)[0])


def signatures(world: World) -> dict[str, Signature]:
    rules = world.rules
    return {
        "common": rules.common, "background": world.background, "healthy": rules.healthy,
        "waiting": rules.affected.waiting, "loaded": rules.affected.loaded,
        **{one.name: one.signature for one in rules.distractions},
        **{kind.name: kind.signature for kind in world.kinds},
        **{one.name: one.signature for one in world.benign},
    }  # fmt: skip


def shares(world: World) -> list[int]:
    rows = signatures(world).values()
    return [share for row in rows for sort in row.values() for share in sort.values()]


def test_a_seed_draws_the_same_world_and_another_seed_another() -> None:
    drawn.first_valid.cache_clear()
    assert [draw_world(BASE, seed).content for seed in SEEDS] == [one.content for one in DRAWN]
    assert len({world.fingerprint for world in (BASE, *DRAWN)}) == len(DRAWN) + 1


@pytest.mark.parametrize("world", DRAWN, ids=str)
def test_a_drawn_world_passes_every_check_of_the_loader(world: World) -> None:
    assert build(document_of(world), "drawn") == world
    for tier in world.tier_names:
        for one, other in combinations(world.kinds_at(tier), 2):
            assert apart(world, tier, one, other) >= APART


def test_shares_move_from_those_of_the_base_world_in_both_directions() -> None:
    moved = Counter(
        (drawn > base) - (drawn < base)
        for world in DRAWN
        for drawn, base in (
            (share, BASE.background[sort][token])
            for sort, row in world.background.items()
            for token, share in row.items()
        )
    )
    assert moved[1] > 20
    assert moved[-1] > 20


def test_kinds_that_look_alike_make_no_valid_world() -> None:
    first, second, *rest = DRAWN[0].kinds
    twin = attrs.evolve(second, tiers=first.tiers, signature=first.signature)
    alike = attrs.evolve(DRAWN[0], kinds=(first, twin, *rest))
    assert not any(problems(alike))
    assert not is_valid(alike)


def test_where_no_valid_world_is_drawn_the_seed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logtriage.world.drawn.ATTEMPTS", 3)
    first = BASE.kinds[0]
    twins = attrs.evolve(
        BASE,
        kinds=tuple(
            attrs.evolve(one, tiers=first.tiers, signature={"log": {"exceptions": 10}})
            for one in BASE.kinds
        ),
    )
    with pytest.raises(InvalidInput, match=r"world 'oncall': none of 3 worlds .* seed 3"):
        draw_world(twins, 3)
    many = tuple(attrs.evolve(first, name=f"kind_{n}", order=n) for n in range(99))
    with pytest.raises(InvalidInput, match="103 names, such as 'kind_0': a drawn world has 37"):
        draw_world(attrs.evolve(BASE, kinds=many), 0)


def test_remedies_and_classes_are_dealt_out_anew_and_whom_a_class_pages_stays() -> None:
    remembering = [remembered(seed) for seed in SEEDS]
    for world, base in zip(DRAWN, remembering, strict=True):
        assert world.kind_names == base.kind_names
        for what in ("remedies", "fault_class"):
            new, old = ([getattr(kind, what) for kind in one.kinds] for one in (world, base))
            assert Counter(new) == Counter(old)
            assert new != old
        for what in ("tiers", "errors_first", "drifts", "pours_load", "name", "order"):
            assert [getattr(one, what) for one in world.kinds] == [
                getattr(one, what) for one in base.kinds
            ]
        assert world.rules.classes == base.rules.classes
        assert [row.pages == OWNER for row in world.rules.classes] == [
            row.pages == OWNER for row in BASE.rules.classes
        ]
        assert world.topologies == base.topologies


def test_no_name_of_the_base_world_is_left() -> None:
    services = {row.name for layout in BASE.layouts for row in layout.services}
    names = {
        *BASE.kind_names, *(one.name for one in BASE.benign), *BASE.rules.teams, *services,
        *(layout.name for layout in BASE.layouts),
    }  # fmt: skip
    gone = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    for world in DRAWN:
        found = gone.search(world.content.decode())
        assert found is None, found
    said = {text for kind in BASE.kinds for group in kind.names.groups for _, text in group}
    assert not any(text in world.content.decode() for world in DRAWN for text in said)


def test_names_and_places_say_nothing_of_what_they_stand_for() -> None:
    """Over many seeds each kind has many names, and each name stands for many kinds."""
    names: dict[str, set[str]] = {kind.name: set() for kind in BASE.kinds}
    kinds: dict[str, set[str]] = {}
    places: dict[str, set[int]] = {kind.name: set() for kind in BASE.kinds}
    teams: dict[str, set[int]] = {team: set() for team in BASE.rules.teams}
    for seed in range(40):
        world = remembered(seed)
        by_look = {id_of(kind.signature): kind for kind in world.kinds}
        for kind in BASE.kinds:
            drawn = by_look[id_of(kind.signature)]
            names[kind.name].add(drawn.name)
            places[kind.name].add(drawn.order)
            kinds.setdefault(drawn.name, set()).add(kind.name)
        for row, base in zip(world.rules.tiers, BASE.rules.tiers, strict=True):
            teams[base.owner or ""].add(world.rules.teams.index(row.owner or ""))
    assert min(map(len, names.values())) >= 20
    assert min(map(len, places.values())) >= 12
    assert all(len(of) > 5 for of in kinds.values())
    assert all(len(teams[row.owner or ""]) > 2 for row in BASE.rules.tiers)


def id_of(signature: Signature) -> str:
    return repr({sort: dict(row) for sort, row in signature.items()})
