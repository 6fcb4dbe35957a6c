"""Rubric ``logtriage/1`` written down a second time, straight from its table.

Slow, plain, and sharing nothing with the package but the types, so that a slip in
either shows as a difference. Used by the laws only.
"""

from fractions import Fraction

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

WEIGHTS = {
    "severity": Fraction(20, 100),
    "root_cause": Fraction(30, 100),
    "escalation": Fraction(15, 100),
    "remediation": Fraction(25, 100),
    "closure": Fraction(10, 100),
}
BENIGN_WEIGHTS = {
    "severity": Fraction(20, 100),
    "dismissal": Fraction(70, 100),
    "closure": Fraction(10, 100),
}


def played(incident: Incident, actions: list[Action]) -> list[Action]:
    """The actions up to and with the closing one, or the horizon."""
    done: list[Action] = []
    for action in actions[: incident.horizon]:
        done.append(action)
        wrong_page = isinstance(action, Escalate) and action.team not in incident.truth.teams
        if isinstance(action, Resolve | Ignore) or wrong_page:
            break
    return done


def expected(
    incident: Incident, actions: list[Action]
) -> tuple[Fraction, str | None, dict[str, Fraction]]:
    """Score, gate and the score of each criterion."""
    truth, done = incident.truth, played(incident, actions)
    last = done[-1] if done else None
    severities = [a.severity for a in done if isinstance(a, ClassifySeverity)]
    causes = [a.service for a in done if isinstance(a, IdentifyRootCause)]
    pages = [a.team for a in done if isinstance(a, Escalate)]
    remedies = [(a.remedy, a.service) for a in done if isinstance(a, Remediate)]

    criteria = {"severity": Fraction(0)}
    if severities and truth.severity is not None:
        distance = abs(int(severities[0][1]) - int(truth.severity[1]))
        criteria["severity"] = {0: Fraction(1), 1: Fraction(1, 4)}.get(distance, Fraction(0))
    if truth.benign:
        dismissed = isinstance(last, Ignore) and not causes
        kept = max(Fraction(0), 1 - Fraction(2, 10) * len(remedies))
        criteria["dismissal"] = kept if dismissed else Fraction(0)
        criteria["closure"] = promptness(len(done), incident.horizon, 2) * dismissed
        weights = BENIGN_WEIGHTS
    else:
        fixed = any(one in truth.remedies for one in remedies)
        wrong = sum(one not in truth.remedies for one in remedies)
        criteria["root_cause"] = Fraction(bool(causes) and causes[0] in truth.root_causes)
        criteria["escalation"] = Fraction(any(team in truth.teams for team in pages))
        criteria["remediation"] = max(Fraction(0), 1 - Fraction(2, 10) * wrong) * fixed
        resolved = isinstance(last, Resolve) and fixed
        criteria["closure"] = promptness(len(done), incident.horizon, 5) * resolved
        weights = WEIGHTS

    gate = None
    if any(team not in truth.teams for team in pages):
        gate = "wrong_escalation"
    elif isinstance(last, Ignore) and not truth.benign:
        gate = "ignored_incident"
    total = sum((weights[name] * score for name, score in criteria.items()), Fraction(0))
    return (Fraction(0) if gate else total), gate, criteria


def promptness(used: int, horizon: int, free: int) -> Fraction:
    return min(Fraction(1), max(Fraction(0), 1 - Fraction(used - free, horizon - free)))
