"""TorchRL's clipped PPO loss and generalised advantages, as our settings say."""

import torch
from tensordict import TensorDict
from torch import Tensor
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value.functional import vec_generalized_advantage_estimate

from training.common.settings import PPOSettings

#: The reported parts of a loss.
MEASURED = ("entropy", "kl_approx", "clip_fraction")


def clipped_loss(
    actor: ProbabilisticActor, critic: ValueOperator | None, settings: PPOSettings
) -> ClipPPOLoss:
    """The loss of an actor and of its critic, or of an actor alone."""
    return ClipPPOLoss(
        actor,
        critic,
        clip_epsilon=settings.clip,
        entropy_coeff=settings.entropy,
        critic_coeff=None if critic is None else settings.value_weight,
        normalize_advantage=False,  # by settings.normalize, over the whole round
        loss_critic_type="l2",
        log_explained_variance=False,
        functional=False,
    )


def imitation_loss(policy: MaskedCategorical, part: TensorDict) -> Tensor:
    """The cross-entropy of a policy (N,) with the teacher's actions, where these are legal.

    ``part`` (N,) has ``label``, the teacher's actions, and ``action`` and ``mask`` (N, A).
    """
    label = part["label"]
    legal = part["mask"].gather(1, label[:, None])[:, 0]
    log_prob = policy.log_prob(label.where(legal, part["action"]))
    return -(log_prob * legal).mean()


def advantages(
    settings: PPOSettings, value: Tensor, last: Tensor, reward: Tensor, done: Tensor
) -> tuple[Tensor, Tensor]:
    """Advantages and value targets (T, N, 1).

    ``value`` (T, N, 1) of each step and ``last`` (N, 1) of the screen after them;
    ``reward`` and ``done`` (T, N). After a last step comes another incident: ``done``
    keeps its value out.
    """
    following = torch.cat([value[1:], last[None]])
    ends = done[..., None]
    advantage, target = vec_generalized_advantage_estimate(
        settings.gamma,
        settings.lmbda,
        value,
        following,
        reward[..., None],
        ends,
        ends,
        time_dim=0,
    )
    return advantage, target


def scaled(advantage: Tensor, settings: PPOSettings) -> Tensor:
    """Advantages with mean 0 and deviation 1, if the settings say so."""
    if not settings.normalize:
        return advantage
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)
