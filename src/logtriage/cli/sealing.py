"""``seal``: keys of sealed incidents."""

from pathlib import Path
from typing import Annotated

import typer

from logtriage.cli.console import emit, note, results, say
from logtriage.cli.options import Json, SealFile
from logtriage.errors import SealError
from logtriage.sealing import HOW, new_seal, seal_at_hand


def new(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The file to write. It must not exist.")
    ],
    as_json: Json = False,
) -> None:
    """Write a random key to a file that only you may read."""
    _say(new_seal(path).fingerprint, as_json=as_json)
    note(f"wrote {path}; anyone who reads it can draw every answer", "dim")


def fingerprint(seal_file: SealFile = None, as_json: Json = False) -> None:
    """Show the fingerprint of the key in use, as results carry it."""
    seal = seal_at_hand(seal_file)
    if seal is None:
        raise SealError(f"no key: {HOW}")
    _say(seal.fingerprint, as_json=as_json)


def _say(found: str, *, as_json: bool) -> None:
    if as_json:
        emit({"seal": found})
    else:
        say(results(), found)
