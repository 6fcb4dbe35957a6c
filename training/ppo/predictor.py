"""A network that predicts the exact posterior from counts of tokens: inputs ``predicted``.

    python -m training.ppo.predictor --agent runs/belief-0 --output-dir runs/predictor

The agent of a finished run on inputs ``belief`` plays incidents of ``train``, each row with its
own share of random actions, so that many screens are seen. What the network loses on ``val`` is
measured on screens that the same agent meets when it samples its actions.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from logtriage.vector import BatchedTriage, BeliefScreens
from training.common.directory import check_empty
from training.common.files import replace, save_json
from training.common.settings import CHOICE_SPLIT, TRAIN_SPLIT

WEIGHTS: Final = "predictor.pt"
ABOUT: Final = "predictor.json"
#: Rows that play side by side; steps of a round; rounds that are kept to learn from.
ROWS, STEPS, KEPT = 512, 16, 24
BATCH: Final = 1024


class Predictor(nn.Module):
    """Logits of H hypotheses, and the value of acting, from counts (N, D).

    A linear map and a perceptron are added up: the logarithm of a posterior is close to a sum
    over tokens.
    """

    def __init__(self, columns: int, hypotheses: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, hypotheses + 1)
        self.body = nn.Sequential(
            nn.Linear(columns, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, hypotheses + 1),
        )

    def forward(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (N, H), and the value of acting (N,)."""
        out = self.linear(counts) + self.body(counts)
        return out[:, :-1], out[:, -1]

    @torch.no_grad()
    def predicted(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """The posterior (N, H), and the value of acting (N,) from 0 to 1."""
        logits, acting = self(counts)
        return torch.softmax(logits, dim=1), acting.clamp(0.0, 1.0)


def load_predictor(run: Path) -> Predictor:
    """The predictor in a directory, frozen."""
    about = json.loads((run / ABOUT).read_text("utf-8"))
    predictor = Predictor(about["columns"], about["hypotheses"], about["width"])
    predictor.load_state_dict(torch.load(run / WEIGHTS, weights_only=True))
    return predictor.requires_grad_(False).eval()


#: Counts (M, D), the exact posterior (M, H), and the value of acting (M,).
Screens = tuple[Tensor, Tensor, Tensor]


class Player:
    """Screens of incidents of a split as an agent meets them, round by round.

    In row n of N the agent takes a random action with probability ``noise`` * n / N; every
    second row does not hand over, so that late screens are seen as well.
    """

    def __init__(self, run: Path, split: str, noise: float) -> None:
        from training.ppo import store  # it imports the inputs, and they import this module
        from training.ppo.inputs import inputs_of

        settings = store.load_settings(run / store.RUN)
        self.agent = store.load_agent(run / store.CHECKPOINT, settings)
        self.batch = BatchedTriage(settings.sheet)
        self.noise = noise * torch.arange(ROWS) / ROWS
        self._screens, self._counts = BeliefScreens(self.batch), inputs_of("counts", self.batch)
        self._screen = self.batch.reset(split, np.arange(ROWS))
        self._seen = self._screens.begin(self._screen)
        self._read = self._counts.begin(self._screen)
        self._next = ROWS

    @torch.no_grad()
    def round(self) -> Screens:
        """The screens of :data:`STEPS` ticks."""
        acting = self._screens.layout["acting"].start
        screens = []
        for _ in range(STEPS):
            shares = torch.from_numpy(self._screens.beliefs.probabilities()).float()
            screens.append((self._read, shares, torch.from_numpy(self._seen[:, acting].copy())))
            mask = torch.from_numpy(self._screen.mask).bool()
            mask[::2, -1] = False  # hand-over is the last action
            action = self.agent.act(torch.from_numpy(self._seen), mask, sampled=True)
            other = torch.multinomial(mask.float(), 1)[:, 0]
            action = torch.where(torch.rand(ROWS) < self.noise, other, action).numpy()
            after = self.batch.step(action)
            fresh = np.flatnonzero(after.closing >= 0)
            self.batch.restart(fresh, np.arange(self._next, self._next + len(fresh)))
            self._next += len(fresh)
            self._screen = self.batch.look()
            self._seen = self._screens.read(self._screen, action, fresh)
            self._read = self._counts.read(self._screen, action, fresh)
        counts, posterior, value = (torch.cat(part) for part in zip(*screens, strict=True))
        return counts, posterior, value


def train(agent: Path, out: Path, *, rounds: int, width: int, lr: float, seed: int) -> None:
    """Train a predictor, and write it with its losses into ``out``."""
    began = time.process_time()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    player, kept = Player(agent, TRAIN_SPLIT, noise=1.0), list[Screens]()
    columns, hypotheses = (part.shape[1] for part in player.round()[:2])
    predictor = Predictor(columns, hypotheses, width)
    optimizer = torch.optim.Adam(predictor.parameters(), lr)
    for number in range(rounds):
        kept = [*kept[-KEPT + 1 :], player.round()]
        optimizer.param_groups[0]["lr"] = lr * (1 - number / rounds)
        for counts, posterior, acting in _drawn(kept):
            logits, value = predictor(counts)
            loss = nn.functional.cross_entropy(logits, posterior)
            loss = loss + 10.0 * nn.functional.mse_loss(value, acting)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    seconds = time.process_time() - began
    torch.manual_seed(seed)  # the same screens, however long it learnt
    watched = Player(agent, CHOICE_SPLIT, noise=0.0)
    losses = measured(predictor, [watched.round() for _ in range(4)])
    replace(out / WEIGHTS, lambda where: torch.save(predictor.state_dict(), where))
    save_json(
        out / ABOUT,
        {
            "agent": str(agent),
            "columns": columns,
            "hypotheses": hypotheses,
            "width": width,
            "screens": rounds * ROWS * STEPS,
            "cpu_seconds": seconds,
            **losses,
        },
    )


def _drawn(kept: list[Screens]) -> Iterator[Screens]:
    """Twice as many screens as a round has, drawn from all rounds that are kept."""
    for _ in range(2 * ROWS * STEPS // BATCH):
        counts, posterior, acting = kept[int(torch.randint(len(kept), (1,)))]
        rows = torch.randint(len(counts), (BATCH,))
        yield counts[rows], posterior[rows], acting[rows]


@torch.no_grad()
def measured(predictor: Predictor, rounds: list[Screens]) -> dict[str, float]:
    """In bits: the cross-entropy of the exact posterior and the predicted, and the exact entropy.

    Beside them, the root of the mean squared error of the value of acting.
    """
    counts, posterior, acting = (torch.cat(part) for part in zip(*rounds, strict=True))
    logits, value = predictor(counts)
    bits = 1.0 / np.log(2.0)
    exact = -torch.special.xlogy(posterior, posterior).sum(1).mean()
    return {
        "cross_entropy_bits": float(nn.functional.cross_entropy(logits, posterior)) * bits,
        "exact_entropy_bits": float(exact) * bits,
        "acting_error": float(nn.functional.mse_loss(value, acting).sqrt()),
    }


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.predictor", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--agent", type=Path, required=True, help="a run on inputs belief")
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=50, help=f"of {ROWS * STEPS:,} screens")
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args(arguments))
    out: Path = options.pop("output_dir")
    check_empty(out)
    train(options.pop("agent"), out, **options)


if __name__ == "__main__":
    main()
