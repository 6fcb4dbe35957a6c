"""The severity of an impact measured at the edge."""

from typing import Final

from logtriage.actions import SEVERITIES, Severity
from logtriage.world.model import World
from logtriage.world.schema.parts import SeverityRow
from logtriage.world.telemetry import EdgePanel, Reading

#: The rule in recordings, which have no world.
SEVERITY_RULE: Final = (SeverityRow(Severity.P1, 500, 2000), SeverityRow(Severity.P2, 100, 800))


def severity_of(reading: Reading | EdgePanel, world: World | None = None) -> Severity:
    """The severity of an impact: the first row of the world's rule that it reaches.

    Without a world P1 from 5 % errors or 2,000 ms p99, P2 from 1 % errors or 800 ms p99, else P3.
    """
    for row in SEVERITY_RULE if world is None else world.rules.severity_rule:
        # Errors that were not recorded count as none.
        if (reading.error_bp or 0) >= row.errors or reading.p99_ms >= row.p99:
            return row.severity
    return SEVERITIES[-1]
