"""verl for real, without CUDA: its worker plays rows of a parquet file through our agent loop.

What is scripted is the inference server alone: it answers token ids with token ids.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import DictConfig, OmegaConf
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.tools.schemas import OpenAIFunctionToolSchema
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage
from verl.trainer.ppo.reward import load_reward_manager

import logtriage as lt
from logtriage.adapters.verl import gdpo_reward_keys
from logtriage.conversations.tools import call_from_action, openai_tools
from logtriage.grading import grade_actions
from logtriage.parsing.tools import ALL_TOOLS
from tests.adapters.pages import ROOT, run
from tests.adapters.verl.chat import said, tiny_tokenizer
from tests.adapters.verl.worker import Server, batch_of, config_of, save_model

KEYS = gdpo_reward_keys("logtriage/3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows as the example writes them, and a model's folder without weights."""
    folder = tmp_path_factory.mktemp("verl")
    data = str(ROOT / "examples/adapters/verl/data.py")
    run([sys.executable, data, str(folder), "--train", "2", "--val", "1"], folder)
    run([sys.executable, data, str(folder / "plans"), "--reply", "plan", "--train", "2"], folder)
    save_model(folder / "model")
    return folder


@pytest.fixture(scope="module")
def config(folder: Path) -> DictConfig:
    return config_of(folder / "model")


def played(incident_id: str, policy: str) -> tuple[lt.Grade, list[str]]:
    """The grade of a scripted policy by the core, and what a model says that plays it."""
    incident = lt.make_incident(incident_id)
    state = lt.play(incident, policy)
    return lt.grade(state), [said(call_from_action(action)) for action in state.actions]


def test_a_batch_of_episodes_and_gdpos_advantages(config: DictConfig, folder: Path) -> None:
    batch = batch_of(config, folder / "train.parquet", 2)
    tokenizer = tiny_tokenizer()
    grades: dict[tuple[str, float | None], lt.Grade] = {}
    scripts = {}
    for incident_id in dict.fromkeys(batch.non_tensor_batch["uid"]):
        both = [played(incident_id, policy) for policy in ("oracle", "random:3")]
        grades.update({(incident_id, grade.score): grade for grade, _ in both})
        screen = lt.render_observation(lt.observe(lt.initial_state(lt.make_incident(incident_id))))
        scripts[screen] = [replies for _, replies in both]
    assert len(grades) == 4  # both policies earn something else on each incident
    server = Server(tokenizer, scripts)
    worker = AgentLoopWorker(config, server)  # type: ignore[arg-type]
    out = asyncio.run(worker.generate_sequences(batch))

    # Which of its rollouts follows which script is not said, since prompts are made side by side.
    rows = [
        grades[one]
        for one in zip(out.non_tensor_batch["uid"], out.non_tensor_batch["score"], strict=True)
    ]
    assert {(row.incident, row.score) for row in rows} == set(grades)
    for n, grade in enumerate(rows):
        assert out.batch["rm_scores"][n].sum().item() == pytest.approx(grade.score)
        assert sum(out.non_tensor_batch[key][n] for key in KEYS) == grade.score
        assert len(out.non_tensor_batch["turn_scores"][n]) == grade.ticks
        # The model's tokens are trained on, the screens are not, and no id stands in either.
        ids, mask = out.batch["responses"][n], out.batch["response_mask"][n].bool()
        own = tokenizer.decode(ids[mask])
        assert own.count("<tool_call>") == grade.ticks
        assert "TICK" not in own
        told = tokenizer.decode(ids[~mask], skip_special_tokens=True)
        assert told.count("TICK ") == grade.ticks - 1
        assert grade.incident not in tokenizer.decode(ids)
    assert "request_more_logs" in server.prompts[0].split("<|im_end|>")[0]  # the tools

    advantages, _ = compute_gdpo_outcome_advantage(
        out.batch["rm_scores"],
        out.batch["response_mask"],
        out.non_tensor_batch["uid"],
        config=OmegaConf.create({"gdpo_reward_keys": KEYS}),  # type: ignore[arg-type]
        non_tensor_batch=out.non_tensor_batch,
        batch=out.batch,
    )
    got = {
        (one.incident, one.score): row[mask.bool()][0].item()
        for one, row, mask in zip(rows, advantages, out.batch["response_mask"], strict=True)
    }
    for incident_id in {row.incident for row in rows}:
        low, high = sorted(score for name, score in got if name == incident_id)
        assert got[incident_id, high] > got[incident_id, low]


def test_words_cost_a_tick_and_what_is_cut_off_is_not_played(
    config: DictConfig, folder: Path
) -> None:
    batch = batch_of(config, folder / "val.parquet", 1)
    (incident_id,) = batch.non_tensor_batch["uid"]
    screen = lt.render_observation(lt.observe(lt.initial_state(lt.make_incident(incident_id))))
    tiny = OmegaConf.merge(config, {"actor_rollout_ref": {"rollout": {"response_length": 6_000}}})
    assert isinstance(tiny, DictConfig)
    replies = ["Hm.<|im_end|>", "x" * 7_000]
    worker = AgentLoopWorker(tiny, Server(tiny_tokenizer(), {screen: [replies]}))  # type: ignore[arg-type]
    out = asyncio.run(worker.generate_sequences(batch))
    grade = grade_actions(incident_id, [{"action_type": "malformed", "value": "Hm."}])
    assert out.non_tensor_batch["score"].tolist() == [grade.score]
    assert len(out.non_tensor_batch["turn_scores"][0]) == 1
    assert out.batch["responses"].shape == (1, 6_000)


def test_the_gdpo_manager_asks_compute_score(config: DictConfig, folder: Path) -> None:
    batch = batch_of(config, folder / "plans/train.parquet", 1)
    assert set(batch.non_tensor_batch["agent_name"]) == {"single_turn_agent"}
    tokenizer = tiny_tokenizer()
    text = '[{"action_type": "classify_severity", "value": "P2"}, {"action_type": "ignore"}]'
    ids = torch.tensor([tokenizer.encode(text)])
    one = batch[:1]
    one = DataProto.from_single_dict(
        {"responses": ids, "attention_mask": torch.ones_like(ids), **one.non_tensor_batch}
    )

    async def ask() -> dict[str, Any]:
        return await load_reward_manager(config, tokenizer).run_single(one)

    found = asyncio.run(ask())
    grade = grade_actions(
        one.non_tensor_batch["reward_model"][0]["ground_truth"],
        [{"action_type": "classify_severity", "value": "P2"}, {"action_type": "ignore"}],
    )
    assert found["reward_score"] == grade.score
    assert sum(found["reward_extra_info"][key] for key in KEYS) == grade.score


def test_the_tools_are_those_of_verls_schema() -> None:
    for tool in openai_tools(lt.make_incident("single_crash-v4/test/0"), ALL_TOOLS):
        read = OpenAIFunctionToolSchema.model_validate(tool)
        assert read.model_dump(exclude_unset=True, exclude_none=True) == tool
