"""Rubric ``logtriage/2`` written down a second time, straight from its table.

Slow, plain, and sharing nothing with the package but the types, so that a slip in either
shows as a difference. Used by the laws only. Actions come with their ticks, several of which
may be equal in joint play.
"""

from fractions import Fraction

import attrs

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Incident,
    Remediate,
    Resolve,
)

WEIGHTS = {"severity": 15, "root_cause": 25, "escalation": 25, "remediation": 25, "closure": 10}
BENIGN_WEIGHTS = {"severity": 20, "dismissal": 70, "closure": 10}
HALF = Fraction(1, 2)
#: Severity, root cause, closure, and half the remediation.
WITHOUT_A_PAGE = Fraction(15 + 25 + 10, 100) + HALF * Fraction(25, 100)

Plays = list[tuple[int, Action]]


@attrs.frozen
class Expected:
    """The grade as the table has it."""

    total: Fraction
    gate: str | None
    criteria: dict[str, Fraction]
    discounts: dict[str, Fraction]


def played(incident: Incident, plays: Plays) -> Plays:
    """The actions up to and with the closing one, within the horizon."""
    done: Plays = []
    for tick, action in plays:
        if tick >= incident.horizon:
            break
        done.append((tick, action))
        wrong_page = isinstance(action, Escalate) and action.team not in incident.truth.teams
        if isinstance(action, Resolve | Ignore) or wrong_page:
            break
    return done


def expected(incident: Incident, plays: Plays) -> Expected:
    """The grade of a list of actions with their ticks."""
    truth, done = incident.truth, played(incident, plays)
    last_tick, last = done[-1] if done else (0, None)
    severities = [a.severity for _, a in done if isinstance(a, ClassifySeverity)]
    causes = [(t, a.service) for t, a in done if isinstance(a, IdentifyRootCause)]
    teams = [(t, a.team) for t, a in done if isinstance(a, Escalate)]
    remedies = [(t, (a.remedy, a.service)) for t, a in done if isinstance(a, Remediate)]
    pages = [t for t, team in teams if team in truth.teams]
    fixes = [t for t, one in remedies if one in truth.remedies]
    wrong = [t for t, one in remedies if one not in truth.remedies]
    on_time = promptness(last_tick + 1, incident)

    criteria = {"severity": Fraction(0)}
    if severities and truth.severity is not None:
        distance = abs(int(severities[0][1]) - int(truth.severity[1]))
        criteria["severity"] = {0: Fraction(1), 1: Fraction(1, 4)}.get(distance, Fraction(0))
    discounts = {}
    if truth.benign:
        weights = BENIGN_WEIGHTS
        dismissed = isinstance(last, Ignore) and not causes
        criteria["dismissal"] = left(Fraction(2, 10), len(remedies)) * dismissed
        criteria["closure"] = on_time * dismissed
    else:
        weights = WEIGHTS
        right = bool(causes) and causes[0][1] in truth.root_causes
        criteria["root_cause"] = Fraction(right and (not fixes or causes[0][0] <= fixes[0]))
        criteria["escalation"] = Fraction(bool(pages))
        approved = bool(pages) and bool(fixes) and pages[0] < fixes[0]
        earned = left(Fraction(4, 10), len(wrong)) * bool(fixes)
        criteria["remediation"] = earned * (1 if approved else HALF)
        criteria["closure"] = on_time * (isinstance(last, Resolve) and bool(fixes))
        if not pages:
            assert incident.price_of_silence is not None
            price = Fraction(incident.price_of_silence).limit_denominator(1000)
            discounts["unescalated"] = price / WITHOUT_A_PAGE
        probes = [t for t in wrong if not any(page < t for page in pages)]
        if probes:
            discounts["unapproved"] = Fraction(7, 10) ** len(probes)

    gate = None
    if any(team not in truth.teams for _, team in teams):
        gate = "wrong_escalation"
    elif isinstance(last, Ignore) and not truth.benign:
        gate = "ignored_incident"
    total = sum((Fraction(weights[name], 100) * one for name, one in criteria.items()), Fraction(0))
    for factor in discounts.values():
        total *= factor
    return Expected(Fraction(0) if gate else total, gate, criteria, discounts)


def expected_of_several(incident: Incident, plays: Plays) -> Expected:
    """The same for any number of faults: what each of them is worth is a share."""
    truth, done = incident.truth, played(incident, plays)
    parts = truth.several
    last_tick, last = done[-1] if done else (0, None)
    severities = [a.severity for _, a in done if isinstance(a, ClassifySeverity)]
    said: dict[str, int] = {}
    for tick, action in done:
        if isinstance(action, IdentifyRootCause):
            said.setdefault(action.service, tick)
    counted = dict(list(said.items())[: len(parts)])
    pages = [(t, a.team) for t, a in done if isinstance(a, Escalate)]
    remedies = [(t, (a.remedy, a.service)) for t, a in done if isinstance(a, Remediate)]
    wrong = [t for t, one in remedies if not any(one in part.remedies for part in parts)]
    right_pages = [t for t, team in pages if any(team in part.teams for part in parts)]

    named = paged = Fraction(0)
    repaired = Fraction(0)
    unfixed = 0
    for part in parts:
        (service,) = part.root_causes
        fixes = [t for t, one in remedies if one in part.remedies]
        calls = [t for t, team in pages if team in part.teams]
        named += service in counted and (not fixes or counted[service] <= fixes[0])
        paged += bool(calls)
        unfixed += not fixes
        if fixes:
            repaired += 1 if calls and calls[0] < fixes[0] else HALF
    share = Fraction(1, len(parts))
    criteria = {
        "severity": Fraction(0),
        "root_cause": named * share,
        "escalation": paged * share,
        "remediation": repaired * share * left(Fraction(4, 10), len(wrong)),
        "closure": promptness(last_tick + 1, incident)
        * (isinstance(last, Resolve) and not unfixed),
    }
    if severities and truth.severity is not None:
        distance = abs(int(severities[0][1]) - int(truth.severity[1]))
        criteria["severity"] = {0: Fraction(1), 1: Fraction(1, 4)}.get(distance, Fraction(0))
    discounts = {}
    if paged < len(parts):
        assert incident.price_of_silence is not None
        price = Fraction(incident.price_of_silence).limit_denominator(1000)
        silent = (len(parts) - paged) * share
        discounts["unescalated"] = silent * price / WITHOUT_A_PAGE + 1 - silent
    probes = [t for t in wrong if not any(page < t for page in right_pages)]
    if probes:
        discounts["unapproved"] = Fraction(7, 10) ** len(probes)
    gate = None
    if any(not any(team in part.teams for part in parts) for _, team in pages):
        gate = "wrong_escalation"
    elif isinstance(last, Ignore):
        gate = "ignored_incident"
    total = sum((Fraction(WEIGHTS[name], 100) * one for name, one in criteria.items()), Fraction(0))
    for factor in discounts.values():
        total *= factor
    return Expected(Fraction(0) if gate else total, gate, criteria, discounts)


def left(cost: Fraction, count: int) -> Fraction:
    """What that many mistakes leave."""
    return max(Fraction(0), 1 - cost * count)


def promptness(used: int, incident: Incident) -> Fraction:
    """1 up to par, 0 at the horizon, a line between."""
    if incident.horizon <= incident.par:
        return Fraction(1)
    late = Fraction(used - incident.par, incident.horizon - incident.par)
    return min(Fraction(1), max(Fraction(0), 1 - late))
