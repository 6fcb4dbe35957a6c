"""Laws of worlds as values: shipped ones and drawn ones."""

import pickle
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from logtriage.errors import WorldError
from logtriage.world import loading
from logtriage.world.channels import Channel, Evidence
from logtriage.world.loading import build
from logtriage.world.model import World
from logtriage.world.schema import canonical
from logtriage.world.schema.canonical import Document
from logtriage.world.schema.forms import CAUSE, LINE_PLACEHOLDERS
from logtriage.world.voice import Voice
from property_tests.strategies import json_values
from property_tests.worlds import documents, drawn_worlds, world_documents, worlds


@given(worlds())
def test_a_world_comes_back_from_its_content_and_from_its_pickle(world: World) -> None:
    assert build(canonical.decode(world.content), "again") is world
    data = pickle.dumps(world)
    loading._INTERNED.pop(world.fingerprint)
    again = pickle.loads(data)
    assert (again, hash(again)) == (world, hash(world))
    assert again.content == world.content
    loading._INTERNED[world.fingerprint] = world


@given(documents(), st.randoms(use_true_random=False))
def test_the_order_of_files_and_of_their_fields_is_no_content(
    document: Document, random: Any
) -> None:
    def shuffled(data: Any) -> Any:
        rows = list(data.items())
        random.shuffle(rows)
        return dict(rows)

    mixed = {path: shuffled(data) for path, data in shuffled(document).items()}
    assert build(mixed, "mixed").content == build(document, "as it is").content


@given(worlds())
def test_every_signature_fits_at_every_tier(world: World) -> None:
    tiers = {one.name: one.tiers for one in world.kinds}
    tiers |= {one.name: one.tiers for one in world.benign}
    for (name, signature), tier in product(world.signatures.items(), world.tier_names):
        if tier not in tiers.get(name, world.tier_names):
            continue
        for sort, shares in signature.items():
            here = {*world.tokens_at(sort, tier), *world.naming_tokens(sort)}
            total = sum(share for token, share in shares.items() if token in here)
            assert total <= 100


@given(worlds(), st.integers(0, 2**62), st.integers(0, 2))
def test_every_token_has_a_figure_of_its_own(world: World, seed: int, group: int) -> None:
    topology = world.topologies[min(world.topologies)]
    voice = Voice(world, topology, seed, group)
    for service, gauge in product(range(len(topology)), world.tokens.gauges):
        for token in world.tokens_at(gauge.name, topology.services[service].tier)[1:]:
            rows = voice.series(service, gauge.name, [0], [token])
            assert any(row.values != (row.usual,) for row in rows)
    for change in world.tokens.change.tokens:
        (row,) = voice.changes([Evidence(Channel.CHANGE, 0, 0, 0, change.name)])
        assert "{" not in row.detail


@given(worlds())
def test_a_new_kind_moves_no_other(world: World) -> None:
    document = dict(canonical.document_of(world))
    last = world.kinds[-1]
    row = dict(document[f"kinds/{last.name}.toml"])
    row["order"] = last.order + 1
    row["names"] = {group: [["ERROR", f"brand new {group}"]] for group in row["names"]}
    row["past"] = {group: [f"a brand new {group}"] for group in row["past"]}
    document["kinds/brand_new.toml"] = row
    more = build(document, "more")
    assert more.kinds[:-1] == world.kinds
    for tier in world.tier_names:
        before, after = ([kind.name for kind in one.kinds_at(tier)] for one in (world, more))
        assert after[: len(before)] == before


@given(drawn_worlds(), drawn_worlds())
def test_worlds_are_equal_exactly_if_their_contents_are(one: World, other: World) -> None:
    assert (one == other) == (one.content == other.content)
    assert (one is other) == (one.content == other.content)


@given(world_documents(), st.data())
def test_what_is_broken_is_refused_by_its_file_or_is_a_world(
    document: Document, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(sorted(document)))
    row = dict(document[path])
    field = data.draw(st.sampled_from(sorted(row)))
    row[field] = data.draw(json_values(max_leaves=3))
    try:
        world = build({**document, path: row}, "broken")
    except WorldError as error:
        assert str(error).startswith("broken/")
    else:
        assert isinstance(world, World)


@given(world_documents(), st.text(max_size=30))
def test_no_text_runs_anything(document: Document, text: str) -> None:
    row = dict(document["topics/anywhere.toml"])
    row["phrasings"] = {group: [["INFO", f"{group} {text}"]] for group in row["phrasings"]}
    try:
        world = build({**document, "topics/anywhere.toml": row}, "texts")
    except WorldError:
        return
    used = {"{" + one + "}" for one in (*LINE_PLACEHOLDERS, CAUSE)}
    said_ = world.phrases("anywhere", None)[0][0][1]
    for one in used:
        said_ = said_.replace(one, "")
    assert "{" not in said_
    assert "}" not in said_
