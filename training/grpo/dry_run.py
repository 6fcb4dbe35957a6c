"""Show the settings, memory and first prompt of a run. Loads no weights."""

from typing import Any

import attrs
import torch
from rich.console import Console
from rich.table import Table
from rich.text import Text

from logtriage.adapters.trl import NotationEnv, Playing, TriageEnv, triage_rows
from logtriage.errors import InvalidInput
from logtriage.rendering import check_style
from training.grpo.beforehand import check_names
from training.grpo.learn import processes
from training.grpo.memory import Memory, count, estimate, load_config
from training.grpo.rows import Rows
from training.grpo.settings import Settings
from training.grpo.start import is_built_here
from training.language.chat import tool_schemas
from training.language.loading import load_tokenizer
from training.language.places import check_there
from training.language.sources import Source
from training.tiny.words import style_of


def first_prompt(settings: Settings, tokenizer: Any) -> str:
    """The text that the model would read first, as the trainer renders it."""
    source, style = Source(), check_style(style_of(tokenizer))
    incident = Rows(settings, source, lambda _: 0).incident(0)
    (row,) = triage_rows([incident], resolve=source, style=style)
    kind: type[Playing] = NotationEnv if style == "notation" else TriageEnv
    env = kind(resolve=source)
    screen = env.reset(**row)
    *before, last = row["prompt"]
    messages = [*before, {**last, "content": last["content"] + screen}]
    text: str = tokenizer.apply_chat_template(
        messages,
        tools=list(tool_schemas(kind)),
        add_generation_prompt=True,
        tokenize=False,
        **settings.template_arguments,
    )
    return text


def show(settings: Settings, console: Console | None = None) -> None:
    """Print it.

    Raises:
        InvalidInput: if the model's configuration or tokenizer cannot be loaded.
    """
    console = Console() if console is None else console
    settings.accumulation(processes())
    if is_built_here(settings.model):
        raise InvalidInput(
            f"model {settings.model!r} is built in a run; --dry-run needs a finished one"
        )
    check_there(settings.model)
    check_names(settings)
    # First, since to ask the hub takes a while and may fail.
    console.print(_settings(settings))
    tokenizer, config = load_tokenizer(settings.model), load_config(settings.model)
    prompt = first_prompt(settings, tokenizer)
    tokens = len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
    console.print(_memory(settings, config, estimate(settings, config, tokens, gpu_bytes())))
    console.print(f"first prompt, {tokens} tokens:", style="bold")
    console.print(Text(prompt), soft_wrap=True)


def gpu_bytes() -> int | None:
    """The memory of this machine's GPU; None without one."""
    if not torch.cuda.is_available():
        return None
    return int(torch.cuda.get_device_properties(0).total_memory)


def _settings(settings: Settings) -> Table:
    table = Table(title="settings", title_justify="left")
    table.add_column("field")
    table.add_column("value")
    for name, value in attrs.asdict(settings).items():
        table.add_row(name, Text(str(value)))
    return table


def _memory(settings: Settings, config: Any, memory: Memory) -> Table:
    parameters = count(config, settings.lora_r)
    trained = parameters.trained(settings)
    table = Table(
        title=f"estimated memory, a process with the whole model: {parameters.total:,} weights, "
        f"{trained:,} trained",
        title_justify="left",
    )
    table.add_column("for")
    table.add_column("MiB", justify="right")
    sizes = attrs.asdict(memory, filter=lambda field, _: field.type is int)
    rows = {**sizes, "most at a time": memory.peak}
    for name, size in rows.items():
        table.add_row(name.replace("_", " "), f"{size / 2**20:,.1f}")
    return table
