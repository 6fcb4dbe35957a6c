"""Writing a run into its directory while its episodes arrive one by one.

:func:`keeping` opens the directory for a player of episodes, :func:`keep_run` writes transcripts
that were made elsewhere. Both write the same run.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Final

import attrs

from logtriage._lib.files import open_here, try_lock
from logtriage.codec import encode_transcript, unstructure_transcript
from logtriage.drawing.ids import SEALED
from logtriage.errors import InvalidInput
from logtriage.evaluation import store
from logtriage.evaluation.cell_files import (
    TRANSCRIPTS,
    append,
    cell_path,
    mend,
    put_in_order,
    read_cell,
)
from logtriage.evaluation.incidents import RECORDED_TASK, Incidents, in_order, is_recorded
from logtriage.evaluation.loading import load_run
from logtriage.evaluation.manifest import RUN_FILE, Manifest
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.roles.splits import get_role_split
from logtriage.transcript import COMPLETED, Splits, Transcript, split_of

#: The agent of transcripts that name none.
UNNAMED: Final = "agent"
LOCK_FILE: Final = ".lock"


@attrs.frozen
class Kept:
    """The open directory of a run, with all its cells (a policy and a task each)."""

    directory: Path
    incidents: Incidents
    cells: tuple[Cell, ...]

    @property
    def episodes(self) -> int:
        """The number of episodes of the complete run."""
        return sum(len(cell.ids) for cell in self.cells)

    def left(self, *, retry_unscored: bool = False) -> list[Cell]:
        """Every cell with the ids that are still to be played; cuts torn lines off the files.

        Raises:
            TranscriptError: for a line that this run did not write; names file and line.
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
        """Mark the run as unfinished: delete its summary."""
        (self.directory / store.SUMMARY_FILE).unlink(missing_ok=True)

    def keep(self, cell: Cell, lines: bytes) -> None:
        """Append ``lines`` of transcripts (:func:`line_of`) to the file of a cell."""
        append(cell_path(self.directory, TRANSCRIPTS, cell), lines)

    def finish(self) -> tuple[Row, ...]:
        """Put the transcripts in order, and write and return the summary."""
        for cell in self.cells:
            put_in_order(cell_path(self.directory, TRANSCRIPTS, cell), cell.ids)
        run = load_run(self.directory, seal=self.incidents.seal)
        rows = summarise(run)
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
    left_out: int = 0,
) -> Iterator[Kept]:
    """Lock a directory and begin its run; InvalidInput if another run is there.

    ``players`` and ``left_out`` go into the :class:`Manifest`; ``fresh`` throws away a run that is
    in the directory already.
    """
    manifest = Manifest.of(spec, incidents, players, left_out)
    with holding(directory):
        store.open_run(directory, manifest, incidents, fresh=fresh)
        yield Kept(directory, incidents, plan(manifest.spec, incidents))


def line_of(transcript: Transcript) -> bytes:
    """A transcript as a JSON line of its cell's file."""
    try:
        return f"{encode_transcript(transcript)}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        return f"{json.dumps(unstructure_transcript(transcript))}\n".encode()


def check_unused(directory: Path, *, fresh: bool = False) -> None:
    """Raise InvalidInput for a directory with a run, as :func:`keep_run` does."""
    if (directory / RUN_FILE).exists() and not fresh:
        raise InvalidInput(
            f"{directory}: holds a run already; choose another directory, or --fresh (fresh=True)"
        )


def keep_run(
    transcripts: Sequence[Transcript],
    directory: str | PathLike[str],
    incidents: Incidents,
    splits: Splits = get_role_split,
    *,
    left_out: int = 0,
    fresh: bool = False,
) -> tuple[Row, ...]:
    """Write transcripts, which must be gradable, as a run, and sum it up.

    Each agent is a policy. Further attempts of an agent at an incident are policies of their own,
    ``name#2`` and so on. Incidents stand in the order of their numbers, whatever the order of the
    lines: intervals depend on it. ``left_out`` bad lines are shown with the figures.
    ``fresh`` throws away a run that is in the directory already.

    Raises:
        InvalidInput: if there are no transcripts, if they are of several worlds or role splits, or
            only partly sealed, if a role split differs from the one that ``splits`` finds by its
            name, or if there is a run in the directory already.
        OSError: if the directory cannot be written.
    """
    directory = Path(directory)
    check_unused(directory, fresh=fresh)
    own = _by_policy(transcripts)
    ids = [transcript.incident for transcript in transcripts]
    tasks = [RECORDED_TASK if is_recorded(name) else incidents(name).task for name in ids]
    drawn_in = {name.split("/")[1] for name in ids if not is_recorded(name)}
    if SEALED in drawn_in and (len(drawn_in) > 1 or any(map(is_recorded, ids))):
        raise InvalidInput("sealed incidents and others: make a run of each")
    played_in = {split_of(transcript, splits) for transcript in transcripts}
    if len(played_in) > 1:
        shown = ", ".join(
            sorted("single agents" if split is None else split.name for split in played_in)
        )
        raise InvalidInput(f"transcripts of several role splits ({shown}): make a run of each")
    spec = RunSpec(
        tuple(own),
        tuple(tasks),
        split=drawn_in.pop() if len(drawn_in) == 1 else "test",
        episodes=max(map(len, own.values()), default=0),
        role_split=played_in.pop() if played_in else None,
        world=incidents.world,
        incidents={name: tuple(in_order(played)) for name, played in own.items()},
    )
    players = dict.fromkeys(own, "transcripts from elsewhere")
    with keeping(directory, spec, incidents, players, left_out=left_out, fresh=fresh) as kept:
        for cell in kept.cells:
            played = own[cell.policy]
            lines = (line_of(attrs.evolve(played[name], agent=cell.policy)) for name in cell.ids)
            kept.keep(cell, b"".join(lines))
        return kept.finish()


def _by_policy(transcripts: Sequence[Transcript]) -> dict[str, dict[str, Transcript]]:
    own: defaultdict[str, dict[str, Transcript]] = defaultdict(dict)
    for transcript in transcripts:
        name, attempt = transcript.agent or UNNAMED, 1
        policy = name
        while transcript.incident in own[policy]:
            attempt += 1
            policy = f"{name}#{attempt}"
        own[policy][transcript.incident] = transcript
    return own


@contextmanager
def holding(directory: Path) -> Iterator[None]:
    """Lock the directory of a run, made if it is not there: one evaluation at a time works in it.

    The operating system locks an open file, and unlocks it when the process ends in any way, so a
    file left by a dead process is no obstacle.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / LOCK_FILE
    descriptor = _locked(path)
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows keeps what is open; the next run takes it over
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    """The locked descriptor of the file at ``path``; InvalidInput if another process holds it."""
    while True:
        descriptor = open_here(path, os.O_RDWR | os.O_CREAT)
        try:
            try_lock(descriptor)
            # The holder before removes the file: then this lock protects nothing, so try again.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            raise InvalidInput(
                f"{path.parent}: another process evaluates here; wait for it, or choose another "
                "directory"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
