"""Whether the worth of a hand-over matters: what an agent loses that ignores it.

By Chow's rule [1]_ an agent goes on if it expects a grade above the worth c of a hand-over, and
hands over if not. The observer asks as if nobody took the incident over, until no question pays.
Then the expected grade of going on and the worth of a late hand-over are known exactly, for each c.

.. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
   Information Theory 16 (1970), doi:10.1109/TIT.1970.1054406.
"""

from collections.abc import Sequence
from math import fsum
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.audit.findings import NOT_OF_A_WORLD, Outcome, Verdict, judged
from logtriage.audit.limits import Thresholds
from logtriage.audit.subject import Work
from logtriage.beliefs import belief
from logtriage.beliefs.ledgers import stakes_for
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.dynamics import transition
from logtriage.evaluation import Interval, mean_interval
from logtriage.incident import Incident
from logtriage.policies.observer import best_question
from logtriage.state import initial_state
from logtriage.tasks import BENCHMARK_FOG

NO_WORTH: Final = "no incident of the sample has a worth of hand-over"
#: The most that an incident can earn beyond handing it over, summed over all worths.
_GAINED: Final = sum(1.0 - worth for worth in WORTHS_OF_HAND_OVER)


@attrs.frozen
class Decision:
    """The point at which the observer asks no more; ``value`` is the expected grade of going on.

    ``worths`` holds what a hand-over is worth by then, for each worth at the beginning.
    """

    value: float
    worths: tuple[float, ...]


def decision_of(incident: Incident) -> Decision:
    """The observer's decision in an incident of a world."""
    setting = incident.setting
    assert setting is not None, "only incidents of a world are looked at"
    state = initial_state(attrs.evolve(incident, worth_of_hand_over=None))
    held = belief(state)
    while (question := best_question(held)) is not None:
        after = transition(state, question)
        if after.is_closed:
            break
        state, held = after, belief(after)
    stakes = stakes_for(state.incident, setting.par, setting.par_benign)
    worths = (
        attrs.evolve(stakes, worth_of_hand_over=worth).handed_over(state.tick + 1)
        for worth in WORTHS_OF_HAND_OVER
    )
    return Decision(held.value(), tuple(0.0 if worth is None else worth for worth in worths))


def lost_by_ignoring(decisions: Sequence[Decision]) -> list[float]:
    """The net value that each decision loses by never handing over, over all worths."""
    return _lost_at(0.0, decisions)


def lost_by_a_bar(decisions: Sequence[Decision]) -> tuple[float, list[float]]:
    """(bar, loss of each decision) for the best fixed bar: below it, hand over at any worth."""
    values = sorted({decision.value for decision in decisions})
    # Any other bar parts the decisions as one of these does; the last one hands over all.
    rows = [(_lost_at(bar, decisions), bar) for bar in (*values, values[-1] + 1.0)]
    lost, bar = min(rows, key=lambda row: (fsum(row[0]), row[1]))
    return bar, lost


def _lost_at(bar: float, decisions: Sequence[Decision]) -> list[float]:
    # Below the bar an agent hands over and may lose value - worth, else it may lose worth - value.
    signs = (-1.0 if decision.value < bar else 1.0 for decision in decisions)
    return [
        sum(max(0.0, sign * (worth - decision.value)) for worth in decision.worths) / _GAINED
        for sign, decision in zip(signs, decisions, strict=True)
    ]


def handed_over(decisions: Sequence[Decision]) -> dict[float, float]:
    """For each worth, the share of decisions in which a hand-over is worth more than going on."""
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


def risk(work: Work) -> Outcome:
    """The worth c of a hand-over must matter enough; at unusual fog it is only reported."""
    incidents = work.subject.incidents("test", work.sizes.worths)
    if any(incident.simulation is None for incident in incidents):
        return Outcome(Verdict.SKIPPED, NOT_OF_A_WORLD)
    if not all(incident.takes_hand_over for incident in incidents):
        return Outcome(Verdict.SKIPPED, NO_WORTH)
    outcome = weighed([decision_of(incident) for incident in incidents], work.limits)
    setting = incidents[0].setting
    if setting is not None and setting.fog != BENCHMARK_FOG:
        return attrs.evolve(outcome, verdict=Verdict.REPORTED)
    return outcome


def weighed(decisions: Sequence[Decision], limits: Thresholds) -> Outcome:
    """The outcome of :func:`risk`: a figure fails only if its whole interval is out of limits."""
    (bar, lost), shares = lost_by_a_bar(decisions), handed_over(decisions)
    ignored, fixed = _mean(lost_by_ignoring(decisions)), _mean(lost)
    wrong, by_worth = [], list[dict[str, Any]]()
    for place, worth in enumerate(WORTHS_OF_HAND_OVER):
        share = shares[worth]
        gains = [decision.worths[place] - decision.value for decision in decisions]
        gained = fmean(max(0.0, gain) for gain in gains)
        by_worth.append({"worth": worth, "handed_over": share, "gained": gained})
        interval = _mean([float(gain > 0.0) for gain in gains])
        for limited, least, most in limits.handed_over:
            low, high = interval.bounds
            if limited == worth and (high < least or low > most):
                wanted = f"{least:.0%} to {most:.0%} wanted"
                wrong.append(f"{share:.0%} are handed over at c = {worth:g}, {wanted}")
    if ignored.bounds[1] < limits.ignoring:
        wrong.append("ignoring what a hand-over is worth loses too little")
    if fixed.bounds[1] < limits.fixed_bar:
        wrong.append("a bar that is the same at every worth loses too little")
    summary = (
        f"over {len(decisions)} incidents and every worth, ignoring it loses {ignored:.3f} of net "
        f"value ({limits.ignoring:g} wanted), the best fixed bar ({bar:.2f}) {fixed.mean:.3f} "
        f"({limits.fixed_bar:g} wanted); handed over are "
        + ", ".join(f"{share:.0%} at {worth:g}" for worth, share in shares.items())
    )
    return judged(
        not wrong,
        "; ".join((*wrong, summary)),
        incidents=len(decisions),
        ignored=attrs.asdict(ignored),
        fixed=fixed.mean,
        by_worth=by_worth,
        wrong=wrong,
    )


def _mean(values: Sequence[float]) -> Interval:
    interval = mean_interval(values)
    assert interval is not None, "an audit draws at least one incident"
    return interval
