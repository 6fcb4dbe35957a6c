"""GRPO on incidents with TRL: the model calls the tools, the reward is the grade.

    python examples/adapters/trl_grpo.py MODEL [--steps N] [--tokens N]

Needs the extra `trl`. MODEL is a folder with a model and a tokenizer whose chat template
knows tools (Qwen2.5, Qwen3, Llama 3.1 …), or the name of one on the Hugging Face hub,
which is then downloaded. A serious run needs a GPU and more than this.
"""

import argparse

import logtriage as lt
from logtriage.adapters.trl import TriageEnv, triage_criteria, triage_rows
from logtriage.errors import MissingExtra

try:
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer
except ModuleNotFoundError:
    raise MissingExtra("this example", "trl") from None

TASK = "single_crash-v4"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=8_192, help="of an episode, screens included")
    parser.add_argument("--out", default="runs/trl-grpo")
    options = parser.parse_args()

    incidents = lt.incident_ids(TASK, "train", 1_000)
    trainer = GRPOTrainer(
        model=options.model,
        args=GRPOConfig(
            output_dir=options.out,
            max_steps=options.steps,
            per_device_train_batch_size=8,
            num_generations=8,  # attempts at the same incident
            max_completion_length=options.tokens,
            max_tool_calling_iterations=lt.get_task(TASK).horizon,
            scale_rewards="none",  # docs/trl.md says why
            chat_template_kwargs={"enable_thinking": False},
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=not torch.cuda.is_available(),
            bf16=torch.cuda.is_available(),
        ),
        train_dataset=Dataset.from_list(triage_rows(incidents)),
        environment_factory=TriageEnv,  # has the reward
        reward_funcs=[triage_criteria],  # adds none, logs the criteria
    )
    trainer.train()
    for log in trainer.state.log_history:
        if "reward" in log:
            print(
                f"step {log['step']}: reward {log['reward']:.3f}, ticks {log['triage/ticks']:.1f}"
            )


if __name__ == "__main__":
    main()
