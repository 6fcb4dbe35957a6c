"""Rubrics ``logtriage-env/0``: the original LogTriageEnv's published formulas.

For comparison with its published numbers only. There are no gates; severity and
root cause count by the first answer; scores of a criterion lie in [-1, 1] of its
weight; the total is kept within [0.0001, 0.9999] and rounded to four places.
Points below are the original's; each measure returns points / weight.
"""

from collections.abc import Iterator
from typing import Final

from logtriage.actions import Escalate, IdentifyRootCause, Ignore, Remediate, Severity
from logtriage.grading.criteria import Measured
from logtriage.grading.rubric import Criterion, Rubric
from logtriage.state import Closing, State

_PREFIX: Final = "logtriage-env/0"
_BOUNDS: Final = (0.0001, 0.9999)
_DIGITS: Final = 4


def _points(points: float, weight: float, reason: str) -> Measured:
    return (points / weight, f"{points:+.2f}: {reason}")


def _remedies(state: State) -> Iterator[tuple[str, str]]:
    return ((str(remedy), service) for _, remedy, service in state.facts.remedies)


def _severity(state: State, weight: float, points: dict[Severity, float]) -> Measured:
    declared = state.facts.severity
    if declared is None:
        return _points(0.0, weight, "never classified")
    return _points(points.get(declared, 0.0), weight, f"classified {declared}")


def _speed(state: State, limit: int) -> Measured:
    if state.closing is not Closing.RESOLVED:
        return _points(-0.10, 0.10, "never resolved")
    used = state.closed_at or 0
    return _points(0.10 if used <= limit else 0.0, 0.10, f"resolved in {used} steps")


# -- single crash -----------------------------------------------------------------


def crash_severity(state: State) -> Measured:
    """P1 .30, P2 .10."""
    return _severity(state, 0.30, {Severity.P1: 0.30, Severity.P2: 0.10})


def crash_root_cause(state: State) -> Measured:
    """payment-service .35, another payment-* .10."""
    declared = state.facts.root_cause
    if declared == "payment-service":
        return _points(0.35, 0.35, declared)
    if declared is not None and declared.startswith("payment"):
        return _points(0.10, 0.35, f"{declared}: same family")
    return _points(0.0, 0.35, declared or "never identified")


def crash_remediation(state: State) -> Measured:
    """restart:payment-service .25, another remedy there .08; the first of them counts."""
    for remedy, service in _remedies(state):
        if service == "payment-service":
            points = 0.25 if remedy == "restart" else 0.08
            return _points(points, 0.25, f"{remedy}:{service}")
    return _points(0.0, 0.25, "nothing done to payment-service")


def crash_speed(state: State) -> Measured:
    """Resolved within 5 steps .10, later 0, never -.10."""
    return _speed(state, 5)


def crash_ignored(state: State) -> Measured:
    """Penalty: any ``ignore``."""
    ignored = any(isinstance(action, Ignore) for action in state.actions)
    return (1.0 if ignored else 0.0, "ignored" if ignored else "not ignored")


# -- cascading failure --------------------------------------------------------------

_SYMPTOMS: Final = ("api-gateway", "auth-service")


def cascade_severity(state: State) -> Measured:
    """P1 .20, P2 .08."""
    return _severity(state, 0.20, {Severity.P1: 0.20, Severity.P2: 0.08})


def cascade_root_cause(state: State) -> Measured:
    """user-db .35, a symptom service 0, another name with "db" .10."""
    declared = state.facts.root_cause
    if declared == "user-db":
        return _points(0.35, 0.35, declared)
    if declared is not None and declared not in _SYMPTOMS and "db" in declared:
        return _points(0.10, 0.35, f"{declared}: right tier")
    return _points(0.0, 0.35, declared or "never identified")


def _is_cascade_fix(remedy: str, service: str) -> bool:
    return service == "user-db" and remedy in ("kill-query", "restart")


def cascade_remediation(state: State) -> Measured:
    """kill-query or restart on user-db .25."""
    fixed = any(_is_cascade_fix(*one) for one in _remedies(state))
    return _points(0.25 if fixed else 0.0, 0.25, "fixed" if fixed else "never fixed")


def cascade_ordering(state: State) -> Measured:
    """Fixed with no symptom service remediated before .10; one before (or no fix) -.10."""
    for remedy, service in _remedies(state):
        if service in _SYMPTOMS:
            return _points(-0.10, 0.10, f"{service} remediated before the root")
        if _is_cascade_fix(remedy, service):
            return _points(0.10, 0.10, "the root was remediated first")
    return _points(0.0, 0.10, "neither the root nor a symptom was remediated")


def cascade_speed(state: State) -> Measured:
    """Resolved within 8 steps .10, later 0, never -.10."""
    return _speed(state, 8)


# -- silent degradation ---------------------------------------------------------------

_NOISE_SERVICES: Final = (
    "api-gateway", "auth-service", "user-db", "notification-service", "email-queue",
)  # fmt: skip


def silent_severity(state: State) -> Measured:
    """P2 .30, P1 or P3 -.15."""
    return _severity(state, 0.30, {Severity.P2: 0.30, Severity.P1: -0.15, Severity.P3: -0.15})


def silent_root_cause(state: State) -> Measured:
    """payment-db .30, payment-service .10."""
    declared = state.facts.root_cause
    points = {"payment-db": 0.30, "payment-service": 0.10}.get(declared or "", 0.0)
    return _points(points, 0.30, declared or "never identified")


def silent_remediation(state: State) -> Measured:
    """A remedy on payment-db, the first one: flush-cache or kill-query .20, another .05.

    With none of these, a page to dba-team .15.
    """
    for remedy, service in _remedies(state):
        if service == "payment-db":
            points = 0.20 if remedy in ("flush-cache", "kill-query") else 0.05
            return _points(points, 0.20, f"{remedy}:{service}")
    if any(team == "dba-team" for _, team in state.facts.pages):
        return _points(0.15, 0.20, "dba-team paged")
    return _points(0.0, 0.20, "neither remediated nor escalated")


def silent_restraint(state: State) -> Measured:
    """No spurious act .10, one 0, more -.05."""
    spurious = 0
    for action in state.actions:
        match action:
            case IdentifyRootCause(service, _) | Remediate(_, service):
                spurious += service in _NOISE_SERVICES
            case Escalate(team):
                spurious += team not in ("dba-team", "sre-team")
            case _:
                pass
    points = 0.10 if spurious == 0 else 0.0 if spurious == 1 else -0.05
    return _points(points, 0.10, f"{spurious} spurious acts")


def silent_speed(state: State) -> Measured:
    """Resolved or remediation scored: .10 within 10 steps, later 0; neither -.10."""
    if state.closing is not Closing.RESOLVED and silent_remediation(state)[0] <= 0:
        return _points(-0.10, 0.10, "never acted on")
    used = state.closed_at if state.closed_at is not None else state.tick
    return _points(0.10 if used <= 10 else 0.0, 0.10, f"acted within {used} steps")


def _rubric(
    task: str, criteria: tuple[Criterion, ...], penalties: tuple[Criterion, ...] = ()
) -> Rubric:
    return Rubric(
        id=f"{_PREFIX}/{task}",
        criteria=criteria,
        penalties=penalties,
        bounds=_BOUNDS,
        digits=_DIGITS,
    )


SINGLE_CRASH: Final = _rubric(
    "single_crash",
    (
        Criterion("severity", 0.30, crash_severity),
        Criterion("root_cause", 0.35, crash_root_cause),
        Criterion("remediation", 0.25, crash_remediation),
        Criterion("speed", 0.10, crash_speed),
    ),
    (Criterion("ignored", 0.30, crash_ignored),),
)
CASCADING_FAILURE: Final = _rubric(
    "cascading_failure",
    (
        Criterion("severity", 0.20, cascade_severity),
        Criterion("root_cause", 0.35, cascade_root_cause),
        Criterion("remediation", 0.25, cascade_remediation),
        Criterion("ordering", 0.10, cascade_ordering),
        Criterion("speed", 0.10, cascade_speed),
    ),
)
SILENT_DEGRADATION: Final = _rubric(
    "silent_degradation",
    (
        Criterion("severity", 0.30, silent_severity),
        Criterion("root_cause", 0.30, silent_root_cause),
        Criterion("remediation", 0.20, silent_remediation),
        Criterion("restraint", 0.10, silent_restraint),
        Criterion("speed", 0.10, silent_speed),
    ),
)
ORIGINAL: Final = (SINGLE_CRASH, CASCADING_FAILURE, SILENT_DEGRADATION)
