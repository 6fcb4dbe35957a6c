"""The training loop: collect, update, and now and then evaluate."""

import time
from collections.abc import Callable
from typing import Final

import attrs
import torch
from tensordict import TensorDict
from torch import Tensor, nn

from training.common.loss import MEASURED, clipped_loss, imitation_loss, scaled
from training.marl.evaluate import Result, evaluate
from training.marl.networks import Team, make_team
from training.marl.rollouts import Collector
from training.marl.settings import Settings


@attrs.frozen
class Point:
    """A point of the curve, after so many rounds.

    ``seconds`` of wall time so far, all included; team ``ticks`` and ``incidents`` played
    in training; ``train`` the mean grade of the last round with sampled actions (None
    before the first); ``val`` the evaluation; ``entropy`` of each role's policy in the
    last update.
    """

    rounds: int
    seconds: float
    ticks: int
    incidents: int
    train: float | None
    val: Result
    entropy: tuple[float, ...] | None


class Training:
    """A run that is under way: networks, optimiser, open incidents and the curve so far."""

    def __init__(self, settings: Settings) -> None:
        torch.set_num_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.collector = Collector(settings)
        self.team = make_team(self.collector.batch, settings)
        self.learner = Learner(self.team, settings)
        self.rounds = 0
        self.points: list[Point] = []
        self._entropy: tuple[float, ...] | None = None
        self._since, self._cpu = time.perf_counter(), time.process_time()

    def run(self, report: Callable[["Training"], None]) -> None:
        """Train to the end; call ``report`` at each point of the curve."""
        self._note(report)
        while self.rounds < self.settings.rounds:
            imitation = self.settings.imitation
            imitates = self.rounds < imitation
            if not imitates:
                self.collector.dismiss_teacher()
            taught = 1 - self.rounds / imitation if imitates else 0.0
            experience = self.collector.collect(self.team, taught)
            progress = self.rounds / self.settings.rounds
            measured = self.learner.update(experience, progress, imitates=imitates)
            self._entropy = tuple(part["entropy"] for part in measured)
            self.rounds += 1
            if self.rounds % self.settings.eval_every == 0 or self.rounds == self.settings.rounds:
                self._note(report)

    @property
    def seconds(self) -> float:
        """Wall time so far."""
        return time.perf_counter() - self._since

    @property
    def cpu_seconds(self) -> float:
        """Processor time so far."""
        return time.process_time() - self._cpu

    def _note(self, report: Callable[["Training"], None]) -> None:
        collector = self.collector
        result = evaluate(self.team, self.settings)
        self.points.append(
            Point(
                self.rounds,
                self.seconds,
                collector.ticks,
                collector.incidents,
                float(collector.grades.mean()) if len(collector.grades) else None,
                result,
                self._entropy,
            )
        )
        report(self)


#: The parts of a loss.
LOSSES: Final = ("loss_objective", "loss_critic", "loss_entropy")


class Learner:
    """TorchRL's clipped PPO loss for each role, under one Adam."""

    def __init__(self, team: Team, settings: Settings) -> None:
        self.settings, self._team = settings, team
        # A critic that all roles share is trained once, with the first.
        critics = [*team.critics, *[None] * (len(team.actors) - len(team.critics))]
        self.losses = [
            clipped_loss(actor, critic, settings)
            for actor, critic in zip(team.actors, critics, strict=True)
        ]
        self.networks: list[nn.Module] = [*team.policies, *team.values]
        self.optimizer = torch.optim.Adam(
            team.modules().parameters(), lr=settings.lr, eps=1e-5, fused=True
        )

    def update(
        self, experience: list[TensorDict], progress: float, *, imitates: bool = False
    ) -> list[dict[str, float]]:
        """Go over a round; ``progress`` in [0, 1) sets the rates. Returns what was measured.

        Critics learn in the same way while the policies imitate the teacher.
        """
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = settings.falling(settings.lr, settings.lr_end, progress)
        for loss in self.losses:
            loss.entropy_coeff.fill_(
                settings.falling(settings.entropy, settings.entropy_end, progress)
            )
        for each in experience:
            each["advantage"] = scaled(each["advantage"], settings)
        size = settings.batch // settings.minibatches
        for _ in range(settings.epochs):
            for rows in torch.randperm(settings.batch)[: size * settings.minibatches].view(
                -1, size
            ):
                losses = [
                    loss(each[rows]) for loss, each in zip(self.losses, experience, strict=True)
                ]
                parts = ("loss_critic",) if imitates else LOSSES
                total = sum(each[name] for each in losses for name in parts if name in each)
                if imitates:
                    total = total + self._imitation([each[rows] for each in experience])
                self.optimizer.zero_grad()
                total.backward()
                for network in self.networks:
                    nn.utils.clip_grad_norm_(network.parameters(), settings.max_grad_norm)
                self.optimizer.step()
        return [{key: float(each[key]) for key in MEASURED} for each in losses]

    def _imitation(self, parts: list[TensorDict]) -> Tensor:
        """The cross-entropy with the teacher's actions, summed over roles, where they are legal."""
        total = torch.zeros(())
        for role, part in enumerate(parts):
            policy = self._team.distribution(role, part["observation"], part["mask"])
            total = total + imitation_loss(policy, part)
        return total
