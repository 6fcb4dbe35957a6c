"""Train with rLLM: python train.py rllm/backend=verl …, after data.py."""

from typing import Any

import hydra
from rllm.data.dataset import DatasetRegistry
from rllm.trainer import AgentTrainer
from triage import triage_evaluator, triage_flow


@hydra.main(config_path="pkg://rllm.trainer.config", config_name="unified", version_base=None)
def main(config: Any) -> None:
    AgentTrainer(
        backend=config.rllm.get("backend", "tinker"),
        agent_flow=triage_flow,
        evaluator=triage_evaluator,
        config=config,
        train_dataset=DatasetRegistry.load_dataset("logtriage", "train"),
        val_dataset=DatasetRegistry.load_dataset("logtriage", "test"),
    ).train()


if __name__ == "__main__":
    main()
