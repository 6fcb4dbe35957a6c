"""Rubric ``logtriage/3`` written down a second time, straight from its rules.

Slow, plain, for any number of faults, and sharing nothing with the package but the types, so that
a slip in either shows as a difference. Actions come with their ticks, several of which may be
equal in joint play.
"""

from fractions import Fraction

import logtriage as lt

Plays = list[tuple[int, lt.Action]]
WEIGHTS = {"severity": 15, "root_cause": 25, "escalation": 25, "remediation": 25, "closure": 10}


def played(incident: lt.Incident, plays: Plays) -> Plays:
    """The actions up to and with the closing one, within the horizon."""
    done: Plays = []
    for tick, action in plays:
        if tick >= incident.horizon:
            break
        done.append((tick, action))
        wrong_page = isinstance(action, lt.Escalate) and action.team not in incident.truth.teams
        if isinstance(action, lt.Resolve | lt.Ignore | lt.HandOver) or wrong_page:
            break
    return done


def expected_total(incident: lt.Incident, plays: Plays) -> Fraction:
    """The grade of a list of actions with their ticks."""
    truth, done = incident.truth, played(incident, plays)
    last_tick, last = done[-1] if done else (0, None)
    pages = [(t, a.team) for t, a in done if isinstance(a, lt.Escalate)]
    remedies = [(t, (a.remedy, a.service)) for t, a in done if isinstance(a, lt.Remediate)]
    wrong = [t for t, one in remedies if one not in truth.remedies]
    right = [t for t, team in pages if team in truth.teams]
    if any(team not in truth.teams for _, team in pages):
        return Fraction(0)
    if isinstance(last, lt.HandOver) and not pages and not remedies:
        assert incident.worth_of_hand_over is not None
        assert incident.setting is not None
        worth = Fraction(incident.worth_of_hand_over).limit_denominator(1000)
        prompt = promptness(last_tick + 1, incident.horizon, incident.setting.par)
        return worth * (Fraction(9, 10) + Fraction(1, 10) * prompt)
    said: dict[str, int] = {}
    for tick, action in done:
        if isinstance(action, lt.IdentifyRootCause):
            said.setdefault(action.service, tick)
    severities = [a.severity for _, a in done if isinstance(a, lt.ClassifySeverity)]
    severity = Fraction(0)
    if severities:
        assert truth.severity is not None
        off = abs(int(severities[0][1]) - int(truth.severity[1]))
        severity = {0: Fraction(1), 1: Fraction(1, 4)}.get(off, Fraction(0))
    probing = Fraction(3, 10) ** len([t for t in wrong if not any(page < t for page in right)])
    on_time = promptness(last_tick + 1, incident.horizon, incident.par)
    if truth.benign:
        dismissed = isinstance(last, lt.Ignore) and not said
        return probing * (20 * severity + (70 + 10 * on_time) * dismissed) / 100
    if isinstance(last, lt.Ignore):
        return Fraction(0)
    count = len(truth.parts)
    counted = dict(list(said.items())[:count])
    named = paged = fixed = early = 0
    for part in truth.parts:
        fixes = [t for t, one in remedies if one in part.remedies]
        calls = [t for t, team in pages if team in part.teams]
        when = [counted[one] for one in part.root_causes if one in counted]
        named += bool(when) and (not fixes or min(when) <= fixes[0])
        paged += bool(calls)
        fixed += bool(fixes)
        early += bool(fixes) and not any(page < fixes[0] for page in right)
    closed = isinstance(last, lt.Resolve | lt.HandOver) and fixed == count
    total = (
        WEIGHTS["severity"] * severity
        + WEIGHTS["root_cause"] * Fraction(named, count)
        + WEIGHTS["escalation"] * Fraction(paged, count)
        + WEIGHTS["remediation"]
        * Fraction(fixed, count)
        * max(Fraction(0), 1 - Fraction(4, 10) * len(wrong))
        + WEIGHTS["closure"] * on_time * closed
    ) / 100
    silent = Fraction(count - paged, count)
    total *= silent * Fraction(32, 100) + 1 - silent
    return total * probing * Fraction(7, 10) ** early


def promptness(used: int, horizon: int, par: int) -> Fraction:
    """1 up to par, 0 at the horizon, a line between."""
    if horizon <= par:
        return Fraction(1)
    return min(Fraction(1), max(Fraction(0), 1 - Fraction(used - par, horizon - par)))
