"""Learning after the start: GRPO and what it is compared with, in one loop.

    python -m training.tiny.arms --start runs/start --arm grpo --seed 0 --output-dir runs/grpo-0

A step plays some incidents, each several times, and makes one update on these episodes; the
policy is on its own path, so a ratio of old and new probabilities would be 1 everywhere.

- ``grpo``: each action is credited with the grade of its episode less the mean grade of the
  other attempts at the incident.
- ``shuffled``: the same, with grades exchanged among the attempts at an incident.
- ``entropy``: no grades; the entropy of the actions is lowered.
- ``dagger``: the start's own method goes on: the observer says what it would have done.
- ``start``: nothing is learnt; the start is judged at every temperature of a ladder.
"""

import argparse
import csv
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import torch
from torch import Tensor

from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import LogTriageError
from logtriage.rng import hash_name
from training.common.directory import check_empty
from training.common.files import machine, save_json
from training.common.options import add_options
from training.common.rows import LOW, Row, handed_over, net_value, row_of
from training.common.settings import TRAIN_SPLIT
from training.language.loading import load_model, load_tokenizer
from training.language.places import check_there
from training.tiny.imitation import losses_of
from training.tiny.judge import save_judged
from training.tiny.play import Played, own
from training.tiny.scores import chunks, scores
from training.tiny.words import Grammar

#: What may be learnt from.
ARMS: Final = ("grpo", "shuffled", "entropy", "dagger", "start")
#: At which the start is judged, so that there is a temperature for the entropy of each policy.
LADDER: Final = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Files of a run, beside the model.
STEPS, ABOUT = "steps.csv", "arm.json"
#: Incidents of the split ``train`` before this index belong to the start.
AFTER_START: Final = 500_000
#: Seeds are so many incidents apart.
STRIDE: Final = 50_000
#: The hand-overs of so many steps decide whether a run has given up.
WINDOW: Final = 10
LIBRARIES: Final = ("torch", "transformers", "numpy")


@attrs.frozen
class Settings:
    """A run of one arm.

    Args:
        arm: one of :data:`ARMS`.
        task: the simulated task that is played.
        seconds: CPU seconds of playing and learning, at most.
        episodes: those to learn from, at most; 0 for as many as the seconds allow.
        seed: of incidents and of sampling.
        incidents: those of a step.
        group: attempts at each.
        lr: the peak learning rate; it falls to a tenth over the run.
        temperature: of sampling, in learning and afterwards.
        barred: in this share of the groups nobody may hand over, so that acting keeps a gradient.
        judged: incidents of ``test`` that tell its worth; half as many of ``val`` tell its entropy.
        threads: of torch.

    Raises:
        ValueError: for a number that makes no sense.
    """

    arm: str = attrs.field(
        default="grpo", validator=attrs.validators.in_(ARMS), metadata={"choices": ARMS}
    )
    task: str = "single_crash-v3-fog1"
    seconds: float = attrs.field(default=150.0, validator=attrs.validators.gt(0))
    episodes: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    seed: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    incidents: int = attrs.field(default=16, validator=attrs.validators.ge(1))
    group: int = attrs.field(default=8, validator=attrs.validators.ge(2))
    lr: float = attrs.field(default=3e-4, validator=attrs.validators.gt(0))
    temperature: float = attrs.field(default=0.5, validator=attrs.validators.gt(0))
    barred: float = attrs.field(default=0.25, validator=attrs.validators.and_(
        attrs.validators.ge(0), attrs.validators.lt(1)
    ))  # fmt: skip
    judged: int = attrs.field(default=600, validator=attrs.validators.ge(2))
    threads: int = attrs.field(default=1, validator=attrs.validators.ge(1))

    @property
    def per_step(self) -> int:
        """The episodes of a step."""
        return self.incidents * self.group

    def done(self, seconds: float, steps: int) -> float:
        """The share of the run that is over: of its seconds or its episodes, if that is more."""
        played = steps * self.per_step / self.episodes if self.episodes else 0.0
        return max(seconds / self.seconds, played)


def advantages(grades: Sequence[float], group: int) -> Tensor:
    """Grades (B,) less the mean of the others in their group of neighbours."""
    table = torch.tensor(grades, dtype=torch.float32).reshape(-1, group)
    others = (table.sum(1, keepdim=True) - table) / (group - 1)
    return (table - others).reshape(-1)


def credited(settings: Settings, rows: Sequence[Row], draws: np.random.Generator) -> Tensor:
    """The advantage (B,) of each episode under an arm that has grades."""
    grades = np.array([row.grade for row in rows]).reshape(-1, settings.group)
    if settings.arm == "shuffled":
        grades = draws.permuted(grades, axis=1)
    return advantages(grades.reshape(-1).tolist(), settings.group)


def update(
    model: Any,
    optimiser: torch.optim.Optimizer,
    played: Sequence[Played],
    grammar: Grammar,
    barred: Tensor,
    credit: Tensor | None,
    temperature: float,
) -> float:
    """One step on these episodes; the mean entropy of their actions in nats.

    ``barred`` (B,) marks rows that may not hand over, ``credit`` (B,) is the advantage of
    each; None to lower the entropy instead.
    """
    model.train()
    optimiser.zero_grad()
    entropies, actions = 0.0, 0
    for part, ids, _ in chunks(model, played):
        rows, said, entropy = scores(model, ids, grammar, barred[part], temperature)
        loss = entropy.sum() if credit is None else -(credit[part][rows] * said).sum()
        (loss / len(played)).backward()
        entropies += float(entropy.detach().sum())
        actions += len(rows)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return entropies / actions


def imitate_more(
    model: Any,
    optimiser: torch.optim.Optimizer,
    new: Sequence[Played],
    old: Sequence[Played],
    grammar: Grammar,
    draws: np.random.Generator,
) -> None:
    """Steps on episodes that the teacher corrected: the new ones, and twice as many older ones."""
    model.train()
    again = [old[row] for row in draws.permutation(len(old))[: 2 * len(new)]]
    parts = chunks(model, [*new, *again])
    for place in draws.permutation(len(parts)):
        _, ids, labels = parts[place]
        said, _ = losses_of(model, ids, labels, grammar)
        optimiser.zero_grad()
        said.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()


def learn(settings: Settings, model: Any, tokenizer: Any, out: Path) -> dict[str, Any]:
    """Train ``model`` in place, a row in ``steps.csv`` a step; what was done.

    It ends early if more than half of the incidents with the lowest price are handed over.
    """
    grammar = Grammar(tokenizer)
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.lr, betas=(0.9, 0.98))
    draws = np.random.default_rng(hash_name(f"{settings.arm} {settings.seed}"))
    old: list[Played] = []
    recent: list[list[Row]] = []
    step = tokens = 0
    began = time.process_time()
    stopped = False
    with (out / STEPS).open("w", newline="", encoding="utf-8") as file:
        table: Any = None
        while not stopped:
            spent = time.process_time() - began
            done = settings.done(spent, step)
            if done >= 1:
                break
            for group in optimiser.param_groups:
                fall = 1 - 0.9 * done
                group["lr"] = settings.lr * min(1.0, (step + 1) / 5) * fall
            # Imitation needs no groups.
            attempts = 1 if settings.arm == "dagger" else settings.group
            count = settings.per_step // attempts
            first = AFTER_START + settings.seed * STRIDE + step * count
            named = incident_ids(settings.task, TRAIN_SPLIT, count, first)
            shut = [
                attempts > 1 and hash_name(f"barred {name}") % 10_000 < 10_000 * settings.barred
                for name in named
            ]
            barred = np.repeat(shut, attempts)
            incidents = [made for name in named for made in [make_incident(name)] * attempts]
            played = own(
                model, incidents, "observer" if settings.arm == "dagger" else None, tokenizer,
                lambda _: None, temperature=settings.temperature, seed=settings.seed,
                batch=len(incidents), barred=barred.tolist(),
            )  # fmt: skip
            rows = [row_of(episode.state) for episode in played]
            at = time.process_time()
            entropy = float("nan")
            if settings.arm == "dagger":
                imitate_more(model, optimiser, played, old, grammar, draws)
                old += played
            else:
                credit = None if settings.arm == "entropy" else credited(settings, rows, draws)
                entropy = update(
                    model, optimiser, played, grammar, torch.from_numpy(barred), credit,
                    settings.temperature,
                )  # fmt: skip
            step += 1
            tokens += sum(len(episode.ids) for episode in played)
            free = [row for row, closed in zip(rows, barred, strict=True) if not closed]
            recent = [*recent, free][-WINDOW:]
            seen = [row for some in recent for row in some]
            stopped = len(recent) == WINDOW and handed_over(seen, LOW) > 0.5
            now = time.process_time()
            figures = {
                "step": step,
                "episodes": step * len(played),
                "tokens": tokens,
                "seconds": now - began,
                "play": at - began - spent,
                "learn": now - at,
                "net_value": net_value(free),
                "grade": sum(row.grade for row in rows) / len(rows),
                "handed_over": sum(row.handed_over for row in free) / len(free),
                "handed_over_low": handed_over(seen, LOW),
                "entropy": entropy,
            }
            if table is None:
                table = csv.DictWriter(file, figures)
                table.writeheader()
            table.writerow({name: f"{value:.5g}" for name, value in figures.items()})
            file.flush()
    return {
        "steps": step,
        "episodes": step * settings.per_step,
        "tokens": tokens,
        "cpu_seconds": time.process_time() - began,
        "stopped": stopped,
    }


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, and leave a model, ``steps.csv`` and ``arm.json``."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="python -m training.tiny.arms",
        description="Train a model of notation further, by one of several methods.",
    )
    parser.add_argument("--start", required=True, help="the model's directory")
    parser.add_argument("--output-dir", type=Path, required=True, help="directory for this run")
    add_options(parser, Settings)
    options = vars(parser.parse_args(words))
    start, out = options.pop("start"), options.pop("output_dir")
    try:
        settings = Settings(**options)
        check_empty(out)
        check_there(start)
        tokenizer = load_tokenizer(start)
        model = load_model(
            start, dtype=torch.float32, load_in_4bit=False,
            device=torch.device("cpu"), trainable=True,
        )  # fmt: skip
    except (ValueError, LogTriageError) as wrong:
        parser.error(str(wrong))
    torch.set_num_threads(settings.threads)
    out.mkdir(parents=True, exist_ok=True)
    done = {} if settings.arm == "start" else learn(settings, model, tokenizer, out)
    temperatures = LADDER if settings.arm == "start" else (0.0, settings.temperature)
    save_judged(
        model, tokenizer, settings.task, temperatures, settings.temperature, settings.judged, out
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    command = "python -m training.tiny.arms " + shlex.join(words)
    about = {"command": command, "settings": attrs.asdict(settings), **done}
    save_json(out / ABOUT, {**about, "machine": machine(LIBRARIES)})


if __name__ == "__main__":
    main()
