"""ART for real: its model and client, over an endpoint on this machine that plays a policy."""

import asyncio
import json

import art
import openai
import pytest

import logtriage as lt
from logtriage.adapters.art import rollout
from logtriage.conversations.tools import call_from_action, openai_tools
from logtriage.evaluation import play_episode
from logtriage.registry import make_policy
from tests.adapters.pages import python_blocks
from tests.adapters.verifiers.server import Model, said, serving

IDS = list(lt.incident_ids("single_crash-v3", "train", 2))


def asked(url: str) -> art.Model:
    return art.Model(
        name="scripted", project="logtriage", inference_api_key="x", inference_base_url=url,
        inference_model_name="scripted",
    )  # fmt: skip


def playing(incident_id: str, policy: str, seen: list[str]) -> Model:
    incident = lt.make_incident(incident_id)
    actions = play_episode(incident, make_policy(policy)(incident)).actions

    def model(messages: list[dict], tools: list[dict]) -> dict:  # type: ignore[type-arg]
        assert tools == openai_tools(incident)
        seen.append(json.dumps(messages))
        return said(call_from_action(actions[sum(one["role"] == "assistant" for one in messages)]))

    return model


@pytest.mark.parametrize("policy", ["oracle", "random:3"])
def test_a_trajectory_has_the_grade_and_its_shares(policy: str) -> None:
    for one in IDS:
        seen: list[str] = []
        with serving(playing(one, policy, seen)) as url:
            found = asyncio.run(rollout(asked(url), {"incident": one}))
        incident = lt.make_incident(one)
        grade = lt.grade(play_episode(incident, make_policy(policy)(incident)))
        assert (found.reward, found.metrics["ticks"]) == (grade.score, grade.ticks)
        shares = [value for key, value in found.metrics.items() if key.startswith("reward/")]
        assert sum(shares) == grade.score
        assert found.metadata == {"incident": one}
        assert not any(one in text for text in seen)
        roles = [message["role"] for message in found.messages()]
        assert roles[:4] == ["system", "user", "assistant", "tool"]
        assert roles.count("assistant") == grade.ticks


def test_a_model_that_cannot_be_asked_leaves_no_trajectory() -> None:
    with serving(lambda *_: None) as url:
        playing = rollout(asked(url), {"incident": IDS[0]}, timeout=5)
        with pytest.raises(openai.APIError):
            asyncio.run(playing)


def test_python_blocks_run() -> None:
    exec(python_blocks("docs/art.md"), {"__name__": "page"})
