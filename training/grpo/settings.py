"""What a run is made of; all of it is written beside its results."""

from typing import Any

import attrs

from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import FIRST_WORLD, TASKS


def _said(text: str, *choices: str) -> dict[str, Any]:
    return {"help": text, "choices": choices} if choices else {"help": text}


@attrs.frozen(kw_only=True)
class Settings:
    """A GRPO run.

    A step plays ``rollouts`` episodes: ``group`` attempts at each of ``rollouts / group``
    incidents. Lengths are in tokens. A field of type ``X | None`` is off if None.

    Raises:
        InvalidInput: for values that do not fit together, naming the field.
    """

    model: str = attrs.field(metadata=_said("directory, or name on the hub"))
    task: str = attrs.field(default="all", metadata=_said("a task, or all: the three of v1 evenly"))
    episodes: int | None = attrs.field(
        default=None,
        metadata=_said(
            "training incidents of each task, repeated as needed; none: never one twice"
        ),
    )
    max_steps: int = attrs.field(default=10, metadata=_said("optimiser steps"))
    seed: int = attrs.field(default=0, metadata=_said("of the order of incidents and of sampling"))
    reward: str = attrs.field(
        default="grade",
        metadata=_said("credit the episode's grade to all turns, or to each what it added from "
                       "there on", "grade", "step"),
    )  # fmt: skip

    # A step.
    group: int = attrs.field(default=4, metadata=_said("attempts at the same incident"))
    rollouts: int = attrs.field(default=16, metadata=_said("episodes a step, over all processes"))
    batch: int = attrs.field(default=4, metadata=_said("episodes a backward pass and process"))
    iterations: int = attrs.field(default=1, metadata=_said("updates on the same episodes"))
    temperature: float = attrs.field(default=1.0, metadata=_said("of sampling"))
    top_p: float = attrs.field(default=1.0, metadata=_said("of sampling"))
    turn_tokens: int = attrs.field(default=256, metadata=_said("most tokens a reply"))
    completion_tokens: int = attrs.field(
        default=8192, metadata=_said("most tokens an episode, screens included")
    )

    # The update.
    lr: float = attrs.field(default=1e-5, metadata=_said("learning rate"))
    lr_schedule: str = attrs.field(
        default="constant", metadata=_said("of the learning rate", "constant", "linear", "cosine")
    )
    warmup_steps: int = attrs.field(default=0, metadata=_said("steps of rising learning rate"))
    weight_decay: float = attrs.field(default=0.0, metadata=_said("of AdamW"))
    max_grad_norm: float = attrs.field(default=1.0, metadata=_said("gradients are cut to this"))
    loss: str = attrs.field(
        default="dapo",
        metadata=_said(
            "how tokens are weighed", "dapo", "grpo", "bnpo", "dr_grpo", "cispo", "sapo"
        ),
    )
    scale_rewards: str = attrs.field(
        default="group",
        metadata=_said("what advantages are divided by", "group", "batch", "none"),
    )
    beta: float = attrs.field(default=0.0, metadata=_said("weight of the KL to the first model"))
    epsilon: float = attrs.field(default=0.2, metadata=_said("clipping below"))
    epsilon_high: float | None = attrs.field(default=None, metadata=_said("clipping above"))
    entropy_coef: float = attrs.field(default=0.0, metadata=_said("weight of the entropy"))
    mask_truncated: bool = attrs.field(
        default=False, metadata=_said("leave out of the loss the episodes that were cut off")
    )

    # The model in memory.
    lora_r: int = attrs.field(default=0, metadata=_said("rank of LoRA; 0: train all weights"))
    lora_alpha: int = attrs.field(default=32, metadata=_said("scale of LoRA"))
    lora_dropout: float = attrs.field(default=0.0, metadata=_said("dropout of LoRA"))
    load_in_4bit: bool = attrs.field(
        default=False, metadata=_said("quantise frozen weights: nf4, double quantisation")
    )
    precision: str = attrs.field(
        default="auto",
        metadata=_said("of the arithmetic; auto: fp32 on CPU, else bf16, or fp16 without bf16",
                       "auto", "fp32", "bf16", "fp16"),
    )  # fmt: skip
    gradient_checkpointing: bool = attrs.field(
        default=True, metadata=_said("compute activations twice, keep few")
    )
    use_cpu: bool = attrs.field(default=False, metadata=_said("even if there is a GPU"))
    threads: int | None = attrs.field(default=None, metadata=_said("of torch, on the CPU"))
    use_unsloth: bool = attrs.field(default=False, metadata=_said("load the model by Unsloth"))
    vllm: str = attrs.field(
        default="off",
        metadata=_said("generate by vLLM: in this process, or on a server", "off", "colocate",
                       "server"),
    )  # fmt: skip
    vllm_url: str | None = attrs.field(default=None, metadata=_said("address of trl vllm-serve"))
    vllm_memory: float = attrs.field(default=0.3, metadata=_said("share of GPU memory, colocate"))

    # Around it.
    env_url: str | None = attrs.field(
        default=None, metadata=_said("play on this logtriage server instead of here")
    )
    save_steps: int = attrs.field(default=50, metadata=_said("steps between checkpoints"))
    keep_checkpoints: int = attrs.field(default=2, metadata=_said("older ones are removed"))
    report_to: str = attrs.field(
        default="tensorboard",
        metadata=_said("where metrics go, beside files", "tensorboard", "none"),
    )
    eval_episodes: int = attrs.field(
        default=100,
        metadata=_said("held-out incidents of each task, played before and after; 0: none"),
    )
    eval_samples: int = attrs.field(default=1, metadata=_said("attempts at each of them"))
    eval_temperature: float = attrs.field(default=0.0, metadata=_said("0: the likeliest token"))
    eval_batch: int = attrs.field(default=64, metadata=_said("episodes at a time"))
    push_to_hub: bool = attrs.field(default=False, metadata=_said("upload model and card"))
    hub_model_id: str | None = attrs.field(default=None, metadata=_said("where to on the hub"))

    def __attrs_post_init__(self) -> None:
        """Check what does not depend on the machine."""
        for field in attrs.fields(type(self)):
            value, choices = getattr(self, field.name), field.metadata.get("choices")
            if choices and value not in choices:
                raise InvalidInput(
                    f"{field.name}: expected one of {', '.join(choices)}, got {value!r}"
                )
        known = ["all", *(one.id for one in TASKS)]
        if self.task not in known:
            raise UnknownName("task", self.task, known)
        for name in ("max_steps", "rollouts", "batch", "iterations", "turn_tokens",
                     "completion_tokens", "save_steps", "keep_checkpoints", "eval_samples",
                     "eval_batch", "lora_alpha"):  # fmt: skip
            self._require(getattr(self, name) >= 1, name, "at least 1")
        for name in ("lora_r", "eval_episodes", "warmup_steps", "lr", "beta", "entropy_coef",
                     "weight_decay", "eval_temperature", "seed"):  # fmt: skip
            self._require(getattr(self, name) >= 0, name, "no less than 0")
        self._require(self.group >= 2, "group", "at least 2: advantages are differences in a group")
        self._require(self.temperature > 0, "temperature", "above 0")
        self._require(0 < self.top_p <= 1, "top_p", "above 0 and at most 1")
        self._require(self.episodes is None or self.episodes >= 1, "episodes", "at least 1")
        self._require(
            self.rollouts % self.group == 0, "rollouts", f"a multiple of group ({self.group})"
        )
        self._require(
            self.rollouts % self.batch == 0, "rollouts", f"a multiple of batch ({self.batch})"
        )
        self._require(
            self.save_steps % self.iterations == 0,
            "save_steps",
            f"a multiple of iterations ({self.iterations}): between updates on the same "
            "episodes nothing can be taken up again",
        )
        self._require(
            not self.load_in_4bit or self.lora_r > 0,
            "load_in_4bit",
            "used with lora_r above 0: quantised weights cannot be trained",
        )
        self._require(
            not self.push_to_hub or bool(self.hub_model_id),
            "hub_model_id",
            "given with push_to_hub",
        )
        self._require(
            self.vllm != "server" or bool(self.vllm_url), "vllm_url", "given with vllm = server"
        )

    def _require(self, right: bool, name: str, expected: str) -> None:
        if not right:
            raise InvalidInput(f"{name} = {getattr(self, name)!r}: must be {expected}")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are trained on."""
        return FIRST_WORLD if self.task == "all" else (self.task,)

    @property
    def incidents(self) -> int:
        """Incidents a step of fresh episodes."""
        return self.rollouts // self.group

    def accumulation(self, processes: int) -> int:
        """Backward passes a step and process.

        Raises:
            InvalidInput: if the episodes of a step cannot be dealt out evenly.
        """
        if self.rollouts % (self.batch * processes):
            raise InvalidInput(
                f"rollouts = {self.rollouts}: must be a multiple of batch x processes "
                f"({self.batch} x {processes})"
            )
        return self.rollouts // (self.batch * processes)
