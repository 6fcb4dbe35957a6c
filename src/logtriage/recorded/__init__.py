"""Recorded incidents: telemetry of a real system behind the same protocol.

A *bundle* holds recorded incidents, one JSON object a line (``docs/recorded.md``).
:func:`load_bundle` makes incidents of them, :func:`shipped_incidents` come with the package. The
functions ``import_…`` make records of published data sets and of your own files, which
:func:`dump_bundle` writes.
"""

from functools import lru_cache
from importlib.resources import files
from typing import Final

from logtriage.errors import UnknownName
from logtriage.incident import Incident
from logtriage.recorded.bundle import (
    as_incident,
    dump_bundle,
    load_bundle,
    load_records,
    on_request,
    open_bundle,
    read_records,
)
from logtriage.recorded.figures import Measure, Metric, Series, Shift
from logtriage.recorded.importing.capture import import_capture
from logtriage.recorded.importing.nezha import import_nezha
from logtriage.recorded.importing.petshop import import_petshop
from logtriage.recorded.importing.topology import import_topology
from logtriage.recorded.records import (
    HISTORY,
    VERSION,
    LogWindow,
    RecordedAlert,
    RecordedIncident,
    RecordedLine,
    RecordedService,
    Recording,
)
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.recorded.truth import RecordedTruth

__all__ = [
    "HISTORY",
    "SHIPPED",
    "VERSION",
    "LogWindow",
    "Measure",
    "Metric",
    "RecordedAlert",
    "RecordedIncident",
    "RecordedLine",
    "RecordedService",
    "RecordedTelemetry",
    "RecordedTruth",
    "Recording",
    "Series",
    "Shift",
    "as_incident",
    "dump_bundle",
    "import_capture",
    "import_nezha",
    "import_petshop",
    "import_topology",
    "load_bundle",
    "load_records",
    "on_request",
    "open_bundle",
    "read_records",
    "shipped_incidents",
    "shipped_records",
]

#: The source with the incidents of ``trainticket``, with figures on request; it has no file.
_MODELS: Final = "models"
#: The sources of the recorded incidents that come with the package.
SHIPPED: Final = ("trainticket", "petshop", _MODELS)


@lru_cache(maxsize=len(SHIPPED))
def shipped_incidents(source: str = SHIPPED[0]) -> tuple[Incident, ...]:
    """The recorded incidents of one source that come with the package, by id.

    TrainTicket (the Nezha data set) has three: a wrong return value, CPU contention and network
    delay. PetShop has two, of latency and of availability. Source ``models`` has those of
    TrainTicket, with figures on request. Licences and citations lie beside the files.

    Raises:
        UnknownName: for any other source.
    """
    return tuple(map(as_incident, shipped_records(source)))


def shipped_records(source: str = SHIPPED[0]) -> tuple[RecordedIncident, ...]:
    """The records of :func:`shipped_incidents`; raises the same."""
    if source not in SHIPPED:
        raise UnknownName("source of recorded incidents", source, SHIPPED)
    stem = SHIPPED[0] if source == _MODELS else source
    name = f"{stem}.jsonl.gz"
    with files("logtriage").joinpath("data", "recorded", name).open("rb") as file:
        records = read_records(file, name=name)
    return tuple(map(on_request, records)) if source == _MODELS else records
