"""Playing a whole run, over several processes.

Whatever the number of processes, the files of a run are the same to the byte: results
are written in the order of the plan, never in that of their arrival.
"""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path

import attrs

from logtriage.codec import encode_transcript, unstructure_transcript
from logtriage.errors import InvalidInput
from logtriage.evaluation import store
from logtriage.evaluation.cells import append, mend, replace
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.loading import load_run
from logtriage.evaluation.lock import holding
from logtriage.evaluation.manifest import Manifest
from logtriage.evaluation.processes import chunk_size, in_order
from logtriage.evaluation.recorders import Record, Recorder, place_of, records_of
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.fingerprint import fingerprint_of
from logtriage.policies import PolicyFactory, TeamFactory
from logtriage.seal import Seal
from logtriage.sealing import seal_for
from logtriage.trained import has_network, make_team
from logtriage.transcript import COMPLETED, Transcript

#: Called with the episodes that are done and those there are in all.
OnProgress = Callable[[int, int], None]
#: Episodes of a cell that are to be played, and how what comes of them is kept.
_Work = tuple[Cell, Callable[[Path, Cell, bytes], None]]


def evaluate(
    spec: RunSpec,
    directory: str | PathLike[str],
    *,
    bundle: str | PathLike[str] | None = None,
    jobs: int = 1,
    fresh: bool = False,
    retry_unscored: bool = False,
    factories: Mapping[str, PolicyFactory] | None = None,
    teams: Mapping[str, TeamFactory] | None = None,
    on_progress: OnProgress | None = None,
    recorder: Recorder | None = None,
    listening: bool = False,
    seal: Seal | None = None,
) -> tuple[Row, ...]:
    """Play a run, or what is left of it, and sum it up.

    Safe to interrupt at any time: the same call goes on where it stopped, and ends
    with the same files as if it had never been interrupted.

    Args:
        spec: what to play.
        directory: where the run is kept (see :mod:`logtriage.evaluation.store`).
        bundle: recorded incidents in place of the shipped ones.
        jobs: processes. They are spawned, so a script that asks for several must be
            guarded by ``if __name__ == "__main__"``, and its factories be picklable.
        fresh: throw away a run that is in the directory already.
        retry_unscored: play those episodes again that broke off, and put the new transcript
            in the place of the old one.
        factories: policies that the registry does not know, by their names in ``spec``.
        teams: the same for a run with a role split, where teams play
            (:func:`logtriage.registry.make_team` makes one of policies for each role).
        on_progress: called at the start and after each step of progress.
        recorder: plays the episodes elsewhere than in this process, on a server say; it
            must be picklable for several jobs.
        listening: ask the ``teams``, too, whether they heed reports: in a tick in which one
            comes up, once more for each role that it reached, and once the very same.
            Built-in teams are asked in any case.
        seal: the key of split ``sealed``; by default that of the variable
            ``LOGTRIAGE_SEAL``. Other splits have none.

    Raises:
        UnknownName: for a policy or team that is neither registered nor given.
        InvalidInput: if the directory holds another run (of another version, with another
            policy of the same name, in another environment) or another evaluation works in
            it, or if a recorder is to play a team.
        SealError: if the split is sealed and there is no key.
        TranscriptError: naming file and line, if the directory has what this run did not
            write.
        LogTriageError: if a process died.
    """
    if jobs < 1:
        raise InvalidInput(f"jobs must be at least 1, got {jobs}")
    directory = Path(directory)
    seal = seal_for(spec.split, seal)
    incidents = Incidents.of(bundle, seal)
    made = records_of(spec, incidents, factories or {}, teams or {}, recorder, listening=listening)
    given = {**(factories or {}), **(teams or {})}
    if spec.role_split is not None:
        # What a directory holds may change, unlike what the registry knows.
        trained = (one for one in spec.policies if one not in given and has_network(one))
        given |= {one: make_team(one, spec.role_split) for one in trained}
    manifest = Manifest.of(
        spec,
        incidents,
        {name: fingerprint_of(given[name]) for name in spec.policies if name in given},
        None if recorder is None else place_of(recorder),
    )
    with holding(directory):
        store.open_run(directory, manifest, incidents, fresh=fresh)
        left = _left(directory, plan(spec, incidents), retry_unscored)
        total = sum(len(cell.ids) for cell in plan(spec, incidents))
        done = total - sum(len(cell.ids) for cell, _ in left)
        if on_progress is not None:
            on_progress(done, total)
        if done < total:
            (directory / store.SUMMARY_FILE).unlink(missing_ok=True)
        with closing(_played(left, made, jobs)) as played:
            for chunk, lines in played:
                cell, keep = chunk.work
                keep(directory, cell, lines)
                done += lines.count(b"\n")
                if on_progress is not None:
                    on_progress(done, total)
        rows = summarise(load_run(directory, seal=seal))
        store.write_json(directory / store.SUMMARY_FILE, rows_to_json(rows))
    return rows


def _left(directory: Path, cells: Iterable[Cell], retry_unscored: bool) -> list[_Work]:
    """What is still to be played of each cell, those first that broke off."""
    left: list[_Work] = []
    for cell in cells:
        found = mend(directory, cell)
        if retry_unscored:
            broken = tuple(one.incident for one in found if one.status != COMPLETED)
            left.append((attrs.evolve(cell, ids=broken), replace))
        left.append((attrs.evolve(cell, ids=cell.ids[len(found) :]), append))
    return left


@attrs.frozen
class _Chunk:
    """Some episodes of a cell: what one process is asked to play at a time."""

    work: _Work
    record: Record


def _played(
    left: list[_Work], made: Mapping[str, Record], jobs: int
) -> Generator[tuple[_Chunk, bytes], None, None]:
    """The transcripts of all cells as lines, in order."""
    episodes = sum(len(cell.ids) for cell, _ in left)
    size = chunk_size(episodes, jobs)
    chunks = [
        _Chunk((attrs.evolve(cell, ids=cell.ids[at : at + size]), keep), made[cell.policy])
        for cell, keep in left
        for at in range(0, len(cell.ids), size)
    ]
    return in_order(_play, chunks, jobs)


def _play(chunk: _Chunk) -> bytes:
    cell, _ = chunk.work
    return b"".join(_line(chunk.record(incident, cell.policy)) for incident in cell.ids)


def _line(transcript: Transcript) -> bytes:
    try:
        return f"{encode_transcript(transcript)}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        return f"{json.dumps(unstructure_transcript(transcript))}\n".encode()
