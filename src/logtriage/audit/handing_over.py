"""Whether the price of hand-over binds: what an agent loses that does not heed it.

By Chow's rule [1]_ who may hand over should go on if it expects more than the price c. The rule
tests nothing where hardly an incident leaves a doubt that c decides. So the observer asks as if
nobody took the incident over, until no question pays. There the expected grade V of going on is
known exactly, and so is, for each price of the list, what a hand-over is worth: no grade is
sampled, and one play stands for all prices.

.. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
   Information Theory 16 (1970), doi:10.1109/TIT.1970.1054406.
"""

from collections.abc import Iterator, Sequence
from math import fsum, sqrt
from statistics import correlation, fmean, median, pstdev
from typing import Final

import attrs
import numpy as np

from logtriage.audit.findings import NOT_OF_A_WORLD, Check, Finding
from logtriage.audit.leaks import ANSWERS, Codes, codes, told_by
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.belief import belief
from logtriage.belief.stakes import stakes_for
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.incident import Incident
from logtriage.policies.observer import best_question
from logtriage.state import initial_state
from logtriage.tasks import BENCHMARK_FOG
from logtriage.transition import transition

NO_PRICE_OF_HAND_OVER: Final = "no incident of the sample has a price of hand-over"
#: So many standard errors are allowed for.
ERRORS: Final = 2.0
#: What there is to gain in an incident beyond handing it over, over all prices.
_GAINED: Final = sum(1.0 - price for price in PRICES_OF_HAND_OVER)
#: Standard errors that no count of a price is to be from even: rarer than 1 in 10,000.
_FAR: Final = 4.5


@attrs.frozen
class Decision:
    """Where the observer asks no more, as if nobody took the incident over.

    ``value`` is the expected grade of going on, ``halfway`` the same after half of the
    questions; ``prices`` are what a hand-over is worth then, for each price of the list.
    """

    value: float
    halfway: float
    prices: tuple[float, ...]


def decision_of(incident: Incident) -> Decision:
    """The observer's decision in an incident of a world."""
    setting = incident.setting
    assert setting is not None, "only incidents of a world are looked at"
    states = [initial_state(attrs.evolve(incident, price_of_hand_over=None))]
    while True:
        question = best_question(belief(states[-1]))
        after = None if question is None else transition(states[-1], question)
        if after is None or after.is_closed:
            break
        states.append(after)
    stakes = stakes_for(states[0].incident, setting.par, setting.par_benign)
    worths = (
        attrs.evolve(stakes, price_of_hand_over=price).handed_over(states[-1].tick + 1)
        for price in PRICES_OF_HAND_OVER
    )
    return Decision(
        belief(states[-1]).value(),
        belief(states[len(states) // 2]).value(),
        tuple(0.0 if worth is None else worth for worth in worths),
    )


# -- what is lost ------------------------------------------------------------------------


def lost_by_ignoring(decisions: Sequence[Decision]) -> list[float]:
    """What each decision loses by never handing over, over all prices, as net value."""
    return [sum(max(0.0, price - one.value) for price in one.prices) / _GAINED for one in decisions]


def lost_by_a_bar(decisions: Sequence[Decision]) -> tuple[float, list[float]]:
    """The best fixed bar of expected grade, whatever the price; what each decision loses by it."""
    values = sorted({one.value for one in decisions})
    rows = [(_lost_at(bar, decisions), bar) for bar in (*values, values[-1] + 1.0)]
    lost, bar = min(rows, key=lambda row: (fsum(row[0]), row[1]))
    return bar, lost


def _lost_at(bar: float, decisions: Sequence[Decision]) -> list[float]:
    """What is lost by handing over what is worth less than the bar, and nothing else."""
    signs = (-1.0 if one.value < bar else 1.0 for one in decisions)
    return [
        sum(max(0.0, sign * (price - one.value)) for price in one.prices) / _GAINED
        for sign, one in zip(signs, decisions, strict=True)
    ]


def handed_over(decisions: Sequence[Decision]) -> dict[float, float]:
    """The share of decisions in which a hand-over is worth more than going on, by price."""
    return {
        price: fmean(one.prices[place] > one.value for one in decisions)
        for place, price in enumerate(PRICES_OF_HAND_OVER)
    }


def net_value_at_best(decisions: Sequence[Decision]) -> float:
    """The expected net value of going on or handing over, whichever is worth more."""
    gained = fsum(
        max(one.value, worth) - price
        for one in decisions
        for worth, price in zip(one.prices, PRICES_OF_HAND_OVER, strict=True)
    )
    return gained / (len(decisions) * _GAINED)


# -- the checks ----------------------------------------------------------------------------


def risk(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``risk`` and ``price``."""
    yield Check("risk", lambda: binding(subject, sizes, limits))
    yield Check("price", lambda: price(subject, sizes, limits))


def binding(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    """The check ``risk``: c decides often enough, and it matters."""
    incidents = subject.incidents("test", sizes.prices)
    if any(one.simulation is None for one in incidents):
        return Finding.skipped("risk", NOT_OF_A_WORLD)
    if not all(one.takes_hand_over for one in incidents):
        return Finding.skipped("risk", NO_PRICE_OF_HAND_OVER)
    decisions = [decision_of(one) for one in incidents]
    values = [one.value for one in decisions]
    unheeding, (bar, unbending) = lost_by_ignoring(decisions), lost_by_a_bar(decisions)
    ignoring, by_bar, shares = fmean(unheeding), fmean(unbending), handed_over(decisions)
    wrong = []
    for price, low, high in limits.handed_over:
        margin = ERRORS * sqrt(shares[price] * (1.0 - shares[price]) / len(decisions))
        if not low - margin <= shares[price] <= high + margin:
            wrong.append(
                f"{shares[price]:.0%} are handed over at c = {price:g}, {low:.0%} to {high:.0%} "
                "wanted"
            )
    if ignoring + _margin(unheeding) < limits.ignoring:
        wrong.append("ignoring the price loses too little")
    if by_bar + _margin(unbending) < limits.fixed_bar:
        wrong.append("a bar that is the same at every price loses too little")
    figures = _spread(decisions)
    summary = (
        f"over {len(decisions)} incidents and every price, ignoring the price loses "
        f"{ignoring:.3f} of net value ({limits.ignoring:g} wanted), the best fixed bar "
        f"({bar:.2f}) {by_bar:.3f} ({limits.fixed_bar:g} wanted); handed over are "
        + ", ".join(f"{share:.0%} at {price:g}" for price, share in shares.items())
        + f"; V has the median {median(values):.2f} and the deviation {pstdev(values):.2f}, and "
        f"halfway a correlation of {figures['halfway']:.2f} with V at the end"
    )
    evidence = {
        "incidents": len(decisions),
        "net_value": net_value_at_best(decisions),
        "ignoring": ignoring,
        "fixed_bar": by_bar,
        "bar": bar,
        "handed_over": {str(price): share for price, share in shares.items()},
        "wrong": wrong,
        **figures,
    }
    setting = incidents[0].setting
    if setting is not None and setting.fog != BENCHMARK_FOG:
        return Finding.reported("risk", summary, **evidence)
    return Finding.judged("risk", not wrong, "; ".join((*wrong, summary)), **evidence)


def _margin(values: Sequence[float]) -> float:
    """What is allowed for, since few incidents may be a biased lot."""
    return ERRORS * pstdev(values) / sqrt(len(values))


def _spread(decisions: Sequence[Decision]) -> dict[str, float]:
    """How V is spread, and how well it can be foreseen halfway."""
    values, halfway = [one.value for one in decisions], [one.halfway for one in decisions]
    varied = min(pstdev(values), pstdev(halfway)) > 0.0
    return {
        "mean": fmean(values),
        "deviation": pstdev(values),
        "below_0.7": fmean(value < 0.7 for value in values),
        "below_0.9": fmean(value < 0.9 for value in values),
        "halfway": correlation(halfway, values) if varied else 0.0,
    }


def price(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    """The check ``price``: every price is as likely as the others, and tells nothing."""
    drawn = subject.incidents("train", sizes.leaks)
    if any(one.price_of_hand_over is None for one in drawn):
        return Finding.skipped("price", NO_PRICE_OF_HAND_OVER)
    prices = codes(one.price_of_hand_over for one in drawn)
    known = {one.price_of_hand_over for one in drawn} <= set(PRICES_OF_HAND_OVER)
    answers = {name: codes(map(read, drawn)) for name, read in ANSWERS.items()}
    every = np.arange(len(drawn))
    told = told_by(
        [("price", name, prices, every) for name in answers], answers, sizes.permutations
    )
    telling = [
        name for name, p in zip(answers, told.chance.tolist(), strict=True) if p <= limits.leak
    ]
    uneven = _unevenness(prices)
    even = uneven <= _FAR
    nearest = list(answers)[told.nearest]
    return Finding.judged(
        "price",
        known and even and not telling,
        ("" if known else "prices that are not of the list; ")
        + ("" if even else "some price is commoner than another; ")
        + (f"the price tells of: {', '.join(telling)}; " if telling else "")
        + f"of {len(drawn):,} prices none is more than {uneven:.1f} standard errors from even; "
        f"they tell {told.bits[told.nearest]:.4f} bits of the {nearest} where shuffling gives "
        f"{told.by_chance[told.nearest]:.4f} (family-wise p {told.chance[told.nearest]:.2g})",
        incidents=len(drawn),
        uneven=uneven,
        telling=telling,
        least_p=float(told.chance.min()),
    )


def _unevenness(prices: Codes) -> float:
    """How far the count of any price is from even, in standard errors."""
    share = 1.0 / len(PRICES_OF_HAND_OVER)
    counts = np.bincount(prices, minlength=len(PRICES_OF_HAND_OVER))
    error = sqrt(len(prices) * share * (1.0 - share))
    return float(np.abs(counts - len(prices) * share).max()) / error
