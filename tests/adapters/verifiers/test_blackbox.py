"""The audit from outside, of tasksets of verifiers: ours, and one that has holes."""

import sys
from pathlib import Path

import pytest
from verifiers.v1.configs.cli.eval import EvalConfig

from logtriage.adapters.strangers import box_of
from logtriage.audit.blackbox import audit_blackbox
from logtriage.audit.findings import Verdict

if "select" not in EvalConfig.model_fields:
    pytest.skip("verifiers 0.3.1 cannot pick a task", allow_module_level=True)

#: Its prompts hold the answer, and every reply that is not empty earns everything.
HOLES = """
import verifiers.v1 as vf

from logtriage.adapters.verifiers import TriageHarness  # one model call, no container


class Data(vf.TaskData):
    answer: str


class Task(vf.Task[Data]):
    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        return 1.0 if trace.last_reply else 0.0


class Tasks(vf.Taskset[Task]):
    def load(self) -> list[Task]:
        return [
            Task(Data(idx=n, prompt=f"Add {n} and 1000. (it is {n + 1000})", answer=str(n + 1000)))
            for n in range(40)
        ]


class Config(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class Once(vf.Env[Config]):
    async def run(self, task: Task, agents: vf.Agents) -> None:
        async with agents.agent.interaction(task) as interaction:
            await interaction.turn()


__all__ = ["Once", "Tasks", "TriageHarness"]
"""


def test_our_own_taskset() -> None:
    box = box_of("verifiers:logtriage-verifiers")
    findings = audit_blackbox(box, seeds=2, checks=("seed", "truth", "close"))
    assert {one.verdict for one in findings} == {Verdict.PASSED}, findings


def test_one_with_holes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks_with_holes.py").write_text(HOLES)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tasks_with_holes", raising=False)
    box = box_of("verifiers:tasks-with-holes")
    null, truth = audit_blackbox(box, seeds=2, checks=("null", "truth"))
    assert (null.verdict, truth.verdict) == (Verdict.FAILED, Verdict.FAILED)
    assert "claim" in null.summary or "nonsense" in null.summary
    assert "observation (as beside.task.answer)" in truth.summary
