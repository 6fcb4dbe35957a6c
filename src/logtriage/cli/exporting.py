"""``export``: incidents in formats of telemetry."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

from logtriage.cli.console import note
from logtriage.cli.options import OfWorld, SealFile, Sources, argument, option
from logtriage.errors import InvalidInput
from logtriage.exporting import OPENED, write_alertmanager, write_labels, write_otlp

_IncidentId = Annotated[str, argument("ID", "A drawn incident.")]
_Folder = Annotated[Path, argument("OUT", "The folder to write into.")]
_Opened = Annotated[
    str | None, option("TIME", "When the incident is opened, with an offset (ISO 8601).")
]


def otlp(
    incident_id: _IncidentId,
    out: _Folder,
    opened: _Opened = None,
    labels: Annotated[
        Path | None, option("FILE", "Write the answer here, for the import. Not for the agent.")
    ] = None,
    seal_file: SealFile = None,
    of_world: OfWorld = None,
) -> None:
    """Write an incident's telemetry as OTLP.

    Logs, traces and metrics are files of JSON lines.
    """
    incident = Sources(None, seal_file, of_world).incidents(incident_id)
    moment = _moment(opened)
    # The labels first: an incident that has none is refused before anything is written.
    answer = () if labels is None else (write_labels(incident, labels, moment),)
    for path in (*write_otlp(incident, out, moment), *answer):
        note(str(path), "dim")


def alertmanager(
    incident_id: _IncidentId,
    out: _Folder,
    opened: _Opened = None,
    seal_file: SealFile = None,
    of_world: OfWorld = None,
) -> None:
    """Write an incident's alerts as Alertmanager sends them."""
    incident = Sources(seal_file=seal_file, of_world=of_world).incidents(incident_id)
    written = write_alertmanager(incident, out, _moment(opened))
    note(str(written), "dim")


def _moment(text: str | None) -> datetime:
    if text is None:
        return OPENED
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"--opened must be a time with an offset such as {OPENED.isoformat()}, got {text!r:.80}"
        ) from None
