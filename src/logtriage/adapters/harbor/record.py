"""The record of an episode: a file with its incident, and a file with one wire action a line."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.incident import Incident
from logtriage.parsing.calls import Wire
from logtriage.transcript import check_drawn
from logtriage.world.loading import read_content


def read_incident(path: Path) -> Incident:
    """The incident of a file: ``{"incident": "<id>"}``, and the mark of its world if it has one.

    The content of a world that logtriage does not ship stands in ``world.json`` beside it.
    """
    try:
        row = json.loads(path.read_bytes())
    except ValueError as error:
        raise InvalidInput(f"{path}: not JSON: {error}") from None
    name = row.get("incident") if isinstance(row, Mapping) else None
    if not isinstance(name, str):
        raise InvalidInput(f"{path}: incident: expected an id, got {name!r:.80}")
    beside = path.with_name("world.json")
    incident = incident_of(name, world=read_content(beside) if beside.is_file() else None)
    check_drawn(row.get("seal"), row.get("world"), incident)
    return incident


def append(path: Path, wire: Wire) -> None:
    """Add an action; it is on the disk before the agent gets its answer."""
    with path.open("ab") as file:
        file.write(f"{json.dumps(wire)}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def read_actions(path: Path) -> Iterator[Wire]:
    """The recorded actions, in order."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                wire = json.loads(line)
            except ValueError as error:
                reason = f"not JSON: {error}"
                raise TranscriptError(reason, source=str(path), line=number) from None
            if not isinstance(wire, dict):
                raise TranscriptError("expected an action", source=str(path), line=number)
            yield wire
