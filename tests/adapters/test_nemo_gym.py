"""What NeMo Gym reads, without it: rows, and the grade of a stored rollout."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import logtriage as lt
from logtriage.adapters.episode import Episode
from logtriage.adapters.nemo_gym import nemo_gym_rows, reward_of, verified, wires_of
from logtriage.conversations.tools import TOOLS, call_from_action
from logtriage.evaluation import play_episode
from logtriage.registry import make_policy
from logtriage.tasks import TASKS

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "deploy/nemo_gym/resources_servers/logtriage"
IDS = list(lt.incident_ids("single_crash-v3", "train", 5))


def item(name: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": "c"}


def test_rows_hold_the_request_and_the_id_beside_it() -> None:
    for row, incident in zip(nemo_gym_rows(IDS), IDS, strict=True):
        assert row["incident"] == incident
        assert incident not in json.dumps(row["responses_create_params"])
        names = [tool["name"] for tool in row["responses_create_params"]["tools"]]
        assert names == list(TOOLS)


@pytest.mark.parametrize("policy", ["oracle", "random:3"])
def test_a_rollout_is_verified_as_it_was_played(policy: str) -> None:
    for incident_id in IDS:
        incident = lt.make_incident(incident_id)
        state = play_episode(incident, make_policy(policy)(incident))
        output: list[dict[str, Any]] = [{"type": "message", "content": "Let me see."}]
        for action in state.actions:
            name, arguments = call_from_action(action)
            output += [item(name, json.dumps(arguments)), {"type": "function_call_output"}]
        grade = verified(incident, output)
        assert (grade.score, grade.digest) == (lt.grade(state).score, lt.grade(state).digest)
        rewards = reward_of(incident, grade)
        assert sum(rewards["reward_components"].values()) == rewards["reward"] == grade.score
        assert rewards["ticks"] == state.tick


def test_components_have_the_same_names_whatever_is_asked_for() -> None:
    names = {
        tuple(reward_of(incident, verified(incident, []))["reward_components"])
        for incident in map(lt.make_incident, lt.incident_ids("single_crash-v3", "train", 20))
    }
    assert len(names) == 1


def test_what_the_incident_never_heard_is_no_action() -> None:
    """The session and the verification see the same calls, those that make no sense included."""
    heard = [
        item("shrug", "{}"),
        item("escalate", "[1]"),
        item("escalate", "null"),
        item("request_more_logs", '{"service": "user-db"}'),
        item("resolve", '"{}"'),
        item("resolve", "{}"),
    ]
    unheard = [item("escalate", "{oops"), item("verify", "{}"), {"type": "message"}]
    episode = Episode(lt.make_incident(IDS[0]))
    for one in heard:
        called = {"name": one["name"], "arguments": json.loads(one["arguments"])}
        episode.step({"role": "assistant", "tool_calls": [called]})
    output = [*unheard, *heard, *unheard]
    played = [(action["action_type"], action.get("value")) for action in episode.actions[:2]]
    assert [(wire["action_type"], wire.get("value")) for wire in wires_of(output)][:2] == played
    grade = verified(episode.incident, output)
    assert (grade.score, grade.ticks, grade.unplayed) == (
        episode.reward, episode.grade.ticks, episode.grade.unplayed,
    )  # fmt: skip


def test_the_example_rows_are_those_of_today() -> None:
    lines = (SERVER / "data/example.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == nemo_gym_rows(IDS)


def test_stored_rollouts_are_verified_again_and_show_the_screens_of_today() -> None:
    """In the form in which NeMo Gym collects them (scripts/nemo_gym_rollouts.py)."""
    lines = (SERVER / "data/example_rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    stored = sorted(map(json.loads, lines), key=lambda one: IDS.index(one["incident"]))
    assert [one["incident"] for one in stored] == IDS
    for one in stored:
        output = one["response"]["output"]
        incident = lt.make_incident(one["incident"])
        rewards = reward_of(incident, verified(incident, output))
        assert {key: one[key] for key in rewards} == rewards
        episode = Episode(incident)
        calls = [item for item in output if item["type"] == "function_call"]
        told = [item for item in output if item["type"] == "function_call_output"]
        for call, answer in zip(calls, told, strict=True):
            turn = episode.step({"role": "assistant", "tool_calls": [call]})
            assert answer["output"] == turn.text
        assert episode.done
        assert one["incident"] not in json.dumps([one["responses_create_params"], output])


def test_the_configuration_names_what_is_there() -> None:
    text = (SERVER / "configs/logtriage.yaml").read_text(encoding="utf-8")
    (path,) = re.findall(r"jsonl_fpath: (.*)", text)
    assert (ROOT / "deploy/nemo_gym" / path).is_file()
    (steps,) = map(int, re.findall(r"max_steps: (\d+)", text))
    assert steps == max(task.horizon for task in TASKS)
