"""The directory of a run: its definition, its transcripts and its summary.

::

    run.json                             what is played, by which version and rubrics
    transcripts/<policy>--<task>.jsonl   one transcript a line, at the end in the order of the ids
    explanations/<policy>--<task>.jsonl  why grades were lost, one explained episode a line
    beliefs.jsonl                        what pages worked out by beliefs, by digest
    bundle.jsonl[.gz]                    a copy of the recorded incidents, if they were given
    world.json                           the content of the world, if it is not the default world
    summary.json                         the figures; there once the run is finished

JSON files appear whole or not at all. Transcripts are appended one by one, so episodes
that end before an interrupt are kept; a last line without its line break was torn, and
its episode is played again. Nothing is written through a link.
:mod:`logtriage.evaluation.loading` reads a run back.
"""

import json
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Final

from logtriage._lib.files import replacing
from logtriage._lib.printable import spelled
from logtriage.errors import InvalidInput
from logtriage.evaluation.cell_files import (
    EXPLANATIONS,
    TRANSCRIPTS,
    UNDER_WAY,
    cell_path,
    refuse_link,
)
from logtriage.evaluation.incidents import Incidents, digest_of
from logtriage.evaluation.manifest import RUN_FILE, WORLD_FILE, Manifest, read_manifest
from logtriage.evaluation.spec import Cell

SUMMARY_FILE: Final = "summary.json"
BELIEFS_FILE: Final = "beliefs.jsonl"
#: Names that the copy of recorded incidents may have.
BUNDLES: Final = ("bundle.jsonl", "bundle.jsonl.gz")
#: Errors show longer lists by their length, first and last member.
_LISTED: Final = 4


def open_run(
    directory: Path, manifest: Manifest, incidents: Incidents, *, fresh: bool = False
) -> None:
    """Begin a run in a directory, or check that the run in it is the same.

    With ``fresh``, a run that is already there is deleted first. A run that has no episodes is
    deleted in any case. Files that are not of that run are never touched.
    """
    refuse_link(directory / TRANSCRIPTS)
    refuse_link(directory / EXPLANATIONS)
    if not (directory / RUN_FILE).exists():
        _check_empty(directory, manifest, incidents)
        _begin(directory, manifest, incidents)
    elif fresh or not _has_episodes(directory):
        _begin(directory, manifest, incidents, instead_of=read_manifest(directory))
    else:
        _check_same(directory, manifest)
    (directory / TRANSCRIPTS).mkdir(exist_ok=True)


def _has_episodes(directory: Path) -> bool:
    """Whether a run has a finished or an open episode (none if, say, a server never answered)."""
    kept = ((directory / TRANSCRIPTS).glob("*"), directory.glob(UNDER_WAY))
    return any(path.stat().st_size for path in chain(*kept))


def _check_empty(directory: Path, manifest: Manifest, incidents: Incidents) -> None:
    """Refuse a directory with files other than those that an interrupted beginning leaves."""
    left = {path.name for path in copies_of(directory, incidents.digest)}
    world = directory / WORLD_FILE
    same = world.is_file() and world.read_bytes() == manifest.spec.world.content
    if manifest.world is not None and same:
        left.add(WORLD_FILE)
    strange = sorted(
        path.name
        for path in directory.iterdir()
        if path.name not in left and not path.name.startswith(".")
    )
    if strange:
        raise InvalidInput(
            f"{directory}: not the directory of a run, and not empty (it holds {strange[0]})"
        )


def copies_of(directory: Path, digest: str | None) -> Iterator[Path]:
    """The files of recorded incidents in a run's directory whose content has that digest."""
    for path in (directory / name for name in BUNDLES):
        if digest is not None and path.is_file() and digest_of(path.read_bytes()) == digest:
            yield path


def _begin(
    directory: Path, manifest: Manifest, incidents: Incidents, instead_of: Manifest | None = None
) -> None:
    """Write the definition of a run and what it needs, after deleting the run ``instead_of``."""
    # Read first: it may be the copy in the very run that is thrown away.
    bundle = None if incidents.bundle is None else incidents.bundle.read_bytes()
    if instead_of is not None:
        _discard(directory, instead_of)
    if bundle is not None:
        plain, gzipped = BUNDLES
        copy = directory / (gzipped if bundle.startswith(b"\x1f\x8b") else plain)
        if copy.exists() and copy not in copies_of(directory, manifest.bundle):
            raise InvalidInput(f"{copy}: not part of a run; it would be overwritten")
        with replacing(copy) as file:
            file.write(bundle)
    if manifest.world is not None:
        with replacing(directory / WORLD_FILE) as file:
            file.write(manifest.spec.world.content)
    # Last, so that a directory with a definition has all that it needs.
    write_json(directory / RUN_FILE, manifest.to_json())


def _discard(directory: Path, manifest: Manifest) -> None:
    """Delete the files of a run, except its definition, which is about to be replaced."""
    world = () if manifest.world is None else (WORLD_FILE,)
    for name in (SUMMARY_FILE, BELIEFS_FILE, UNDER_WAY, *world):
        (directory / name).unlink(missing_ok=True)
    for path in copies_of(directory, manifest.bundle):
        path.unlink()
    folders = (TRANSCRIPTS, EXPLANATIONS)
    for policy, task, folder in product(manifest.spec.policies, manifest.rubrics, folders):
        cell = Cell(policy, task, rubric="", ids=())
        cell_path(directory, folder, cell).unlink(missing_ok=True)


def _check_same(directory: Path, manifest: Manifest) -> None:
    there, wanted = read_manifest(directory).to_json(), manifest.to_json()
    splits = there["role_split"], wanted["role_split"]
    if None in splits or splits[0]["name"] != splits[1]["name"]:
        for run in (there, wanted):  # then the names tell them apart
            run["role_split"] = run["role_split"] and run["role_split"]["name"]
    for run in (there, wanted):
        world = run.get("world")
        run["world"] = f"{world['name']} ({world['fingerprint']})" if world else "the default world"
        run |= {f"policy {name!r}": mark for name, mark in run.pop("players").items()}
        if run.get("kinds"):
            del run["incidents"]  # they follow from the rest
    keys = [key for key in {**wanted, **there} if there.get(key) != wanted.get(key)]
    # The others follow from policies and tasks; the key of a player has a blank.
    if "policies" in keys or "tasks" in keys:
        keys = [key for key in keys if key not in ("rubrics", "incidents") and " " not in key]
    differences = [
        f"{key} is {_show(there.get(key))}, asked for {_show(wanted.get(key))}" for key in keys
    ]
    if differences:
        raise InvalidInput(
            f"{directory} holds another run: {'; '.join(differences)}. "
            "Choose another directory, or start afresh (--fresh, fresh=True)"
        )


def _show(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_show(each)}" for name, each in value.items())
    if not isinstance(value, list):
        return json.dumps(value)
    if len(value) > _LISTED:
        return spelled(f"{len(value)}, from {value[0]} to {value[-1]}")
    return spelled(", ".join(map(str, value)))


def write_json(path: Path, data: object) -> None:
    """Write JSON data to a file that appears whole or not at all."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path) as file:
        file.write(f"{text}\n".encode("utf-8", "backslashreplace"))
