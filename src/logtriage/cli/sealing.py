"""``seal``: keys of sealed incidents."""

from pathlib import Path
from typing import Annotated

import typer

from logtriage.cli.console import emit, note, results, say
from logtriage.cli.options import Json, SealFile
from logtriage.drawing.sealing import HOW, new_seal, seal_at_hand
from logtriage.errors import SealError


def new(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The file to write. It must not exist.")
    ],
    as_json: Json = False,
) -> None:
    """Write a random key to a file.

    Only you may read the file.
    """
    _say(new_seal(path).fingerprint, as_json=as_json)
    note(f"wrote {path}; anyone who reads it can draw every answer", "dim")


def fingerprint(seal_file: SealFile = None, as_json: Json = False) -> None:
    """Show the fingerprint of the key in use.

    Results carry this fingerprint.
    """
    seal = seal_at_hand(seal_file)
    if seal is None:
        raise SealError(f"no key: {HOW}")
    _say(seal.fingerprint, as_json=as_json)


def _say(fingerprint_: str, *, as_json: bool) -> None:
    if as_json:
        emit({"seal": fingerprint_})
    else:
        say(results(), fingerprint_)
