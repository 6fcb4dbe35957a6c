"""The inputs of the roles of a batch of teams, screen after screen, as tensors.

What is in them: :mod:`logtriage.vector.role_inputs`.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from logtriage.tasks import check_one_world
from logtriage.vector import BatchedTeam, TeamBeliefs, TeamStep
from logtriage.vector.marginals import Marginals
from logtriage.vector.role_inputs import RoleInput
from logtriage.vector.tokens.cells import owners_of


class Inputs:
    """Reads the screens of a batch of teams for its roles, each once, in order.

    Where words are ``scrambled``, each board shows what was said in the incident of the row before.
    """

    def __init__(self, batch: BatchedTeam, *, scrambled: bool = False) -> None:
        self._batch, self._scrambled = batch, scrambled
        #: The columns of each role's observation that hold what the others said.
        self._words = [
            [at for name, block in layout.blocks.items() if name.startswith("report:")
             for at in range(block.start, block.stop)]
            for layout in batch.layouts
        ]  # fmt: skip
        self._beliefs = TeamBeliefs(batch)
        self.roles: tuple[RoleInput, ...] = ()
        check_one_world(batch.task)  # reports are words of one world
        (model,) = batch.engine.setting.models
        self._marginals = Marginals(model)
        self.roles = tuple(
            RoleInput(role, layout, model.hypotheses)
            for role, layout in zip(batch.split.roles, batch.layouts, strict=True)
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of columns of each role's input."""
        return tuple(role.size for role in self.roles)

    def begin(self, screen: TeamStep) -> list[Tensor]:
        """The inputs (N, D_r) of all roles on the first screens after a reset."""
        self._beliefs.begin()
        engine = self._batch.engine
        every = np.arange(len(engine))
        self._owners = owners_of(engine.setting, engine.incidents, every)
        return self._look(screen)

    def read(
        self, screen: TeamStep, played: NDArray[np.int64], fresh: NDArray[np.int64]
    ) -> list[Tensor]:
        """The inputs after a step of rows ``played``; rows ``fresh`` have begun anew since."""
        engine = self._batch.engine
        self._beliefs.follow(np.setdiff1d(played, fresh))
        if len(fresh):
            self._beliefs.begin(fresh)
            self._owners[fresh] = owners_of(engine.setting, engine.incidents, fresh)
        return self._look(screen)

    def _look(self, screen: TeamStep) -> list[Tensor]:
        inputs = []
        for role, shown, belief, words in zip(
            self.roles, screen.observations, self._beliefs.of, self._words, strict=True
        ):
            seen = shown
            if self._scrambled:
                seen = shown.copy()
                seen[:, words] = np.roll(shown[:, words], 1, axis=0)
            row = role.read(seen, belief.weights, self._marginals, self._owners)
            inputs.append(torch.from_numpy(row))
        return inputs
