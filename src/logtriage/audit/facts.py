"""The facts of an episode, each with its choices from worst to best."""

from itertools import pairwise

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
from logtriage.audit.vocabulary import IDLE
from logtriage.incident import Incident


@attrs.frozen
class Fact:
    """One fact: its choices, each some actions, and the pairs (worse, better) among them."""

    name: str
    choices: dict[str, tuple[Action, ...]]
    better: tuple[tuple[str, str], ...]


def plan_of(facts: tuple[Fact, ...], key: tuple[str, ...]) -> tuple[Action, ...]:
    """The actions of one choice for each fact, in order."""
    return tuple(
        action for fact, choice in zip(facts, key, strict=True) for action in fact.choices[choice]
    )


def facts_of(incident: Incident) -> tuple[Fact, ...]:
    """The facts of an incident; the right page comes late, since a wrong one may close."""
    truth = incident.truth
    closing = (
        Fact(
            "closing",
            {"open": (), "ignored": (Ignore(),)},
            (("open", "ignored"),),
        )
        if truth.benign
        else Fact(
            "closing",
            {"open": (), "resolved": (Resolve(),), "ignored": (Ignore(),)},
            (("ignored", "open"), ("ignored", "resolved"), ("open", "resolved")),
        )
    )
    waits = {f"{count} ticks wasted": (IDLE,) * count for count in (0, 1, 2)}
    names = list(waits)
    time = Fact("time", dict(waits), ((names[1], names[0]), (names[2], names[1])))
    return (_severity(incident), _root(incident), _remedy(incident), _page(incident), time, closing)


def _severity(incident: Incident) -> Fact:
    truth, ranks = incident.truth.severity, list(SEVERITIES)
    choices: dict[str, tuple[Action, ...]] = {"none": (IDLE,)}
    if truth is None:
        return Fact("severity", choices, ())
    by_distance: dict[int, str] = {}
    for one in ranks:
        off = abs(ranks.index(one) - ranks.index(truth))
        name = "right" if not off else f"{off} off"
        choices[name] = (ClassifySeverity(one),)
        by_distance[off] = name
    order = [by_distance[off] for off in sorted(by_distance, reverse=True)]
    pairs = tuple(pairwise(order))
    return Fact("severity", choices, (*pairs, ("none", "right")))


def _chain(name: str, right: Action | None, wrongs: dict[str, Action]) -> Fact:
    """Right is no worse than nothing, and nothing no worse than wrong."""
    choices: dict[str, tuple[Action, ...]] = {"none": (IDLE,)}
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
            kind = (
                "a symptom"
                if service.name in symptoms
                else "one of its tier"
                if service.tier in tiers
                else "another service"
            )
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
    """The wrong one is another remedy on the right service, if there is a right one."""
    accepted = incident.truth.remedies
    services = [service for _, service in sorted(accepted)] or list(incident.topology.names)
    wrong = next(
        Remediate(remedy, service)
        for service in (*services, *incident.topology.names)
        for remedy in incident.topology.remedies
        if (remedy, service) not in accepted
    )
    fact = _chain("remedy", Remediate(*min(accepted)) if accepted else None, {"wrong": wrong})
    # As many ticks for every choice as for a right remedy and a wrong one.
    choices = {name: (IDLE, *actions) for name, actions in fact.choices.items()}
    if not accepted:
        return attrs.evolve(fact, choices=choices)
    right = Remediate(*min(accepted))
    both = {"right after wrong": (wrong, right), "right, then wrong": (right, wrong)}
    return Fact("remedy", choices | both, (*fact.better, *((name, "right") for name in both)))
