"""Episodes over ``/ws``: the library's application, message by message."""

import json
from typing import Any

import pytest

import logtriage as lt
from logtriage.grading import grade_actions, grade_to_json
from logtriage.observation import observe
from logtriage.rendering import render_observation, system_prompt
from logtriage.server.episode import listed_grade
from tests.adapters.openenv.serving import Running, ServerError, Session

INCIDENT = "cascading_failure-v4/test/42"
RESOLVE = {"action_type": "resolve"}
#: What a client is shown of an open episode.
SEEN = ("tick", "horizon", "screen", "closing", "prompt", "error", "grade")


def actions_of(incident: str, spec: str) -> list[Any]:
    """What a policy does there."""
    return list(lt.play(lt.make_incident(incident), spec).actions)


@pytest.mark.parametrize("spec", ["expert", "random:3", "first_error"])
@pytest.mark.parametrize(
    "incident", [INCIDENT, "single_crash-v4/ood/7", "silent_degradation-v4/val/5"]
)
def test_rewards_sum_to_the_grade_and_the_grade_is_that_of_the_actions(
    server: Running, incident: str, spec: str
) -> None:
    actions = actions_of(incident, spec)
    with Session(server.http) as env:
        served = env.reset(incident=incident)
        assert served.reward is None
        total = 0.0
        for action in actions:
            assert not served.done
            assert served.grade is None
            served = env.step(action)
            assert served.reward is not None
            total += served.reward
    assert served.done
    assert served.grade is not None
    assert total == served.grade["score"]
    here = grade_to_json(grade_actions(incident, actions))
    assert served.grade == listed_grade(here, with_reasons=True)
    assert all(row["reason"] for row in served.grade["criteria"])


def test_what_is_served_is_what_the_core_shows(server: Running) -> None:
    state = lt.initial_state(lt.make_incident(INCIDENT))
    with Session(server.http) as env:
        served = env.reset(incident=INCIDENT)
        assert served.prompt == system_prompt(state.incident)
        for action in actions_of(INCIDENT, "expert"):
            assert served.screen == render_observation(observe(state))
            assert (served.tick, served.horizon) == (state.tick, state.incident.horizon)
            state = lt.transition(state, action)
            served = env.step(action)
            assert served.prompt is None
    assert served.closing == state.closing


def test_sessions_do_not_see_each_other(server: Running) -> None:
    with Session(server.http) as one, Session(server.http) as other:
        one.reset(incident=INCIDENT)
        other.reset(incident="single_crash-v4/test/0")
        one.step({"action_type": "request_metrics", "value": "user-db"})
        assert other.state()["step_count"] == 0
        assert other.step(RESOLVE).done
        assert not one.step({"action_type": "request_more_logs"}).done
        assert [row["action_type"] for row in other.state()["actions"]] == ["resolve"]


def test_the_truth_stays_on_the_server_until_the_episode_is_closed(server: Running) -> None:
    """Nothing but the known fields, and in none of them a grade or a score."""
    kept = []
    with Session(server.http) as env:
        kept.append(env.ask("reset", {"incident": INCIDENT}))
        for kind in ("request_more_logs", "identify_root_cause"):
            kept.append(env.ask("step", {"action_type": kind, "value": "payment-service"}))
        state = env.state()
    for payload in kept:
        assert payload.keys() <= {"observation", "reward", "done", "metadata"}
        seen = payload["observation"]
        assert seen.keys() == {*SEEN, "metadata"}
        assert seen["grade"] is None
        assert "flush-cache:payment-service" not in json.dumps(payload)
    assert state.keys() == {
        "episode_id", "step_count", "horizon", "closing", "actions", "score",
    }  # fmt: skip
    assert state["score"] is None


@pytest.mark.parametrize(
    ("named", "incident"),
    [
        ({"incident": INCIDENT}, INCIDENT),
        ({"task": "cascading_failure-v4", "split": "test", "index": 42}, INCIDENT),
        ({"task": "cascading_failure-v4", "split": "test", "seed": 42}, INCIDENT),
        ({"split": "ood", "index": 7}, "fleet_outage-v4/ood/1"),
        ({"seed": 0}, "single_crash-v4/train/0"),
    ],
)
def test_an_episode_is_named_by_id_or_by_task_split_and_index(
    server: Running, named: dict[str, Any], incident: str
) -> None:
    with Session(server.http) as env:
        assert env.reset(**named).screen == env.reset(incident=incident).screen


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"incident": "nope"}, "expected <task>/<split>/<index>"),
        ({"incident": INCIDENT, "index": 3}, "index: an incident is named already"),
        ({"task": "nope"}, "unknown task 'nope'"),
        ({"split": "nope"}, "unknown split 'nope'"),
        ({"index": -1}, "index: expected a whole number"),
        ({"seed": "7"}, "seed: expected a whole number"),
        ({"index": 1, "seed": 2}, "seed: differs from index"),
        ({"index": True}, "index: expected a whole number"),
        ({"tsk": "x"}, "tsk: unknown field; known: incident, task"),
        ({"episode_id": "x" * 300}, "episode_id: 300 characters"),
    ],
)
def test_what_cannot_be_used_is_refused_by_the_name_of_its_field(
    server: Running, named: dict[str, Any], told: str
) -> None:
    with Session(server.http) as env:
        with pytest.raises(ServerError, match=told.replace("<", ".").replace(">", ".")):
            env.reset(**named)
        assert env.reset(incident=INCIDENT).tick == 0  # the session goes on


def test_nonsense_of_the_right_shape_costs_a_tick(server: Running) -> None:
    with Session(server.http) as env:
        env.reset(incident=INCIDENT)
        assert "no JSON object" in (env.step("restart it!").error or "")
        served = env.step({"action_type": "escalate", "value": "nobody"})
        assert "unknown team" in (served.error or "")
        assert served.tick == 2
        assert env.step('So: {"action_type": "resolve"}').done


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ({"action_type": 3}, "action_type: Input should be a valid string"),
        ({"action_type": "resolve", "foo": 1}, "foo: unknown field; known: metadata, action_type"),
        ({"action_type": "resolve", "confidence": "0.9"}, "confidence: Input should be a valid"),
        ({}, "give either action_type or text"),
        ({"action_type": "resolve", "text": "x"}, "give either action_type or text"),
        ({"text": "x", "value": "y"}, "text comes without value"),
    ],
)
def test_the_wrong_shape_is_refused_and_costs_nothing(
    server: Running, action: dict[str, Any], told: str
) -> None:
    with Session(server.http) as env:
        env.reset(incident=INCIDENT)
        with pytest.raises(ServerError, match=told):
            env.step(action)
        assert env.state()["step_count"] == 0


def test_there_is_no_step_before_a_reset_or_after_the_end(server: Running) -> None:
    with Session(server.http) as env:
        assert env.state()["episode_id"] is None
        with pytest.raises(ServerError, match="send a reset first"):
            env.step(RESOLVE)
        env.reset(incident=INCIDENT)
        env.step(RESOLVE)
        with pytest.raises(ServerError, match="is closed"):
            env.step(RESOLVE)
        assert env.reset(incident=INCIDENT).tick == 0
