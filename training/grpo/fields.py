"""The settings of a run; each value is checked by itself."""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput
from training.grpo.stages import Stage, stages_of, task_names
from training.language.thinking import THINKING, THOUGHT_TOKENS, template_arguments

#: Most tokens a reply, and an episode with its screens, by whether the model thinks. Screens
#: of the tasks have about 330 tokens, calls 40: sixteen ticks of both are 5,900, and with
#: 1,024 tokens of thought each 22,300.
TURN_TOKENS: Final = {"as_is": 256, "off": 256, "on": THOUGHT_TOKENS}
COMPLETION_TOKENS: Final = {"as_is": 8_192, "off": 8_192, "on": 24_576}
#: Room for a prompt: rules, tools and the first screen, of the largest fleet too.
PROMPT_TOKENS: Final = 4_096


def _said(text: str, *choices: str) -> dict[str, Any]:
    return {"help": text, "choices": choices} if choices else {"help": text}


@attrs.frozen(kw_only=True)
class Fields:
    """The values of a GRPO run.

    A step plays ``rollouts`` episodes: ``group`` attempts at each of ``rollouts / group``
    incidents. Lengths are in tokens. A field of type ``X | None`` is off if None.

    Raises:
        InvalidInput: for a value that cannot be, naming the field.
    """

    model: str = attrs.field(
        metadata=_said("directory, name on the hub, or tiny:SIZE to build one on the spot")
    )
    tiny_episodes: int = attrs.field(
        default=3_000,
        metadata=_said(
            "the teacher's episodes that a tiny:SIZE learns from; half as many of its "
            "own in each round"
        ),
    )
    task: str = attrs.field(
        default="all",
        metadata=_said(
            "tasks in equal shares, by blanks: ids, all (every task of the benchmark), or "
            "module:name of yours"
        ),
    )
    fog: str = attrs.field(
        default="",
        metadata=_said(
            "a curriculum: levels of fog by blanks, such as '0 1'; none: the tasks as they are"
        ),
    )
    stage_precision: float = attrs.field(
        default=0.75,
        metadata=_said("a stage ends when this share of the pages in its last steps is right ..."),
    )
    stage_pages: float = attrs.field(
        default=0.3, metadata=_said("... and at least this share of its episodes pages ...")
    )
    stage_window: int = attrs.field(
        default=5, metadata=_said("... over so many steps on the same episodes' worth")
    )
    rubric: str = attrs.field(
        default="", metadata=_said("in place of the tasks': an id, or module:name of yours")
    )
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
                       "there on, in points of the grade, or of what the belief expects", "grade",
                       "step", "shaped"),
    )  # fmt: skip
    lmbda: float = attrs.field(
        default=1.0,
        metadata=_said("how much of what came later a turn is credited with (step, shaped)"),
    )
    equal_steps: int = attrs.field(
        default=5,
        metadata=_said("stop after so many steps in which nothing could be learnt; 0: never"),
    )
    barred: float = attrs.field(
        default=0.25,
        metadata=_said("models of notation: share of the groups that may not hand over"),
    )
    thinking: str = attrs.field(
        default="as_is",
        metadata=_said("whether the chat template lets the model think first", *THINKING),
    )

    # A step.
    group: int = attrs.field(default=4, metadata=_said("attempts at the same incident"))
    rollouts: int = attrs.field(default=16, metadata=_said("episodes a step, over all processes"))
    batch: int = attrs.field(default=4, metadata=_said("episodes a backward pass and process"))
    iterations: int = attrs.field(default=1, metadata=_said("updates on the same episodes"))
    temperature: float = attrs.field(default=1.0, metadata=_said("of sampling"))
    top_p: float = attrs.field(default=1.0, metadata=_said("of sampling"))
    turn_tokens: int = attrs.field(
        default=attrs.Factory(lambda own: TURN_TOKENS.get(own.thinking, 256), takes_self=True),
        metadata=_said("most tokens a reply; 256, thinking 1024"),
    )
    completion_tokens: int = attrs.field(
        default=attrs.Factory(
            lambda own: COMPLETION_TOKENS.get(own.thinking, 8_192), takes_self=True
        ),
        metadata=_said("most tokens an episode, screens included; 8192, thinking 24576"),
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
        default="none",
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
    train: str = attrs.field(
        default="all",
        metadata=_said("all weights, or the token embeddings and the head alone", "all",
                       "embeddings"),
    )  # fmt: skip
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
    vllm: str = attrs.field(
        default="off",
        metadata=_said("generate by vLLM: in this process, or on a server", "off", "colocate",
                       "server"),
    )  # fmt: skip
    vllm_url: str | None = attrs.field(default=None, metadata=_said("address of trl vllm-serve"))
    vllm_memory: float = attrs.field(default=0.3, metadata=_said("share of GPU memory, colocate"))
    vllm_length: int | None = attrs.field(
        default=None,
        metadata=_said("most tokens that vLLM reads; none: 4096 for a prompt and an episode"),
    )
    vllm_sleep: bool = attrs.field(
        default=True,
        metadata=_said("vLLM gives its memory back while gradients are computed, colocate"),
    )

    # Around it.
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
    eval_task: str = attrs.field(
        default="", metadata=_said("what they are of; none: every stage of what is trained on")
    )
    eval_before: str = attrs.field(
        default="",
        metadata=_said(
            "before.jsonl of another run that began with the same model; none: they are played"
        ),
    )
    eval_explain: int = attrs.field(
        default=0, metadata=_said("explain so many of them a task, before and after")
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
        for name in ("max_steps", "rollouts", "batch", "iterations", "turn_tokens",
                     "completion_tokens", "save_steps", "keep_checkpoints", "eval_samples",
                     "eval_batch", "lora_alpha", "stage_window", "tiny_episodes"):  # fmt: skip
            self._require(getattr(self, name) >= 1, name, "at least 1")
        for name in ("lora_r", "eval_episodes", "warmup_steps", "lr", "beta", "entropy_coef",
                     "weight_decay", "eval_temperature", "eval_explain", "seed",
                     "equal_steps"):  # fmt: skip
            self._require(getattr(self, name) >= 0, name, "no less than 0")
        self._require(self.group >= 2, "group", "at least 2: advantages are differences in a group")
        self._require(self.temperature > 0, "temperature", "above 0")
        self._require(0 < self.top_p <= 1, "top_p", "above 0 and at most 1")
        for name in ("lmbda", "stage_precision", "stage_pages"):
            self._require(0 <= getattr(self, name) <= 1, name, "in [0, 1]")
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

    def _require(self, right: bool, name: str, expected: str) -> None:
        if not right:
            raise InvalidInput(f"{name} = {getattr(self, name)!r}: must be {expected}")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of training: the tasks that are played side by side in each."""
        return stages_of(self.task, self.fog)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Every task that is trained on."""
        return tuple(dict.fromkeys(task for stage in self.stages for task in stage))

    @property
    def held_out_tasks(self) -> tuple[str, ...]:
        """The tasks of the held-out incidents."""
        return task_names(self.eval_task) if self.eval_task else self.tasks

    @property
    def template_arguments(self) -> Mapping[str, bool]:
        """The arguments of the chat template."""
        return template_arguments(self.thinking)

    @property
    def read_tokens(self) -> int:
        """The most tokens that vLLM may have to read: a prompt and an episode."""
        return self.vllm_length or PROMPT_TOKENS + self.completion_tokens

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
