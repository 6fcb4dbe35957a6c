"""GRPO: a language model plays incidents in groups, and learns from their grades.

    pip install -e '.[train]' -c constraints/trl.txt
    python -m training.grpo --model runs/sft --out runs/grpo --quick
    python -m training.grpo --model runs/sft --out runs/grpo --steps 150 --incidents 32

The trainer is TRL's ``GRPOTrainer``. The members of a group play the same incident of split
``train``; the advantage of an attempt is its grade less the mean grade of the group. Nothing else
is rewarded. With ``--loop fast`` (default) one rollout loop plays all episodes of a step side by
side: an opening that attempts share is read once, keys and values stay from turn to turn, and an
episode ends when its incident does. With ``--loop trl`` TRL plays by ``environment_factory``; this
is for vLLM.
"""

import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from datasets import Dataset
from rich.console import Console
from rich.progress import Progress
from transformers import PrinterCallback, TrainerCallback, TrainerState
from trl import GRPOConfig, GRPOTrainer

from logtriage.adapters.episode import Episode
from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.play import Attempt, Decoding, play
from logtriage.adapters.local.player import load_tokenizer
from logtriage.adapters.trl import TriageEnv, triage_rows
from logtriage.adapters.trl.environments import tools_offered
from logtriage.drawing.generator import make_incident
from logtriage.errors import InvalidInput
from logtriage.rng import hash_name
from training.common.figures import EPISODES, Row, figures, row_of, tell_end, write_rows
from training.common.files import RUN, last_step, save_json, save_text
from training.common.language import (
    HARDWARE,
    LanguageSettings,
    begin,
    incidents_of,
    load,
    next_with,
    play_held_out,
    progress,
    quieten,
    rows_of,
    save,
)
from training.common.memory import presets, verdict
from training.common.options import (
    add_restart,
    as_options,
    check_fields,
    option,
    recipe_parser,
    run_recipe,
)
from training.common.parts import NOTHING
from training.common.tasks import TRAIN_SPLIT

#: The training episodes, a line each, and the steps.
PLAYED: Final = "played.jsonl"
STEPS: Final = "steps.csv"
#: ``--quick``: minutes on two cores.
QUICK: Final = {"steps": 3, "incidents": 2, "group": 4, "batch": 1, "held_out": 24}
#: After so many steps in a row in which no group had a spread, a run ends.
PATIENCE: Final = 5


class NothingToLearn(Exception):
    """All attempts at every incident earn the same, step after step."""


@attrs.frozen(kw_only=True)
class Settings(LanguageSettings):
    """A run of GRPO: ``steps`` of ``incidents`` x ``group`` episodes."""

    steps: int = option(50, "optimiser steps")
    incidents: int = option(4, "incidents a step")
    group: int = option(8, "attempts at each incident")
    batch: int = option(4, "episodes a backward pass")
    temperature: float = option(0.7, "of sampling")
    lr: float = option(2e-4, "learning rate; for all weights take a twentieth")
    beta: float = option(0.0, "weight of the KL to the first model")
    loss: str = option("dapo", "how tokens are weighed", "dapo", "grpo", "dr_grpo", "cispo")
    barred: float = option(0.0, "notation: share of the groups in which nobody hands over")
    shuffled: bool = option(False, "a control: exchange the grades among attempts of a group")
    first: int = option(1_000_000, f"number of the first incident of {TRAIN_SPLIT}")
    loop: str = option("fast", "who plays: our loop, or TRL's", "fast", "trl")
    vllm: str = option("off", "generate by vLLM, with --loop trl", "off", "colocate", "server")
    vllm_memory: float = option(0.3, "share of the GPU's memory for vLLM, colocate")

    def __attrs_post_init__(self) -> None:
        """Check what does not depend on the machine."""
        super().__attrs_post_init__()
        check_fields(self, "steps", "incidents", "batch")
        if self.group < 2:
            raise InvalidInput(f"group: must be at least 2 (a mean of others), got {self.group}")
        if self.episodes % self.batch:
            raise InvalidInput(
                f"batch = {self.batch}: must divide incidents x group = {self.episodes}"
            )
        if self.temperature <= 0:
            raise InvalidInput(f"temperature: must be above 0, got {self.temperature}")
        if not 0 <= self.barred <= 1:
            raise InvalidInput(f"barred: must be in [0, 1], got {self.barred}")
        if self.vllm != "off" and self.loop != "trl":
            raise InvalidInput("vllm: goes with --loop trl")
        for name in ("shuffled", "barred"):
            if getattr(self, name) and self.loop != "fast":
                raise InvalidInput(f"{name}: goes with --loop fast")

    @property
    def episodes(self) -> int:
        """Episodes a step."""
        return self.incidents * self.group


# -- playing ---------------------------------------------------------------------------------


def is_barred(incident: str, share: float) -> bool:
    """Whether nobody may hand over in the group of an incident: so in this share of them."""
    return hash_name(f"barred {incident}") % 10_000 < 10_000 * share


class Rollouts:
    """Plays the episodes of a step: TRL's ``rollout_func``, whose prompts are incident ids."""

    def __init__(self, chat: Chat, settings: Settings, record: "Record") -> None:
        self._chat, self._settings, self._record = chat, settings, record

    def __call__(self, prompts: Sequence[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """Ids, masks and grades of attempts at these incidents, in order."""
        began, settings = time.perf_counter(), self._settings
        step = trainer.state.global_step + 1
        wanted = [
            (make_incident(name), place % settings.group) for place, name in enumerate(prompts)
        ]
        decoding = Decoding(
            settings.temperature, settings.seed, len(wanted), settings.max_tokens,
            settings.max_context,
        )  # fmt: skip
        model = trainer.accelerator.unwrap_model(trainer.model)
        with trainer.accelerator.autocast():
            played = play(
                model, self._chat, wanted, decoding,
                barred=lambda name: is_barred(name, settings.barred),
            )  # fmt: skip
        rows_of(played)  # raises if the model failed
        grades = [attempt.episode.reward for attempt in played]
        self._record.step(step, played, time.perf_counter() - began)
        if settings.shuffled:
            grades = shuffled(grades, settings.group, f"{settings.seed} {step}")
        return {
            "prompt_ids": [attempt.prompt for attempt in played],
            "completion_ids": [attempt.ids for attempt in played],
            "env_mask": [list(map(int, attempt.wrote)) for attempt in played],
            "logprobs": None,
            "grade": grades,
        }


def grade_reward(grade: Sequence[float | None], **_: Any) -> list[float | None]:
    """The reward: the grade of the episode; None after a failure, which TRL leaves out."""
    return list(grade)


def shuffled(grades: Sequence[float | None], group: int, key: str) -> list[float | None]:
    """Grades exchanged among the attempts of each group, drawn by a key."""
    drawn = [(place // group, hash_name(f"{key} {place}")) for place in range(len(grades))]
    return [grades[place] for place in sorted(range(len(grades)), key=drawn.__getitem__)]


class Record:
    """Writes every episode and step of training, and tells what the last steps were like."""

    HEADS: Final = ("step", "grade", "handed_over", "mis_paged", "paged_right", "ticks",
                    "no_spread", "malformed", "tokens", "play_seconds", "seconds")  # fmt: skip

    def __init__(self, out: Path, settings: Settings, bar: Progress, after: int) -> None:
        self._out, self._group, self._bar = out, settings.group, bar
        self._steps = settings.steps
        self._task = bar.add_task("GRPO", total=settings.steps, completed=after)
        self._flat, self._since = 0, time.perf_counter()
        for name in (PLAYED, STEPS):
            path = out / name
            text = path.read_text("utf-8") if path.exists() else ""
            lines = text.rpartition("\n")[0].splitlines()  # without a torn last line
            kept = [line for line in lines if _step_of(line) <= after]
            heads = [",".join(self.HEADS)] if name == STEPS and not kept else []
            save_text(path, "".join(f"{line}\n" for line in (*heads, *kept)))

    def step(self, step: int, played: Sequence[Attempt], seconds: float) -> None:
        """Append the episodes of a step.

        Raises:
            NothingToLearn: if no group had a spread for :data:`PATIENCE` steps.
        """
        tokens = sum(len(attempt.prompt) + len(attempt.ids) for attempt in played)
        self.append(step, [attempt.episode for attempt in played], tokens / len(played), seconds)

    def append(self, step: int, played: Sequence[Episode], *known: float) -> None:
        """As :meth:`step`; ``known`` are tokens an episode and seconds of play, if measured."""
        rows = [row_of(episode.state) for episode in played]
        wires = [wire for episode in played for wire in episode.actions]
        malformed = sum(wire["action_type"] == "malformed" for wire in wires)
        lines = [{"step": step, **attrs.asdict(row)} for row in rows]
        with (self._out / PLAYED).open("a", encoding="utf-8") as file:
            file.write("".join(f"{json.dumps(line)}\n" for line in lines))
        groups = [rows[at : at + self._group] for at in range(0, len(rows), self._group)]
        flat = [len({row.grade for row in group}) == 1 for group in groups]
        told = figures(rows) | dict(zip(("tokens", "play_seconds"), known, strict=False))
        now = time.perf_counter()
        cells = {
            "step": step,
            **{name: told[name] for name in self.HEADS if name in told},
            "no_spread": sum(flat) / len(flat),
            "malformed": malformed / len(rows),
            "seconds": now - self._since,
        }
        self._since = now
        with (self._out / STEPS).open("a", encoding="utf-8") as file:
            told_cells = (f"{cells[name]:.6g}" if name in cells else "" for name in self.HEADS)
            file.write(",".join(told_cells) + "\n")
        title = f"grade {told['grade']:.3f}, handed over {told['handed_over']:.0%}"
        self._bar.update(self._task, completed=step, description=title)
        self._flat = self._flat + 1 if all(flat) else 0
        if self._flat >= PATIENCE:
            raise NothingToLearn(
                f"in {PATIENCE} steps all attempts at each incident earned the same: "
                f"{malformed / len(rows):.1f} malformed actions an episode, "
                f"{told['handed_over']:.0%} handed over; raise --temperature, or imitate longer"
            )

    def note(
        self, environments: Sequence[TriageEnv], trainer_state: TrainerState, **_: Any
    ) -> list[None]:
        """Record what TRL's own loop played, as a reward function without a reward."""
        episodes = [environment.episode for environment in environments]
        self.append(trainer_state.global_step + 1, episodes)
        return [None] * len(episodes)


def _step_of(line: str) -> int:
    """The step of a line of episodes or steps; a table's head is step 0."""
    if line.startswith("{"):
        return int(json.loads(line)["step"])
    number = line.partition(",")[0]
    return int(number) if number.isdigit() else 0


# -- learning --------------------------------------------------------------------------------


class Trainer(GRPOTrainer):
    """Learns without the columns that are padding: TRL pads to the longest episode of a step."""

    def compute_loss(self, model: Any, inputs: dict[str, Any], **named: Any) -> Any:
        """The loss of a backward pass; it is the same with padding."""
        return super().compute_loss(model, unpadded(inputs), **named)


def unpadded(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a backward pass without the columns that are masked in all of its rows."""
    shown = {part: inputs[f"{part}_mask"].any(0) for part in ("prompt", "completion")}
    shown["completion"][0] = True  # TRL takes a loss of rows that are all masked, too
    cut = dict(inputs)
    for name, value in inputs.items():
        kept = shown["prompt" if name.startswith("prompt_") else "completion"]
        if torch.is_tensor(value) and value.dim() == 2 and value.size(1) == len(kept):
            cut[name] = value[:, kept]
    return cut


def config_of(settings: Settings, out: Path) -> GRPOConfig:
    """The trainer's arguments."""
    more: dict[str, Any] = {}
    if settings.loop == "trl":
        firsts = incidents_of(settings, TRAIN_SPLIT, 0, len(settings.tasks))
        cap = {"max_tokens" if settings.vllm != "off" else "max_new_tokens": settings.max_tokens}
        more = {
            "max_tool_calling_iterations": max(incident.horizon for incident in firsts),
            "generation_kwargs": cap, "max_completion_length": settings.max_context,
        }  # fmt: skip
    if settings.vllm != "off":
        more |= {
            "use_vllm": True,
            "vllm_mode": settings.vllm,
            "vllm_gpu_memory_utilization": settings.vllm_memory,
            "vllm_enable_sleep_mode": settings.vllm == "colocate",
        }
    return GRPOConfig(
        output_dir=str(out / "checkpoints"),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.episodes // settings.batch,
        num_generations=settings.group,
        temperature=settings.temperature,
        # Rows are in order, and keep their column "incident".
        shuffle_dataset=False,
        remove_unused_columns=False,
        learning_rate=settings.lr,
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        loss_type=settings.loss,
        # A group's deviation would weigh the many small losses of a rare right page as much as it.
        scale_rewards="none",
        beta=settings.beta,
        **more,
        **settings.trainer_options,
    )


def check_manner(settings: Settings, chat: Chat) -> None:
    """Refuse settings that do not fit how the model plays (InvalidInput)."""
    if settings.loop == "trl" and (chat.manner.style != "text" or not chat.manner.rules):
        raise InvalidInput("loop trl: plays text with rules; take --loop fast for this model")
    if settings.barred and not chat.is_notation:
        raise InvalidInput("barred: goes with a model of notation")


def rows_to_play(settings: Settings) -> list[dict[str, Any]]:
    """The data set: incidents in order, none of them twice."""
    count = settings.steps * settings.incidents
    incidents = incidents_of(settings, TRAIN_SPLIT, settings.first, count)
    if settings.loop == "fast":
        return [{"prompt": incident.id} for incident in incidents]
    return triage_rows([incident.id for incident in incidents])


def make_trainer(
    settings: Settings, out: Path, model: Any, chat: Chat, record: Record
) -> GRPOTrainer:
    """The trainer of a run."""
    named: dict[str, Any]
    if settings.loop == "fast":
        named = {"rollout_func": Rollouts(chat, settings, record), "reward_funcs": [grade_reward]}
    else:
        named = {"environment_factory": TriageEnv, "reward_funcs": [record.note]}
    trainer = Trainer(
        model=model,
        args=config_of(settings, out),
        train_dataset=Dataset.from_list(rows_to_play(settings)),
        processing_class=chat.tokenizer,
        callbacks=[],
        **named,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class Saved(TrainerCallback):
    """Saves the tokenizer and the embeddings of added tokens with each checkpoint."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:  # noqa: ARG002
        """Save once more, with embeddings."""
        save(model, self._chat, Path(args.output_dir) / f"checkpoint-{state.global_step}")


def run(settings: Settings, out: Path, command: str, *, resume: bool = False) -> dict[str, Any]:
    """Train, and leave the model and the files of a run in ``out``; the facts of the run.

    Raises:
        Refused: if there is something else in the directory.
        InvalidInput: if the model or a setting cannot be used, or a resumed run has others.
        NothingToLearn: if step after step all attempts earn the same.
    """
    console = Console(stderr=True)
    about = begin(out, settings, command, {}, resume=resume)
    if about["finished"]:
        console.print(f"{out}: this run is finished; to train its model further: --model {out}")
        return about
    began = time.perf_counter(), time.process_time()
    model, chat = load(settings)
    check_manner(settings, chat)
    save_json(out / RUN, about)
    after = last_step(out / "checkpoints")
    before: list[Row] = []
    if settings.held_out:
        before = play_held_out(model, chat, settings, console, "before")
    with progress(console) as bar:
        record = Record(out, settings, bar, after)
        trainer = make_trainer(settings, out, model, chat, record)
        if chat.is_notation:
            trainer.add_callback(Saved(chat))
        trainer.train(resume_from_checkpoint=after > 0)
    model = trainer.accelerator.unwrap_model(trainer.model)
    save(model, chat, out)
    rows: list[Row] = []
    if settings.held_out:
        rows = play_held_out(model, chat, settings, console, "after")
        write_rows(out / EPISODES, ["when"], {("before",): before, ("after",): rows})
        about |= {"before": figures(before), "after": figures(rows)}
    about["seconds"] += time.perf_counter() - began[0]
    about["cpu_seconds"] += time.process_time() - began[1]
    save_json(out / RUN, {**about, "finished": True})
    shutil.rmtree(out / "checkpoints", ignore_errors=True)  # a finished run does not go on
    tell_end(console, out, {"before": before, "after": rows}, next_with(out, settings))
    return about


def first_prompt(settings: Settings, chat: Chat) -> list[int]:
    """The ids of the first prompt as the loop renders it: TRL sorts the tools by name."""
    (incident,) = incidents_of(settings, TRAIN_SPLIT, settings.first, 1)
    if settings.loop == "fast":
        return list(chat.begin(incident)[1])
    environment, (row,) = TriageEnv(), triage_rows([incident.id])
    *above, last = row["prompt"]
    shown = {**last, "content": last["content"] + environment.reset(**row)}
    tools = [getattr(environment, name) for name in sorted(tools_offered(TriageEnv))]
    prompt: Any = chat.tokenizer.apply_chat_template(
        [*above, shown], tools=tools, add_generation_prompt=True, return_dict=True
    )
    return list(prompt["input_ids"])


def show(settings: Settings, console: Console) -> bool:
    """The dry run: settings, the first prompt with its tools, and whether the memory suffices.

    Raises:
        InvalidInput: for a template, model or setting that cannot be used.
    """
    quieten()
    chat = Chat(load_tokenizer(settings.model, settings.template))
    check_manner(settings, chat)
    prompt = first_prompt(settings, chat)
    console.print(json.dumps(attrs.asdict(settings), indent=1), markup=False)
    console.print(f"the first prompt, {len(prompt)} tokens:\n", markup=False)
    console.print(chat.tokenizer.decode(prompt), markup=False, soft_wrap=True)
    fits, told = verdict(settings, settings.model)
    console.print(told, markup=False, soft_wrap=True)
    return fits


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, and train; 1 if there was nothing to learn."""
    parser = recipe_parser("training.grpo", f"{__doc__}\n{HARDWARE}", Settings, out_needed=False)
    parser.add_argument("--dry-run", action="store_true", help="show prompt and memory, and stop")
    add_restart(parser, QUICK)
    for flag, fields in presets().items():
        words_of_preset = f"{as_options(fields)}; its memory is computed, it was never run"
        parser.add_argument(f"--{flag}", action="store_true", dest=flag, help=words_of_preset)

    def started(
        settings: Settings, out: Path | None, command: str, *, resume: bool, dry_run: bool
    ) -> None:
        if dry_run:
            sys.exit(not show(settings, Console()))
        if out is None:
            parser.error("--out is needed, but for --dry-run")
        run(settings, out, command, resume=resume)

    try:
        run_recipe(parser, arguments, Settings, started, {"quick": QUICK, **presets()})
    except NothingToLearn as reason:
        print(f"stopped: {reason}", file=sys.stderr)  # noqa: T201
        return NOTHING
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
