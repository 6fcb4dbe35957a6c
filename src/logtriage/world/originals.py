"""The three fixed incidents of the original LogTriageEnv, as its graders define them.

The facts (service, severity, accepted remedies and teams) are the published ones; the
telemetry around them is that of the drawn task of the same name, without fog.
"""

from typing import Final

import attrs

from logtriage.actions import Severity


@attrs.frozen
class Original:
    """The truth of one original task.

    ``kinds`` are the rows of our fault table whose remedies are together those that the
    original accepts. The first of them names the fault.
    """

    kinds: tuple[str, ...]
    service: str
    severity: Severity
    teams: tuple[str, ...]


ORIGINALS: Final = {
    "single_crash": Original(
        ("crash_loop",), "payment-service", Severity.P1, ("sre-team", "backend-team")
    ),
    "cascading_failure": Original(
        ("slow_query", "lock_contention"), "user-db", Severity.P1, ("dba-team", "sre-team")
    ),
    "silent_degradation": Original(
        ("cache_thrash", "slow_query"), "payment-db", Severity.P2, ("dba-team", "sre-team")
    ),
}
