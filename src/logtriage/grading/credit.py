"""Counterfactual credit: what each role of a team added to the grade in a tick.

Spec of the credit; :class:`logtriage.vector.team.BatchedTeam` computes it for many rows.
"""

from collections.abc import Sequence

from logtriage.actions import Action, Wait
from logtriage.dynamics import transition_jointly
from logtriage.grading.grade import grade, score
from logtriage.grading.rubric import Rubric
from logtriage.state import Closing, State


def credits_of(
    before: State, acts: Sequence[Action], rubric: Rubric | None = None
) -> tuple[float, ...]:
    """The credit of each role for its action in a tick of joint play, in role order.

    It is the grade after the tick minus the grade had this role waited. Roles whose actions close
    the incident alike share a credit: the grade minus the grade had all of them waited, divided by
    their number. So each of two roles that page wrongly in one tick bears half of the loss.

    Raises:
        EpisodeOver: if the incident is closed.
        UnknownName, InvalidInput: as :func:`logtriage.dynamics.apply`.
    """
    after = transition_jointly(before, acts)
    earned = score(after, rubric)
    alike = _closing_alike(before, acts, after, rubric)
    shares = []
    for lane in range(len(acts)):
        waiting = alike if lane in alike else (lane,)
        others = [Wait() if place in waiting else act for place, act in enumerate(acts)]
        lost = score(transition_jointly(before, others), rubric)
        shares.append((earned - lost) / len(waiting))
    return tuple(shares)


def _closing_alike(
    before: State, acts: Sequence[Action], after: State, rubric: Rubric | None
) -> tuple[int, ...]:
    """The roles whose action alone closes the incident as the tick did; all gates are alike."""
    if after.closing in (None, Closing.OUT_OF_TIME):
        return ()
    gated = grade(after, rubric).gate is not None
    alike = []
    for lane, act in enumerate(acts):
        only: list[Action] = [Wait()] * len(acts)
        only[lane] = act
        alone = transition_jointly(before, only)
        if alone.closing in (None, Closing.OUT_OF_TIME):
            continue
        if alone.closing is after.closing or (gated and grade(alone, rubric).gate is not None):
            alike.append(lane)
    return tuple(alike)
