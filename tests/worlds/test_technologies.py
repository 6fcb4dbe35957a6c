"""Technologies of a world: its own files, shipped ones by name, and what is wrong with either."""

import re
import shutil
from pathlib import Path

import pytest

from logtriage.world.loading import load_world
from tests.worlds.folders import copy_of, edit, refused

POSTGRES = "technologies/postgres.toml"
OWN = """\
order = 0
tiers = ["datastore"]
line = "{level} {shard} {text}"
[levels]
INFO = "i"
WARN = "w"
ERROR = "e"
FATAL = "f"
[words]
shard = ["s1", "s2"]
[topics.everyday]
train = '''
INFO compacted {shard} in {ms} ms
WARN level of {shard} is {pct}% full
'''
test = [["INFO", "merged {n} runs"]]
ood = [["INFO", "swept {id}"]]
"""


def test_a_shipped_technology_is_used_as_if_its_file_stood_there(tmp_path: Path) -> None:
    own = copy_of("oncall", tmp_path)
    copied = load_world(own)
    names = sorted(file.stem for file in (own / "technologies").iterdir())
    shutil.rmtree(own / "technologies")
    listed = ", ".join(f'"{name}"' for name in names)
    edit(own / "world.toml", 'name = "own"', f'name = "own"\nuses_technologies = [{listed}]')
    assert load_world(own) == copied


def test_a_technology_of_ones_own_words_the_topics_that_it_has(tmp_path: Path) -> None:
    own = copy_of("tiny", tmp_path)
    (own / "technologies").mkdir()
    (own / "technologies/lsm.toml").write_text(OWN)
    world = load_world(own)
    (lsm,) = world.technologies
    assert world.phrases("everyday", lsm)[0] == (
        ("INFO", "compacted {shard} in {ms} ms"),
        ("WARN", "level of {shard} is {pct}% full"),
    )
    assert world.phrases("failed", lsm) == world.phrases("failed", None)


BROKEN = [
    ("{level} {shard} {text}", "{level} {shard}", "line: '{level} {shard}': expected {text} once"),
    ("{shard} {text}", "{host} {text}", "line: '{level} {host} {text}': unknown placeholder"),
    ('FATAL = "f"', "", "levels: expected INFO, WARN, ERROR, FATAL; got ERROR, INFO, WARN"),
    ('shard = ["s1", "s2"]', "shard = []", "words.shard: expected at least one text"),
    ("[words]", '[words]\nms = ["1"]', "words: 'ms' stands for something else"),
    ("{pct}% full", "{rate} full", "unknown placeholder 'rate'; known: n, ms, fast, pct, mb"),
    ("[topics.everyday]", "[topics.everydays]", "topics: unknown topic 'everydays'"),
    ("WARN level", "WORN level", "topics.everyday.train: unknown level 'WORN'"),
    ('"merged {n} runs"', '"compacted {shard} in {ms} ms"', "stands in technologies/lsm.toml"),
    ('["datastore"]', '["store"]', "tiers: unknown tier 'store'"),
]


@pytest.mark.parametrize(("old", "new", "error"), BROKEN, ids=[row[2] for row in BROKEN])
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, error: str) -> None:
    own = copy_of("tiny", tmp_path)
    (own / "technologies").mkdir()
    (own / "technologies/lsm.toml").write_text(OWN)
    edit(own / "technologies/lsm.toml", old, new)
    told = refused(own)
    assert "own/technologies/lsm.toml: " in told
    assert error in told


def test_every_wording_that_is_missing_is_named(tmp_path: Path) -> None:
    own = copy_of("oncall", tmp_path)
    text = (own / POSTGRES).read_text()
    (own / POSTGRES).write_text(re.sub(r"\[topics\.lag\].*?(?=\n\[)", "", text, flags=re.DOTALL))
    assert refused(own) == (f"own/{POSTGRES}: topics.lag: missing: topics/lag.toml words no lines")


def test_a_name_that_is_used_exists_and_stands_once(tmp_path: Path) -> None:
    own = copy_of("oncall", tmp_path)
    edit(own / "world.toml", 'name = "own"', 'name = "own"\nuses_technologies = ["redis"]')
    assert "'redis' stands in technologies/ already" in refused(own)
    edit(own / "world.toml", '["redis"]', '["reddis"]')
    assert "unknown technology 'reddis' (did you mean 'redis'?)" in refused(own)
    edit(own / "world.toml", 'uses_technologies = ["reddis"]', "")
    edit(own / "topologies/seven-services.toml", 'technology = "mysql"', 'technology = "java"')
    assert "payment-db: technology: unknown technology of tier data" in refused(own)
