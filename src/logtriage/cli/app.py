"""The commands, put together."""

import sys
from typing import Annotated

import typer

from logtriage import __version__
from logtriage.cli.auditing import audit_
from logtriage.cli.catalog import show, tasks
from logtriage.cli.converting import convert
from logtriage.cli.evaluating import compare, evaluate_, report
from logtriage.cli.grading import grade
from logtriage.cli.group import Group
from logtriage.cli.importing import labelled, nezha
from logtriage.cli.playing import play
from logtriage.cli.replaying import replay
from logtriage.cli.sealing import fingerprint, new
from logtriage.cli.serving import serve

_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
importing = typer.Typer(
    no_args_is_help=True, help="Make bundles of recorded incidents.", context_settings=_SETTINGS
)

sealing = typer.Typer(
    no_args_is_help=True, help="Make keys of sealed incidents.", context_settings=_SETTINGS
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"logtriage {__version__}\n")
        sys.stdout.flush()
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Incident triage by agents: draw incidents, play them, grade what was done.

    Results go to stdout, messages to stderr. With --json, stdout has one JSON object a line.
    """


app.command()(tasks)
app.command()(show)
app.command()(play)
app.command("eval")(evaluate_)
app.command()(grade)
app.command()(convert)
app.command()(compare)
app.command()(report)
app.command()(replay)
app.command()(serve)
app.command("audit")(audit_)
app.add_typer(importing, name="import")
importing.command()(nezha)
importing.command()(labelled)
app.add_typer(sealing, name="seal")
sealing.command()(new)
sealing.command()(fingerprint)


@sealing.callback()
def _sealing() -> None:
    """Make keys of sealed incidents."""


@importing.callback()
def _importing() -> None:
    """Make bundles of recorded incidents."""
