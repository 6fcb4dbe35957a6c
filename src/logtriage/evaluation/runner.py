"""Playing episodes: one, or a whole run over several processes.

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

from logtriage.actions import Action
from logtriage.codec import encode_transcript, unstructure_transcript
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.evaluation import store
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.localisation import RANKING, check_ranking, ranking_to_json
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.policies import Memory, Policy, PolicyFactory, Ranks
from logtriage.registry import make_policy
from logtriage.state import State, initial_state
from logtriage.transcript import Transcript, transcript_of
from logtriage.transition import transition

#: At most this many episodes travel to a process at a time ...
_CHUNK: Final = 16
#: ... and this many chunks for each process are on their way.
_AHEAD: Final = 4
_CAUSE: Final = 500

#: Called with the episodes that are done and those there are in all.
OnProgress = Callable[[int, int], None]
_Lines = Generator[tuple[Cell, bytes], None, None]


class PolicyFailure(LogTriageError):
    """A policy raised, or returned no action; ``state`` is how far the episode got."""

    def __init__(self, cause: str, state: State) -> None:
        self.cause = cause
        self.state = state
        super().__init__(cause)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.cause, self.state)


def steps(incident: Incident, policy: Policy) -> Generator[State, None, Memory]:
    """Every state of an episode, from the first to the one in which it is closed.

    The generator's return value is what the policy remembers at the end.

    Raises:
        PolicyFailure: if the policy raises, or returns what is no action here.
    """
    state, memory = initial_state(incident), None
    yield state
    while not state.is_closed:
        try:
            action, memory = policy.act(observe(state), memory)
            if not isinstance(action, Action):
                raise TypeError(f"a policy must return an action, got {type(action).__name__}")
            after = transition(state, action)
        except Exception as error:
            cause = f"policy failed in tick {state.tick + 1}: {_say(error)}"
            raise PolicyFailure(cause, state) from error
        state = after
        yield state
    return memory


def play_episode(incident: Incident, policy: Policy) -> State:
    """Let a policy play an incident until it is closed.

    Raises:
        PolicyFailure: as :func:`steps`.
    """
    *_, last = steps(incident, policy)
    return last


def record_episode(incident: Incident, factory: PolicyFactory, agent: str) -> Transcript:
    """The transcript of an episode; unscored, with its cause, if the policy fails."""
    try:
        policy = factory(incident)
    except Exception as error:
        cause = f"policy could not be made: {_say(error)}"
        return transcript_of(initial_state(incident), agent=agent, status=cause)
    states = steps(incident, policy)
    try:
        state = next(states)
        while True:
            try:
                state = next(states)
            except StopIteration as end:
                extra = _ranking(policy, state, end.value)
                return transcript_of(state, agent=agent, extra=extra)
    except PolicyFailure as failure:
        return transcript_of(failure.state, agent=agent, status=failure.cause)


def _ranking(policy: Policy, state: State, memory: Memory) -> Mapping[str, object]:
    """What a transcript keeps of the ranking of a policy that has one."""
    if not isinstance(policy, Ranks):
        return {}
    try:
        ranking = policy.ranking(observe(state), memory)
        known = state.incident.topology.names
        return {RANKING: ranking_to_json(check_ranking(ranking, known))}
    except Exception as error:
        raise PolicyFailure(f"policy failed to rank: {_say(error)}", state) from error


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_CAUSE]


def evaluate(
    spec: RunSpec,
    directory: str | PathLike[str],
    *,
    bundle: str | PathLike[str] | None = None,
    jobs: int = 1,
    fresh: bool = False,
    factories: Mapping[str, PolicyFactory] | None = None,
    on_progress: OnProgress | None = None,
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
        on_progress: called at the start and after each step of progress.

    Raises:
        UnknownName: for a policy that is neither registered nor in ``factories``.
        InvalidInput: if the directory holds another run.
        LogTriageError: if a process died.
    """
    if jobs < 1:
        raise InvalidInput(f"jobs must be at least 1, got {jobs}")
    directory = Path(directory)
    own = factories or {}
    made = {name: own[name] if name in own else make_policy(name) for name in spec.policies}
    incidents = Incidents.of(bundle)
    store.open_run(directory, spec, incidents, fresh=fresh)
    cells = plan(spec, incidents)
    total = sum(len(cell.ids) for cell in cells)
    left = [attrs.evolve(cell, ids=cell.ids[store.finished(directory, cell) :]) for cell in cells]
    done = total - sum(len(cell.ids) for cell in left)
    if on_progress is not None:
        on_progress(done, total)
    if done < total:
        (directory / store.SUMMARY_FILE).unlink(missing_ok=True)
    with closing(_played(left, incidents, made, jobs)) as played:
        for cell, lines in played:
            with store.transcripts_path(directory, cell).open("ab") as file:
                file.write(lines)
            done += lines.count(b"\n")
            if on_progress is not None:
                on_progress(done, total)
    rows = summarise(store.load_run(directory))
    store.write_json(directory / store.SUMMARY_FILE, rows_to_json(rows))
    return rows


@attrs.frozen
class _Chunk:
    """Some episodes of a cell: what one process is asked to play at a time."""

    cell: Cell
    factory: PolicyFactory
    incidents: Incidents


def _played(
    cells: list[Cell], incidents: Incidents, made: Mapping[str, PolicyFactory], jobs: int
) -> _Lines:
    """The transcripts of all cells as lines, in order."""
    episodes = sum(len(cell.ids) for cell in cells)
    # Alone, each episode is written when it is over; others share the work in small shares.
    size = 1 if jobs == 1 else max(1, min(_CHUNK, episodes // (jobs * _AHEAD)))
    chunks = [
        _Chunk(attrs.evolve(cell, ids=cell.ids[at : at + size]), made[cell.policy], incidents)
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
    return b"".join(
        _line(record_episode(chunk.incidents(incident), chunk.factory, cell.policy))
        for incident in cell.ids
    )


def _line(transcript: Transcript) -> bytes:
    try:
        return f"{encode_transcript(transcript)}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        return f"{json.dumps(unstructure_transcript(transcript))}\n".encode()
