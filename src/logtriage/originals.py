"""The three fixed incidents of the original LogTriageEnv, as its graders define them.

The facts (service, severity, accepted remedies and teams) are the published ones;
the telemetry around them is drawn by this package, like any other.
"""

from typing import Final

import attrs

from logtriage.actions import Remedy, Severity


@attrs.frozen
class Original:
    """The truth of one original task; ``kind`` is the row of our table nearest to it."""

    kind: str
    service: str
    severity: Severity
    teams: tuple[str, ...]
    remedies: tuple[Remedy, ...]


ORIGINALS: Final = {
    "single_crash": Original(
        "crash_loop",
        "payment-service",
        Severity.P1,
        ("sre-team", "backend-team"),
        (Remedy.RESTART,),
    ),
    "cascading_failure": Original(
        "slow_query",
        "user-db",
        Severity.P1,
        ("dba-team", "sre-team"),
        (Remedy.KILL_QUERY, Remedy.RESTART),
    ),
    "silent_degradation": Original(
        "cache_thrash",
        "payment-db",
        Severity.P2,
        ("dba-team", "sre-team"),
        (Remedy.FLUSH_CACHE, Remedy.KILL_QUERY),
    ),
}
