"""The directory of a run: its definition, its transcripts and its summary.

::

    run.json                             what is played, by which version and rubrics
    transcripts/<policy>--<task>.jsonl   one transcript a line, in the order of the ids
    bundle.jsonl[.gz]                    a copy of the recorded incidents, if they were given
    summary.json                         the figures; there once the run is finished

JSON files appear whole or not at all. Transcripts are appended one by one, so what
was finished before an interrupt is there after it; a last line without its line break
was torn and is played again. :mod:`logtriage.evaluation.loading` reads a run back.
"""

import json
import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

from logtriage.codec import decode_transcript
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.manifest import RUN_FILE, Manifest, read_manifest
from logtriage.evaluation.spec import Cell, RunSpec
from logtriage.files import replacing
from logtriage.transcript import Transcript

SUMMARY_FILE: Final = "summary.json"
TRANSCRIPTS: Final = "transcripts"
#: Names that the copy of recorded incidents may have.
BUNDLES: Final = ("bundle.jsonl", "bundle.jsonl.gz")
_SLUG: Final = 40


def slug(name: str) -> str:
    """A file name for a policy or task; other names never share it."""
    short = re.sub(r"[^A-Za-z0-9._]+", "-", name)[:_SLUG].strip("-.")
    if short == name:
        return name
    return f"{short}-{blake2b(name.encode(), digest_size=4).hexdigest()}"


def transcripts_path(directory: Path, cell: Cell) -> Path:
    """Where the transcripts of a cell are kept."""
    return directory / TRANSCRIPTS / f"{slug(cell.policy)}--{slug(cell.task)}.jsonl"


def open_run(
    directory: Path, spec: RunSpec, incidents: Incidents, *, fresh: bool = False
) -> Manifest:
    """Begin a run in a directory, or check that the one in it is the same run.

    With ``fresh`` a run that is there already is thrown away first; files that are not
    of a run are never touched.

    Raises:
        InvalidInput: if the directory holds another run (the message names what
            differs), or something that is no run at all.
        OSError: if it cannot be written.
    """
    manifest = Manifest.of(spec, incidents)
    if not (directory / RUN_FILE).exists():
        _check_empty(directory)
        _begin(directory, manifest, incidents)
    elif fresh:
        _discard(directory)
        _begin(directory, manifest, incidents)
    else:
        _check_same(directory, manifest)
    (directory / TRANSCRIPTS).mkdir(exist_ok=True)
    return manifest


def _check_empty(directory: Path) -> None:
    """Refuse a directory with anything but what an interrupted beginning leaves."""
    strange = sorted(
        one.name
        for one in (directory.iterdir() if directory.exists() else ())
        if one.name not in BUNDLES and not one.name.startswith(".")
    )
    if strange:
        raise InvalidInput(
            f"{directory}: not the directory of a run, and not empty (it holds {strange[0]})"
        )


def _begin(directory: Path, manifest: Manifest, incidents: Incidents) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    if incidents.bundle is not None:
        _copy_bundle(incidents.bundle, directory)
    # Last, so that a directory with a definition has all that it needs.
    write_json(directory / RUN_FILE, manifest.to_json())


def _discard(directory: Path) -> None:
    """Throw away what a run left, but for the definition, which is about to be replaced."""
    read_manifest(directory)
    for name in (SUMMARY_FILE, *BUNDLES):
        (directory / name).unlink(missing_ok=True)
    for path in (directory / TRANSCRIPTS).glob("*.jsonl"):
        path.unlink()


def _check_same(directory: Path, manifest: Manifest) -> None:
    there, wanted = read_manifest(directory).to_json(), manifest.to_json()
    splits = there["role_split"], wanted["role_split"]
    if None in splits or splits[0]["name"] != splits[1]["name"]:
        for one in (there, wanted):  # then the names tell them apart
            one["role_split"] = one["role_split"] and one["role_split"]["name"]
    differences = [
        f"{key} is {_show(there[key])}, asked for {_show(wanted[key])}"
        for key in wanted
        if there[key] != wanted[key]
    ]
    if differences:
        raise InvalidInput(
            f"{directory} holds another run: {'; '.join(differences)}. "
            "Choose another directory, or start afresh"
        )


def _show(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else json.dumps(value)


def _copy_bundle(bundle: Path, directory: Path) -> None:
    content = bundle.read_bytes()
    with replacing(directory / BUNDLES[1 if content.startswith(b"\x1f\x8b") else 0]) as file:
        file.write(content)


def write_json(path: Path, data: object) -> None:
    """Write JSON data to a file that appears whole or not at all."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path) as file:
        file.write(f"{text}\n".encode("utf-8", "backslashreplace"))


def finished(directory: Path, cell: Cell) -> int:
    """How many episodes of a cell are there already; a torn last line is cut off.

    Raises:
        TranscriptError: naming file and line, if a line is not what this run wrote.
    """
    path = transcripts_path(directory, cell)
    if not path.exists():
        return 0
    whole = sum(len(line) for line in _whole_lines(path))
    if whole < path.stat().st_size:
        os.truncate(path, whole)
    return len(read_cell(directory, cell))


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def read_cell(directory: Path, cell: Cell) -> tuple[Transcript, ...]:
    """The transcripts of a cell, as far as they go; checked against what was planned.

    Raises:
        TranscriptError: naming file and line, if a line is not what this run wrote.
    """
    path = transcripts_path(directory, cell)
    if not path.exists():
        return ()
    found: list[Transcript] = []
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            transcript = decode_transcript(line)
            if number > len(cell.ids):
                raise TranscriptError(f"one more than the {len(cell.ids)} episodes of this run")
            for field, got, expected in (
                ("incident", transcript.incident, cell.ids[number - 1]),
                ("agent", transcript.agent, cell.policy),
            ):
                if got != expected:
                    raise TranscriptError(f"{field}: expected {expected!r}, got {got!r}")
        except TranscriptError as error:
            raise TranscriptError(error.reason, source=str(path), line=number) from None
        found.append(transcript)
    return tuple(found)
