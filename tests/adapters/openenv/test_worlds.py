"""A server of another world than the default one: what it plays, and what it refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from logtriage.evaluation import RunSpec, evaluate
from logtriage.server import RemoteEnv, RemoteRecorder
from logtriage.server.remote import ServerError
from logtriage.world.loading import load_world
from logtriage.world.model import World
from tests.adapters.openenv.serving import Running, running
from tests.worlds.folders import NAME, copy_of, edit


@pytest.fixture(name="folder")
def folder_of_an_own_world(tmp_path: Path) -> Path:
    return copy_of("tiny", tmp_path)


@pytest.fixture(name="own")
def own_world(folder: Path) -> World:
    return load_world(folder)


@pytest.fixture(name="shop")
def server_of_the_own_world(own: World) -> Iterator[Running]:
    with running(world=own) as server:
        yield server


def test_what_is_played_there_is_what_is_played_here(
    shop: Running, own: World, tmp_path: Path
) -> None:
    spec = RunSpec(["expert", "chain"], ["outage"], episodes=3, world=own)
    there = evaluate(spec, tmp_path / "there", recorder=RemoteRecorder(shop.http, world=own))
    assert there == evaluate(spec, tmp_path / "here")


def test_a_client_of_another_world_is_refused(
    shop: Running, own: World, folder: Path, tmp_path: Path
) -> None:
    edit(folder / "world.toml", "onset = 10", "onset = 11")
    other = load_world(folder)
    spec = RunSpec(["expert"], ["outage"], episodes=1, world=other)
    with pytest.raises(ServerError) as told:
        evaluate(spec, tmp_path / "run", recorder=RemoteRecorder(shop.http, world=other))
    assert own.fingerprint in str(told.value)
    assert other.fingerprint in str(told.value)
    with RemoteEnv(shop.http) as env, pytest.raises(ServerError, match=f"'oncall'.*'{NAME}'"):
        env.reset(incident="single_crash-v3/test/0")
