"""Parts of the recipes for language models: settings, loading, held-out play."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import attrs
import datasets
import torch
import transformers
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.play import Attempt, Decoding, play
from logtriage.adapters.local.player import (
    TEMPLATES,
    adapter_field,
    default_device,
    is_adapter,
    load_model,
    load_tokenizer,
    resolved_dtype,
)
from logtriage.adapters.local.words import Manner, add_actions, manner_of, set_manner
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.rendering import STYLES, check_style
from logtriage.tasks import get_task
from training.common.figures import Row, row_of
from training.common.files import RUN, Refused, check_empty, machine, run_with, save_text
from training.common.options import check_fields, option
from training.common.tasks import EVAL_SPLIT, words_for

#: Seconds from line to line of progress, where there is no terminal.
EVERY: Final = 10.0

LIBRARIES: Final = ("torch", "transformers", "trl", "peft", "numpy")
HARDWARE: Final = (
    "Runs on one CPU core (float32, or bfloat16 where the processor has it) and, untested, on one "
    "GPU with CUDA. Never run: several GPUs, vLLM, 4 bits on a GPU, the presets of Qwen3."
)


@attrs.frozen(kw_only=True)
class LanguageSettings:
    """What the recipes of language models share.

    Raises:
        InvalidInput, UnknownName: for a value that cannot be, naming the field.
    """

    model: str = option("", "directory of a model or adapter, or a hub name")
    template: str = option("own", "the chat template: the model's own, or ours", *TEMPLATES)
    task: str = option("single_crash-v4-fog0", "tasks in equal shares, separated by blanks")
    seed: int = option(0, "of the order of incidents and of sampling")
    device: str = option("auto", "where to train", "auto", "cpu", "cuda")
    precision: str = option("auto", "of the arithmetic", "auto", "float32", "bfloat16", "float16")
    load_in_4bit: bool = option(False, "quantise frozen weights (nf4); needs LoRA")
    lora_r: int = option(16, "rank of LoRA, but an adapter keeps its own; 0: train all weights")
    lora_alpha: int = option(32, "scale of LoRA, as the rank")
    checkpointing: bool = option(False, "compute activations twice, keep few")
    max_tokens: int = option(96, "the longest reply; in notation a reply is one token")
    max_context: int = option(4096, "the longest conversation in tokens")
    held_out: int = option(100, f"incidents of {EVAL_SPLIT} played before and after; 0: none")
    eval_temperature: float = option(0.0, "of the held-out episodes; 0: the likeliest token")
    play_batch: int = option(16, "episodes played at once")
    save_steps: int = option(20, "steps between checkpoints")
    threads: int = option(1, "of torch, on the CPU")

    def __attrs_post_init__(self) -> None:
        """Check what does not depend on the machine."""
        if not self.model:
            raise InvalidInput("model: none given; expected --model with a directory or a hub name")
        check_fields(self, "max_tokens", "play_batch", "save_steps", "lora_alpha", "threads")
        if is_adapter(self.model):
            object.__setattr__(self, "lora_r", adapter_field(self.model, "r"))
            object.__setattr__(self, "lora_alpha", adapter_field(self.model, "lora_alpha"))
        if self.load_in_4bit and not self.lora_r:
            raise InvalidInput("load_in_4bit: quantised weights cannot be trained; set lora_r")
        if self.load_in_4bit and self.checkpointing and self.where.type == "cpu":
            raise InvalidInput("checkpointing: not with load_in_4bit on a CPU")
        assert self.tasks  # refuses unknown tasks

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of the tasks.

        Raises:
            UnknownName: for a task that does not exist.
        """
        return tuple(get_task(word).id for word in self.task.split())

    @property
    def where(self) -> torch.device:
        """The device."""
        return torch.device(default_device() if self.device == "auto" else self.device)

    @property
    def arithmetic(self) -> torch.dtype:
        """The precision of the arithmetic; bfloat16 for a GPU that a dry run plans with."""
        planned = self.where.type == "cuda" and not torch.cuda.is_available()
        auto = {"auto": "bfloat16" if planned else None}
        return resolved_dtype(auto.get(self.precision, self.precision), self.where)

    @property
    def autocast(self) -> torch.autocast:
        """A context in which a model plays with this arithmetic."""
        lower = self.arithmetic != torch.float32
        return torch.autocast(self.where.type, self.arithmetic, enabled=lower)

    @property
    def decoding(self) -> Decoding:
        """How held-out episodes are played."""
        return Decoding(
            self.eval_temperature, self.seed, self.play_batch, self.max_tokens, self.max_context
        )

    @property
    def trainer_options(self) -> dict[str, Any]:
        """The arguments that TRL's configurations share."""
        return {
            "seed": self.seed,
            "bf16": self.arithmetic == torch.bfloat16,
            "fp16": self.arithmetic == torch.float16,
            "use_cpu": self.where.type == "cpu",
            "gradient_checkpointing": self.checkpointing,
            "report_to": "none",
            "disable_tqdm": True,
            "logging_steps": 1,
            "save_strategy": "steps",
            "save_steps": self.save_steps,
            "save_total_limit": 1,
        }


def incidents_of(settings: LanguageSettings, split: str, first: int, count: int) -> list[Incident]:
    """Incidents of a split, from the tasks in turn; the same for the same numbers."""
    tasks = settings.tasks
    places = (divmod(number, len(tasks)) for number in range(first, first + count))
    return [
        make_incident(name)
        for index, task in places
        for name in incident_ids(tasks[task], split, 1, index)
    ]


def begin(
    out: Path, settings: LanguageSettings, command: str, facts: Mapping[str, Any], *, resume: bool
) -> dict[str, Any]:
    """The record of a run that begins with ``facts``, or goes on with the same settings.

    The caller writes it once the model is loaded: a refused model leaves the directory free.

    Raises:
        Refused, InvalidInput: if the directory has other content or settings; without the device.
    """
    if settings.where.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("device: torch sees no GPU for cuda here; give --device cpu")
    mine = attrs.asdict(settings)
    if resume != (out / RUN).exists():
        other = "no run to resume" if resume else "a run: give another directory, or --resume"
        raise Refused(f"{out} holds {other}")
    if resume:
        return run_with(out, mine)
    check_empty(out)
    return {
        "command": command,
        "settings": mine,
        "machine": machine(LIBRARIES),
        **facts,
        "seconds": 0.0,
        "cpu_seconds": 0.0,
        "finished": False,
    }


def next_with(out: Path, settings: LanguageSettings) -> str:
    """What to type next: a longer evaluation of the model of a run."""
    words = f"{words_for(settings.task)} --episodes 300 --concurrency {settings.play_batch}"
    return f"logtriage eval hf:{out} expert observer {words} --out {out}-eval"


# -- models ----------------------------------------------------------------------------------


def quieten() -> None:
    """Leave out bars and notices of libraries beside our own."""
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", module="transformers|trl|peft|accelerate|torch")


def load(settings: LanguageSettings, manner: Manner | None = None) -> tuple[Any, Chat]:
    """The model to train, and its chat; with a LoRA adapter if the settings say so.

    ``manner`` is how a model is to play from now on; None for what its tokenizer says. In
    notation the tokens of actions are added. The template is checked before weights load.

    Raises:
        InvalidInput: for a model or template that cannot be used.
    """
    quieten()
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    tokenizer = load_tokenizer(settings.model, settings.template)
    if manner is not None and manner != manner_of(tokenizer):
        if manner_of(tokenizer).style == "notation":
            raise InvalidInput(f"{settings.model}: a model of notation stays one")
        set_manner(tokenizer, manner)
    notation = manner_of(tokenizer).style == "notation"
    if not notation:
        Chat(tokenizer)
    whole = not settings.lora_r
    # A quantised or frozen base may have few digits; what is trained has 32 bits.
    dtype = torch.float32 if whole or settings.where.type == "cpu" else settings.arithmetic
    model = load_model(
        settings.model,
        dtype=settings.arithmetic if settings.load_in_4bit else dtype,
        load_in_4bit=settings.load_in_4bit,
        device=settings.where,
        trainable=True,
    )
    added: list[int] = []
    if notation:
        topologies = [topology for task in settings.tasks if (topology := get_task(task).topology)]
        if not topologies:
            raise InvalidInput("notation: expected tasks of one topology, whose actions are tokens")
        added = add_actions(model, tokenizer, topologies)
    if settings.lora_r and not is_adapter(settings.model):
        model = with_lora(model, settings)
    if added and not whole:
        train_tokens(model, added)
    for weight in model.parameters():
        if weight.requires_grad and weight.dtype != torch.float32:
            weight.data = weight.data.float()
    return model.train(), Chat(tokenizer, stops=_stops(model))


def with_lora(model: Any, settings: LanguageSettings) -> Any:
    """The model with a LoRA adapter on all linear layers of its blocks."""
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    if settings.load_in_4bit:
        model = prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=settings.checkpointing
        )
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        target_modules="all-linear",
    )
    return get_peft_model(model, config)


def train_tokens(model: Any, tokens: Sequence[int]) -> None:
    """Train the embeddings of these tokens beside a LoRA adapter; other embeddings stay.

    PEFT's own way (``trainable_token_indices``) puts a module in place of a tied head, which TRL's
    fused loss cannot read.
    """
    tables = {id(layer.weight): layer.weight for layer in (
        model.get_input_embeddings(), model.get_output_embeddings()
    )}  # fmt: skip
    for table in tables.values():
        table.requires_grad_(True)
        chosen = torch.zeros(len(table), 1, device=table.device, dtype=table.dtype)
        chosen[list(tokens)] = 1.0
        table.register_hook(lambda gradient, chosen=chosen: gradient * chosen)


def save(model: Any, chat: Chat, out: Path) -> None:
    """Save a model or its adapter, with the embeddings of added tokens, a tokenizer and a card."""
    more = {"save_embedding_layers": chat.is_notation} if hasattr(model, "peft_config") else {}
    model.save_pretrained(out, **more)
    chat.tokenizer.save_pretrained(out)
    how = f"`{RUN}` has the command, its settings, the machine and the figures of held-out play."
    save_text(out / "README.md", f"# {out.name}\n\nTrained by a recipe of logtriage. {how}\n")


def _stops(model: Any) -> list[int]:
    named = getattr(model.generation_config, "eos_token_id", None)
    return named if isinstance(named, list) else [] if named is None else [named]


def style_and_rules(style: str, rules: str) -> Manner:
    """The manner that options name; rules ``auto`` are shown unless screens are notation.

    Raises:
        UnknownName: for a style that does not exist.
    """
    chosen = check_style(style)
    return Manner(chosen, chosen != "notation" if rules == "auto" else rules == "on")


STYLE_CHOICES: Final = STYLES
RULES_CHOICES: Final = ("auto", "on", "off")


# -- playing ---------------------------------------------------------------------------------


def play_held_out(
    model: Any, chat: Chat, settings: LanguageSettings, console: Console, when: str
) -> list[Row]:
    """The held-out episodes in figures, in order; says how many replies cannot be read.

    Raises:
        RuntimeError: as :func:`rows_of`.
    """
    incidents = [
        (incident, 0) for incident in incidents_of(settings, EVAL_SPLIT, 0, settings.held_out)
    ]
    with progress(console) as bar:
        task = bar.add_task(f"held-out, {when}", total=len(incidents))
        with settings.autocast:
            attempts = play(
                model, chat, incidents, settings.decoding,
                on_progress=lambda done, _: bar.update(task, completed=done),
            )  # fmt: skip
    if note := unreadable(attempts):
        console.print(f"{when}: {note}", soft_wrap=True, markup=False)
    return rows_of(attempts)


def rows_of(attempts: Sequence[Attempt]) -> list[Row]:
    """The figures of episodes.

    Raises:
        RuntimeError: if the model failed in an episode, with the cause.
    """
    for attempt in attempts:
        if attempt.episode.error is not None:
            raise RuntimeError(f"{attempt.episode.incident.id}: {attempt.episode.error}")
    return [row_of(attempt.episode.state) for attempt in attempts]


def unreadable(attempts: Sequence[Attempt]) -> str:
    """How many replies no action could be read from, with the first; empty if all could."""
    wrong = [
        reply
        for attempt in attempts
        for reply, wire in zip(attempt.replies, attempt.episode.actions, strict=False)
        if wire["action_type"] == "malformed"
    ]
    if not wrong:
        return ""
    replies = sum(len(attempt.replies) for attempt in attempts)
    return f"{len(wrong)} of {replies} replies cannot be read; the first: {wrong[0]!r:.200}"


@contextmanager
def progress(console: Console) -> Iterator[Progress]:
    """A bar with what is done and the time that remains; in a log file a line every ten seconds."""
    over = Event()
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        if bar.disable:
            Thread(target=_print_lines, args=(bar, over), daemon=True).start()
        try:
            yield bar
        finally:
            over.set()


def _print_lines(bar: Progress, over: Event) -> None:
    while not over.wait(EVERY):
        for task in bar.tasks:
            if not task.finished:
                left = task.time_remaining
                told = "" if left is None else f", about {timedelta(seconds=round(left))} left"
                words = f"{task.description}: {task.completed:g} of {task.total:g}{told}"
                bar.console.print(words, soft_wrap=True, markup=False, highlight=False)
