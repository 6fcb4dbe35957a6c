"""SkyRL-gym for real: registered on import, played as its generator plays, from parquet."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

import logtriage as lt
from logtriage.adapters.skyrl import TriageTextEnv, skyrl_rows
from logtriage.parsing import render_action
from tests.adapters.pages import ROOT, python_blocks, run

IDS = list(lt.incident_ids("single_crash-v4", "train", 3))


def rollout(row: dict[str, Any], replies: list[str]) -> tuple[TriageTextEnv, list[Any], float]:
    """As SkyRL's generator plays a row: what is neither prompt nor class are extras."""
    extras = {key: value for key, value in row.items() if key not in ("prompt", "env_class")}
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=extras)
    chat, _ = env.init(row["prompt"])
    total = 0.0
    for reply in replies:
        chat.append({"role": "assistant", "content": reply})
        out = env.step(reply)
        chat += out["observations"]
        total += out["reward"]
        if out["done"]:
            break
    return env, chat, total


@pytest.mark.parametrize("policy", ["oracle", "random:3"])
def test_grades_are_those_of_the_core(policy: str) -> None:
    for row in skyrl_rows(IDS):
        incident = lt.make_incident(row["incident"])
        state = lt.play(incident, policy)
        env, chat, total = rollout(row, [render_action(action) for action in state.actions])
        grade = lt.grade(state)
        assert (env.episode.grade, total) == (grade, grade.score)
        assert env.get_metrics()["grade"] == grade.score
        assert incident.id not in str(chat)


def test_a_row_of_tools_and_a_limit_of_turns() -> None:
    (row,) = skyrl_rows(IDS[:1], "tools")
    env, chat, _ = rollout(
        {**row, "max_turns": 2}, ["Hm.", '<tool_call>{"name": "request_more_logs"}</tool_call>']
    )
    assert (env.episode.stop, env.turns, env.max_turns) == ("out_of_turns", 2, 2)
    assert chat[-1]["role"] == "assistant"  # nothing is asked after the last turn
    assert "tool call" in chat[0]["content"]


def test_metrics_are_averaged_by_the_library() -> None:
    envs = [rollout(row, ['{"action_type": "resolve"}'])[0] for row in skyrl_rows(IDS[:2])]
    means = aggregate_for_environment("logtriage", [env.get_metrics() for env in envs])
    assert (means["ticks"], means["gated"]) == (1.0, envs[0].get_metrics()["gated"])


def test_rows_that_cannot_be_played_are_refused() -> None:
    with pytest.raises(lt.InvalidInput, match="the row's column 'incident'"):
        skyrl_gym.make("logtriage", env_config={}, extras={"uid": "3"})
    with pytest.raises(lt.InvalidInput, match="one of json, tools, plan; got 'song'"):
        TriageTextEnv(extras={"incident": IDS[0], "reply": "song"})


def test_another_process_makes_it_after_one_import() -> None:
    code = (
        "import logtriage.adapters.skyrl, skyrl_gym, importlib;"
        "importlib.reload(logtriage.adapters.skyrl);"  # registered once
        f"print(type(skyrl_gym.make('logtriage', extras={{'incident': '{IDS[0]}'}})).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "TriageTextEnv"


def test_the_example_writes_parquet_that_can_be_played(tmp_path: Path) -> None:
    example = str(ROOT / "examples/adapters/skyrl/data.py")
    run([sys.executable, example, str(tmp_path), "--train", "2", "--val", "1"], tmp_path)
    for row in pd.read_parquet(tmp_path / "train.parquet").to_dict("records"):
        row["prompt"] = [dict(one) for one in row["prompt"]]
        assert row["prompt"] == list(rollout(row, [])[0].episode.prompt)


def test_python_blocks_run() -> None:
    exec(python_blocks("docs/trainers.md", "skyrl_gym"), {})


@pytest.mark.parametrize("path", ["docs/trainers.md", "examples/adapters/skyrl/main.py"])
def test_training_has_a_turn_for_every_tick(path: str) -> None:
    """``data.py`` writes rows of this task where no other is named."""
    turns = re.findall(r"max_turns=(\d+)", (ROOT / path).read_text(encoding="utf-8"))
    assert turns == [str(lt.get_task("single_crash-v4").horizon)]


def test_the_main_registers_inside_the_worker() -> None:
    """SkyRL itself is not installed here: its names are those that its own examples import."""
    tree = ast.parse((ROOT / "examples/adapters/skyrl/main.py").read_text(encoding="utf-8"))
    (worker,) = (one for one in tree.body if isinstance(one, ast.FunctionDef))
    imported = [one.names[0].name for one in worker.body if isinstance(one, ast.Import)]
    assert imported == ["logtriage.adapters.skyrl"]
