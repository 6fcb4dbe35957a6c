"""Playing a whole run, over several processes.

Whatever the number of processes, the files of a run are the same to the byte: results
are written in the order of the plan, never in that of their arrival.
"""

import json
import signal
from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from typing import Final

import attrs

from logtriage.codec import encode_transcript, unstructure_transcript
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.evaluation import store
from logtriage.evaluation.episodes import record_episode, record_joint_episode
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.loading import load_run
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.policies import PolicyFactory, TeamFactory
from logtriage.registry import make_policy, make_team
from logtriage.roles import RoleSplit
from logtriage.transcript import Transcript

#: At most this many episodes travel to a process at a time ...
_CHUNK: Final = 16
#: ... and this many chunks for each process are on their way.
_AHEAD: Final = 4

#: Called with the episodes that are done and those there are in all.
OnProgress = Callable[[int, int], None]
_Lines = Generator[tuple[Cell, bytes], None, None]


#: Plays an incident of that id with a policy, for an agent of that name, and records it.
Recorder = Callable[[str, PolicyFactory, str], Transcript]


@attrs.frozen
class _Alone:
    """Records what a policy does on an incident."""

    incidents: Incidents
    factory: PolicyFactory

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        return record_episode(self.incidents(incident_id), self.factory, agent)


@attrs.frozen
class _Jointly:
    """Records what a team does."""

    incidents: Incidents
    factory: TeamFactory
    split: RoleSplit

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        incident = self.incidents(incident_id)
        return record_joint_episode(incident, self.factory, agent, self.split)


@attrs.frozen
class _Elsewhere:
    """Records what a policy does where another recorder lets it play."""

    recorder: Recorder
    factory: PolicyFactory

    def __call__(self, incident_id: str, agent: str) -> Transcript:
        return self.recorder(incident_id, self.factory, agent)


_Record = _Alone | _Jointly | _Elsewhere


def _records(
    spec: RunSpec,
    incidents: Incidents,
    factories: Mapping[str, PolicyFactory],
    teams: Mapping[str, TeamFactory],
    recorder: Recorder | None,
) -> dict[str, _Record]:
    split, records = spec.role_split, dict[str, _Record]()
    if split is not None and recorder is not None:
        raise InvalidInput("a recorder plays single agents; this run has a role split")
    for name in spec.policies:
        if split is not None:
            team = teams[name] if name in teams else make_team(name, split)
            records[name] = _Jointly(incidents, team, split)
            continue
        factory = factories[name] if name in factories else make_policy(name)
        records[name] = (
            _Alone(incidents, factory) if recorder is None else _Elsewhere(recorder, factory)
        )
    return records


def evaluate(
    spec: RunSpec,
    directory: str | PathLike[str],
    *,
    bundle: str | PathLike[str] | None = None,
    jobs: int = 1,
    fresh: bool = False,
    factories: Mapping[str, PolicyFactory] | None = None,
    teams: Mapping[str, TeamFactory] | None = None,
    on_progress: OnProgress | None = None,
    recorder: Recorder | None = None,
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
        factories: policies that the registry does not know, by their names in ``spec``.
        teams: the same for a run with a role split, where teams play
            (:func:`logtriage.registry.make_team` makes one of policies for each role).
        on_progress: called at the start and after each step of progress.
        recorder: plays the episodes elsewhere than in this process, on a server say; it
            must be picklable for several jobs.

    Raises:
        UnknownName: for a policy or team that is neither registered nor given.
        InvalidInput: if the directory holds another run, or a recorder is to play a team.
        LogTriageError: if a process died.
    """
    if jobs < 1:
        raise InvalidInput(f"jobs must be at least 1, got {jobs}")
    directory = Path(directory)
    incidents = Incidents.of(bundle)
    made = _records(spec, incidents, factories or {}, teams or {}, recorder)
    store.open_run(directory, spec, incidents, fresh=fresh)
    cells = plan(spec, incidents)
    total = sum(len(cell.ids) for cell in cells)
    left = [attrs.evolve(cell, ids=cell.ids[store.finished(directory, cell) :]) for cell in cells]
    done = total - sum(len(cell.ids) for cell in left)
    if on_progress is not None:
        on_progress(done, total)
    if done < total:
        (directory / store.SUMMARY_FILE).unlink(missing_ok=True)
    with closing(_played(left, made, jobs)) as played:
        for cell, lines in played:
            with store.transcripts_path(directory, cell).open("ab") as file:
                file.write(lines)
            done += lines.count(b"\n")
            if on_progress is not None:
                on_progress(done, total)
    rows = summarise(load_run(directory))
    store.write_json(directory / store.SUMMARY_FILE, rows_to_json(rows))
    return rows


@attrs.frozen
class _Chunk:
    """Some episodes of a cell: what one process is asked to play at a time."""

    cell: Cell
    record: _Record


def _played(cells: list[Cell], made: Mapping[str, _Record], jobs: int) -> _Lines:
    """The transcripts of all cells as lines, in order."""
    episodes = sum(len(cell.ids) for cell in cells)
    # Alone, each episode is written when it is over; others share the work in small shares.
    size = 1 if jobs == 1 else max(1, min(_CHUNK, episodes // (jobs * _AHEAD)))
    chunks = [
        _Chunk(attrs.evolve(cell, ids=cell.ids[at : at + size]), made[cell.policy])
        for cell in cells
        for at in range(0, len(cell.ids), size)
    ]
    jobs = min(jobs, len(chunks))
    if jobs <= 1:
        return ((chunk.cell, _play(chunk)) for chunk in chunks)
    return _spread(chunks, jobs)


def _spread(chunks: list[_Chunk], jobs: int) -> _Lines:
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_be_quiet)
    waiting: deque[tuple[Cell, Future[bytes]]] = deque()
    try:
        for chunk in chunks:
            waiting.append((chunk.cell, pool.submit(_play, chunk)))
            if len(waiting) >= jobs * _AHEAD:
                cell, future = waiting.popleft()
                yield cell, future.result()
        while waiting:
            cell, future = waiting.popleft()
            yield cell, future.result()
    except BrokenProcessPool as error:
        raise LogTriageError(
            "a process that played episodes died; what was finished is kept"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _be_quiet() -> None:
    """Leave an interrupt to the process that gave the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _play(chunk: _Chunk) -> bytes:
    cell = chunk.cell
    return b"".join(_line(chunk.record(incident, cell.policy)) for incident in cell.ids)


def _line(transcript: Transcript) -> bytes:
    try:
        return f"{encode_transcript(transcript)}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        return f"{json.dumps(unstructure_transcript(transcript))}\n".encode()
