"""verl for real, without CUDA: its worker plays rows of a parquet file through our agent loop.

What is scripted is the inference server alone: it answers token ids with token ids.
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import verl
from omegaconf import DictConfig, OmegaConf
from transformers import PreTrainedTokenizerFast, Qwen2Config
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.tools.schemas import OpenAIFunctionToolSchema
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

import logtriage as lt
from logtriage.adapters.tools import call_from_action, openai_tools
from logtriage.adapters.verl import gdpo_reward_keys
from logtriage.evaluation import play_episode
from logtriage.grading import grade_actions
from logtriage.registry import make_policy
from tests.adapters.pages import ROOT, run
from tests.adapters.verl.chat import said, tiny_tokenizer

KEYS = gdpo_reward_keys("logtriage/2")
LIMIT = 40_000  # of bytes, each a token here


class Server:
    """verl's client of an inference server: rollout n of a prompt follows script n."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, scripts: dict[str, list[list[str]]]):
        self.tokenizer = tokenizer
        self.scripts = scripts
        self.running: dict[str, Iterator[str]] = {}
        self.prompts: list[str] = []
        self.asked = 0

    async def generate(
        self,
        request_id: str,
        *,
        prompt_ids: Sequence[int],
        sampling_params: dict[str, Any],
        **_: Any,
    ) -> TokenOutput:
        assert sampling_params["temperature"] == 1.0
        text = self.tokenizer.decode(list(prompt_ids))
        self.prompts.append(text)
        self.asked += 1
        if request_id not in self.running:
            (screen,) = (one for one in self.scripts if one in text)
            self.running[request_id] = iter(self.scripts[screen].pop(0))
        ids = self.tokenizer.encode(next(self.running[request_id]), add_special_tokens=False)
        return TokenOutput(
            token_ids=ids,
            log_probs=[-0.5] * len(ids),
            extra_fields={"min_global_steps": self.asked, "max_global_steps": self.asked},
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows as the example writes them, and a model's folder without weights."""
    folder = tmp_path_factory.mktemp("verl")
    data = str(ROOT / "examples/adapters/verl/data.py")
    run([sys.executable, data, str(folder), "--train", "2", "--val", "1"], folder)
    run([sys.executable, data, str(folder / "plans"), "--reply", "plan", "--train", "2"], folder)
    tiny_tokenizer().save_pretrained(folder / "model")
    Qwen2Config(hidden_size=8, num_attention_heads=1, num_hidden_layers=1).save_pretrained(
        folder / "model"
    )
    return folder


@pytest.fixture(scope="module")
def config(folder: Path) -> DictConfig:
    """verl's own default configuration, with what the page says, and small numbers."""
    path = Path(verl.__file__).parent / "trainer/config/_generated_ppo_trainer.yaml"
    loaded = OmegaConf.load(path)
    assert isinstance(loaded, DictConfig)
    loaded.actor_rollout_ref.model.path = str(folder / "model")
    loaded.actor_rollout_ref.model.override_config = {"attn_implementation": "eager"}
    rollout = loaded.actor_rollout_ref.rollout
    rollout.name, rollout.prompt_length, rollout.response_length = "vllm", LIMIT, LIMIT
    rollout.agent.agent_loop_config_path = str(ROOT / "examples/adapters/verl/agent_loop.yaml")
    loaded.reward.custom_reward_function.path = "pkg://logtriage.adapters.verl"
    loaded.reward.reward_manager.name = "gdpo"
    return loaded


def batch_of(config: DictConfig, path: Path, times: int) -> DataProto:
    """Rows as verl's trainer reads them, each several times."""
    data = RLHFDataset(str(path), tiny_tokenizer(), config.data)
    rows = [data[n] for n in range(len(data)) for _ in range(times)]
    batch = DataProto.from_single_dict(collate_fn(rows))
    batch.non_tensor_batch["uid"] = np.array([one["extra_info"]["incident"] for one in rows])
    return batch


def played(incident_id: str, policy: str) -> tuple[lt.Grade, list[str]]:
    """The grade of a scripted policy by the core, and what a model says that plays it."""
    incident = lt.make_incident(incident_id)
    state = play_episode(incident, make_policy(policy)(incident))
    return lt.grade(state), [said(call_from_action(one)) for one in state.actions]


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
    assert {(one.incident, one.score) for one in rows} == set(grades)
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
    for incident_id in {one.incident for one in rows}:
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
        {
            "responses": ids,
            "attention_mask": torch.ones_like(ids),
            **one.non_tensor_batch,
        }
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
    for tool in openai_tools():
        read = OpenAIFunctionToolSchema.model_validate(tool)
        assert read.model_dump(exclude_unset=True, exclude_none=True) == tool
