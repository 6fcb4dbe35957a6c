"""Whether the worth of a hand-over binds: the loss of an agent that does not heed it.

By Chow's rule [1]_ an agent goes on if it expects more than its worth c, and hands over if not.
The rule tests nothing if c hardly ever decides. So the observer asks as if nobody took the
incident over, until no question pays. At that point the expected grade V of going on is known
exactly, and so is the worth of a hand-over late, for each c: no grade is sampled, and one play
stands for every c.

.. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
   Information Theory 16 (1970), doi:10.1109/TIT.1970.1054406.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import correlation, fmean, median, pstdev
from typing import Final

import attrs

from logtriage.audit.findings import NOT_OF_A_WORLD, Outcome, judged, reported, skipped
from logtriage.audit.subject import Work
from logtriage.beliefs import belief
from logtriage.beliefs.stakes import stakes_for
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.dynamics import transition
from logtriage.incident import Incident
from logtriage.policies.observer import best_question
from logtriage.state import initial_state
from logtriage.tasks import BENCHMARK_FOG

NO_WORTH: Final = "no incident of the sample has a worth of hand-over"
#: So many standard errors are allowed for.
ERRORS: Final = 2.0
#: The most to gain in an incident beyond handing it over, over every worth.
_GAINED: Final = sum(1.0 - worth for worth in WORTHS_OF_HAND_OVER)


@attrs.frozen
class Decision:
    """The point at which the observer asks no more, as if nobody took the incident over.

    ``value`` is the expected grade of going on, ``halfway`` the same after half of the
    questions; ``worths`` holds that of a hand-over then, by what it is at once.
    """

    value: float
    halfway: float
    worths: tuple[float, ...]


def decision_of(incident: Incident) -> Decision:
    """The observer's decision in an incident of a world."""
    setting = incident.setting
    assert setting is not None, "only incidents of a world are looked at"
    states = [initial_state(attrs.evolve(incident, worth_of_hand_over=None))]
    while True:
        question = best_question(belief(states[-1]))
        after = None if question is None else transition(states[-1], question)
        if after is None or after.is_closed:
            break
        states.append(after)
    stakes = stakes_for(states[0].incident, setting.par, setting.par_benign)
    left = (
        attrs.evolve(stakes, worth_of_hand_over=worth).handed_over(states[-1].tick + 1)
        for worth in WORTHS_OF_HAND_OVER
    )
    return Decision(
        belief(states[-1]).value(),
        belief(states[len(states) // 2]).value(),
        tuple(0.0 if worth is None else worth for worth in left),
    )


# -- what is lost ------------------------------------------------------------------------


def lost_by_ignoring(decisions: Sequence[Decision]) -> list[float]:
    """The loss of each decision by never handing over, over every worth, as net value."""
    return [
        sum(max(0.0, worth - decision.value) for worth in decision.worths) / _GAINED
        for decision in decisions
    ]


def lost_by_a_bar(decisions: Sequence[Decision]) -> tuple[float, list[float]]:
    """The best fixed bar of expected grade, whatever the worth; the loss of each decision by it."""
    values = sorted({decision.value for decision in decisions})
    rows = [(_lost_at(bar, decisions), bar) for bar in (*values, values[-1] + 1.0)]
    lost, bar = min(rows, key=lambda row: (fsum(row[0]), row[1]))
    return bar, lost


def _lost_at(bar: float, decisions: Sequence[Decision]) -> list[float]:
    """The loss of each decision by handing over exactly if it is worth less than the bar."""
    signs = (-1.0 if decision.value < bar else 1.0 for decision in decisions)
    return [
        sum(max(0.0, sign * (worth - decision.value)) for worth in decision.worths) / _GAINED
        for sign, decision in zip(signs, decisions, strict=True)
    ]


def handed_over(decisions: Sequence[Decision]) -> dict[float, float]:
    """The share of decisions in which a hand-over is worth more than going on, by its worth."""
    return {
        worth: fmean(decision.worths[place] > decision.value for decision in decisions)
        for place, worth in enumerate(WORTHS_OF_HAND_OVER)
    }


def net_value_at_best(decisions: Sequence[Decision]) -> float:
    """The expected net value of going on or handing over, whichever is worth more."""
    gained = fsum(
        max(decision.value, late) - worth
        for decision in decisions
        for late, worth in zip(decision.worths, WORTHS_OF_HAND_OVER, strict=True)
    )
    return gained / (len(decisions) * _GAINED)


# -- the checks ----------------------------------------------------------------------------


def risk(work: Work) -> Outcome:
    """C decides often enough, and it matters."""
    incidents, limits = work.subject.incidents("test", work.sizes.worths), work.limits
    if any(incident.simulation is None for incident in incidents):
        return skipped(NOT_OF_A_WORLD)
    if not all(incident.takes_hand_over for incident in incidents):
        return skipped(NO_WORTH)
    decisions = [decision_of(incident) for incident in incidents]
    values = [decision.value for decision in decisions]
    unheeding, (bar, unbending) = lost_by_ignoring(decisions), lost_by_a_bar(decisions)
    ignoring, by_bar, shares = fmean(unheeding), fmean(unbending), handed_over(decisions)
    wrong = []
    for worth, low, high in limits.handed_over:
        margin = ERRORS * sqrt(shares[worth] * (1.0 - shares[worth]) / len(decisions))
        if not low - margin <= shares[worth] <= high + margin:
            wrong.append(
                f"{shares[worth]:.0%} are handed over at c = {worth:g}, {low:.0%} to {high:.0%} "
                "wanted"
            )
    if ignoring + _margin(unheeding) < limits.ignoring:
        wrong.append("ignoring what a hand-over is worth loses too little")
    if by_bar + _margin(unbending) < limits.fixed_bar:
        wrong.append("a bar that is the same at every worth loses too little")
    halfway = [decision.halfway for decision in decisions]
    varied = min(pstdev(values), pstdev(halfway)) > 0.0
    foreseen = correlation(halfway, values) if varied else 0.0
    summary = (
        f"over {len(decisions)} incidents and every worth, ignoring it loses "
        f"{ignoring:.3f} of net value ({limits.ignoring:g} wanted), the best fixed bar "
        f"({bar:.2f}) {by_bar:.3f} ({limits.fixed_bar:g} wanted); handed over are "
        + ", ".join(f"{share:.0%} at {worth:g}" for worth, share in shares.items())
        + f"; V has the median {median(values):.2f} and the deviation {pstdev(values):.2f}, and "
        f"halfway a correlation of {foreseen:.2f} with V at the end"
    )
    evidence = {
        "incidents": len(decisions),
        "net_value": net_value_at_best(decisions),
        "ignoring": ignoring,
        "fixed_bar": by_bar,
        "bar": bar,
        "handed_over": {str(worth): share for worth, share in shares.items()},
        "wrong": wrong,
        "mean": fmean(values),
        "deviation": pstdev(values),
        "halfway": foreseen,
    }
    setting = incidents[0].setting
    if setting is not None and setting.fog != BENCHMARK_FOG:
        return reported(summary, **evidence)
    return judged(not wrong, "; ".join((*wrong, summary)), **evidence)


def _margin(values: Sequence[float]) -> float:
    """The allowance for a mean, since few incidents may be a biased lot."""
    return ERRORS * pstdev(values) / sqrt(len(values))
