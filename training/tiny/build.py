"""Build a model directory from settings."""

import tempfile
import time
from math import inf
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from rich.console import Console

from logtriage.incident import Incident
from training.common.directory import check_empty
from training.common.files import machine, save_json
from training.common.rows import figures
from training.common.settings import CHOICE_SPLIT, TRAIN_SPLIT
from training.evaluate.phases import Phases
from training.language.sources import Source
from training.tiny.imitation import imitate
from training.tiny.judge import held_out, judged
from training.tiny.model import build_model
from training.tiny.play import SCREEN, Played, own, taught
from training.tiny.settings import ABOUT, SIZES, Settings
from training.tiny.words import Grammar, build_tokenizer

LIBRARIES: Final = ("torch", "transformers", "numpy")


def build(settings: Settings, out: Path, command: str, console: Console | None = None) -> None:
    """Build tokenizer and model, let it imitate the teacher, and leave both in ``out``.

    The directory appears when all is done, or not at all.

    Raises:
        Refused: if there is something in ``out`` already.
    """
    check_empty(out)
    started = time.process_time()
    torch.set_num_threads(settings.threads)
    phases = Phases(Console(stderr=True) if console is None else console)
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer = build_tokenizer(settings.sheets, settings.style)
    grammar = Grammar(tokenizer)
    model = build_model(tokenizer, SIZES[settings.size], settings.seed)
    rows: list[Played] = []
    rounds: list[dict[str, Any]] = []
    held = [
        incident
        for task in settings.tasks
        if settings.val
        for incident in held_out(task, CHOICE_SPLIT, -(-settings.val // len(settings.tasks)))
    ]
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        for number in range(settings.rounds + 1):
            count = settings.own_play if number else settings.episodes
            incidents = incidents_of(settings, len(rows), count)
            began = time.process_time()
            phases.begin("own play" if number else "the teacher's play", count)
            new = (
                own(
                    model, incidents, settings.teacher, tokenizer, phases.advance,
                    temperature=settings.own_temperature, seed=settings.seed,
                )
                if number
                else taught(incidents, settings.teacher, tokenizer, phases.advance)
            )  # fmt: skip
            rows += new
            played = time.process_time()
            epochs = settings.epochs if number else settings.first_epochs
            steps = -(-len(rows) // settings.batch) * epochs
            phases.begin("imitation", steps)
            losses = imitate(
                model, rows, grammar, settings, number,
                lambda done, loss: phases.advance(done, f"loss {loss:.3f}"),
            )  # fmt: skip
            learnt = time.process_time()
            worth = figures(judged(model, tokenizer, held, 0.0)) if held else {}
            rounds.append(
                {
                    "episodes": count,
                    "agreement": agreement(new),
                    "loss": sum(losses[-50:]) / len(losses[-50:]),
                    "play_seconds": played - began,
                    "learn_seconds": learnt - played,
                    "val": worth,
                }
            )
            if worth.get("net_value", -inf) >= settings.enough:
                break
        phases.end()
        made = Path(folder, "model")
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        about = {
            "command": command,
            "settings": attrs.asdict(settings),
            "split": TRAIN_SPLIT,
            "parameters": model.num_parameters(),
            "vocabulary": len(tokenizer),
            "tokens_per_episode": sum(len(row.ids) for row in rows) / len(rows),
            "longest_episode": max(len(row.ids) for row in rows),
            "rounds": rounds,
            "cpu_seconds": time.process_time() - started,
            "machine": machine(LIBRARIES),
        }
        save_json(made / ABOUT, about)
        if out.exists():
            out.rmdir()
        made.replace(out)


def incidents_of(settings: Settings, first: int, count: int) -> list[Incident]:
    """Incidents of the split ``train``, evenly from the tasks and in turn, from ``first`` on."""
    source, tasks = Source(), settings.tasks
    places = (divmod(number, len(tasks)) for number in range(first, first + count))
    return [source(source.id_at(tasks[task], TRAIN_SPLIT, index)) for index, task in places]


def agreement(played: list[Played]) -> float:
    """In which share of the turns was done what the teacher would have done."""
    same = turns = 0
    for episode in played:
        for place, label in enumerate(episode.labels):
            if label != SCREEN:
                turns += 1
                same += episode.ids[place + 1] == label
    return same / turns
