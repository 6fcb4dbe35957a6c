"""The networks of a team: a policy for each role, and one critic or several."""

from collections.abc import Sequence

import attrs
import torch
from torch import Tensor, nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator

from logtriage.vector import BatchedTeam
from training.common.initial import POLICY, VALUE
from training.common.networks import masked_actor, perceptrons
from training.marl.settings import Settings


@attrs.frozen(eq=False)
class Team:
    """What R roles do, and what they are told about it.

    ``policies`` (R,) and ``values`` are bare modules inside of ``actors`` and ``critics``.
    Critics are R, each with its role's reward to foretell, or one if all of them would be
    the same: on the same input (``central``) with the same reward (credit ``team``).
    """

    policies: tuple[nn.Module, ...]
    values: tuple[nn.Module, ...]
    actors: tuple[ProbabilisticActor, ...]
    critics: tuple[ValueOperator, ...]
    central: bool

    def distribution(self, role: int, observation: Tensor, mask: Tensor) -> MaskedCategorical:
        """The policy (N,) of a role at observations (N, D_r) under masks (N, A_r) of booleans."""
        return MaskedCategorical(logits=self.policies[role](observation), mask=mask)

    @torch.no_grad()
    def act(self, observations: Sequence[Tensor], masks: Sequence[Tensor]) -> list[Tensor]:
        """The likeliest action (N,) of each role."""
        return [
            self.distribution(role, observation, mask).mode
            for role, (observation, mask) in enumerate(zip(observations, masks, strict=True))
        ]

    def modules(self) -> nn.ModuleDict:
        """All networks, as one module, for saving and loading."""
        return nn.ModuleDict(
            {"policy": nn.ModuleList(self.policies), "value": nn.ModuleList(self.values)}
        )


def make_team(batch: BatchedTeam, settings: Settings) -> Team:
    """Fresh networks for the roles of a batch, drawn from torch's generator."""
    seen = [layout.size for layout in batch.layouts]
    central = settings.critic == "central"
    judged = [batch.layout.size] * len(seen) if central else seen
    if central and settings.credit == "team":
        judged = judged[:1]
    policies = [
        (columns, actions, POLICY)
        for columns, actions in zip(seen, batch.action_counts, strict=True)
    ]
    networks = perceptrons([*policies, *((columns, 1, VALUE) for columns in judged)], settings)
    policy, value = networks[: len(seen)], networks[len(seen) :]
    key = "state" if central else "observation"
    return Team(
        policy,
        value,
        tuple(masked_actor(one) for one in policy),
        tuple(ValueOperator(one, in_keys=[key]) for one in value),
        central,
    )
