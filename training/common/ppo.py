"""Parts that `training.ppo` and `training.mappo` share: settings, perceptrons, TorchRL's loss."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value.functional import vec_generalized_advantage_estimate

from logtriage.errors import InvalidInput
from logtriage.tasks import TaskSpec
from logtriage.vector import BeliefBatch
from training.common.files import check_unfinished, machine
from training.common.options import check_fields, option
from training.common.tasks import EVAL_SPLIT, TRAIN_SPLIT, is_playable, sheet_of

LIBRARIES: Final = ("torch", "torchrl", "tensordict", "numpy")
#: Evaluations play this many incidents.
EVAL_INCIDENTS: Final = 1_000
ACTIVATIONS: Final = {"tanh": nn.Tanh, "relu": nn.ReLU}
#: The scale of the last layer's initial weights: a first policy is nearly uniform.
POLICY: Final = 0.01
VALUE: Final = 1.0
#: The measured parts of a loss.
MEASURED: Final = ("entropy", "kl_approx", "clip_fraction")


@attrs.frozen
class PPOSettings:
    """Proximal policy optimisation on the batched engine.

    Each of ``rounds`` collects ``rollout`` steps of ``num_envs`` incidents and goes ``epochs``
    times over them in ``minibatches``. During a run the learning rate falls linearly from
    ``lr`` to ``lr_end``, and the weight of the entropy from ``entropy`` to ``entropy_end``.
    ``gamma`` is 1 because rewards telescope: their sum is the grade.

    Advantages are in points of the grade. Scaled by their deviation, a rare page would face the
    same bar whatever a hand-over is worth.

    In the first ``imitation`` rounds the policy learns the actions of a scripted teacher, on
    screens that it meets itself more and more (DAgger). A policy that begins at random soon learns
    to hand everything over, and nothing more.
    """

    task: str = attrs.field(
        validator=is_playable, metadata={"help": "an id, or module:name of a task sheet of yours"}
    )
    seed: int = 0
    num_envs: int = 512
    rollout: int = 16
    epochs: int = 4
    minibatches: int = 8
    lr: float = 2e-3
    lr_end: float = 1e-4
    entropy: float = 0.01
    entropy_end: float = 0.0005
    gamma: float = 1.0
    lmbda: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    width: int = 96
    depth: int = 2
    activation: str = option("relu", "of the networks", *ACTIVATIONS)
    imitation: int = option(20, "rounds in which a teacher is imitated; 0 for none")
    rounds: int = 100
    eval_every: int = option(20, "rounds from evaluation to evaluation")
    threads: int = 1
    eval_incidents: int = EVAL_INCIDENTS

    def __attrs_post_init__(self) -> None:
        """Check the fields."""
        check_fields(
            *(self, "num_envs", "rollout", "epochs", "minibatches", "width", "rounds"),
            *("eval_every", "threads", "eval_incidents"),
        )
        if self.minibatches > self.batch:
            raise InvalidInput(f"minibatches: at most num_envs x rollout, {self.batch}")

    @property
    def sheet(self) -> TaskSpec:
        """The task, in full."""
        return sheet_of(self.task)

    @property
    def batch(self) -> int:
        """Steps a round."""
        return self.num_envs * self.rollout

    def falling(self, start: float, end: float, progress: float) -> float:
        """The value between ``start`` and ``end`` at a progress in [0, 1]."""
        return start + (end - start) * progress


def perceptrons(
    shapes: Sequence[tuple[int, int, float]], settings: PPOSettings
) -> tuple[nn.Module, ...]:
    """Fresh networks by (columns, outputs, scale of the last layer), from torch's draws."""
    cells = [settings.width] * settings.depth
    networks = [
        MLP(columns, outputs, num_cells=cells, activation_class=ACTIVATIONS[settings.activation])
        for columns, outputs, _ in shapes
    ]
    for network, (_, _, last) in zip(networks, shapes, strict=True):
        layers = [module for module in network.modules() if isinstance(module, nn.Linear)]
        for layer in layers:
            nn.init.orthogonal_(layer.weight, last if layer is layers[-1] else 2**0.5)
            nn.init.zeros_(layer.bias)
    return tuple(networks)


def masked_actor(logits: nn.Module) -> ProbabilisticActor:
    """The policy of these logits, from ``observation`` and ``mask`` to ``action``."""
    return ProbabilisticActor(
        TensorDictModule(logits, in_keys=["observation"], out_keys=["logits"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )


def clipped_loss(
    actor: ProbabilisticActor, critic: ValueOperator | None, settings: PPOSettings
) -> ClipPPOLoss:
    """The loss of an actor and its critic, or of an actor alone."""
    return ClipPPOLoss(
        actor,
        critic,
        clip_epsilon=settings.clip,
        entropy_coeff=settings.entropy,
        critic_coeff=None if critic is None else settings.value_weight,
        normalize_advantage=False,
        loss_critic_type="l2",
        log_explained_variance=False,
        functional=False,
    )


def imitation_loss(policy: MaskedCategorical, part: TensorDict) -> Tensor:
    """The cross-entropy of a policy (N,) with the teacher's actions, where these are legal.

    ``part`` (N,) has ``label`` (the teacher's actions), ``action`` and ``mask`` (N, A).
    """
    label = part["label"]
    legal = part["mask"].gather(1, label[:, None])[:, 0]
    log_prob = policy.log_prob(label.where(legal, part["action"]))
    return -(log_prob * legal).mean()


#: The parts of a loss.
LOSSES: Final = ("loss_objective", "loss_critic", "loss_entropy")


class Learner:
    """TorchRL's clipped PPO loss for each policy, under one Adam.

    Args:
        policies: the logits of each policy, as bare modules.
        actors: those policies as actors.
        critics: a critic for each, or None where another trains the shared critic.
        networks: all that is learnt; gradients are clipped network by network.
    """

    def __init__(
        self,
        policies: Sequence[nn.Module],
        actors: Sequence[ProbabilisticActor],
        critics: Sequence[ValueOperator | None],
        networks: Sequence[nn.Module],
        settings: PPOSettings,
    ) -> None:
        self.settings, self._policies, self._networks = settings, policies, networks
        self.losses = [
            clipped_loss(actor, critic, settings)
            for actor, critic in zip(actors, critics, strict=True)
        ]
        weights = [weight for network in networks for weight in network.parameters()]
        self.optimizer = torch.optim.Adam(weights, lr=settings.lr, eps=1e-5, fused=True)

    def update(
        self, experience: Sequence[TensorDict], progress: float, *, imitates: bool = False
    ) -> list[dict[str, float]]:
        """Go over a round (B,) of each policy; what was measured.

        ``progress`` in [0, 1) sets the rates. Critics learn in the same way while the policies
        imitate the teacher.
        """
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = settings.falling(settings.lr, settings.lr_end, progress)
        for loss in self.losses:
            loss.entropy_coeff.fill_(
                settings.falling(settings.entropy, settings.entropy_end, progress)
            )
        size = settings.batch // settings.minibatches
        for _ in range(settings.epochs):
            order = torch.randperm(settings.batch)[: size * settings.minibatches]
            for rows in order.view(-1, size):
                parts = [each[rows] for each in experience]
                losses = [loss(part) for loss, part in zip(self.losses, parts, strict=True)]
                names = ("loss_critic",) if imitates else LOSSES
                total = sum(each[name] for each in losses for name in names if name in each)
                if imitates:
                    for policy, part in zip(self._policies, parts, strict=True):
                        logits = policy(part["observation"])
                        said = MaskedCategorical(logits=logits, mask=part["mask"])
                        total = total + imitation_loss(said, part)
                self.optimizer.zero_grad()
                total.backward()
                for network in self._networks:
                    nn.utils.clip_grad_norm_(network.parameters(), settings.max_grad_norm)
                self.optimizer.step()
        return [{key: float(each[key]) for key in MEASURED} for each in losses]


def learning(
    settings: PPOSettings,
    collect: Callable[[float], list[TensorDict]],
    dismiss_teacher: Callable[[], None],
    learner: Learner,
) -> Iterator[list[dict[str, float]]]:
    """Train round by round, and yield what was measured in each.

    ``collect`` plays a round in which the teacher acts in that share of the steps.
    """
    for number in range(settings.rounds):
        imitates = number < settings.imitation
        if not imitates:
            dismiss_teacher()
        experience = collect(1 - number / settings.imitation if imitates else 0.0)
        yield learner.update(experience, number / settings.rounds, imitates=imitates)


def likeliest_severities(beliefs: BeliefBatch) -> NDArray[np.int64]:
    """The likeliest severity (N,) by N beliefs, as a place in ``SEVERITIES``."""
    severities = beliefs.severities().astype(np.float64)
    severities /= np.maximum(severities.sum(axis=2, keepdims=True), 1)
    votes = (severities * beliefs.weights[:, :, None]).sum(axis=1)
    likeliest: NDArray[np.int64] = votes.argmax(axis=1)
    return likeliest


def advantages(
    settings: PPOSettings, value: Tensor, last: Tensor, reward: Tensor, done: Tensor
) -> tuple[Tensor, Tensor]:
    """Advantages and value targets (T, N, 1).

    ``value`` (T, N, 1) of each step and ``last`` (N, 1) of the screen after them;
    ``reward`` and ``done`` (T, N). The next incident follows a last step: ``done`` keeps its
    value out.
    """
    following = torch.cat([value[1:], last[None]])
    ends = done[..., None]
    advantage, target = vec_generalized_advantage_estimate(
        settings.gamma, settings.lmbda, value, following, reward[..., None], ends, ends, time_dim=0
    )
    return advantage, target


# -- what is told ----------------------------------------------------------------------------


def begin(
    settings: PPOSettings, out: Path, command: str, **facts: Any
) -> tuple[dict[str, Any], Console]:
    """The record of a run into ``out``, over an unfinished one, and the console that tells of it.

    Raises:
        Refused: if the directory holds another run.
    """
    mine, splits = attrs.asdict(settings), {"train_split": TRAIN_SPLIT, "test_split": EVAL_SPLIT}
    check_unfinished(out, mine)
    console = Console(stderr=True)
    if settings.rounds <= settings.imitation:
        console.print(
            "every round imitates the teacher, and none learns from grades: that takes --rounds "
            f"above {settings.imitation} (--imitation)",
            soft_wrap=True,
        )
    about = {"command": command, "settings": mine, **splits, "machine": machine(LIBRARIES)}
    return {**about, **facts, "finished": False}, console


def tell_point(console: Console, point: Mapping[str, Any], unit: str) -> None:
    """Print a point of the curve; ``unit`` names the column that counts experience."""
    console.print(
        f"{point['seconds']:6.0f} s {point[unit]:10,} {unit}  "
        f"net {point['val_net_value']:+.3f}  grade {point['val_grade']:.3f}  "
        f"mis-paged {point['val_mis_paged']:5.1%}",
        soft_wrap=True,
    )


def next_with_seed(command: str, out: Path, seed: int) -> str:
    """The command of a run once more, with the next seed and another directory."""
    return f"{command} --seed {seed + 1} --out {out}-seed{seed + 1}"
