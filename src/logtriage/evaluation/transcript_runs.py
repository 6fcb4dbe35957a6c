"""A run of transcripts that were made elsewhere, in a directory like that of any other run."""

from collections import defaultdict
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Final

import attrs

from logtriage.drawing.ids import SEALED
from logtriage.errors import InvalidInput
from logtriage.evaluation import store
from logtriage.evaluation.cell_files import TRANSCRIPTS, append, cell_path
from logtriage.evaluation.incidents import RECORDED_TASK, Incidents, is_recorded
from logtriage.evaluation.keeping import line_of
from logtriage.evaluation.loading import load_run
from logtriage.evaluation.lock import holding
from logtriage.evaluation.manifest import RUN_FILE, Manifest
from logtriage.evaluation.spec import RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.roles.splits import get_role_split
from logtriage.transcript import Splits, Transcript

#: The name of an agent that its transcripts do not name.
UNNAMED: Final = "agent"


def keep_run(
    transcripts: Sequence[Transcript],
    directory: str | PathLike[str],
    incidents: Incidents,
    splits: Splits = get_role_split,
) -> tuple[Row, ...]:
    """Write a run of transcripts, and sum it up. They must be gradable.

    Each agent is a policy. Further attempts of an agent at an incident are policies of their own,
    ``name#2`` and so on.

    Raises:
        InvalidInput: if there are no transcripts, if they are of several worlds, some of them
            sealed, or of several role splits, or if there is a run in the directory already.
        OSError: if the directory cannot be written.
    """
    directory = Path(directory)
    if (directory / RUN_FILE).exists():
        raise InvalidInput(f"{directory}: holds a run already; choose another directory")
    own = _by_policy(transcripts)
    ids = [transcript.incident for transcript in transcripts]
    tasks = [RECORDED_TASK if is_recorded(name) else incidents(name).task for name in ids]
    of_split = {name.split("/")[1] for name in ids if not is_recorded(name)}
    if SEALED in of_split and (len(of_split) > 1 or any(map(is_recorded, ids))):
        raise InvalidInput("sealed incidents and others: make a run of each")
    named = {transcript.role_split for transcript in transcripts}
    if len(named) > 1:
        shown = ", ".join(sorted(name or "single agents" for name in named))
        raise InvalidInput(f"transcripts of several role splits ({shown}): make a run of each")
    role_split = named.pop() if named else None
    spec = RunSpec(
        tuple(own),
        tuple(tasks),
        of_split.pop() if len(of_split) == 1 else "test",
        max(map(len, own.values()), default=0),
        role_split=None if role_split is None else splits(role_split),
        world=incidents.world,
        incidents={name: tuple(played) for name, played in own.items()},
    )
    with holding(directory):
        store.open_run(directory, Manifest.of(spec, incidents), incidents)
        for cell in plan(spec, incidents):
            played = own[cell.policy]
            lines = (line_of(attrs.evolve(played[name], agent=cell.policy)) for name in cell.ids)
            append(cell_path(directory, TRANSCRIPTS, cell), b"".join(lines))
        rows = summarise(load_run(directory, seal=incidents.seal))
        store.write_json(directory / store.SUMMARY_FILE, rows_to_json(rows))
    return rows


def _by_policy(transcripts: Sequence[Transcript]) -> dict[str, dict[str, Transcript]]:
    """The transcripts of each policy, by incident."""
    own: defaultdict[str, dict[str, Transcript]] = defaultdict(dict)
    for transcript in transcripts:
        name, attempt = transcript.agent or UNNAMED, 1
        policy = name
        while transcript.incident in own[policy]:
            attempt += 1
            policy = f"{name}#{attempt}"
        own[policy][transcript.incident] = transcript
    return own
