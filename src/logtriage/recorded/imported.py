"""What an importer of a published data set hands over: incidents, and what was left out."""

import attrs

from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.tally import Skipped


@attrs.frozen
class ImportReport:
    """What was read, what was left out and why.

    ``notes`` tell of whole files that an incident lacks, as ``"<incident id>: …"``.
    """

    files: int
    rows: int
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]


@attrs.frozen
class Imported:
    """The incidents of a directory, by id, and the report of the import."""

    incidents: tuple[RecordedIncident, ...]
    report: ImportReport
