"""Supervised learning: a language model imitates a policy's episodes.

    python -m training.weights smollm2 --out runs/smollm2    # its --help says what to install
    python -m training.sft --model runs/smollm2 --out runs/sft --quick

TRL's ``SFTTrainer`` learns what the teacher says and nothing else. In the first round the teacher
plays. In each further round (DAgger, Ross, Gordon and Bagnell 2011, arXiv:1011.0686) the model
plays itself, and learns what the teacher would have said there. In notation each action is one
added token, and the rules are left out of the prompt: the model learns them by playing.
"""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from datasets import Dataset
from rich.console import Console
from transformers import PrinterCallback, TrainerCallback
from trl import SFTConfig, SFTTrainer

from logtriage.actions import Action
from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.play import Attempt, Decoding, play
from logtriage.dynamics import transition
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import action_from_wire
from logtriage.registry import make_policy
from logtriage.rng import hash_name
from logtriage.state import State, initial_state
from training.common.figures import EPISODES, Row, figures, read_rows, tell_end, write_rows
from training.common.files import RUN, last_step, save_json
from training.common.language import (
    HARDWARE,
    RULES_CHOICES,
    STYLE_CHOICES,
    LanguageSettings,
    begin,
    incidents_of,
    load,
    next_with,
    play_held_out,
    progress,
    rows_of,
    save,
    style_and_rules,
)
from training.common.options import add_restart, check_fields, option, recipe_parser, run_recipe
from training.common.tasks import TRAIN_SPLIT

#: The label of a token that is not learnt.
SCREEN: Final = -100
#: Weight of the share of all tokens that are no action, in the loss of notation.
OTHERS: Final = 0.1
#: ``--quick``: minutes on two cores; it shows that the recipe runs, and a first gain.
QUICK: Final = {"style": "notation", "episodes": 96, "held_out": 24, "batch": 1, "lr": 1e-3}


@attrs.frozen(kw_only=True)
class Settings(LanguageSettings):
    """A run of supervised learning."""

    style: str = option("notation", "how screens are written", *STYLE_CHOICES)
    rules: str = option(
        "auto", "whether the rules are in the prompt; auto: not in notation", *RULES_CHOICES
    )
    teacher: str = option("observer", "the policy that is imitated")
    episodes: int = option(1000, "the teacher's episodes")
    first: int = option(0, f"number of the first incident of {TRAIN_SPLIT}")
    rounds: int = option(0, "rounds in which the model plays and the teacher corrects it")
    own: int = option(200, "episodes of each of these rounds")
    own_temperature: float = option(1.0, "of sampling in these rounds")
    epochs: int = option(1, "how often each round's episodes are learnt")
    batch: int = option(8, "episodes a step")
    lr: float = option(5e-4, "the peak learning rate; for all weights take a tenth")
    packing: bool = option(False, "several episodes a row; needs FlashAttention on a GPU")

    def __attrs_post_init__(self) -> None:
        """Check what does not depend on the machine."""
        super().__attrs_post_init__()
        check_fields(self, "episodes", "own", "epochs", "batch")
        make_policy(self.teacher)


# -- what is learnt --------------------------------------------------------------------------


@attrs.frozen
class Example:
    """Tokens with labels: what is to be said next to each place, or :data:`SCREEN`."""

    input_ids: list[int]
    labels: list[int]


def taught(chat: Chat, incident: Incident, teacher: str) -> Example:
    """An episode of the teacher, in which all that it says is learnt."""
    policy, memory, state = make_policy(teacher)(incident), None, initial_state(incident)
    episode, ids = chat.begin(incident)
    labels = [SCREEN] * len(ids)
    while not episode.done:
        action, memory = policy.act(observe(state), memory)
        said = chat.reply_for(plain(chat, action))
        ids, labels = ids + said, labels + said
        _, _, following = chat.play(episode, said)
        ids, labels = ids + following, labels + [SCREEN] * len(following)
        state = transition(state, action_from_wire(episode.actions[-1], incident.topology))
    return Example(ids, labels)


def plain(chat: Chat, action: Action) -> Action:
    """An action that the model can say: in notation without a confidence."""
    if chat.is_notation and getattr(action, "confidence", None) is not None:
        return attrs.evolve(action, confidence=None)  # type: ignore[arg-type]
    return action


def corrected(chat: Chat, attempt: Attempt, teacher: str, seed: int) -> Example:
    """An episode of the model, with what the teacher would have said.

    In notation a reply is a token, and the labels hold the teacher's for every turn. A longer
    reply of the teacher can only follow the screen in place of the model's: then one turn is
    drawn, at which the example ends.
    """
    incident = attempt.episode.incident
    policy, memory = make_policy(teacher)(incident), None
    state: State = initial_state(incident)
    ids = [*attempt.prompt, *attempt.ids]
    wrote = [*[False] * len(attempt.prompt), *attempt.wrote]
    labels = [SCREEN] * len(ids)
    starts = [
        place for place, mine in enumerate(wrote) if mine and not (place and wrote[place - 1])
    ]
    if chat.is_notation:
        starts = [place for place, mine in enumerate(wrote) if mine]
    drawn = hash_name(f"{seed} {incident.id} corrected") % max(1, len(starts))
    for turn, (start, wire) in enumerate(zip(starts, attempt.episode.actions, strict=False)):
        action, memory = policy.act(observe(state), memory)
        said = chat.reply_for(plain(chat, action))
        if chat.is_notation:
            labels[start] = said[0]
        elif turn == drawn:
            return Example(ids[:start] + said, [SCREEN] * start + said)
        state = transition(state, action_from_wire(wire, incident.topology))
        if state.is_closed:
            break
    return Example(ids, labels)


def examples_of_round(
    number: int, model: Any, chat: Chat, settings: Settings, console: Console
) -> list[Example]:
    """The examples of a round: the teacher's episodes, or the model's own with corrections.

    Those too long for the context or the model are left out; InvalidInput if most are.
    """
    count = settings.own if number else settings.episodes
    first = settings.first + (settings.episodes + (number - 1) * settings.own if number else 0)
    incidents = incidents_of(settings, TRAIN_SPLIT, first, count)
    examples: list[Example] = []
    with progress(console) as bar:
        title = "own play, corrected" if number else f"{settings.teacher} plays"
        task = bar.add_task(title, total=2 * count if number else count)
        if not number:
            for incident in incidents:
                examples.append(taught(chat, incident, settings.teacher))
                bar.advance(task)
            most = model.config.get_text_config().max_position_embeddings
            middle = sorted(len(example.input_ids) for example in examples)[len(examples) // 2]
            if middle > (limit := min(settings.max_context, most)):
                raise InvalidInput(
                    f"max_context = {settings.max_context}: half of the episodes have {middle} or "
                    f"more tokens, and the model takes {most}; raise it, or take a shorter style"
                )
            fitting = [example for example in examples if len(example.input_ids) <= limit]
            if left := count - len(fitting):
                console.print(f"left out {left} of {count} episodes of more than {limit} tokens")
            return fitting
        decoding = Decoding(
            settings.own_temperature, settings.seed + number, settings.play_batch,
            settings.max_tokens, settings.max_context,
        )  # fmt: skip
        attempts = play(
            model, chat, [(incident, 0) for incident in incidents], decoding,
            on_progress=lambda done, _: bar.update(task, completed=done),
        )  # fmt: skip
        rows_of(attempts)  # raises if the model failed
        for attempt in attempts:
            examples.append(corrected(chat, attempt, settings.teacher, settings.seed + number))
            bar.advance(task)
    return examples


# -- learning --------------------------------------------------------------------------------


class NotationTrainer(SFTTrainer):
    """Learns which action follows a screen, among actions alone: a reply is nothing else.

    Over the whole vocabulary the first hundreds of episodes teach little more than that the added
    tokens exist. Other tokens weigh :data:`OTHERS`, since GRPO reads probabilities over them all.
    """

    def __init__(self, actions: Sequence[int], **named: Any) -> None:
        super().__init__(**named)
        self._actions = torch.tensor(actions, device=self.args.device)

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """The mean loss of a reply in nats. The head reads the places of replies alone."""
        labels = inputs["labels"][:, 1:]
        places = (labels != SCREEN).any(0).nonzero()[:, 0]
        read = {name: value for name, value in inputs.items() if name != "labels"}
        outputs = model(**read, logits_to_keep=places, use_cache=False)
        chosen = labels[:, places]
        replies = chosen != SCREEN
        logits = outputs.logits[replies].float()
        among = logits[:, self._actions].logsumexp(-1)
        said = logits.gather(1, chosen[replies][:, None])[:, 0]
        losses = among - said + OTHERS * (logits.logsumexp(-1) - among)
        loss = losses.sum() / (len(losses) if num_items_in_batch is None else num_items_in_batch)
        return (loss, outputs) if return_outputs else loss


class Steps(TrainerCallback):
    """A bar over optimiser steps with the loss."""

    def __init__(self, bar: Any, title: str) -> None:
        self._bar, self._title, self._task = bar, title, None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        """Begin the bar."""
        self._task = self._bar.add_task(self._title, total=state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG002
        """Show a step."""
        if logs and "loss" in logs:
            title = f"{self._title}, loss {logs['loss']:.3f}"
            self._bar.update(self._task, completed=state.global_step, description=title)


def learn(
    model: Any,
    chat: Chat,
    examples: Sequence[Example],
    settings: Settings,
    out: Path,
    console: Console,
    title: str,
) -> list[float]:
    """Train on examples; the loss of each step. A killed run goes on from its last checkpoint."""
    config = SFTConfig(
        output_dir=str(out),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        learning_rate=settings.lr,
        lr_scheduler_type="cosine",
        warmup_steps=0.05,
        max_grad_norm=1.0,
        max_length=settings.max_context,
        packing=settings.packing,
        train_sampling_strategy="random" if settings.packing else "group_by_length",
        **settings.trainer_options,
    )
    with progress(console) as bar:
        named: dict[str, Any] = {
            "model": model, "args": config, "processing_class": chat.tokenizer,
            "callbacks": [Steps(bar, title)],
            "train_dataset": Dataset.from_list([attrs.asdict(example) for example in examples]),
        }  # fmt: skip
        trainer = (
            NotationTrainer(list(chat.actions), **named)
            if chat.is_notation
            else SFTTrainer(**named)
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train(resume_from_checkpoint=last_step(out) > 0)
    # The checkpoint has those of the steps before it.
    return [float(logs["loss"]) for logs in trainer.state.log_history if "loss" in logs]


def run(settings: Settings, out: Path, command: str, *, resume: bool = False) -> dict[str, Any]:
    """Train, and leave model, ``run.json`` and ``episodes.csv`` in ``out``; the facts of the run.

    Raises:
        Refused: if there is something else in the directory.
        InvalidInput: if the model or a setting cannot be used, or a resumed run has others.
    """
    console = Console(stderr=True)
    about = begin(out, settings, command, {"rounds": [], "rounds_done": 0}, resume=resume)
    began = time.perf_counter(), time.process_time()
    done = int(about["rounds_done"])
    if about["finished"]:
        console.print(f"{out}: this run is finished; to train its model further: --model {out}")
        return about
    source = settings if not done else attrs.evolve(settings, model=str(out), template="own")
    manner = style_and_rules(settings.style, settings.rules) if not done else None
    model, chat = load(source, manner)
    before = read_rows(out / EPISODES)["before",] if (out / EPISODES).exists() else []
    for number in range(done, settings.rounds + 1):
        clock = time.process_time()
        examples = examples_of_round(number, model, chat, settings, console)
        made = (time.process_time() - clock) / len(examples)
        save_json(out / RUN, about)  # a refused context leaves the directory free
        if settings.held_out and not number:
            before = before or play_held_out(model, chat, settings, console, "before")
            about["before"] = figures(before)
            write_rows(out / EPISODES, ["when"], {("before",): before})
        tokens = sum(len(example.input_ids) for example in examples) / len(examples)
        title = f"round {number}: {len(examples)} episodes of {tokens:.0f} tokens"
        folder, clock = out / f"round-{number}", time.process_time()
        losses = learn(model, chat, examples, settings, folder, console, title)
        learnt = (time.process_time() - clock) / len(examples)
        about["rounds"].append(
            {
                "episodes": len(examples),
                "tokens_per_episode": tokens,
                "loss": sum(losses[-20:]) / len(losses[-20:]),
                "cpu_seconds_played": made,
                "cpu_seconds_learnt": learnt,
            }
        )
        console.print(
            f"{title}, loss {about['rounds'][-1]['loss']:.3f}; CPU seconds an episode: {made:.2f} "
            f"played, {learnt:.2f} learnt",
            soft_wrap=True,
        )
        save(model, chat, out)
        about["rounds_done"] = number + 1
        save_json(out / RUN, about)
        shutil.rmtree(folder, ignore_errors=True)
    after: list[Row] = []
    if settings.held_out:
        after = play_held_out(model, chat, settings, console, "after")
        about["after"] = figures(after)
        write_rows(out / EPISODES, ["when"], {("before",): before, ("after",): after})
    about["seconds"] += time.perf_counter() - began[0]
    about["cpu_seconds"] += time.process_time() - began[1]
    save_json(out / RUN, {**about, "finished": True})
    tell_end(console, out, {"before": before, "after": after}, next_with(out, settings))
    return about


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    parser = recipe_parser("training.sft", f"{__doc__}\n{HARDWARE}", Settings)
    add_restart(parser, QUICK)
    run_recipe(parser, arguments, Settings, run, {"quick": QUICK})


if __name__ == "__main__":
    main()
