"""The posterior as an observation: what the screens so far lead an ideal observer to believe.

The columns of :class:`logtriage.vector.TokenLayout` recall every token that was shown; what
follows from them is Bayes' rule. :class:`BeliefScreens` plays that part, so that a learner
is left with what to ask and when to act. The numbers are functions of what was shown alone.

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
from logtriage.vector.checks import checked_actions
from logtriage.vector.engine import BatchedTriage, Step
from logtriage.vector.layout import Floats, Layout, laid_out
from logtriage.vector.marginals import Marginals, kinds_of
from logtriage.vector.tokens.layout import TokenLayout
from logtriage.vector.values import BatchedValues
from logtriage.world.channels import Channel
from logtriage.world.model import World
from logtriage.world.vocabulary import LOG

#: Blocks of the screens that are kept beside the belief.
KEPT: Final = (
    *("seen:edge", "noted", "remedied", "applied", "eased", "declared", "severity"),
    *("paged", "closed", "edge", "time", "worth"),
)

#: What is said of when a service was asked.
WHEN: Final = ("usual", "shown")


def asked_sorts(world: World) -> tuple[str, ...]:
    """The sorts that say when a service was asked: a sort per channel on demand."""
    return LOG, world.slots[Channel.METRICS][0], world.slots[Channel.TRACES][0]


@lru_cache(maxsize=32)
def belief_layout_of(layout: TokenLayout) -> Layout:
    """Where each block of :class:`BeliefScreens` begins, on the topology of a token layout.

    Probabilities: ``root`` (n) that a service is the root cause, ``remedy`` (n each) that a
    remedy is accepted, in canonical order, ``team`` (m) that a team is right to page,
    ``kind`` (the fault kinds, then the benign ones, in the order of the incident's world) what is
    the matter, ``benign`` that nothing needs a response; ``doubt`` is the entropy over the
    hypotheses as a share of the most there can be. ``acting`` is the expected grade, by
    ``logtriage/3``, of the best plan that asks nothing more and does not hand over; ``worth``
    says what a hand-over is worth instead. It is 0 in closed rows. ``usual:<sort>`` and
    ``shown:<sort>`` (n each) say of a sort of each channel on demand until when it was seen as
    usual, and since when it shows something else: so when a service was last asked.
    The other blocks are those of the token layout.
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
    """Reads the screens of a batch as beliefs, one after the other, each once.

    Raises:
        InvalidInput: for a batch with more than one lane.
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
        return self._read_before().beliefs

    def _read_before(self) -> BatchedValues:
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

        Rows in ``fresh`` have begun anew since, and ``screen`` shows their first screens.
        Closed rows are not read any more.

        Raises:
            InvalidInput: before :meth:`begin`, and for actions of another shape or range.
        """
        batch = self._batch
        chosen = checked_actions(actions, len(self.beliefs), batch.action_count)
        began = np.asarray(fresh, np.int64)
        going = screen.closing < 0
        going[began] = False
        rows = np.flatnonzero(going)
        self._read_before().follow(chosen[rows], rows)
        self._read_before().begin(began)
        return self._observe(screen)

    def _observe(self, screen: Step) -> Floats:
        values = self._read_before()
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
        """The observation (N, D) of any posterior, such as a network's.

        ``weights`` (N, H) of the hypotheses are not all 0 in a row; ``acting`` (N,) is the
        expected grade of the best plan; ``worlds`` (N,) are the numbers of the models.
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
    """Columns that say when services were asked, by sort of :func:`asked_sorts`.

    The columns (n,) until when it was usual, and sums (D, n) since when it shows another token.
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
