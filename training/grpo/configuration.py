"""Our settings as those of TRL and PEFT."""

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig
from trl import GRPOConfig

from training.grpo.settings import Settings
from training.language.loading import default_device, resolved_dtype

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def device_of(settings: Settings) -> torch.device:
    """The device of this process."""
    if settings.use_cpu or default_device() == "cpu":
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device())


def arithmetic(settings: Settings) -> torch.dtype:
    """The dtype of the arithmetic."""
    chosen = PRECISIONS.get(settings.precision)
    return resolved_dtype(None, device_of(settings)) if chosen is None else chosen


def grpo_config(settings: Settings, out: Path, processes: int, horizon: int) -> GRPOConfig:
    """The trainer's arguments for a run of so many processes, and of episodes of so many ticks.

    Raises:
        InvalidInput: if a step cannot be dealt out over the processes.
    """
    dtype = arithmetic(settings)
    cap = "max_tokens" if settings.vllm != "off" else "max_new_tokens"
    named: dict[str, Any] = {}
    if settings.vllm != "off":
        named |= {
            "use_vllm": True,
            "vllm_mode": settings.vllm,
            "vllm_server_base_url": settings.vllm_url,
            "vllm_gpu_memory_utilization": settings.vllm_memory,
            # By default vLLM makes room for all that the model can read.
            "vllm_max_model_length": settings.read_tokens,
            "vllm_enable_sleep_mode": settings.vllm_sleep and settings.vllm == "colocate",
        }
    return GRPOConfig(
        output_dir=str(out),
        max_steps=settings.max_steps,
        seed=settings.seed,
        # A step.
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulation(processes),
        num_generations=settings.group,
        num_iterations=settings.iterations,
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_completion_length=settings.completion_tokens,
        max_tool_calling_iterations=horizon,
        chat_template_kwargs=dict(settings.template_arguments),
        generation_kwargs={cap: min(settings.turn_tokens, settings.completion_tokens)},
        # The rows are in order, and reach the environment with their column "incident".
        shuffle_dataset=False,
        remove_unused_columns=False,
        # The update.
        learning_rate=settings.lr,
        lr_scheduler_type=settings.lr_schedule,
        warmup_steps=settings.warmup_steps,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        loss_type=settings.loss,
        scale_rewards=settings.scale_rewards,
        beta=settings.beta,
        epsilon=settings.epsilon,
        epsilon_high=settings.epsilon_high,
        entropy_coef=settings.entropy_coef,
        mask_truncated_completions=settings.mask_truncated,
        # Memory.
        bf16=dtype == torch.bfloat16,
        fp16=dtype == torch.float16,
        gradient_checkpointing=settings.gradient_checkpointing,
        use_cpu=settings.use_cpu,
        # Around it.
        logging_steps=1,
        save_strategy="steps",
        save_steps=settings.save_steps,
        save_total_limit=settings.keep_checkpoints,
        report_to=settings.report_to,
        disable_tqdm=True,
        **named,
    )


def lora_config(settings: Settings) -> LoraConfig | None:
    """LoRA on all projections of attention and feed-forward; None if all weights are trained."""
    if settings.lora_r == 0:
        return None
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules="all-linear",
    )
