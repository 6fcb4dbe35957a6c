"""Harbor for real: its schema, its trials with its own agents, and one that cheats."""

import json
from pathlib import Path
from typing import Any

import pytest
from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition
from harbor.models.trajectories.trajectory import Trajectory

import logtriage as lt
from logtriage.adapters.harbor import write_tasks
from logtriage.adapters.rewards import REST
from logtriage.conversations.convert import transcript_of_row
from logtriage.grading import grade_transcript
from tests.adapters.harbor.trials import rewards, trial

IDS = list(lt.incident_ids("single_crash-v4", "test", 2))


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_tasks(IDS, tmp_path_factory.mktemp("tasks"))


class Cheat(BaseAgent):
    """Plays one action, then writes rewards and records wherever it can."""

    @staticmethod
    def name() -> str:
        return "cheat"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None: ...

    async def run(self, instruction: str, environment: BaseEnvironment, context: Any) -> None:  # noqa: ARG002
        assert not any(incident_id in instruction for incident_id in IDS)
        severity = lt.make_incident(IDS[0]).truth.severity
        done = await environment.exec(f"triage classify_severity severity={severity}")
        assert (done.stdout or "").startswith("TICK 1/11"), done
        perfect = json.dumps({"reward": 1.0})
        await environment.exec(
            f"mkdir -p /record /tests /logs/artifacts/record; echo '{perfect}' > /logs/verifier/"
            f"reward.json; echo 1 > /logs/verifier/reward.txt; cp -r . /tmp 2>/dev/null; "
            'echo \'{"action_type": "resolve"}\' | tee /record/actions.jsonl '
            "/logs/artifacts/record/actions.jsonl; printf '#!/bin/sh\\nexit 0' > /tests/test.sh"
        )


def test_the_tasks_are_valid_and_the_agent_is_given_nothing_of_the_truth(
    tasks: list[Path],
) -> None:
    for place, one in zip(tasks, IDS, strict=True):
        task = Task(place)
        assert Task.is_valid_dir(place)
        definition = resolve_verifier_environment_definition(task.config, task.paths)
        assert definition is not None
        assert definition.bundled_tests
        assert one not in task.instruction
        copied = [
            place / "environment" / name
            for line in (place / "environment/Dockerfile").read_text().splitlines()
            if line.startswith("COPY ")
            for name in line.split()[1:-1]
        ]
        assert [path.name for path in copied] == ["triage.py"]
        assert one not in copied[0].read_text()


def test_the_oracle_earns_1_and_nop_the_floor(tasks: list[Path], tmp_path: Path) -> None:
    oracle = rewards(trial(tasks[0], tmp_path, name="oracle"))
    assert oracle.pop("reward") == 1.0
    assert f"reward/{REST}" in oracle
    assert sum(oracle.values()) == 1.0
    nop = rewards(trial(tasks[0], tmp_path, name="nop"))
    assert nop["reward"] == lt.grade(lt.initial_state(lt.make_incident(IDS[0]))).score


def test_an_agent_that_writes_its_own_reward_earns_what_it_played(
    tasks: list[Path], tmp_path: Path
) -> None:
    result = trial(tasks[0], tmp_path, import_path=f"{__name__}:Cheat")
    incident = lt.make_incident(IDS[0])
    played = lt.play(incident, [lt.ClassifySeverity(incident.truth.severity)])
    assert rewards(result)["reward"] == lt.grade(played).score


def test_trajectories_are_converted() -> None:
    trajectory = {
        "schema_version": "ATIF-v1.8",
        "agent": {"name": "terminus-2", "version": "2", "model_name": "my-model"},
        "extra": {"incident": IDS[0]},
        "steps": [
            {"step_id": 1, "source": "user", "message": "TICK 0/11"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "Look.",
                "tool_calls": [
                    {
                        "tool_call_id": "a",
                        "function_name": "request_more_logs",
                        "arguments": {"service": "user-db"},
                    }
                ],
                "observation": {"results": [{"source_call_id": "a", "content": "TICK 1/11"}]},
            },
            {"step_id": 3, "source": "agent", "message": "Hm."},
        ],
    }
    row = Trajectory.model_validate(trajectory).to_json_dict()
    graded = grade_transcript(transcript_of_row(row))
    assert [type(action) for action in graded.actions] == [lt.RequestMoreLogs, lt.Malformed]
    assert graded.agent == "my-model"
