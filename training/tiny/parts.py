"""The parts of a model's grades: what it asked for, what its decisions cost, and its luck.

    python -m training.tiny.parts runs/all/grpo-0 --incidents 120

plays the first incidents of ``test`` with the likeliest actions, explains each
(:func:`logtriage.beliefs.explain.explain`) and writes ``parts.csv`` beside the model. An episode
takes about half a CPU second.
"""

import argparse
import csv
import json
from pathlib import Path
from typing import Final

import attrs
import torch

from logtriage.actions import Escalate, HandOver
from logtriage.beliefs.explain import Explanation, explain
from logtriage.errors import LogTriageError
from training.common.pages import save_table
from training.common.settings import EVAL_SPLIT
from training.language.loading import load_model, load_tokenizer
from training.tiny.arms import ABOUT
from training.tiny.judge import held_out, played

#: In the directory of a run, a row an episode.
PARTS: Final = "parts.csv"


@attrs.frozen
class Parts:
    """``grade`` = ``at_first`` + ``asking`` - ``handing_over`` - ``paging`` - ``rest`` + ``luck``.

    The three in the middle share the cost of decisions by what was done: the hand-over, pages,
    and everything else that is no request.
    """

    grade: float
    at_first: float
    asking: float
    handing_over: float
    paging: float
    rest: float
    luck: float

    @classmethod
    def of(cls, explained: Explanation) -> "Parts":
        """The parts of one episode."""
        costs = dict.fromkeys((HandOver, Escalate, object), 0.0)
        for step in explained.steps:
            if not step.asks:
                kind = next(kind for kind in costs if isinstance(step.action, kind))
                costs[kind] -= step.worth
        return cls(
            explained.grade, explained.at_first, explained.asking_gained, *costs.values(),
            explained.luck,
        )  # fmt: skip


def read_parts(path: Path) -> list[Parts]:
    """The rows of a file that :func:`main` wrote."""
    names = [field.name for field in attrs.fields(Parts)]
    with path.open(encoding="utf-8", newline="") as file:
        return [Parts(*(float(line[name]) for name in names)) for line in csv.DictReader(file)]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, explain, and leave ``parts.csv``."""
    parser = argparse.ArgumentParser(
        prog="python -m training.tiny.parts",
        description="Split the grades of a model of notation into their parts.",
    )
    parser.add_argument("run", type=Path, help="the directory of a run of training.tiny.arms")
    parser.add_argument("--incidents", type=int, default=120)
    words = parser.parse_args(arguments)
    if not (words.run / ABOUT).exists():
        parser.error(f"{words.run}: expected the directory of a run, with {ABOUT}")
    torch.set_num_threads(1)
    try:
        tokenizer = load_tokenizer(str(words.run))
        model = load_model(
            str(words.run), dtype=torch.float32, load_in_4bit=False,
            device=torch.device("cpu"), trainable=False,
        )  # fmt: skip
        task = json.loads((words.run / ABOUT).read_text("utf-8"))["settings"]["task"]
        incidents = held_out(task, EVAL_SPLIT, words.incidents)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    episodes = played(model, tokenizer, incidents, 0.0)
    rows = [
        {
            "incident": episode.state.incident.id,
            **attrs.asdict(Parts.of(explain(episode.state))),
        }
        for episode in episodes
    ]
    save_table(words.run / PARTS, rows)


if __name__ == "__main__":
    main()
