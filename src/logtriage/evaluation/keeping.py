"""A run whose episodes come one by one: what is left to play, what is kept, and its end.

:func:`keeping` opens the directory for whoever plays: :func:`logtriage.evaluation.evaluate`, a
server of tools, or a file of answers. The result is the same run.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs

from logtriage._lib.seal import Seal
from logtriage.codec import encode_transcript, unstructure_transcript
from logtriage.evaluation import store
from logtriage.evaluation.cell_files import (
    TRANSCRIPTS,
    append,
    cell_path,
    mend,
    put_in_order,
    read_cell,
)
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.loading import load_run
from logtriage.evaluation.lock import holding
from logtriage.evaluation.manifest import Manifest
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.transcript import COMPLETED, Transcript


@attrs.frozen
class Kept:
    """The open directory of a run.

    Attributes:
        directory: where it is.
        incidents: finds its incidents.
        cells: all that it plays.
        seal: the key of sealed incidents.
    """

    directory: Path
    incidents: Incidents
    cells: tuple[Cell, ...]
    seal: Seal | None = None

    @property
    def episodes(self) -> int:
        """How many episodes it has when it is complete."""
        return sum(len(cell.ids) for cell in self.cells)

    def left(self, *, retry_unscored: bool = False) -> list[Cell]:
        """Each cell with the episodes that are still to be played; mends torn files.

        Raises:
            TranscriptError: naming file and line of what this run did not write.
        """
        left = []
        for cell in self.cells:
            done = {
                transcript.incident
                for transcript in read_cell(self.directory, cell)
                if transcript.status == COMPLETED or not retry_unscored
            }
            mend(cell_path(self.directory, TRANSCRIPTS, cell))
            ids = tuple(incident for incident in cell.ids if incident not in done)
            left.append(attrs.evolve(cell, ids=ids))
        return left

    def begin(self) -> None:
        """Say that the run is not finished: its summary goes."""
        (self.directory / store.SUMMARY_FILE).unlink(missing_ok=True)

    def keep(self, cell: Cell, lines: bytes) -> None:
        """Add transcripts to a cell, each as :func:`line_of` writes it."""
        append(cell_path(self.directory, TRANSCRIPTS, cell), lines)

    def finish(self) -> tuple[Row, ...]:
        """Put the transcripts in order, and write and return the summary."""
        for cell in self.cells:
            put_in_order(cell_path(self.directory, TRANSCRIPTS, cell), cell.ids)
        rows = summarise(load_run(self.directory, seal=self.seal))
        store.write_json(self.directory / store.SUMMARY_FILE, rows_to_json(rows))
        return rows


@contextmanager
def keeping(
    directory: Path,
    spec: RunSpec,
    incidents: Incidents,
    players: Mapping[str, str],
    *,
    fresh: bool = False,
) -> Iterator[Kept]:
    """Hold a directory, and begin its run or check that it is the same.

    Args:
        directory: where the run is kept (see :mod:`logtriage.evaluation.store`).
        spec: what is played.
        incidents: finds the incidents, sealed ones by its key.
        players: marks that tell players of the same name apart (:class:`Manifest`).
        fresh: throw away a run that is in the directory already.

    Raises:
        InvalidInput: if the directory holds another run, or another process works in it.
    """
    manifest = Manifest.of(spec, incidents, players)
    with holding(directory):
        store.open_run(directory, manifest, incidents, fresh=fresh)
        yield Kept(directory, incidents, plan(manifest.spec, incidents), incidents.seal)


def line_of(transcript: Transcript) -> bytes:
    """A transcript as a line of its cell."""
    try:
        return f"{encode_transcript(transcript)}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        return f"{json.dumps(unstructure_transcript(transcript))}\n".encode()
