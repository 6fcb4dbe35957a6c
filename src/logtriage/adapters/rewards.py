"""A grade as trainers take it: one number for each criterion, and figures to log.

The rewards by criterion add up to the grade bit for bit, whatever gate, discount or bound
applied. So it makes no difference whether a trainer weighs them one by one or takes the sum.
"""

from typing import Final

from logtriage.errors import InvalidInput
from logtriage.grading import Graded, Rubric
from logtriage.grading.grade import GRID

#: The reward beside the criteria, which bounds and rounding add.
REST: Final = "rest"


def reward_names(rubric: Rubric) -> tuple[str, ...]:
    """All keys that :func:`by_criterion` may give; InvalidInput if a criterion is ``rest``."""
    names = tuple(dict.fromkeys(row.name for row in rubric.rows))
    if REST in names:
        raise InvalidInput(f"rubric {rubric.id!r}: {REST!r} is what bounds and rounding add")
    return *names, REST


def by_criterion(grade: Graded) -> dict[str, float]:
    """Each criterion's share of the grade, and the ``rest``; they add up to the score.

    A share is weight times score times all discounts. If a gate or a bound replaced the sum, all
    shares are 0 and the rest is the score. An unscored grade has none.

    Raises:
        InvalidInput: for a criterion called ``rest``.
    """
    if grade.score is None:
        return {}
    factor = 1.0
    for discount in grade.discounts:
        factor *= discount.factor
    shares: dict[str, float] = {}
    for row in grade.criteria:
        if row.name == REST:
            raise InvalidInput(f"a criterion called {REST!r}: that is what rounding adds")
        # On the grid of scores sums are exact; adding 0 makes -0.0 an ordinary zero.
        shares[row.name] = round(row.weight * row.score * factor * GRID) / GRID + 0.0
    earned = sum(shares.values())
    # Numbers within a factor of two have an exact difference (Sterbenz).
    if grade.gate is not None or not grade.score / 2 <= earned <= 2 * grade.score:
        return {**dict.fromkeys(shares, 0.0), REST: grade.score}
    return {**shares, REST: grade.score - earned}


def metrics_of(grade: Graded) -> dict[str, float]:
    """Every criterion, whether a gate held, ticks used, actions unplayed; none if unscored."""
    if grade.score is None:
        return {}
    return {
        **{row.name: row.score for row in grade.criteria},
        "gated": float(grade.gate is not None),
        "ticks": float(grade.ticks),
        "unplayed": float(grade.unplayed),
    }
