"""What a page is worth: it pays from the confidence that the price of silence names.

By Chow's rule [1]_ whoever may abstain should answer if the answer is right with at least
the probability that abstaining is worth, as a share of what a right answer is worth. Here
severity and root cause are known, nothing is fixed yet, and the page is what is in doubt.

.. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
   Information Theory 16 (1970), doi:10.1109/TIT.1970.1054406.
"""

from collections.abc import Iterator, Sequence

import attrs

from logtriage.actions import Action, Escalate, Remediate, Resolve
from logtriage.audit.failing import score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.handing_over import binding, price
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import IDLE
from logtriage.belief import belief
from logtriage.drawing.incidents import PRICES_OF_SILENCE
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.state import initial_state
from logtriage.transition import play

NO_PRICE = "no incident of the sample is a real fault with a price of silence"


def risk(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``risk`` and ``price``."""
    priced = subject.incident("test", 0).takes_hand_over
    check = binding if priced else _risk
    yield Check("risk", lambda: check(subject, sizes, limits))
    yield Check("price", lambda: price(subject, sizes, limits))


def priced(subject: Subject, count: int) -> list[Incident]:
    """Single faults among the first test incidents whose silence has a price, so many at most."""
    drawn = subject.incidents("test", 4 * count)
    return [
        one
        for one in drawn
        if one.price_of_silence is not None
        and one.truth.teams
        and one.truth.remedies
        and not one.truth.several
    ][:count]


def _risk(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    incidents = priced(subject, sizes.same)
    if not incidents:
        return Finding.skipped("risk", NO_PRICE)
    rubric = subject.rubric
    wrong: list[str] = []
    bars: dict[float, list[float]] = {}
    for silence in PRICES_OF_SILENCE:
        for one in incidents:
            incident = attrs.evolve(one, price_of_silence=silence)
            bars.setdefault(silence, []).extend(_bars(incident, rubric))
            wrong += _not_worth_it(incident, rubric, limits)
    stray = max(abs(bar - price) for price, row in bars.items() for bar in row)
    told = "; ".join(
        f"at c = {price:g} a page pays from {min(row):.3f} to {max(row):.3f}"
        for price, row in bars.items()
    )
    told += f", at most {limits.bar:g} from c wanted"
    paged = _paging(subject, sizes)
    low, high = min(PRICES_OF_SILENCE), max(PRICES_OF_SILENCE)
    heeded = True
    if paged:
        heeded = paged[low] > paged[high]
        told += (
            f"; on the first screen the observer would page in {paged[low]:.0%} of the incidents "
            f"at c = {low:g} and in {paged[high]:.0%} at c = {high:g}"
        )
    return Finding.judged(
        "risk",
        stray <= limits.bar and not wrong and heeded,
        "; ".join((*wrong[:2], told)),
        incidents=len(incidents),
        bars={str(price): [min(row), max(row)] for price, row in bars.items()},
        stray=stray,
        threshold=limits.bar,
        wrong=wrong[:5],
        paged={str(price): share for price, share in paged.items()},
    )


def _best(incident: Incident, rubric: Rubric, plan: Sequence[Action], further: int) -> float:
    """The most that a plan earns with some, or none, of its last ``further`` actions left out."""
    ends = range(len(plan) - further, len(plan) + 1)
    return max(score(play(incident, plan[:end])[0], rubric) for end in ends)


def _bars(incident: Incident, rubric: Rubric) -> Iterator[float]:
    """From which confidence a page pays, for as long as there is time for it and a fix."""
    known = perfect_actions(incident)[:2]
    page, wrong = Escalate(min(incident.truth.teams)), _wrong_page(incident)
    fix = (Remediate(*min(incident.truth.remedies)), Resolve())
    for waits in range(incident.horizon - len(known) - len(fix)):
        so_far = (*known, *(IDLE,) * waits)
        silent = _best(incident, rubric, (*so_far, *fix), len(fix))
        right = _best(incident, rubric, (*so_far, page, *fix), len(fix))
        misled = _best(incident, rubric, (*so_far, wrong, *fix), len(fix))
        yield (silent - misled) / (right - misled) if right > misled else 1.0


def _wrong_page(incident: Incident) -> Escalate:
    return Escalate(next(one for one in incident.topology.teams if one not in incident.truth.teams))


def _not_worth_it(incident: Incident, rubric: Rubric, limits: Thresholds) -> Iterator[str]:
    """A perfect response without a page earns c; with a mis-page, the least there is."""
    plan, price = perfect_actions(incident), incident.price_of_silence
    assert price is not None, "only incidents with a price are looked at"
    silent = tuple(one for one in plan if not isinstance(one, Escalate))
    got = score(play(incident, silent)[0], rubric)
    if abs(got - price) > limits.tolerance:
        yield f"a perfect response without a page earns {got:.4f} at c = {price:g}"
    for place in range(len(silent)):
        misled = (*silent[:place], _wrong_page(incident), *silent[place:])
        got = score(play(incident, misled)[0], rubric)
        if got > rubric.bounds[0]:
            yield f"a perfect response with a mis-page earns {got:.4f} at c = {price:g}"


def _paging(subject: Subject, sizes: Sizes) -> dict[float, float]:
    """The share of incidents in which the observer would page on the first screen, by price.

    That is where most is in doubt: after some questions it is sure, whatever the price.
    """
    incidents = [
        incident for incident in subject.incidents("test", sizes.prices) if incident.simulation
    ]
    if not incidents:
        return {}
    pages = dict.fromkeys(PRICES_OF_SILENCE, 0)
    for one in incidents:
        for silence in pages:
            start = initial_state(attrs.evolve(one, price_of_silence=silence))
            pages[silence] += belief(start).best().page is not None
    return {price: count / len(incidents) for price, count in pages.items()}
