"""The public rules: how bad is it, who is paged.

The generator draws the truth with these very functions, the system prompt prints
their constants, and the expert applies them: there is no second copy.
"""

from collections.abc import Sequence
from typing import Final

from logtriage.actions import Severity
from logtriage.topology import Topology
from logtriage.world.default import second_world
from logtriage.world.telemetry import EdgePanel, Reading

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


def class_team(kind: str, topology: Topology) -> str | None:
    """The team that is paged for faults of a kind, whoever owns the service; None: its owner."""
    return second_world().pages(kind, topology)


def responsible_team(kind: str, service: int, topology: Topology, directory: Sequence[str]) -> str:
    """Who must be paged for a fault of ``kind`` on the service of that index."""
    return second_world().team_of(topology, directory, kind, service)
