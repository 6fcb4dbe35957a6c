"""The inputs of an agent: which of the engine's numbers it sees, and what they remember.

An agent sees one screen at a time, and a decision rests on all of them. So four kinds of
input are at hand:

``screen``: a screen alone: what is new on it, the panels, what was done so far. No memory,
unless the agent has one of its own (:mod:`training.ppo.memory`).

``counts``: memory. Every token that was ever shown, counted by service and sort: sufficient
statistics of the evidence, in the columns of :class:`logtriage.vector.TokenLayout`.

``belief``: memory and Bayes' rule: :class:`logtriage.vector.BeliefScreens`.

``predicted``: the columns of ``belief``, with the posterior of a network that was trained to
predict the exact one from ``counts`` (:mod:`training.ppo.predictor`) and is frozen.
"""

from pathlib import Path
from typing import Final, Protocol

import attrs
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from logtriage.vector import BatchedTriage, BeliefScreens, Step, TokenLayout, token_layout_of
from logtriage.vector.layout import Floats
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, places
from training.ppo.predictor import load_predictor

Numbers = NDArray[np.int64]

KINDS: Final = ("screen", "counts", "belief", "predicted")
#: Blocks that number what they show; the counts say the same in columns of their own.
_NUMBERED: Final = ("window_service", "window_token", "asked", "asked_service", "answer")


class Inputs(Protocol):
    """Reads the screens of one batch, each once, in order."""

    @property
    def size(self) -> int:
        """The number of columns, the same at every level of fog."""

    @property
    def owners(self) -> slice | None:
        """The columns that flag the owning team of each service; None if there are none."""

    @property
    def price(self) -> slice:
        """The column of the price of a hand-over."""

    def begin(self, screen: Step) -> Tensor:
        """The input (N, D) at first screens."""

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:
        """The input (N, D) after ``actions`` (N,); rows ``fresh`` have begun anew since."""


def mask_of(screen: Step) -> Tensor:
    """The mask (N, A), as booleans."""
    return torch.from_numpy(screen.mask).bool()


class _Tokens:
    """The columns of a token layout that mean the same at every level of fog."""

    def __init__(self, layout: TokenLayout, setting: Setting, horizon: int) -> None:
        # The topics of lines depend on the level of fog. Every level has those of the plainest one.
        named = setting.world.naming_weights
        plainest = attrs.evolve(setting, fog=named.index(min(named)))
        plain = token_layout_of(plainest, layout.topology, horizon)
        columns, blocks, at = [], {}, 0
        for name, here in layout.blocks.items():
            if name in _NUMBERED:
                continue
            wanted = plain[name].stop - plain[name].start
            chosen = np.arange(here.start, here.stop)
            if len(chosen) != wanted:
                chosen = here.start + _shared(layout, name.removeprefix("seen:"), setting, plainest)
            assert len(chosen) == wanted
            columns.append(chosen)
            blocks[name] = slice(at, at + wanted)
            at += wanted
        self._columns, self.blocks, self.size = np.concatenate(columns), blocks, at
        names = [name for name in blocks if name.startswith("owner:")]
        self.owners = slice(blocks[names[0]].start, blocks[names[-1]].stop)
        self.price = blocks["price"]

    def of(self, screen: Step) -> Floats:
        columns: Floats = screen.observation[:, self._columns]
        return columns


def _shared(layout: TokenLayout, sort: str, setting: Setting, plainest: Setting) -> Numbers:
    """Which counts of a sort are of tokens that the plainest level of fog has, too."""
    flags = [
        token in alphabet(plainest, sort, place)
        for place in places(layout.topology)
        for token in alphabet(setting, sort, place)
    ]
    return np.flatnonzero(flags)


class CountInputs(_Tokens):
    """``counts``: every token so far, what was done, and the panels as they stand."""

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`Inputs.begin`."""
        return torch.from_numpy(self.of(screen))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:  # noqa: ARG002
        """As :meth:`Inputs.read`."""
        return torch.from_numpy(self.of(screen))


class ScreenInputs(_Tokens):
    """``screen``: as ``counts``, but of the tokens that the screen before did not count."""

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`Inputs.begin`."""
        self._counts = slice(0, self.blocks["seen:edge"].stop)  # they come first
        row = self.of(screen)
        self._before = row[:, self._counts].copy()
        return torch.from_numpy(row)

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:  # noqa: ARG002
        """As :meth:`Inputs.read`."""
        row = self.of(screen)
        now = row[:, self._counts].copy()
        self._before[fresh] = 0
        row[:, self._counts] -= self._before
        self._before = now
        return torch.from_numpy(row)


class BeliefInputs:
    """``belief``: the posterior's marginals, what was done, and who was asked."""

    owners = None

    def __init__(self, batch: BatchedTriage) -> None:
        self._screens = BeliefScreens(batch)
        self.size, self.price = self._screens.layout.size, self._screens.layout["price"]

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`Inputs.begin`."""
        return torch.from_numpy(self._screens.begin(screen))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:
        """As :meth:`Inputs.read`."""
        return torch.from_numpy(self._screens.read(screen, actions, fresh))


class PredictedInputs:
    """``predicted``: as ``belief``, with a network's posterior and value of acting."""

    owners = None

    def __init__(self, batch: BatchedTriage, predictor: Path) -> None:
        self._screens = BeliefScreens(batch)
        self._counts = _counts_of(CountInputs, batch)
        self._predictor = load_predictor(predictor)
        self.size, self.price = self._screens.layout.size, self._screens.layout["price"]

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`Inputs.begin`."""
        shares, acting = self._predictor.predicted(self._counts.begin(screen))
        return torch.from_numpy(self._screens.columns(screen, shares.numpy(), acting.numpy()))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Tensor:  # noqa: ARG002
        """As :meth:`Inputs.read`."""
        return self.begin(screen)


def inputs_of(kind: str, batch: BatchedTriage, predictor: str = "") -> Inputs:
    """A reader of a batch's screens.

    ``kind`` is one of :data:`KINDS`; ``predictor`` is the directory of a predictor.
    """
    if kind == "belief":
        return BeliefInputs(batch)
    if kind == "predicted":
        return PredictedInputs(batch, Path(predictor))
    return _counts_of(CountInputs if kind == "counts" else ScreenInputs, batch)


def _counts_of(
    reader: type[CountInputs | ScreenInputs], batch: BatchedTriage
) -> CountInputs | ScreenInputs:
    layout, setting = batch.layout, batch.task.setting
    assert isinstance(layout, TokenLayout)
    return reader(layout, setting, batch.task.horizon)
