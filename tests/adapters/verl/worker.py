"""verl's own worker without CUDA: what is scripted is the inference server alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import verl
from omegaconf import DictConfig, OmegaConf
from transformers import PreTrainedTokenizerFast, Qwen2Config
from verl import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

from tests.adapters.pages import ROOT
from tests.adapters.verl.chat import tiny_tokenizer

LIMIT = 40_000  # of bytes, each a token here


class Server:
    """verl's client of an inference server: rollout n of a prompt follows script n.

    Attributes:
        scripts: by the first screen of an incident, what is said in each of its rollouts.
        prompts: the prompt of each rollout.
    """

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
        self.asked += 1
        if request_id not in self.running:
            text = self.tokenizer.decode(list(prompt_ids))
            self.prompts.append(text)
            (screen,) = (script for script in self.scripts if script in text)
            self.running[request_id] = iter(self.scripts[screen].pop(0))
        ids = self.tokenizer.encode(next(self.running[request_id]), add_special_tokens=False)
        return TokenOutput(
            token_ids=ids,
            log_probs=[-0.5] * len(ids),
            extra_fields={"min_global_steps": self.asked, "max_global_steps": self.asked},
        )


def save_model(folder: Path) -> None:
    """A model's folder without weights."""
    tiny_tokenizer().save_pretrained(folder)
    Qwen2Config(
        architectures=["Qwen2ForCausalLM"],
        hidden_size=8,
        num_attention_heads=1,
        num_hidden_layers=1,
    ).save_pretrained(folder)


def config_of(model: Path) -> DictConfig:
    """verl's own default configuration, with what the page says, and small numbers."""
    path = Path(verl.__file__).parent / "trainer/config/_generated_ppo_trainer.yaml"
    loaded = OmegaConf.load(path)
    assert isinstance(loaded, DictConfig)
    loaded.actor_rollout_ref.model.path = str(model)
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
    batch.non_tensor_batch["uid"] = np.array([row["extra_info"]["incident"] for row in rows])
    return batch
