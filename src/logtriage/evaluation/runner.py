"""Playing a whole run, over several workers.

The files of a finished run are the same to the byte for any workers: results stand in the
order of the plan, not in that of their arrival.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, product
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs

from logtriage._lib.progress import OnProgress
from logtriage._lib.references import player_name
from logtriage._lib.seal import Seal
from logtriage.drawing.sealing import seal_for
from logtriage.errors import InvalidInput
from logtriage.evaluation.episodes import record_episode, record_joint_episode
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.keeping import keeping, line_of
from logtriage.evaluation.parallel import Workers, chunk_size, in_order, threaded, workers_of
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row
from logtriage.incident import Incident
from logtriage.policies import PolicyFactory, TeamFactory
from logtriage.registry import has_network, is_own, make_policy, make_team, roles_of
from logtriage.roles import watched
from logtriage.transcript import Transcript


class Recording(Protocol):
    """A player that records its own episodes, several at a time in threads."""

    @property
    def description(self) -> str:
        """A text that tells this player from others of the same name."""

    def record(self, incident: Incident, agent: str) -> Transcript:
        """Play an incident and return the transcript."""


@runtime_checkable
class Together(Recording, Protocol):
    """A player that plays several episodes side by side, such as a model in this process."""

    @property
    def batch(self) -> int:
        """How many episodes it plays at once."""

    def record_together(self, incidents: Sequence[Incident], agent: str) -> list[Transcript]:
        """Play incidents and return their transcripts, in order."""


#: Plays some incidents in the name of a policy.
Play = Callable[[Sequence[Incident], str], Iterable[Transcript]]


def evaluate(
    spec: RunSpec,
    directory: str | PathLike[str],
    *,
    bundle: str | PathLike[str] | None = None,
    jobs: int | Workers = 1,
    fresh: bool = False,
    retry_unscored: bool = False,
    factories: Mapping[str, PolicyFactory] | None = None,
    teams: Mapping[str, TeamFactory] | None = None,
    on_progress: OnProgress | None = None,
    recordings: Mapping[str, Recording] | None = None,
    concurrency: int = 1,
    seal: Seal | None = None,
) -> tuple[Row, ...]:
    """Play a run, or what is left of it, and sum it up.

    Safe to interrupt at any time: the same call goes on where it stopped, and ends
    with the same files as if it had never been interrupted.

    Args:
        spec: what to play.
        directory: where the run is kept (see :mod:`logtriage.evaluation.store`).
        bundle: recorded incidents in place of the shipped incidents.
        jobs: processes, or workers such as :class:`logtriage.adapters.ray.RayWorkers`. Processes
            are spawned, so a script that asks for several must be guarded by
            ``if __name__ == "__main__"``, and its factories be picklable.
        fresh: throw away a run that is in the directory already.
        retry_unscored: play unscored episodes again, and replace their transcripts.
        factories: policies by their names in ``spec``; they come before those of the registry.
        teams: the same for a run with a role split (:func:`logtriage.registry.make_team`).
        on_progress: called at the start and after each step of progress; after an interrupt,
            with the episodes that are kept.
        recordings: players that record their own episodes, by their names in ``spec``, such
            as :class:`logtriage.adapters.served.ServedPlayer`.
        concurrency: episodes of ``recordings`` at a time, in threads, except :class:`Together`.
        seal: the key of split ``sealed``; by default that of the variable ``LOGTRIAGE_SEAL``.

    Raises:
        UnknownName: for a policy or team that is neither registered nor among the arguments.
        InvalidInput: if the directory holds another run (of another version, with another
            policy of the same name) or another evaluation works in it.
        SealError: if the split is sealed and there is no key.
        TranscriptError: for a line that this run did not write; names file and line.
        LogTriageError: if a worker died.
    """
    if concurrency < 1:
        raise InvalidInput(f"concurrency must be at least 1, got {concurrency}")
    directory = Path(directory)
    seal = seal_for(spec.split, seal)
    workers = workers_of(jobs, seal)
    incidents = Incidents.of(bundle, seal, spec.world)
    players, split = recordings or {}, spec.role_split
    marks, plays = _plays_of(spec, players, (factories if split is None else teams) or {})
    if split is not None:
        firsts = {cell.task: cell.ids[0] for cell in plan(spec, incidents) if cell.ids}
        for first, role in product(firsts.values(), split.roles):
            watched(role, incidents(first).topology)  # refuses a part that does not exist
    with keeping(directory, spec, incidents, marks, fresh=fresh) as kept:
        left = kept.left(retry_unscored=retry_unscored)
        total = kept.episodes
        done = total - _episodes(left)
        if on_progress is not None:
            on_progress(done, total)
        if done < total:
            kept.begin()
        others, served, batches = list[_Chunk](), list[_Chunk](), list[_Chunk]()
        for cell in left:
            chunk, player = _Chunk(cell, incidents, plays[cell.policy]), players.get(cell.policy)
            if player is None:  # a policy of this process
                others.append(chunk)
            elif isinstance(player, Together):
                batches += _pieces([chunk], player.batch)
            else:
                served += _pieces([chunk], size=1)

        def keep(chunk: _Chunk, lines: bytes) -> None:
            kept.keep(chunk.cell, lines)

        with (
            closing(_spread(others, workers, keep)) as computed,
            closing(threaded(_play, keep, served, concurrency)) as asked,
            closing(threaded(_play, keep, batches, threads=1)) as loaded,
        ):
            try:
                for lines in chain(computed, asked, loaded):
                    done += lines.count(b"\n")
                    if on_progress is not None:
                        on_progress(done, total)
            except KeyboardInterrupt:
                asked.close()
                loaded.close()
                if on_progress is not None:
                    on_progress(total - _episodes(kept.left(retry_unscored=retry_unscored)), total)
                raise
        return kept.finish()


def _plays_of(
    spec: RunSpec, players: Mapping[str, Recording], makers: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, Play]]:
    """(marks for the manifest, what plays each policy); a mark tells players of a name apart."""
    marks, plays = dict[str, str](), dict[str, Play]()
    split = spec.role_split
    for name in spec.policies:
        if name in players:
            player = players[name]
            marks[name], plays[name] = player.description, partial(_one_by_one, player.record)
            if isinstance(player, Together):
                plays[name] = player.record_together
            continue
        if name in makers:
            maker = makers[name]
        else:
            maker = make_policy(name) if split is None else make_team(name, split)
        if name in makers or _may_change(name):
            marks[name] = player_name(maker)
        record = partial(record_episode, factory=maker)
        if split is not None:
            record = partial(record_joint_episode, factory=maker, split=split)
        plays[name] = partial(_one_by_one, record)
    return marks, plays


def _may_change(policy: str) -> bool:
    """Whether a policy's name refers to a directory or a module, whose content may change."""
    players = (policy, *(player for _, player in roles_of(policy)))
    return has_network(policy) or any(map(is_own, players))


def _episodes(cells: Iterable[Cell]) -> int:
    return sum(len(cell.ids) for cell in cells)


@attrs.frozen
class _Chunk:
    """Some episodes of a cell, which one process or thread plays."""

    cell: Cell
    incidents: Incidents
    play: Play


def _pieces(chunks: Iterable[_Chunk], size: int) -> list[_Chunk]:
    """Split chunks into chunks of at most ``size`` episodes."""
    pieces = []
    for chunk in chunks:
        ids = chunk.cell.ids
        for at in range(0, len(ids), size):
            cell = attrs.evolve(chunk.cell, ids=ids[at : at + size])
            pieces.append(attrs.evolve(chunk, cell=cell))
    return pieces


def _spread(
    chunks: Sequence[_Chunk], workers: Workers, keep: Callable[[_Chunk, bytes], None]
) -> Generator[bytes, None, None]:
    """Play chunks on all workers; pass each chunk's lines to ``keep`` in order, then yield them."""
    size = chunk_size(_episodes(chunk.cell for chunk in chunks), workers)
    with closing(in_order(_play, _pieces(chunks, size), workers)) as played:
        for chunk, lines in played:
            keep(chunk, lines)
            yield lines


def _one_by_one(
    record: Callable[..., Transcript], incidents: Iterable[Incident], agent: str
) -> Iterator[Transcript]:
    return (record(incident, agent=agent) for incident in incidents)


def _play(chunk: _Chunk) -> bytes:
    """Play the episodes of a chunk; returns the lines of their transcripts."""
    incidents = list(map(chunk.incidents, chunk.cell.ids))
    return b"".join(map(line_of, chunk.play(incidents, chunk.cell.policy)))
