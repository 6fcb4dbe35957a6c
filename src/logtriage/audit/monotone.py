"""Being more right never costs: each fact of an episode, from worst to best.

A plan is put together from a choice for each fact: severity, root cause, page, remedy, closing,
and how many ticks were spent on nothing. If two plans differ in a single fact, the plan with the
better choice must not earn less.
This holds whatever comes first, the page or the remedy. Of two confidences, the higher is better
in a right answer, and the lower in a wrong answer.

Two order rules are sound. Recovery is no diagnosis: a fix may void a root cause that is
declared after it, and so cost what that declaration would have earned, but no more. And where
the rubric wants the page before production is touched, a fix before it may cost its share of
the total, but no more.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import Final

import attrs

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
)
from logtriage.audit.findings import Outcome, judged, untested
from logtriage.audit.sampling import sample_of_kinds
from logtriage.audit.scoring import Scorer
from logtriage.audit.subject import Work
from logtriage.audit.vocabulary import IDLE, words
from logtriage.grading import Rubric, priced
from logtriage.grading.tables import has_kernels
from logtriage.incident import Incident

_Plan = tuple[Action, ...]
#: A choice for each fact, by name.
_Key = tuple[str, ...]
#: Other orders in which the facts come about; time and closing always end a plan.
_ORDERS: Final = (
    ("page", "root cause", "remedy", "severity"),
    ("page", "remedy", "root cause", "severity"),
)
_CONFIDENCES: Final = (0.0, 0.5, 1.0)


@attrs.frozen
class Fact:
    """A fact with its choices, each some actions, and the pairs (worse, better) among them."""

    name: str
    choices: Mapping[str, _Plan]
    better: tuple[tuple[str, str], ...]


def monotonicity(work: Work) -> Outcome:
    """A better fact never lowers the score."""
    rubric = work.subject.rubric
    compared: dict[str, int] = {}
    worst: dict[str, tuple[float, str]] = {}
    for incident in work.shared(sample_of_kinds):
        for facts in _passes(incident, said=not has_kernels(rubric)):
            for fact, loss, how in _losses(incident, facts, rubric):
                compared[fact] = compared.get(fact, 0) + bool(how)
                if loss > max(work.limits.tolerance, worst.get(fact, (0.0, ""))[0]):
                    worst[fact] = loss, how
    total, unknown = sum(compared.values()), [name for name, count in compared.items() if not count]
    if not total:
        return untested("of no fact is it known what would be better")
    lead = "; ".join(how for _, how in worst.values())
    return judged(
        not worst,
        (lead or f"a better fact never lowers the score ({total:,} comparisons)")
        + f"; untested, since nothing is known to be better: {', '.join(unknown)}" * bool(unknown),
        compared=total,
        untested=unknown,
        violations={name: loss for name, (loss, _) in worst.items()},
    )


def _losses(
    incident: Incident, facts: tuple[Fact, ...], rubric: Rubric
) -> Iterator[tuple[str, float, str]]:
    """(fact, loss by the better choice, how) for each pair of plans; a fact alone has no how."""
    keys = list(product(*(fact.choices for fact in facts)))
    plans = {key: _plan_of(facts, key) for key in keys}
    scores = dict(
        zip(keys, Scorer([incident], rubric).means([*plans.values()]).tolist(), strict=True)
    )
    for place, fact in enumerate(facts):
        yield fact.name, 0.0, ""
        for key, (worse, better) in product(keys, fact.better):
            other = (*key[:place], better, *key[place + 1 :])
            longest = max(len(plans[key]), len(plans[other]))
            if key[place] != worse or longest > incident.horizon:
                continue  # the end of a longer plan would never be played
            loss = scores[key] - scores[other] - _voided(facts, place, key, scores)
            loss -= _hasty(facts, place, key, rubric) * scores[key]
            yield (
                fact.name,
                loss,
                (
                    f"{fact.name}: {worse} earns {loss:.4f} more than {better} "
                    f"({incident.id}; {words(plans[key])})"
                ),
            )


def _voided(facts: tuple[Fact, ...], place: int, key: _Key, scores: Mapping[_Key, float]) -> float:
    """Points for a root cause declared after the remedy being varied."""
    later = [at for at in range(place + 1, len(facts)) if facts[at].name == "root cause"]
    if facts[place].name != "remedy" or not later:
        return 0.0
    silent = (*key[: later[0]], "none", *key[later[0] + 1 :])
    return max(0.0, scores[key] - scores[silent])


def _hasty(facts: tuple[Fact, ...], place: int, key: _Key, rubric: Rubric) -> float:
    """The share of the total that a right remedy may cost before the right page."""
    if facts[place].name != "remedy":
        return 0.0
    page = [fact.name for fact in facts].index("page")
    paged = page < place and key[page] == "right"
    early = any(row.factor is priced.unapproved_fix for row in rubric.discounts)
    return 1.0 - priced.UNAPPROVED_FIX if early and not paged else 0.0


def _passes(incident: Incident, *, said: bool) -> Iterator[tuple[Fact, ...]]:
    """The facts once in full, then in other orders, and with confidences if ``said``."""
    facts = _facts_of(incident)
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
    """Each answer also with confidences; no wrong answer may then be worth more than none."""
    choices, better = dict(fact.choices), list(fact.better)
    for name, actions in fact.choices.items():
        if name == "none":
            continue
        labels = [f"{name}, confidence {confidence:g}" for confidence in _CONFIDENCES]
        for label, confidence in zip(labels, _CONFIDENCES, strict=True):
            choices[label] = tuple(
                IdentifyRootCause(action.service, confidence)
                for action in actions
                if isinstance(action, IdentifyRootCause)
            )
            better.append(("none", label) if name == "right" else (label, "none"))
        better += pairwise(labels if name == "right" else reversed(labels))
    return Fact(fact.name, choices, tuple(better))


# -- facts -------------------------------------------------------------------------------


def _plan_of(facts: tuple[Fact, ...], key: _Key) -> _Plan:
    """The actions of one choice for each fact, in order."""
    return tuple(
        action for fact, choice in zip(facts, key, strict=True) for action in fact.choices[choice]
    )


def _facts_of(incident: Incident) -> tuple[Fact, ...]:
    """The facts of an incident; the right page comes late, since a wrong page may close."""
    closings: dict[str, _Plan] = {"open": (), "ignored": (Ignore(),)}
    best: tuple[tuple[str, str], ...] = (("open", "ignored"),)
    if not incident.truth.benign:
        closings["resolved"] = (Resolve(),)
        best = (("ignored", "open"), ("ignored", "resolved"), ("open", "resolved"))
    waits = {f"{count} ticks wasted": (IDLE,) * count for count in (0, 1, 2)}
    none, once, twice = waits
    return (
        _severity(incident),
        _root(incident),
        _remedy(incident),
        _page(incident),
        Fact("time", waits, ((once, none), (twice, once))),
        Fact("closing", closings, best),
    )


def _severity(incident: Incident) -> Fact:
    """The severity by its distance from the truth; at equal distances, the last severity."""
    truth, ranks = incident.truth.severity, list(SEVERITIES)
    choices: dict[str, _Plan] = {"none": (IDLE,)}
    if truth is None:
        return Fact("severity", choices, ())
    for severity in ranks:
        off = abs(ranks.index(severity) - ranks.index(truth))
        choices[f"{off} off" if off else "right"] = (ClassifySeverity(severity),)
    furthest_first = sorted(choices.keys() - {"none", "right"}, reverse=True)
    return Fact("severity", choices, (*pairwise([*furthest_first, "right"]), ("none", "right")))


def _chain(name: str, right: Action | None, wrongs: Mapping[str, Action]) -> Fact:
    """Right is no worse than nothing, and nothing no worse than wrong."""
    choices: dict[str, _Plan] = {"none": (IDLE,)}
    choices |= {wrong: (action,) for wrong, action in wrongs.items()}
    better = [(wrong, "none") for wrong in wrongs]
    if right is not None:
        choices["right"] = (right,)
        better += [("none", "right"), *((wrong, "right") for wrong in wrongs)]
    return Fact(name, choices, tuple(better))


def _root(incident: Incident) -> Fact:
    """Wrong in several ways: a caller (a symptom), a service of the same tier, any other."""
    topology, accepted = incident.topology, incident.truth.root_causes
    roots = [topology.index(root) for root in sorted(accepted)]
    symptoms = {topology.names[caller] for root in roots for caller in topology.callers[root]}
    tiers = {topology.services[root].tier for root in roots}
    wrongs: dict[str, Action] = {}
    for service in topology.services:
        if service.name not in accepted:
            kind = "a symptom" if service.name in symptoms else "another service"
            if kind != "a symptom" and service.tier in tiers:
                kind = "one of its tier"
            wrongs.setdefault(kind, IdentifyRootCause(service.name))
    return _chain("root cause", IdentifyRootCause(min(accepted)) if accepted else None, wrongs)


def _page(incident: Incident) -> Fact:
    accepted = incident.truth.teams
    wrong = next((team for team in incident.topology.teams if team not in accepted), None)
    if not accepted and not incident.truth.benign:
        wrong = None  # a recorded incident: nobody knows whom to page
    return _chain(
        "page",
        Escalate(min(accepted)) if accepted else None,
        {} if wrong is None else {"wrong": Escalate(wrong)},
    )


def _remedy(incident: Incident) -> Fact:
    """The wrong remedy strikes the right service, if there is one."""
    accepted = incident.truth.remedies
    services = [service for _, service in sorted(accepted)]
    wrong = next(
        Remediate(remedy, service)
        for service in (*services, *incident.topology.names)
        for remedy in incident.topology.remedies
        if (remedy, service) not in accepted
    )
    right = Remediate(*min(accepted)) if accepted else None
    fact = _chain("remedy", right, {"wrong": wrong})
    # Every choice takes as many ticks as a right and a wrong remedy together.
    choices: dict[str, _Plan] = {name: (IDLE, *plan) for name, plan in fact.choices.items()}
    if right is None:
        return attrs.evolve(fact, choices=choices)
    both = {"right after wrong": (wrong, right), "right, then wrong": (right, wrong)}
    return Fact("remedy", choices | both, (*fact.better, *((name, "right") for name in both)))
