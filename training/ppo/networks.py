"""Actor and critic: two multilayer perceptrons, and a categorical that knows the mask."""

import attrs
import torch
from torch import Tensor, nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator

from logtriage.actions import Escalate, action_id
from logtriage.vector import BatchedTriage, TokenLayout
from training.common.initial import POLICY, VALUE
from training.common.networks import masked_actor, perceptrons
from training.ppo.inputs import Inputs, inputs_of
from training.ppo.memory import Memory, Remembering
from training.ppo.settings import Settings


class PagesOwners(nn.Module):
    """Logits of a perceptron, with a score for each service added to the page of its owner.

    Who owns what is drawn in every incident, so that "page the owner of that one" is a
    product of two inputs, which a perceptron finds late. The first columns that ``body``
    puts out are scores (n,), the others logits of the actions.
    """

    def __init__(self, body: nn.Module, owners: slice, layout: TokenLayout) -> None:
        super().__init__()
        self.body = body
        topology = layout.topology
        self._owners, self._services = owners, len(topology)
        pages = [
            action_id(Escalate(team), topology) for team in layout.world.owning_teams(topology)
        ]
        self.register_buffer("pages", torch.tensor(pages), persistent=False)

    def forward(self, observation: Tensor) -> Tensor:
        """Logits (…, A) at observations (…, D)."""
        out = self.body(observation)
        scores, logits = out[..., : self._services], out[..., self._services :]
        flags = observation[..., self._owners].unflatten(-1, (-1, self._services))
        owned = (flags * scores.unsqueeze(-2)).sum(-1)
        pages: Tensor = self.get_buffer("pages")
        return logits.index_add(-1, pages, owned)


@attrs.frozen(eq=False)
class Agent:
    """The networks of a run; ``logits`` and ``value`` are bare modules inside of the others.

    They take observations of the kind ``inputs`` (:mod:`training.ppo.inputs`), beside what
    the ``memory`` carries, if there is one. ``guess`` is the head of the auxiliary loss: logits
    of the hypotheses, from what the policy's perceptron makes of an observation.
    """

    logits: nn.Module
    value: nn.Module
    actor: ProbabilisticActor
    critic: ValueOperator
    inputs: str
    predictor: str
    memory: Memory | None
    guess: nn.Module | None

    @property
    def modules(self) -> dict[str, nn.Module]:
        """All trained modules by name."""
        parts = {"logits": self.logits, "value": self.value}
        parts |= {} if self.memory is None else {"memory": self.memory}
        return parts if self.guess is None else {**parts, "guess": self.guess}

    def guessed(self, observation: Tensor) -> Tensor:
        """Logits of the hypotheses (N, H) at observations (N, D)."""
        assert self.guess is not None
        seen = observation
        for layer in list(getattr(self.logits, "body", self.logits))[:-1]:
            seen = layer(seen)
        guessed: Tensor = self.guess(seen)
        return guessed

    def reader(self, batch: BatchedTriage) -> Inputs:
        """The reader that makes its observations of a batch's screens."""
        inputs = inputs_of(self.inputs, batch, self.predictor)
        return inputs if self.memory is None else Remembering(inputs, self.memory)

    def distribution(self, observation: Tensor, mask: Tensor) -> MaskedCategorical:
        """The policy (N,) at observations (N, D) under masks (N, A) of booleans."""
        return MaskedCategorical(logits=self.logits(observation), mask=mask)

    @torch.no_grad()
    def act(self, observation: Tensor, mask: Tensor, *, sampled: bool = False) -> Tensor:
        """An action (N,): the likeliest, or one drawn."""
        policy = self.distribution(observation, mask)
        action: Tensor = policy.sample() if sampled else policy.mode
        return action

    def state(self) -> dict[str, Tensor]:
        """All weights by name."""
        return {
            f"{name}.{key}": tensor.detach().clone()
            for name, module in self.modules.items()
            for key, tensor in module.state_dict().items()
        }

    def load(self, state: dict[str, Tensor]) -> None:
        """Take over the weights of :meth:`state`."""
        for name, module in self.modules.items():
            prefix = f"{name}."
            module.load_state_dict(
                {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
            )


def make_agent(settings: Settings) -> Agent:
    """Fresh networks, drawn from torch's generator; the first policy is all but uniform."""
    batch = BatchedTriage(settings.sheet)
    inputs = inputs_of(settings.inputs, batch, settings.predictor)
    actions, columns = batch.action_count, inputs.size + settings.memory
    if inputs.owners is None:
        shapes = [(columns, actions, POLICY), (columns, 1, VALUE)]
        logits, value = perceptrons(shapes, settings)
    else:
        out = len(batch.topology) + actions
        shapes = [(columns, out, POLICY), (columns, 1, VALUE)]
        body, value = perceptrons(shapes, settings)
        logits = PagesOwners(body, inputs.owners, batch.layout)
    critic = ValueOperator(value, in_keys=["observation"])
    memory = Memory(inputs.size, settings.memory) if settings.memory else None
    guess = None
    if settings.auxiliary:
        (model,) = batch.setting.models
        guess = nn.Linear(settings.width, len(model.hypotheses))
    actor = masked_actor(logits)
    return Agent(logits, value, actor, critic, settings.inputs, settings.predictor, memory, guess)
