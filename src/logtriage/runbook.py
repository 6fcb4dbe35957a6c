"""The public rules: how bad is it, who is paged.

The generator draws the truth with these very functions, the system prompt prints
their constants, and the expert applies them: there is no second copy.
"""

from typing import Final

from logtriage.actions import Severity
from logtriage.faults import FaultClass, FaultKind
from logtriage.telemetry import EdgePanel, Reading
from logtriage.topology import Topology

#: (severity, error rate in basis points, p99 in ms): the first row that either reaches.
SEVERITY_RULE: Final = ((Severity.P1, 500, 2000), (Severity.P2, 100, 800))


def severity_of(reading: Reading | EdgePanel) -> Severity:
    """The severity of an impact measured at the edge.

    P1 from 5 % errors or 2,000 ms p99, P2 from 1 % errors or 800 ms p99, else P3.
    """
    for severity, error_bp, p99_ms in SEVERITY_RULE:
        # Errors that nobody recorded cannot speak for a severity.
        if (reading.error_bp or 0) >= error_bp or reading.p99_ms >= p99_ms:
            return severity
    return Severity.P3


def responsible_team(
    kind: FaultKind, service: int, topology: Topology, directory: tuple[str, ...]
) -> str:
    """Who must be paged for a fault of ``kind`` on the service of that index.

    Code and data faults go to the service's owner in this incident's directory,
    capacity faults to the capacity team, security faults to the security team.
    """
    match kind.fault_class:
        case FaultClass.CAPACITY:
            return topology.capacity_team
        case FaultClass.SECURITY:
            return topology.security_team
        case _:
            return directory[service]
