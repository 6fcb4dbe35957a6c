"""Evaluation of a team on incidents that it never saw."""

from collections.abc import Iterator
from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from logtriage.dynamics import transition_jointly
from logtriage.evaluation import SOLVED
from logtriage.evaluation.statistics import mean_interval
from logtriage.grading.batch import CLOSINGS
from logtriage.roles import role_actions
from logtriage.state import Closing, State, initial_state
from logtriage.vector.tokens.layout import PRICE_UNIT
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.common.tasks import ids_of, incident_of
from training.marl.inputs import Inputs
from training.marl.rollouts import make_batch, masks_of
from training.marl.settings import Settings


class Actors(Protocol):
    """A player of all roles at once."""

    def act(self, seen: list[Tensor], masks: list[Tensor], /) -> list[Tensor]:
        """An action (N,) for each role, from inputs (N, D_r) and masks (N, A_r)."""
        ...


@attrs.frozen
class Result:
    """Means over some incidents; ``low`` to ``high`` is the bootstrap interval of the grade.

    ``net_value`` is what was earned beyond handing everything over, as a share of what could be.
    ``solved``, ``mis_paged`` (the wrong team was paged), ``resolved`` (closed by Resolve,
    fixed or not), ``ignored`` (closed by Ignore, rightly or not) and ``out_of_time`` are
    shares of the incidents. ``ticks`` are those used until an incident was closed.
    """

    incidents: int
    net_value: float
    grade: float
    low: float
    high: float
    solved: float
    mis_paged: float
    resolved: float
    ignored: float
    out_of_time: float
    ticks: float


@attrs.frozen(eq=False)
class Played:
    """N played incidents of a team of R.

    ``ids`` (N,), ``actions`` (T, R, N) as each role counts them, ``ticks``, ``scores``,
    ``closing``, and the ``prices`` of a hand-over (N,).
    """

    ids: tuple[str, ...]
    actions: NDArray[np.int64]
    ticks: NDArray[np.int64]
    scores: NDArray[np.float64]
    closing: NDArray[np.int8]
    prices: NDArray[np.float64]

    def result(self) -> Result:
        """The means of these episodes, with intervals over incidents."""

        def closed(closing: Closing) -> float:
            return float((self.closing == CLOSINGS.index(closing)).mean())

        grade = mean_interval(self.scores.tolist())
        assert grade is not None
        return Result(
            incidents=len(self.ids),
            net_value=float((self.scores - self.prices).sum() / (1 - self.prices).sum()),
            grade=grade.mean,
            low=grade.low,
            high=grade.high,
            solved=float((self.scores >= SOLVED).mean()),
            mis_paged=closed(Closing.MISROUTED),
            resolved=closed(Closing.RESOLVED),
            ignored=closed(Closing.IGNORED),
            out_of_time=closed(Closing.OUT_OF_TIME),
            ticks=float(self.ticks.mean()),
        )


def play_held_out(
    team: Actors, settings: Settings, split: str = EVAL_SPLIT, *, scrambled: bool = False
) -> Played:
    """Play the first incidents of a split, greedily. Draws nothing at random.

    With ``scrambled`` words each team hears what is said in another incident.
    """
    batch, incidents = make_batch(settings), settings.eval_incidents
    inputs = Inputs(batch, scrambled=scrambled)
    screen = batch.reset(split, np.arange(incidents))
    seen, none = inputs.begin(screen), np.zeros(0, np.int64)
    taken = []
    while (screen.closing < 0).any():
        going = np.flatnonzero(screen.closing < 0)
        actions = [action.numpy() for action in team.act(seen, masks_of(screen))]
        taken.append(np.stack(actions))
        screen = batch.step(actions)
        seen = inputs.read(screen, going, none)
    return Played(
        ids_of(settings.task, split, incidents),
        np.stack(taken),
        screen.tick,
        screen.score,
        screen.closing,
        np.round(batch.engine.incidents.price * PRICE_UNIT, 1),
    )


def states_of(played: Played, settings: Settings) -> Iterator[State]:
    """The last state of every incident, played by the scalar core."""
    split = settings.roles
    for row, (incident, ticks) in enumerate(zip(played.ids, played.ticks, strict=True)):
        state = initial_state(incident_of(settings.task, incident))
        topology = state.incident.topology
        choices = [role_actions(role, topology, hand_over=True) for role in split.roles]
        for chosen in played.actions[:ticks, :, row]:
            state = transition_jointly(
                state, [mine[place] for mine, place in zip(choices, chosen, strict=True)]
            )
        yield state


def evaluate(team: Actors, settings: Settings) -> Result:
    """The figures of :func:`play_held_out` on ``val``, at which a run looks while it lasts."""
    return play_held_out(team, settings, CHOICE_SPLIT).result()
