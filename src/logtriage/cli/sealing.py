"""``seal``: keys of sealed incidents, and runs of attempts at them."""

from pathlib import Path
from typing import Annotated

from logtriage._lib.files import replacing
from logtriage.cli.console import emit, note, results, say
from logtriage.cli.options import Json, SealFile, argument, option
from logtriage.codec import encode_transcript
from logtriage.drawing.sealing import HOW, new_seal, seal_at_hand
from logtriage.errors import InvalidInput, SealError
from logtriage.server.ledger import Ledger


def new(
    path: Annotated[Path, argument("PATH", "The file to write. It must not exist.")],
    as_json: Json = False,
) -> None:
    """Write a random key to a file that only you may read."""
    _say(new_seal(path).fingerprint, as_json=as_json)
    note(f"wrote {path}; anyone who reads it can draw every answer", "dim")


def close(
    ledger: Annotated[Path, argument("LEDGER", "The ledger of a server.")],
    run: Annotated[str, option("NAME", "The run to close.")],
    out: Annotated[Path, option("FILE", "Write its transcripts here.")],
    as_json: Json = False,
) -> None:
    """Close a run of a server's ledger, and write its transcripts.

    A closed run takes no more attempts. The server that wrote the ledger must have ended. To grade
    the transcripts with all reasons: logtriage grade FILE --seal-file PATH
    """
    if not ledger.exists():
        raise InvalidInput(f"{ledger}: no such ledger")
    with Ledger(ledger, run) as held:
        transcripts = held.transcripts()
        with replacing(out) as file:
            file.writelines(f"{encode_transcript(each)}\n".encode() for each in transcripts)
        held.close_run()  # last: a run that is closed cannot be written again
    if as_json:
        emit({"run": run, "attempts": len(transcripts)})
    else:
        say(results(), f"{run}: {len(transcripts)} attempts")
    note(f"wrote {out}; run {run!r} is closed", "dim")


def fingerprint(seal_file: SealFile = None, as_json: Json = False) -> None:
    """Show the fingerprint of the key in use, which results carry."""
    seal = seal_at_hand(seal_file)
    if seal is None:
        raise SealError(f"no key: {HOW}")
    _say(seal.fingerprint, as_json=as_json)


def _say(fingerprint_: str, *, as_json: bool) -> None:
    if as_json:
        emit({"seal": fingerprint_})
    else:
        say(results(), fingerprint_)
