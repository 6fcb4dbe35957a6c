"""Trials of Harbor without containers, and an agent that follows a script."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig
from harbor.models.trial.result import TrialResult
from harbor.trial.trial import Trial


class Scripted(BaseAgent):
    """Runs commands in the agent's container, one after another, and reads nothing."""

    def __init__(self, *args: Any, commands: Iterable[str], **how: Any) -> None:
        super().__init__(*args, **how)
        self.commands = list(commands)

    @staticmethod
    def name() -> str:
        return "scripted"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None: ...

    async def run(self, instruction: str, environment: BaseEnvironment, context: Any) -> None:  # noqa: ARG002
        for command in self.commands:
            done = await environment.exec(command)
            assert done.return_code == 0, (command, done)


def trial(task: Path, folder: Path, **agent: Any) -> TrialResult:
    """One trial, as Harbor runs it; its folder stands in ``folder``."""
    config = TrialConfig(
        task=TaskConfig(path=task),
        trials_dir=folder,
        agent=AgentConfig(**agent),
        environment=EnvironmentConfig(import_path="tests.adapters.harbor.local:LocalEnvironment"),
    )

    async def play() -> TrialResult:
        return await (await Trial.create(config)).run()

    return asyncio.run(play())


def rewards(result: TrialResult) -> dict[str, float]:
    """What its verifier wrote."""
    assert result.exception_info is None, result.exception_info
    assert result.verifier_result is not None
    found = result.verifier_result.rewards
    assert found is not None
    return dict(found)


def recorded(result: TrialResult, folder: Path) -> list[dict[str, Any]]:
    """The actions that Harbor collected from the player's container."""
    record = folder / result.trial_name / "artifacts" / "record" / "actions.jsonl"
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
