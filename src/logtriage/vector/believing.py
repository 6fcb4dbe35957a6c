"""The posterior as an observation: what an ideal observer believes after the screens so far.

The columns of :class:`logtriage.vector.TokenLayout` record every token that was shown.
:class:`BeliefScreens` applies Bayes' rule to the same evidence, so a learner only has to learn what
to ask and when to act. The observation depends only on what was shown.

>>> import numpy as np
>>> from logtriage.vector import BatchedTriage, BeliefScreens
>>> batch = BatchedTriage("single_crash-v4")
>>> screens = BeliefScreens(batch)
>>> beliefs = screens.begin(batch.reset("train", np.arange(64)))
>>> actions = np.full(64, batch.action_count - 4)  # the traces of the last service
>>> beliefs = screens.read(batch.step(actions), actions)
>>> beliefs.shape == (64, screens.layout.size)
True
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.beliefs.model import Model
from logtriage.errors import InvalidInput
from logtriage.vector.arrays import Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.checks import as_rows, checked_actions
from logtriage.vector.engine import BatchedTriage, Step
from logtriage.vector.layout import Floats, Layout, laid_out
from logtriage.vector.marginals import Marginals, kinds_of
from logtriage.vector.tokens.layout import TokenLayout
from logtriage.vector.values import BatchedValues
from logtriage.world.channels import Channel
from logtriage.world.model import World
from logtriage.world.vocabulary import LOG

#: Blocks of the token layout that stand in the observation beside the belief.
KEPT: Final = (
    *("seen:edge", "noted", "remedied", "applied", "eased", "declared", "severity"),
    *("paged", "closed", "edge", "time", "worth"),
)

#: How the blocks begin that tell when a service was asked.
WHEN: Final = ("usual", "shown")


def asked_sorts(world: World) -> tuple[str, ...]:
    """The sort by which each channel on request tells when a service was last asked for it."""
    return LOG, world.slots[Channel.METRICS][0], world.slots[Channel.TRACES][0]


@lru_cache(maxsize=32)
def belief_layout_of(layout: TokenLayout) -> Layout:
    """The layout of :class:`BeliefScreens`, for a token layout of n services and m teams.

    Probabilities: ``root`` (n) that a service is the root cause, ``remedy`` (n each) that a
    remedy is accepted, in canonical order, ``team`` (m) that a team is right to page, ``kind``
    that a fault kind or a benign kind is present (:func:`kinds_of` the incident's world),
    ``benign`` that nothing needs a response. ``doubt`` is the entropy over the hypotheses as a
    share of its maximum. ``acting`` is the expected grade, by ``logtriage/3``, of the best plan
    that asks nothing more and does not hand over; it is 0 in closed rows. ``worth`` is what a
    hand-over is worth instead. For each of :func:`asked_sorts`, ``usual:<sort>`` (n) is the last
    instant at which a service was seen as usual, ``shown:<sort>`` (n) the sum of the first instants
    of its other tokens. The other blocks are those of the token layout.
    """
    n, m = len(layout.topology), len(layout.topology.teams)
    widths = {
        "root": n,
        "remedy": len(layout.topology.remedies) * n,
        "team": m,
        "kind": len(kinds_of(layout.world)),
    }
    widths |= {"benign": 1, "doubt": 1, "acting": 1}
    widths |= {f"{what}:{sort}": n for sort in asked_sorts(layout.world) for what in WHEN}
    widths |= {name: layout[name].stop - layout[name].start for name in KEPT}
    return Layout(layout.topology, *laid_out(widths))


class BeliefScreens:
    """Turns the screens of a batch into observations of beliefs. Give it every screen once.

    Raises:
        InvalidInput: for a batch with more than one lane, or of another type than float32.
    """

    def __init__(self, batch: BatchedTriage) -> None:
        layout = batch.layout
        if layout.lanes != 1:
            raise InvalidInput(f"{layout.lanes} act in each tick; expected a batch with one")
        if batch.dtype != np.float32:
            raise InvalidInput(f"dtype {batch.dtype.name!r}: beliefs are float32")
        self.layout = belief_layout_of(layout)
        self._batch, self._tokens = batch, layout
        self._kept = np.concatenate([np.r_[layout[name]] for name in KEPT])
        self._usual, self._shown = _asked_columns(layout)
        self._values: BatchedValues | None = None
        self._models: tuple[Model, ...] = ()

    @property
    def beliefs(self) -> BeliefBatch:
        """The posteriors behind the last observation; InvalidInput before :meth:`begin`."""
        return self._begun_values().beliefs

    def _begun_values(self) -> BatchedValues:
        if self._values is None:
            raise InvalidInput("no screens were read: call begin() first")
        return self._values

    def begin(self, screen: Step) -> Floats:
        """The observation (N, D) of a batch that was just reset."""
        self._values = BatchedValues(self._batch)
        self._values.begin(np.arange(len(screen.tick)))
        return self._observe(screen)

    def read(self, screen: Step, actions: ArrayLike, fresh: ArrayLike = ()) -> Floats:
        """The observation (N, D) after a step with ``actions`` (N,).

        Rows in ``fresh`` (K,) began new incidents since, and ``screen`` shows their first screens.
        Beliefs about closed rows, and about rows that were not active, stay as they are.

        Raises:
            InvalidInput: before :meth:`begin`, for actions of another shape or range, and for
                unknown or repeated rows in ``fresh``.
        """
        values, every = self._begun_values(), np.arange(len(self.beliefs))
        chosen = checked_actions(actions, len(every), self._batch.action_count)
        began = as_rows(fresh, every, "fresh")
        rows = np.setdiff1d(values.due(every), began)
        values.follow(chosen[rows], rows)
        values.begin(began)
        return self._observe(screen)

    def _observe(self, screen: Step) -> Floats:
        values = self._begun_values()
        acting = np.zeros(len(screen.tick))
        going = np.flatnonzero(screen.closing < 0)
        acting[going] = values.values(going)
        return self.columns(screen, values.beliefs.weights, acting, values.beliefs.world)

    def columns(
        self,
        screen: Step,
        weights: ArrayLike,
        acting: ArrayLike,
        worlds: NDArray[np.uint8] | None = None,
    ) -> Floats:
        """The observation (N, D) for any posterior, such as a network's.

        ``weights`` (N, H) of the hypotheses are not all 0 in a row; ``acting`` (N,) is the
        expected grade of the best plan; ``worlds`` (N,) are numbers of models, all 0 by default.
        """
        models = self._batch.setting.models  # a pool's are drawn when a split is reset
        if models is not self._models:
            self._models, self._marginals = models, Marginals(*models)
        marginals = self._marginals.of(np.asarray(weights), worlds)
        team = marginals.team(self._batch.owners(np.arange(len(screen.tick))))
        parts = [
            marginals.root,
            marginals.remedy,
            team,
            marginals.kind,
            marginals.benign,
            marginals.doubt,
        ]
        parts += [np.asarray(acting)[:, np.newaxis]]
        for usual, shown in zip(self._usual, self._shown, strict=True):
            parts += [screen.observation[:, usual], screen.observation @ shown]
        parts += [screen.observation[:, self._kept]]
        columns: Floats = np.concatenate(parts, axis=1, dtype=np.float32)
        return columns


def _asked_columns(layout: TokenLayout) -> tuple[list[Ints], list[Floats]]:
    """(usual, shown) for each of :func:`asked_sorts`, on D columns and n services.

    ``usual`` (n,) are the columns of the last usual instants; ``shown`` (D, n) is the matrix that
    sums up the columns of the other tokens' first instants, service by service.
    """
    n, world = len(layout.topology), layout.world
    usual, shown = [], []
    for sort in asked_sorts(world):
        columns = layout.column_of[world.cell_sorts.index(sort)]
        sums = np.zeros((layout.size, n), np.float32)
        for service, row in enumerate(columns):
            sums[row[1:][row[1:] >= 0], service] = 1
        usual.append(columns[:, 0])
        shown.append(sums)
    return usual, shown
