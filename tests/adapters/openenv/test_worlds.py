"""A server of another world than the default one: what it plays, and what it refuses."""

from pathlib import Path

import pytest

from logtriage.drawing.generator import make_incident
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import initial_state
from logtriage.world.loading import load_world
from tests.adapters.openenv.serving import ServerError, Session, running
from tests.worlds.folders import NAME, copy_of


def test_a_server_plays_its_world_and_refuses_clients_of_another_one(tmp_path: Path) -> None:
    own = load_world(copy_of("tiny", tmp_path))
    incident = make_incident(f"{NAME}:outage/test/3", world=own)
    with running(world=own) as shop, Session(shop.http) as env:
        served = env.reset(incident=incident.id)
        assert served.screen == render_observation(observe(initial_state(incident)))
        with pytest.raises(ServerError, match=f"'oncall'.*'{NAME}'"):
            env.reset(incident="single_crash-v4/test/0")
