"""Forks on a server: one episode goes on twice, if the server was told to allow it."""

from collections.abc import Iterator

import httpx
import pytest

import logtriage as lt
from logtriage.adapters.episode import Episode
from logtriage.observation import observe
from logtriage.server import RemoteEnv
from logtriage.server.remote import ServerError
from logtriage.server.wire import observation_of
from tests.adapters.openenv.serving import Running, running, wait_for

INCIDENT = "cascading_failure-v3/test/42"
LOOK = {"action_type": "request_more_logs", "value": "user-db"}
SEVERITY = {"action_type": "classify_severity", "value": "P1"}
RESOLVE = {"action_type": "resolve"}


@pytest.fixture(scope="module")
def forking() -> Iterator[Running]:
    with running(forks=True, max_sessions=3, per_address=2) as one:
        yield one


def test_a_fork_goes_on_where_its_episode_was_and_each_by_itself(forking: Running) -> None:
    here = Episode(lt.make_incident(INCIDENT), "json")
    here.act(LOOK)
    there = here.fork()
    with RemoteEnv(forking.http) as env:
        trunk = env.reset(incident=INCIDENT)
        looked = env.step(LOOK)
        other, opened = env.fork()
        with other:
            assert (opened.screen, opened.tick, opened.reward) == (looked.screen, 1, None)
            assert (opened.prompt, opened.incident) == (trunk.prompt, trunk.incident)
            assert observation_of(opened.view or {}) == observe(here.state)
            assert forking.running_episodes == 2
            ended = other.step(RESOLVE)
            assert ended.reward == there.act(RESOLVE).reward
            assert ended.grade is not None
            assert ended.grade["digest"] == there.grade.digest
            went_on = env.step(SEVERITY)
            assert (went_on.reward, went_on.done) == (here.act(SEVERITY).reward, False)
            assert env.state()["episode_id"] != other.state()["episode_id"]
    wait_for(lambda: forking.running_episodes == 0)


def test_a_fork_needs_a_place_and_an_open_episode(forking: Running) -> None:
    with RemoteEnv(forking.http) as env:
        with pytest.raises(ServerError, match="fork: expected a string"):
            env.fork()  # before a reset
        env.reset(incident=INCIDENT)
        handle = env.state()["fork"]
        with pytest.raises(ServerError, match="task: a fork takes it from the episode"):
            env.reset(fork=handle, task="single_crash-v3")
        with pytest.raises(ServerError, match="show_id: a fork takes it"):
            env.reset(fork=handle, show_id=True)
        with RemoteEnv(forking.http), pytest.raises(ServerError, match="as many as it may have"):
            env.fork()
        env.step(RESOLVE)
        with pytest.raises(ServerError, match="no open episode of yours has this handle"):
            env.reset(fork=handle)


def test_a_session_over_http_forks(forking: Running) -> None:
    with httpx.Client(base_url=forking.http) as client:
        first = client.post("/reset", json={"incident": INCIDENT}).json()["session_id"]
        client.post("/step", json=LOOK)
        other = client.post("/fork", json={"session_id": first}).json()
        assert other["session_id"] != first
        for session, action in ((other["session_id"], RESOLVE), (first, SEVERITY)):
            told = client.post("/step", json={**action, "session_id": session}).json()
            assert told["done"] == (action == RESOLVE)
        # There are two places: the closed session makes room once, an open one does not.
        again = [client.post("/fork", json={"session_id": first}).status_code for _ in range(2)]
        assert again == [200, 503]


def test_forks_are_off_unless_asked_for(server: Running) -> None:
    with RemoteEnv(server.http) as env:
        env.reset(incident=INCIDENT)
        with pytest.raises(ServerError, match="forks no episodes; start it with --forks"):
            env.fork()
    with httpx.Client(base_url=server.http) as client:
        session = client.post("/reset", json={"incident": INCIDENT}).json()["session_id"]
        refused = client.post("/fork", json={"session_id": session})
        assert refused.status_code == 400
        assert "--forks" in refused.json()["error"]
        assert client.delete("/session", params={"session_id": session}).status_code == 200
