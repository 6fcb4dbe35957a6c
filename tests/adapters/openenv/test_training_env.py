"""Training on a served environment: the same texts and rewards as here."""

import pytest

import logtriage as lt
from logtriage.adapters.trl import triage_rows
from logtriage.conversations.tools import call_from_action
from logtriage.errors import LogTriageError
from logtriage.evaluation import play_episode
from logtriage.registry import make_policy
from tests.adapters.openenv.serving import Running
from training.grpo.environment import RemoteTrainingEnv, Stopwatch, TrainingEnv

IDS = ["single_crash-v3/train/0", "cascading_failure-v3/train/1", "silent_degradation-v3/train/2"]


def played(env: TrainingEnv, policy: str) -> list[object]:
    said: list[object] = []
    for row in triage_rows(IDS):  # one environment plays several, as in training
        incident = lt.make_incident(row["incident"])
        said.append(env.reset(**row))
        for action in play_episode(incident, make_policy(policy)(incident)).actions:
            name, arguments = call_from_action(action)
            said.append(getattr(env, name)(**arguments))
        said.append(env.escalate(team="nobody"))
        said.append(env.remediate(remedy=3))
        said += [env.get_reward(), env.grade.digest]
    said.append(env.reset(incident=IDS[0]))
    said += [env.classify_severity(severity="P2"), env.remediate(remedy=3), env.get_reward()]
    return said


@pytest.mark.parametrize("policy", ["expert", "random"])
def test_a_served_episode_equals_a_local_one(server: Running, policy: str) -> None:
    local = played(TrainingEnv(Stopwatch()), policy)
    clock = Stopwatch()
    assert played(RemoteTrainingEnv(clock, server.http), policy) == local
    assert clock.seconds > 0
    assert any(isinstance(one, float) and one > 0 for one in local)


def test_a_server_that_fails_is_no_failure_of_the_model(server: Running) -> None:
    env = RemoteTrainingEnv(Stopwatch(), server.http)
    env.reset(incident=IDS[0])
    assert env._session is not None
    env._session.close()
    with pytest.raises(LogTriageError):  # what TRL would tell the model
        env.resolve()
    with pytest.raises(LogTriageError, match="lost"):  # what ends the training
        env.get_reward()


def test_another_version_on_the_server_is_noticed(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = RemoteTrainingEnv(Stopwatch(), server.http)
    env.reset(incident=IDS[0])
    env.classify_severity(severity="P1")
    monkeypatch.setattr(env, "_earned", 0.7)
    with pytest.raises(LogTriageError, match="another version"):
        env.get_reward()
