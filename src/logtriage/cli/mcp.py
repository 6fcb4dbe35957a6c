"""``mcp``: incidents as tools for agents of any framework."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from logtriage.cli import options
from logtriage.cli.console import note
from logtriage.cli.options import flag, option
from logtriage.errors import InvalidInput
from logtriage.evaluation import Incidents, RunSpec
from logtriage.evaluation.keeping import holding, keeping
from logtriage.evaluation.shifts import open_shifts
from logtriage.server.settings import TOKEN_VARIABLE, Settings
from logtriage.shift.shifts import shift_ids

if TYPE_CHECKING:
    from logtriage.adapters.mcp import Places

# The books and desks load asyncio, which no other command needs: they are imported in functions.

_HTTP: Final = "HTTP"
_DEFAULT: Final = Settings()
#: The HTTP path for a single agent; each role of a team has a path below it.
PATH: Final = "/mcp"


def mcp(
    ctx: typer.Context,
    out: Annotated[Path, option("DIR", "Keep the run here. The same command resumes it.")],
    *,
    agent: Annotated[str, option("NAME", "The name of the agent in the run.")] = "agent",
    choice: options.Choice,
    episodes: options.Episodes = 10,
    fresh: options.Fresh = False,
    retry_unscored: options.RetryUnscored = False,
    split_roles: options.SplitRoles = None,
    role: Annotated[
        list[str] | None,
        option(
            "ROLE",
            "With --split-roles, the role to play. With --http it "
            "may be repeated: one agent for each.",
        ),
    ] = None,
    others: Annotated[
        str | None, option("POLICY", "Who plays the other roles, such as expert.")
    ] = None,
    sources: options.Sources,
    http: Annotated[
        bool,
        flag(
            "Serve streamable HTTP on loopback, not stdio. Several agents may then play at a time.",
            "--http",
            panel=_HTTP,
        ),
    ] = False,
    port: Annotated[int, flag("TCP port; 0 picks a free port.", panel=_HTTP)] = _DEFAULT.port,
    token: Annotated[
        str | None,
        option(
            "TOKEN", "The bearer token that a client must send.", panel=_HTTP, envvar=TOKEN_VARIABLE
        ),
    ] = None,
    max_sessions: Annotated[int, option("N", "Most sessions at a time.", panel=_HTTP)] = 32,
    idle_seconds: Annotated[
        float, option("S", "End a session after this long without a request.", panel=_HTTP)
    ] = 1800.0,
) -> None:
    """Serve incidents as tools of the Model Context Protocol (MCP).

    An agent takes an incident with the tool next_incident and works on it with the other tools. It
    sees neither grades nor ids. An agent's client starts this command, and talks to it over stdin
    and stdout; with --http the command runs on its own. The run in --out is an ordinary run: see
    report, compare, gate, replay.
    """
    for name in ("port", "token", "max_sessions", "idle_seconds"):
        source = ctx.get_parameter_source(name)
        if not http and source is not None and source.name == "COMMANDLINE":
            raise InvalidInput(f"--{name.replace('_', '-')}: goes with --http")
    if choice.shifts:
        options.refuse_for_shifts(
            split_roles=split_roles,
            bundle=sources.bundle,
            world=sources.of_world,
            kind=choice.kind,
            seal_file=sources.seal_file,
        )
    from logtriage.adapters.books import team_of
    from logtriage.adapters.mcp import serve_http, serve_stdio

    settings = Settings(
        port=port, token=token, max_sessions=max_sessions, idle_seconds=idle_seconds
    )
    roles = options.role_split(split_roles)
    if roles is None and (role or others):
        raise InvalidInput("--role and --others go with --split-roles")
    if roles is not None and not http and len(role or ()) != 1:
        raise InvalidInput(f"--role: one of {', '.join(roles.names)}; several go with --http")
    if choice.shifts:
        split = choice.split or options.SPLIT
        tasks = (shift_ids(task, split, episodes, choice.start) for task in choice.shifts)
        ids = tuple(chain(*tasks))
        places = _shifts(out, agent, ids, fresh=fresh, retry_unscored=retry_unscored)
    else:
        team = agent if roles is None else team_of(roles, agent, role or (), others)
        spec, seal = choice.spec([team], episodes, roles, sources)
        incidents = Incidents.of(sources.bundle, seal, spec.world)
        places = _incidents(out, agent, spec, incidents, fresh=fresh, retry_unscored=retry_unscored)
    with places as offered:
        if http:
            serve_http(offered, settings, note)
        else:
            (only,) = offered.values()
            if sys.stdin.isatty():
                note("waiting for an MCP client, which starts this command itself; Ctrl-C ends it")
            serve_stdio(*only)
    note(f"for the figures: logtriage report {out}", "dim")


@contextmanager
def _incidents(
    out: Path, agent: str, spec: RunSpec, incidents: Incidents, *, fresh: bool, retry_unscored: bool
) -> "Iterator[Places]":
    from logtriage.adapters.books import IncidentBook, TeamBook
    from logtriage.adapters.desk import Desk
    from logtriage.adapters.team_desk import TeamDesk

    (policy,) = spec.policies
    with keeping(out, spec, incidents, {policy: "tools over MCP"}, fresh=fresh) as kept:
        if spec.role_split is None:
            desk = Desk(IncidentBook(kept, policy, retry_unscored))
            yield {PATH: (desk.tools, desk.seat)}
            return
        team = TeamDesk(TeamBook(kept, policy, retry_unscored, agent=agent, split=spec.role_split))
        yield {
            f"{PATH}/{role}": (team.tools(role), partial(team.seat, role)) for role in team.roles
        }


@contextmanager
def _shifts(
    out: Path, agent: str, ids: tuple[str, ...], *, fresh: bool, retry_unscored: bool
) -> "Iterator[Places]":
    from logtriage.adapters.books import ShiftBook
    from logtriage.adapters.desk import Desk

    with holding(out):
        open_shifts(out, {agent: ""}, fresh=fresh, retry_unscored=retry_unscored)
        desk = Desk(ShiftBook(out, agent, ids))
        yield {PATH: (desk.tools, desk.seat)}
