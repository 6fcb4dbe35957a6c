"""``seal``: keys of sealed incidents."""

from pathlib import Path
from typing import Annotated

import typer

from logtriage.cli.console import emit, note, results, say
from logtriage.cli.options import Json, SealFile
from logtriage.errors import SealError
from logtriage.sealing import HOW, new_seal, seal_at_hand


def new(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file; must not exist.")],
    as_json: Json = False,
) -> None:
    """Make a random key in a file that only you may read. It is never shown."""
    _say(new_seal(path).fingerprint, as_json=as_json)
    note(f"wrote {path}; whoever reads it knows every truth", "dim")


def fingerprint(seal_file: SealFile = None, as_json: Json = False) -> None:
    """Say the fingerprint of the key at hand: what results carry."""
    seal = seal_at_hand(seal_file)
    if seal is None:
        raise SealError(f"no key: {HOW}")
    _say(seal.fingerprint, as_json=as_json)


def _say(found: str, *, as_json: bool) -> None:
    if as_json:
        emit({"seal": found})
    else:
        say(results(), found)
