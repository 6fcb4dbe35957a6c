"""Recorded incidents: telemetry of a real system behind the same protocol.

A *bundle* holds recorded incidents, one JSON object a line. :func:`load_bundle` makes
ordinary incidents of them, with open-loop telemetry and the root cause as the only
graded fact; :func:`shipped_incidents` are three small ones that come with the package;
:func:`import_nezha` makes records of the published Nezha data set and
:func:`dump_bundle` writes them. The format is described in ``docs/recorded.md``.
"""

from functools import lru_cache
from importlib.resources import files
from typing import Final

from logtriage.incident import Incident
from logtriage.recorded.bundle import (
    CLOSING,
    RUBRIC,
    Bundle,
    as_incident,
    dump_bundle,
    load_bundle,
    load_records,
    open_bundle,
    read_records,
)
from logtriage.recorded.csvrows import Skipped
from logtriage.recorded.figures import Measure, Metric, Series, Shift
from logtriage.recorded.labelled import import_labelled
from logtriage.recorded.nezha import Imported, ImportReport, import_nezha
from logtriage.recorded.records import (
    SCHEMA,
    LogWindow,
    RecordedAlert,
    RecordedIncident,
    RecordedLine,
    RecordedService,
    RecordedTruth,
    Recording,
)
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.recorded.version import HISTORY, VERSION

__all__ = [
    "CLOSING",
    "HISTORY",
    "RUBRIC",
    "SCHEMA",
    "VERSION",
    "Bundle",
    "ImportReport",
    "Imported",
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
    "Skipped",
    "as_incident",
    "dump_bundle",
    "import_labelled",
    "import_nezha",
    "load_bundle",
    "load_records",
    "open_bundle",
    "read_records",
    "shipped_incidents",
]

_SHIPPED: Final = "trainticket.jsonl.gz"


@lru_cache(maxsize=1)
def shipped_incidents() -> tuple[Incident, ...]:
    """The recorded TrainTicket incidents that come with the package, by id.

    Three of the Nezha data set, one each of a wrong return value, CPU contention and
    network delay; read on the first call. Licence and citation lie beside the file.
    """
    with files("logtriage").joinpath("data", "recorded", _SHIPPED).open("rb") as file:
        return tuple(as_incident(record) for record in read_records(file, name=_SHIPPED))
