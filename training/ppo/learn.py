"""The training loop: collect, update, and now and then evaluate."""

import time
from collections.abc import Callable, Iterator
from itertools import count

import attrs
import torch
from tensordict import TensorDict
from torch.nn.functional import cross_entropy

from training.common.loss import MEASURED, clipped_loss, imitation_loss, scaled
from training.common.settings import CHOICE_SPLIT
from training.ppo.evaluate import Result, evaluate
from training.ppo.networks import Agent, make_agent
from training.ppo.rollouts import Collector
from training.ppo.settings import Settings


@attrs.frozen
class Point:
    """A point of the curve.

    ``seconds`` of wall time so far, all included, and ``cpu`` of this process; ``steps``
    and ``incidents`` played in training; ``train`` the mean grade of the last round with
    sampled actions (None before the first); ``val`` the evaluation; ``entropy`` of the
    policy and ``kl`` of the last update.
    """

    seconds: float
    cpu: float
    steps: int
    incidents: int
    train: float | None
    val: Result
    entropy: float | None
    kl: float | None


@attrs.frozen(eq=False)
class Run:
    """A finished run.

    ``collecting`` and ``updating`` are seconds of wall time spent so, ``cpu`` all that the
    process had of a core, which on a busy machine is less than ``seconds`` of wall time.
    """

    agent: Agent
    points: tuple[Point, ...]
    seconds: float
    cpu: float
    collecting: float
    updating: float


def train(settings: Settings, report: Callable[[Point, Agent], None]) -> Run:
    """Train as ``settings`` say; ``report`` is called at every evaluation."""
    start, began_cpu = time.perf_counter(), time.process_time()
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    collector = Collector(settings)
    agent = make_agent(settings)
    learner = Learner(agent, settings)
    points: list[Point] = []
    collecting = updating = 0.0
    last: dict[str, float] = {}
    grades: float | None = None

    def note() -> None:
        result = evaluate(agent, settings.task, settings.eval_incidents, split=CHOICE_SPLIT)
        point = Point(
            time.perf_counter() - start,
            time.process_time() - began_cpu,
            collector.steps,
            collector.incidents,
            grades,
            result,
            last.get("entropy"),
            last.get("kl_approx"),
        )
        points.append(point)
        report(point, agent)

    note()
    for number in count():
        began = time.perf_counter()
        spent = (began - start) / (60 * settings.minutes)
        done = number / settings.rounds if settings.rounds is not None else spent
        if max(done, spent) >= 1:
            break
        imitates = number < settings.imitation
        if number == settings.imitation:
            collector.dismiss_teacher()
        taught = 1 - number / settings.imitation if imitates else 0.0
        experience = collector.collect(agent, taught)
        grades = float(collector.grades.mean()) if len(collector.grades) else None
        halfway = time.perf_counter()
        last = learner.update(experience, done, imitates=imitates)
        ended = time.perf_counter()
        collecting, updating = collecting + halfway - began, updating + ended - halfway
        if ended - start - points[-1].seconds >= settings.eval_every_s:
            note()
    if last and points[-1].steps < collector.steps:
        note()
    cpu = time.process_time() - began_cpu
    return Run(agent, tuple(points), time.perf_counter() - start, cpu, collecting, updating)


class Learner:
    """TorchRL's clipped PPO loss under Adam."""

    def __init__(self, agent: Agent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.loss = clipped_loss(agent.actor, agent.critic, settings)
        self.weights = [weights for part in agent.modules.values() for weights in part.parameters()]
        self.optimizer = torch.optim.Adam(self.weights, lr=settings.lr, eps=1e-5)

    def update(
        self, experience: TensorDict, progress: float, *, imitates: bool = False
    ) -> dict[str, float]:
        """Go over a round; ``progress`` in [0, 1) sets the rates. Returns what was measured.

        The critic learns in the same way while the policy imitates the teacher.
        """
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = settings.falling(settings.lr, settings.lr_end, progress)
        self.loss.entropy_coeff.fill_(
            settings.falling(settings.entropy, settings.entropy_end, progress)
        )
        experience["advantage"] = scaled(experience["advantage"], settings)
        for _ in range(settings.epochs):
            for part in self.minibatches(experience):
                losses = self.loss(part)
                total = losses["loss_critic"]
                if imitates:
                    policy = self.agent.distribution(part["observation"], part["mask"])
                    total = total + imitation_loss(policy, part)
                else:
                    total = total + losses["loss_objective"] + losses["loss_entropy"]
                if self.agent.guess is not None:
                    guessed = self.agent.guessed(part["observation"])
                    total = total + settings.auxiliary * cross_entropy(guessed, part["truth"])
                self.optimizer.zero_grad()
                total.backward()
                torch.nn.utils.clip_grad_norm_(self.weights, settings.max_grad_norm)
                self.optimizer.step()
        return {key: float(losses[key]) for key in MEASURED}

    def minibatches(self, experience: TensorDict) -> Iterator[TensorDict]:
        """A round, cut at random: steps, or with a memory whole rows, which are recalled anew."""
        settings, memory = self.settings, self.agent.memory
        rows = settings.batch if memory is None else settings.num_envs
        size = rows // settings.minibatches
        flat = experience.flatten()
        for chosen in torch.randperm(rows)[: size * settings.minibatches].view(-1, size):
            if memory is None:
                yield flat[chosen]
            else:
                part = experience[:, chosen]
                part["observation"] = memory.recalled(
                    part["observation"], part["begun"], part["carried"][0]
                )
                yield part.flatten()
