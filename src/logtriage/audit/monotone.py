"""Being more right never costs: each fact of an episode, from worst to best.

A plan is put together from one choice for each fact: severity, root cause, page,
remedy, closing, and how many ticks were spent on nothing. For every two choices of one
fact of which one is better, all others being equal, the better one must not earn less.
This is so whatever comes first, the page or the remedy; and of two confidences that is the
better one which is higher in a right answer, or lower in a wrong one.

Two order rules are sound. Recovery is no diagnosis: a fix may void a root cause that is
declared after it, and so cost what that declaration would have earned, but no more. And where
the rubric wants the page before production is touched, a fix before it may cost its share of
all that was earned, but no more.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Final

import attrs

from logtriage.actions import IdentifyRootCause
from logtriage.audit.facts import Fact, facts_of, plan_of
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.sampling import sample_of_kinds
from logtriage.audit.scoring import Scorer
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import word
from logtriage.grading import Rubric, priced
from logtriage.grading.tables import has_kernels
from logtriage.incident import Incident

#: Other orders in which the facts come about; the last two always end a plan.
_ORDERS: Final = (
    ("page", "root cause", "remedy", "severity"),
    ("page", "remedy", "root cause", "severity"),
)
_CONFIDENCES: Final = (0.0, 0.5, 1.0)


@attrs.define
class _Seen:
    """How many pairs of plans were compared for each fact, and the worst of them."""

    compared: dict[str, int] = attrs.field(factory=dict)
    worst: dict[str, tuple[float, str]] = attrs.field(factory=dict)


def monotone(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The check ``monotonicity``."""
    yield Check("monotonicity", lambda: _monotonicity(subject, sizes, limits))


def _monotonicity(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    seen = _Seen()
    for incident in sample_of_kinds(subject, sizes):
        for facts in _passes(incident, said=not has_kernels(subject.rubric)):
            _compare(subject, incident, facts, seen, limits)
    untested = [name for name, count in seen.compared.items() if not count]
    compared, told = sum(seen.compared.values()), "; ".join(one for _, one in seen.worst.values())
    if not compared:
        return Finding.untested("monotonicity", "of no fact is it known what would be better")
    return Finding.judged(
        "monotonicity",
        not seen.worst,
        (told or f"a better fact never lowers the score ({compared:,} comparisons)")
        + (
            f"; untested, since nothing is known to be better: {', '.join(untested)}"
            * bool(untested)
        ),
        compared=compared,
        untested=untested,
        violations={name: loss for name, (loss, _) in seen.worst.items()},
    )


def _compare(
    subject: Subject,
    incident: Incident,
    facts: tuple[Fact, ...],
    seen: _Seen,
    limits: Thresholds,
) -> None:
    keys = list(product(*(fact.choices for fact in facts)))
    plans = {key: plan_of(facts, key) for key in keys}
    scores = Scorer([incident], subject.rubric).means(list(plans.values()))
    found = dict(zip(keys, scores.tolist(), strict=True))
    for place, fact in enumerate(facts):
        seen.compared.setdefault(fact.name, 0)
        for key in keys:
            for worse, better in fact.better:
                if key[place] != worse:
                    continue
                other = (*key[:place], better, *key[place + 1 :])
                if max(map(len, (plans[key], plans[other]))) > incident.horizon:
                    continue  # the end of one of them would never be played
                seen.compared[fact.name] += 1
                loss = found[key] - found[other] - _voided(facts, place, key, found)
                loss -= _hasty(facts, place, key, subject.rubric) * found[key]
                if loss > limits.tolerance and loss > seen.worst.get(fact.name, (0.0, ""))[0]:
                    plan = ", ".join(map(word, plans[key]))
                    seen.worst[fact.name] = (
                        loss,
                        f"{fact.name}: {worse} earns {loss:.4f} more than {better} "
                        f"({incident.id}; {plan})",
                    )


def _voided(
    facts: tuple[Fact, ...],
    place: int,
    key: tuple[str, ...],
    found: dict[tuple[str, ...], float],
) -> float:
    """What a root cause earns that is declared after the remedy of which the choice differs."""
    later = [at for at in range(place + 1, len(facts)) if facts[at].name == "root cause"]
    if facts[place].name != "remedy" or not later:
        return 0.0
    silent = (*key[: later[0]], "none", *key[later[0] + 1 :])
    return max(0.0, found[key] - found[silent])


def _hasty(facts: tuple[Fact, ...], place: int, key: tuple[str, ...], rubric: Rubric) -> float:
    """The share of the total that a right remedy may cost before the right page."""
    if facts[place].name != "remedy":
        return 0.0
    page = [fact.name for fact in facts].index("page")
    paged = page < place and key[page] == "right"
    early = any(one.factor is priced.unapproved_fix for one in rubric.discounts)
    return 1.0 - priced.UNAPPROVED_FIX if early and not paged else 0.0


def _passes(incident: Incident, *, said: bool) -> Iterator[tuple[Fact, ...]]:
    """The facts once in full, then in other orders, and with confidences if ``said``."""
    facts = facts_of(incident)
    yield facts
    *answers, time, closing = facts
    brief = attrs.evolve(time, choices=dict([next(iter(time.choices.items()))]), better=())
    by_name = {fact.name: fact for fact in answers}
    for order in _ORDERS:
        yield (*(by_name[name] for name in order), brief, closing)
    if said:
        by_name["root cause"] = _with_confidences(by_name["root cause"])
        yield (*by_name.values(), brief, closing)


def _with_confidences(fact: Fact) -> Fact:
    """Each answer also with a confidence: no wrong one is then worth more than none."""
    choices, better = dict(fact.choices), list(fact.better)
    for name, actions in fact.choices.items():
        if name == "none":
            continue
        sure = [f"{name}, confidence {one:g}" for one in _CONFIDENCES]
        for label, one in zip(sure, _CONFIDENCES, strict=True):
            choices[label] = tuple(
                IdentifyRootCause(action.service, one)
                for action in actions
                if isinstance(action, IdentifyRootCause)
            )
            better.append(("none", label) if name == "right" else (label, "none"))
        better += pairwise(sure if name == "right" else reversed(sure))
    return Fact(fact.name, choices, tuple(better))
