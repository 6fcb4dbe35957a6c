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
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.beliefs.cases import SCALE
from logtriage.beliefs.ledgers import NEVER, UNIT, Stakes, severity_shares
from logtriage.beliefs.model import Model
from logtriage.beliefs.plans import SILENT
from logtriage.errors import InvalidInput
from logtriage.grading.steps import Rules, facts_step, letters_of, move_of, untouched
from logtriage.vector.arrays import Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.checks import as_rows, checked_actions
from logtriage.vector.engine import BatchedTriage, Step
from logtriage.vector.following import FollowingBeliefs
from logtriage.vector.layout import Floats, Layout, laid_out
from logtriage.vector.marginals import Marginals, kinds_of
from logtriage.vector.tokens.episodes import NEVER as NOT_YET
from logtriage.vector.tokens.layout import TokenLayout
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
#: Rows planned at a time: their intermediate arrays stay in the cache.
BLOCK_ROWS: Final = 512


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

    def _begun_values(self) -> "BatchedValues":
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
        # In the order of :func:`belief_layout_of`.
        parts = [marginals.root, marginals.remedy, team, marginals.kind]
        parts += [marginals.benign, marginals.doubt, np.asarray(acting)[:, np.newaxis]]
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
            others = row[1:]
            sums[others[others >= 0], service] = 1  # -1: no such token here
        usual.append(columns[:, 0])
        shown.append(sums)
    return usual, shown


class BatchedValues:
    """The beliefs about the N incidents of an engine with one lane, and the values of acting.

    Call :meth:`begin` for rows with new incidents, and :meth:`follow` after each tick for rows
    that are still open.
    """

    def __init__(self, engine: BatchedTriage) -> None:
        # These load Numba.
        from logtriage.beliefs.plan_kernels import best_values
        from logtriage.beliefs.utility_kernels import plan_tables

        setting = self._setting = engine.setting
        self._best, self._engine = best_values, engine
        self._following = FollowingBeliefs(engine)
        (self.beliefs,) = self._following.beliefs
        self.due = self._following.due
        public, horizon, tables = setting.public, setting.task.horizon, self.beliefs.tables
        stakes = Stakes(horizon, public.par, public.par_benign)
        self._letters = letters_of(setting.topology, NEVER)
        scores = stakes.tables(faults=1)
        self._tables = plan_tables(scores, self._letters, horizon, tables.noted, tables.accepts)
        # ``wrong`` and ``early`` of :class:`~logtriage.grading.steps.Facts` by hypothesis (N, H).
        self._wrong = np.zeros(self.beliefs.weights.shape, np.int16)
        self._early = np.zeros_like(self._wrong)

    def begin(self, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        for counts in (self._wrong, self._early):
            counts[rows] = 0
        self._following.begin(rows)

    def follow(self, actions: Ints, rows: Ints) -> None:
        """Take in the screens of open rows (R,), whose agents took ``actions`` (R,) last tick."""
        letters = self._letters
        remedied = (actions >= letters.remedy) & (actions < letters.remedy_end)
        self._count_remedies(rows[remedied], actions[remedied])
        self._following.follow(rows, actions[np.newaxis])

    def _count_remedies(self, rows: Ints, remedies: Ints) -> None:
        """Count the remedies (R,) just applied in these rows, under each hypothesis."""
        which = remedies - self._letters.remedy
        right = self.beliefs.tables.accepts[self.beliefs.world[rows], which]
        move = move_of(remedies[:, np.newaxis], right, Rules(strict=1, takes=1), self._letters)
        when = self._engine.ticks[rows] - 1  # the tick in which they were applied
        before = untouched(NEVER)._replace(
            paged=_ticks(self._engine.episodes.paged_at[rows])[:, np.newaxis],
            wrong=self._wrong[rows],
            early=self._early[rows],
        )
        after = facts_step(before, move, live=True, counted=False, tick=when[:, np.newaxis])
        self._wrong[rows], self._early[rows] = after.wrong, after.early

    def values(self, rows: Ints) -> NDArray[np.float64]:
        """The expected grade of the best plan (R,) in open rows (R,); none of them hands over."""
        values = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            standings = self._standings(block)
            total = standings.weights.sum(axis=1)
            best = self._best(standings, self._tables) / UNIT / total
            values[start : start + BLOCK_ROWS] = best
        return values

    def _standings(self, rows: Ints) -> Any:
        """Gather what plans depend on in rows (R,)."""
        from logtriage.beliefs.utility_kernels import Standings  # loads Numba

        beliefs, episodes = self.beliefs, self._engine.episodes
        weights, fixed_at = beliefs.weights[rows], beliefs.fixed_at(rows)
        paged, declared = _ticks(episodes.paged_at[rows]), episodes.root_cause[rows]
        root, severity = self._tables.root[beliefs.world[rows]], episodes.severity[rows]
        right = (declared[:, np.newaxis] == root) & (root >= 0)  # -1 stands for none in both
        return Standings(
            world=beliefs.world[rows],
            weights=scaled_weights(weights, SCALE),
            team=beliefs.right_team(rows),
            shares=severity_shares(beliefs.severities(rows)),
            tick=self._engine.ticks[rows],
            handed_over=np.zeros(len(rows)),
            fixed=((fixed_at >= 0) | (weights == 0)).all(axis=1),
            declared=declared.astype(np.int64),
            severity=np.where(severity < 0, SILENT, severity).astype(np.int64),
            paged=paged,
            remedies=episodes.remedies[rows].astype(np.int64),
            wrong=self._wrong[rows].astype(np.int64),
            early=self._early[rows].astype(np.int64),
            said=np.where(right, _ticks(episodes.declared_at[rows])[:, np.newaxis], NEVER),
            mended=np.where(fixed_at >= 0, fixed_at, NEVER),
        )


def _ticks(stored: Any) -> NDArray[np.int64]:
    """Ticks that an engine stores, with the planner's ``NEVER`` in place of the engine's."""
    return np.where(stored == NOT_YET, NEVER, stored.astype(np.int64))


def scaled_weights(weights: Any, whole: int) -> NDArray[np.float64]:
    """The weights (R, H) as whole numbers, scaled so that each row sums to about ``whole``."""
    numbers = weights.astype(np.int64)
    return np.array(numbers * whole // numbers.sum(axis=1, keepdims=True), np.float64)
