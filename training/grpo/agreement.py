"""How much of a step's gradient is signal, by credit: do gradients of independent steps agree?

    python -m training.grpo.agreement --preset cpu --model runs/tiny --credits grade shaped:0.5

Plays ``--steps`` times the ``--rollouts`` of a step with one model that is not trained, and takes
the gradient of GRPO's loss under each credit, on the same episodes. A table tells, for all
weights and for parts of them:

- *agreement*: the cosine between gradients of different steps, mean over all pairs. It is
  s / (s + n) where s is the squared length of the expected gradient and n that of the noise.
- *with the first*: the cosine between a gradient under this credit and one of another step
  under the first one. What is credited otherwise may be less noisy and aim elsewhere.

Options are those of ``training.grpo``. Gradients are kept in memory: a credit and step takes
as much as the weights that are trained.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Final

import attrs
import torch
from rich.console import Console
from torch import Tensor
from torch.nn.functional import cosine_similarity

from logtriage.errors import InvalidInput, LogTriageError
from training.common.options import add_options
from training.evaluate.phases import Phases
from training.grpo.learn import load, make_trainer
from training.grpo.presets import DEFAULT, resolve
from training.grpo.settings import Settings
from training.grpo.trainer import TriageTrainer

#: Parts of a model, and what the names of their weights contain.
PARTS: Final = {
    "all weights": ("",),
    "embeddings and head": ("embed", "lm_head"),
    "attention": ("attn",),
    "MLP": ("mlp",),
}


@attrs.frozen
class Credit:
    """How turns are credited: ``reward`` and ``lmbda`` of :class:`Settings`."""

    reward: str
    lmbda: float = 1.0

    @classmethod
    def read(cls, text: str) -> "Credit":
        """From ``REWARD`` or ``REWARD:LAMBDA``.

        Raises:
            InvalidInput: for what is no number; the settings check the rest.
        """
        reward, _, lmbda = text.partition(":")
        try:
            return cls(reward, float(lmbda or 1.0))
        except ValueError:
            raise InvalidInput(f"{text!r}: expected REWARD or REWARD:LAMBDA") from None

    def __str__(self) -> str:
        return self.reward if self.reward == "grade" else f"{self.reward}, λ = {self.lmbda:g}"


@attrs.frozen
class Agreement:
    """Of one credit and part of the weights; see the module."""

    credit: Credit
    part: str
    weights: int
    agreement: float
    with_first: float


def agreements(
    settings: Settings,
    credited: Sequence[Credit],
    steps: int,
    on_step: Callable[[int], None] = lambda _: None,
) -> list[Agreement]:
    """Play, and compare the gradients, part by part and credit by credit.

    ``on_step`` is told how many steps are done.

    Raises:
        InvalidInput: if there are fewer than two steps, or for settings or credits that
            cannot work.
    """
    if steps < 2:
        raise InvalidInput(f"steps must be at least 2, got {steps}")
    settings = attrs.evolve(settings, reward="grade", max_steps=steps, tree=1, equal_steps=0)
    each = [attrs.evolve(settings, reward=one.reward, lmbda=one.lmbda) for one in credited]
    model, tokenizer = load(settings)
    with TemporaryDirectory() as out:
        trainer = make_trainer(settings, Path(out), model, tokenizer, None)
        # What train() would have set up.
        trainer.current_gradient_accumulation_steps = 1
        trainer.model.train()
        trained = {
            name: weight for name, weight in trainer.model.named_parameters()
            if weight.requires_grad
        }  # fmt: skip
        found = []
        for step in range(steps):
            found.append(_gradients(trainer, each, step, list(trained.values())))
            on_step(step + 1)
    sizes = [one.numel() for one in trained.values()]
    table = []
    for part, marks in PARTS.items():
        inside = [any(mark in name for mark in marks) for name in trained]
        chosen = torch.tensor(inside).repeat_interleave(torch.tensor(sizes))
        rows = [[gradient[chosen] for gradient in step] for step in found]
        for place, credit in enumerate(credited):
            own = [step[place] for step in rows]
            first = [step[0] for step in rows]
            table.append(
                Agreement(
                    credit,
                    part,
                    int(chosen.sum()),
                    fmean(_cosine(one, other) for one, other in combinations(own, 2)),
                    fmean(
                        _cosine(own[one], first[other])
                        for one, other in permutations(range(steps), 2)
                    ),
                )
            )
    return table


def _gradients(
    trainer: TriageTrainer, each: Sequence[Settings], step: int, weights: Sequence[Tensor]
) -> list[Tensor]:
    """The gradient (weights,) of one step under each credit."""
    group, incidents = each[0].group, each[0].incidents
    rows = [trainer.train_dataset[step * incidents + place] for place in range(incidents)]
    trainer.settings = attrs.evolve(each[0], reward="grade")  # TRL's own advantages
    played = trainer._generate_and_score_completions([row for row in rows for _ in range(group)])
    found = []
    for one in each:
        trainer.settings = one
        batch = dict(played)
        if one.reward != "grade":
            batch["advantages"] = trainer._advantages_by_turn(played)
        trainer.model.zero_grad()
        for start in range(0, one.rollouts, one.batch):
            trainer.compute_loss(trainer.model, _some(batch, start, one.batch)).backward()
        found.append(torch.cat([_gradient(weight) for weight in weights]))
    return found


def _some(batch: dict[str, Any], start: int, count: int) -> dict[str, Any]:
    """Some episodes of a batch; what is no row stays."""
    episodes = len(batch["completion_ids"])
    return {
        name: value[start : start + count]
        if isinstance(value, Tensor) and value.ndim and len(value) == episodes
        else value
        for name, value in batch.items()
    }


def _gradient(weight: Tensor) -> Tensor:
    found = torch.zeros_like(weight) if weight.grad is None else weight.grad
    return found.flatten().cpu().clone()


def _cosine(one: Tensor, other: Tensor) -> float:
    return float(cosine_similarity(one, other, dim=0))


def table_of(found: Sequence[Agreement]) -> list[str]:
    """Rows of a Markdown table."""
    head = "| weights | credit | agreement | with the first |"
    return [head, "| --- | --- | ---: | ---: |"] + [
        f"| {one.part}, {one.weights:,} | {one.credit} | {one.agreement:.3f} "
        f"| {one.with_first:.3f} |"
        for one in found
    ]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m training.grpo.agreement", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--preset", default=DEFAULT, help="settings to start from")
    parser.add_argument("--credits", nargs="+", default=["grade", "shaped:1", "shaped:0.5"],
                        help="REWARD or REWARD:LAMBDA, such as shaped:0.5")  # fmt: skip
    parser.add_argument("--steps", type=int, default=4, help="independent steps; default: 4")
    add_options(parser, Settings, only_given=True)
    options: dict[str, Any] = vars(parser.parse_args(arguments))
    preset, credited, steps = (options.pop(name) for name in ("preset", "credits", "steps"))
    phases = Phases(Console(stderr=True))
    try:
        settings = resolve(preset, options)
        phases.begin("steps", steps)
        found = agreements(
            settings,
            [Credit.read(one) for one in credited],
            steps,
            lambda done: phases.advance(done, every=True),
        )
    except LogTriageError as wrong:
        parser.error(str(wrong))
    phases.end()
    sys.stdout.write("\n".join(table_of(found)) + "\n")


if __name__ == "__main__":
    main()
