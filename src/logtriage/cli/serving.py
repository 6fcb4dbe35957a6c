"""``serve``: episodes over the network."""

import os
from pathlib import Path
from typing import Annotated, Final

import attrs
import typer

from logtriage.cli.console import note
from logtriage.cli.options import SealFile
from logtriage.errors import InvalidInput
from logtriage.sealing import seal_at_hand
from logtriage.server.settings import TOKEN_VARIABLE, Settings

_DEFAULT: Final = Settings()


def serve(
    host: Annotated[
        str, typer.Option(help="Address to bind. Anything but loopback needs a token.")
    ] = _DEFAULT.host,
    port: Annotated[int, typer.Option(help="TCP port; 0 takes a free one.")] = _DEFAULT.port,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="TASK", help="Drawn from where a client names none; repeatable."),
    ] = None,
    max_sessions: Annotated[
        int, typer.Option(metavar="N", help="Sessions at a time.")
    ] = _DEFAULT.max_sessions,
    idle_seconds: Annotated[
        float, typer.Option(metavar="S", help="A session without a message for so long ends.")
    ] = _DEFAULT.idle_seconds,
    drain_seconds: Annotated[
        float, typer.Option(metavar="S", help="Running episodes may end for so long after SIGTERM.")
    ] = _DEFAULT.drain_seconds,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Bearer token; LOGTRIAGE_TOKEN if not given."),
    ] = None,
    seal_file: SealFile = None,
    per_address: Annotated[
        int, typer.Option(metavar="N", help="Connections that one address may have open.")
    ] = _DEFAULT.per_address,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A proxy in front, whose X-Forwarded-For is believed; repeatable.",
        ),
    ] = None,
    grader: Annotated[
        bool, typer.Option("--grader/--no-grader", help="Grade lists of actions at /grader.")
    ] = _DEFAULT.grader,
    forks: Annotated[
        bool,
        typer.Option("--forks", help="Continue an episode several times: to train, not to judge."),
    ] = False,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="Offer the OpenEnv library's MCP sessions at /mcp.")
    ] = False,
    web: Annotated[
        bool, typer.Option("--web", help="Mount the OpenEnv library's web interface at /web.")
    ] = False,
) -> None:
    """Serve episodes by the OpenEnv protocol, and on the original environment's paths.

    Clients open one WebSocket session for each episode at a time, at /ws. SIGTERM lets
    running episodes finish.
    """
    from logtriage.server import serve as run

    given = os.environ.get(TOKEN_VARIABLE) if token_file is None else _read(token_file)
    settings = Settings(
        host=host,
        port=port,
        token=given or None,
        max_sessions=max_sessions,
        idle_seconds=idle_seconds,
        drain_seconds=drain_seconds,
        per_address=per_address,
        proxies=proxy or (),
        grader=grader,
        forks=forks,
        mcp=mcp,
        web=web,
        seal=seal_at_hand(seal_file),
    )
    if task is not None:
        settings = attrs.evolve(settings, tasks=task)
    if settings.token is None:
        note("no token: whoever can log in on this machine can use this server", "dim")
    if settings.seal is not None:
        note(f"split sealed is served, under the seal {settings.seal.fingerprint}", "dim")
    run(settings, note)


def _read(path: Path) -> str:
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if not token:
        raise InvalidInput(f"{path}: empty; expected a token")
    return token
