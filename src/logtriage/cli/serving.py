"""``serve``: episodes over the network."""

import os
from pathlib import Path
from typing import Annotated, Any, Final

from logtriage.cli.console import note
from logtriage.cli.options import OfWorld, SealFile, flag, option, world_in
from logtriage.drawing.sealing import seal_at_hand
from logtriage.errors import InvalidInput
from logtriage.server.settings import TOKEN_VARIABLE, Settings, is_loopback

_DEFAULT: Final = Settings()


def serve(
    host: Annotated[
        str, flag("Address to bind. Any address but loopback needs a token.")
    ] = _DEFAULT.host,
    port: Annotated[int, flag("TCP port; 0 picks a free port.")] = _DEFAULT.port,
    task: Annotated[
        list[str] | None,
        option("TASK", "Draw from this task if a client names none. May be repeated."),
    ] = None,
    of_world: OfWorld = None,
    max_sessions: Annotated[int, option("N", "Most sessions at a time.")] = _DEFAULT.max_sessions,
    idle_seconds: Annotated[
        float, option("S", "End a session after this long without a message.")
    ] = _DEFAULT.idle_seconds,
    token_file: Annotated[
        Path | None, option("FILE", "A file with the bearer token. Default: LOGTRIAGE_TOKEN.")
    ] = None,
    seal_file: SealFile = None,
    ledger: Annotated[
        Path | None, option("FILE", "Count attempts at sealed incidents in this file.")
    ] = None,
    run: Annotated[
        str, option("NAME", "The run; it has one attempt at each sealed incident.")
    ] = _DEFAULT.run,
) -> None:
    """Serve episodes over the network.

    The protocol is OpenEnv's. A client opens a WebSocket session at /ws.

    A server that other machines can reach belongs behind a proxy, which adds TLS and bounds the
    connections of each address. docs/server.md has a configuration for nginx.
    """
    from logtriage.server import serve as serve_now

    token = os.environ.get(TOKEN_VARIABLE) if token_file is None else _read(token_file)
    chosen: dict[str, Any] = {} if task is None else {"tasks": task}
    settings = Settings(
        host=host,
        port=port,
        token=token or None,
        max_sessions=max_sessions,
        idle_seconds=idle_seconds,
        seal=seal_at_hand(seal_file),
        ledger=ledger,
        run=run,
        world=world_in(of_world),
        **chosen,
    )
    if settings.token is None:
        note("no token: anyone who can log in to this machine can use this server", "dim")
    if not is_loopback(settings.host):
        note(
            "other machines can reach this server: put a proxy in front of it, for TLS and for "
            "limits by address (docs/server.md has one for nginx)",
            "yellow",
        )
    if settings.seal is not None:
        note(
            f"split sealed is served, under the seal {settings.seal.fingerprint}; run {run!r} has "
            f"one attempt at each incident, counted in {ledger}",
            "dim",
        )
    serve_now(settings, note)


def _read(path: Path) -> str:
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if not token:
        raise InvalidInput(f"{path}: empty; expected a token")
    return token
