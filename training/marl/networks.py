"""The networks of a team: a policy for each role, and one critic or several."""

from collections.abc import Sequence

import attrs
import torch
from torch import Tensor, nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator

from logtriage.actions import Report
from logtriage.roles import role_actions
from logtriage.vector import BatchedTeam
from logtriage.vector.role_inputs import Pointers
from training.common.initial import POLICY, VALUE
from training.common.networks import masked_actor, perceptrons
from training.marl.inputs import Inputs
from training.marl.settings import Settings

#: By how much a certainty raises the logit of the action that names it, to begin with.
TRUST = 4.0


class Pointing(nn.Module):
    """Logits of a perceptron, with the probability of what it names added to each action.

    Which root cause to declare, which team to page, which kind to report: that the input
    says, and a perceptron would find each product late. The first columns that ``body``
    puts out are the weights of such groups of actions, above :data:`TRUST`; the others
    are logits of the actions.
    """

    def __init__(self, body: nn.Module, pointers: Pointers) -> None:
        super().__init__()
        self.body, self._groups = body, pointers.groups
        for name in ("action", "column", "group"):
            self.register_buffer(name, torch.from_numpy(getattr(pointers, name)), persistent=False)

    def forward(self, observation: Tensor) -> Tensor:
        """Logits (…, A) at observations (…, D)."""
        out = self.body(observation)
        weights, logits = out[..., : self._groups] + TRUST, out[..., self._groups :]
        column, group = self.get_buffer("column"), self.get_buffer("group")
        pointed = observation[..., column] * weights[..., group]
        action: Tensor = self.get_buffer("action")
        return logits.index_add(-1, action, pointed)


@torch.no_grad()
def _hush(body: nn.Module, words: Sequence[bool], pointers: Pointers, quiet: float) -> None:
    """Let the logits of words begin lower by ``quiet`` times the doubt in what they say."""
    last = [module for module in body.modules() if isinstance(module, nn.Linear)][-1]
    last.bias[pointers.groups :] -= quiet * torch.tensor(words, dtype=last.bias.dtype)
    said = {group for action, group in zip(pointers.action, pointers.group, strict=True)
            if words[action]}  # fmt: skip
    last.bias[sorted(said)] += quiet


@attrs.frozen(eq=False)
class Team:
    """The policies of R roles, and their critics.

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
    """Fresh networks for the roles of a batch, drawn from torch's generator.

    A central critic (MAPPO) has the inputs of all roles side by side.
    """
    inputs = Inputs(batch)
    seen, pointers = inputs.sizes, [role.pointers for role in inputs.roles]
    central = settings.critic == "central"
    judged = [sum(seen)] * len(seen) if central else list(seen)
    if central and settings.credit == "team":
        judged = judged[:1]
    shapes = [
        (columns, actions + pointer.groups, POLICY)
        for columns, actions, pointer in zip(seen, batch.action_counts, pointers, strict=True)
    ]
    begun = perceptrons([*shapes, *((columns, 1, VALUE) for columns in judged)], settings)
    bodies, values = begun[: len(seen)], begun[len(seen) :]
    policies: tuple[nn.Module, ...] = tuple(
        Pointing(body, pointer) for body, pointer in zip(bodies, pointers, strict=True)
    )
    for role, body, pointer in zip(batch.split.roles, bodies, pointers, strict=True):
        said = [
            isinstance(each, Report) for each in role_actions(role, batch.topology, hand_over=True)
        ]
        _hush(body, said, pointer, settings.quiet)
    key = "state" if central else "observation"
    return Team(
        policies,
        values,
        tuple(masked_actor(policy) for policy in policies),
        tuple(ValueOperator(value, in_keys=[key]) for value in values),
        central,
    )
