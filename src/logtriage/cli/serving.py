"""``serve``: episodes over the network."""

import os
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from logtriage.cli.console import note
from logtriage.cli.options import OfWorld, world_in
from logtriage.errors import InvalidInput
from logtriage.server.settings import TOKEN_VARIABLE, Settings, is_loopback

_DEFAULT: Final = Settings()


def serve(
    host: Annotated[
        str, typer.Option(help="Address to bind. Any address but loopback needs a token.")
    ] = _DEFAULT.host,
    port: Annotated[int, typer.Option(help="TCP port; 0 picks a free port.")] = _DEFAULT.port,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK", help="Draw from this task if a client names none. May be repeated."
        ),
    ] = None,
    of_world: OfWorld = None,
    max_sessions: Annotated[
        int, typer.Option(metavar="N", help="Most sessions at a time.")
    ] = _DEFAULT.max_sessions,
    idle_seconds: Annotated[
        float, typer.Option(metavar="S", help="End a session after this long without a message.")
    ] = _DEFAULT.idle_seconds,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The bearer token. Default: LOGTRIAGE_TOKEN."),
    ] = None,
) -> None:
    """Serve episodes over the network.

    The protocol is OpenEnv's. A client opens a WebSocket session at /ws.

    A server beyond your own network belongs behind a proxy, which adds TLS and bounds the
    connections of each address.
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
        world=world_in(of_world),
        **chosen,
    )
    if settings.token is None:
        note("no token: anyone who can log in to this machine can use this server", "dim")
    if not is_loopback(settings.host):
        note(
            "other machines can reach this server: beyond your own network, put a proxy in front "
            "of it, for TLS and for limits by address",
            "yellow",
        )
    serve_now(settings, note)


def _read(path: Path) -> str:
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if not token:
        raise InvalidInput(f"{path}: empty; expected a token")
    return token
