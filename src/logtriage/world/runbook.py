"""The public rules: how bad is it, who is paged.

The generator draws the truth with these very functions, the system prompt prints
their constants, and the expert applies them: there is no second copy.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from logtriage.actions import Severity
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.faults import FaultClass, fault_kind
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


#: Who is paged for a class of faults: the team in this field of a topology, whoever owns the
#: service; None: the service's owner. Whatever depends on who is paged reads this table.
PAGED: Final[Mapping[FaultClass, str | None]] = {
    FaultClass.CODE: None,
    FaultClass.DATA: None,
    FaultClass.CAPACITY: "capacity_team",
    FaultClass.SECURITY: "security_team",
}


def class_team(kind: str, topology: Topology) -> str | None:
    """The team that is paged for faults of a kind, whoever owns the service; None: its owner.

    Raises:
        UnknownName: for a kind that is not in the fault table.
        InvalidInput: for a class that :data:`PAGED` does not list.
    """
    wanted = fault_kind(kind).fault_class
    if wanted not in PAGED:
        raise InvalidInput(
            f"fault kind {kind!r}: nobody is paged for its class {wanted!r}; "
            f"somebody is for {', '.join(PAGED)}"
        )
    field = PAGED[wanted]
    return None if field is None else str(getattr(topology, field))


def class_teams(topology: Topology) -> tuple[str, ...]:
    """The teams that are paged for a class of faults, each once."""
    teams = (getattr(topology, field) for field in PAGED.values() if field is not None)
    return tuple(dict.fromkeys(map(str, teams)))


def responsible_team(kind: str, service: int, topology: Topology, directory: Sequence[str]) -> str:
    """Who must be paged for a fault of ``kind`` on the service of that index.

    Code and data faults go to the service's owner in this incident's directory,
    capacity faults to the capacity team, security faults to the security team.

    Raises:
        InvalidInput: as :func:`class_team`.
    """
    team = class_team(kind, topology)
    return directory[service] if team is None else team
