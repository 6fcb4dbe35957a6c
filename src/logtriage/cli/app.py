"""The app of typer, with all commands and their examples."""

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape

from logtriage import __version__
from logtriage.cli.answers import grade as grade_sheet
from logtriage.cli.answers import template
from logtriage.cli.auditing import audit_
from logtriage.cli.calibrating import calibration
from logtriage.cli.catalog import show, tasks
from logtriage.cli.converting import convert
from logtriage.cli.evaluating import evaluate_
from logtriage.cli.exporting import alertmanager
from logtriage.cli.exporting import otlp as export_otlp
from logtriage.cli.gating import gate
from logtriage.cli.grading import grade
from logtriage.cli.group import Command, Commands, Group, expanded
from logtriage.cli.importing import capture, nezha, petshop, topology
from logtriage.cli.mcp import mcp
from logtriage.cli.playing import play
from logtriage.cli.replaying import replay
from logtriage.cli.reporting import compare, report
from logtriage.cli.sealing import close, fingerprint, new
from logtriage.cli.serving import serve
from logtriage.cli.worlds import check_world_, new_world, show_world

_INCIDENT = "cascading_failure-v4/test/246"


def _typer(kind: type[Commands] = Commands, *, pretty: bool = True) -> typer.Typer:
    return typer.Typer(
        cls=kind,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=pretty,
    )


app = _typer(Group, pretty=False)


def _usage(text: str | None, *examples: str) -> str:
    """The help of a command: a docstring with its paragraphs on one line each, then examples."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    shown = [" ".join(paragraph.split()) for paragraph in paragraphs]
    lines = (f"  logtriage {example}" for example in examples)
    return escape("\n\n".join([*shown, "\n".join(["Examples:", *lines])]))


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"logtriage {__version__}\n")
        sys.stdout.flush()
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Incident triage by agents: draw incidents, play them, grade the play.

    Results go to stdout, messages to stderr. With --json, stdout has one JSON object a line.
    """


app.callback(
    help=_usage(
        _root.__doc__,
        f"play {_INCIDENT}",
        "eval oracle expert --episodes 10",
        "--install-completion",
    )
)(_root)


def _add(
    group: typer.Typer, commands: dict[str, tuple[Callable[..., Any], tuple[str, ...]]]
) -> None:
    for name, (command, examples) in commands.items():
        usage = _usage(command.__doc__, *examples)
        group.command(name, cls=Command, help=usage)(expanded(command))


def _group(
    name: str, text: str, commands: dict[str, tuple[Callable[..., Any], tuple[str, ...]]]
) -> None:
    """Add a group of commands; its help shows the first example of its first command."""
    group = _typer()
    (_, (example, *_)), *_ = commands.values()
    app.add_typer(group, name=name, help=_usage(text, example))
    _add(group, commands)


_add(
    app,
    {
        "tasks": (tasks, ("tasks", "tasks cascading_failure-v4", "tasks --world my-shop")),
        "show": (show, (f"show {_INCIDENT}", f"show {_INCIDENT} --truth",
                        "show nezha/2023-01-30T115921 --prompt")),
        "play": (play, (f"play {_INCIDENT} --practice", f"play {_INCIDENT} --policy expert --brief",
                        "play single_crash-v4/test/7 --policy expert --split-roles trio")),
        "eval": (evaluate_, ("eval expert first_error --episodes 20",
                             "eval expert --task single_crash-v4 --jobs 4 --out runs/expert",
                             "eval combined --task recorded",
                             "eval openai:MODEL --base-url URL --out runs/model")),
        "grade": (grade, ("grade transcripts.jsonl",
                          "grade transcripts.jsonl --json > grades.jsonl",
                          "convert conversations.jsonl | logtriage grade -")),
        "convert": (convert, ("convert conversations.jsonl > transcripts.jsonl",
                              "convert rows.jsonl --incident metadata.incident --style text")),
        "compare": (compare, ("compare runs/before runs/after",
                              "compare runs/both runs/both --policy-a expert --policy-b chain")),
        "calibration": (calibration, ("calibration runs/model",)),
        "gate": (gate, ("gate runs/new runs/baseline",
                        "gate runs/new runs/baseline --margin 0.03")),
        "report": (report, ("report runs/expert", "report runs/expert --html")),
        "replay": (replay, ("replay runs/expert", f"replay runs/expert {_INCIDENT} --open")),
        "serve": (serve, ("serve --port 8000", "serve --host 0.0.0.0 --token-file token.txt")),
        "mcp": (mcp, ("mcp --task single_crash-v4 --episodes 10 --out runs/claude",
                      "mcp --http --token TOKEN --out runs/claude")),
        "audit": (audit_, ("audit --task single_crash-v4 --quick",
                           "audit --task my_package.tasks:TASK --family floor --family leaks")),
    },
)  # fmt: skip
_group(
    "world",
    "Make a world of your own, look at it, check it.",
    {
        "new": (new_world, ("world new my-shop", "world new my-shop --like tiny")),
        "show": (show_world, ("world show my-shop",)),
        "check": (check_world_, ("world check my-shop", "world check my-shop --quick")),
    },
)
_group(
    "answers",
    "Grade the answers of agents with tools of their own.",
    {
        "template": (template, ("answers template recorded answers.csv",
                                "answers template mine.jsonl.gz answers.csv")),
        "grade": (grade_sheet, ("answers grade answers.csv --out runs/ours",
                                "answers grade answers.csv --bundle mine.jsonl.gz --out runs/us")),
    },
)  # fmt: skip
_group(
    "import",
    "Make bundles of recorded incidents, and topologies.",
    {
        "capture": (capture, ("import capture incidents --out mine.jsonl.gz",)),
        "nezha": (nezha, ("import nezha Nezha --out nezha.jsonl.gz",)),
        "petshop": (petshop, ("import petshop petshop --out petshop.jsonl.gz",)),
        "topology": (topology, ("import topology seen --out real.toml",)),
    },
)
_group(
    "export",
    "Write incidents for other harnesses.",
    {
        "otlp": (export_otlp, ("export otlp single_crash-v4/test/7 capture --labels answers.csv",)),
        "alertmanager": (alertmanager, ("export alertmanager single_crash-v4/test/7 capture",)),
    },
)
_group(
    "seal",
    "Make and name keys of sealed incidents, and close their runs.",
    {
        "new": (new, ("seal new key.txt",)),
        "fingerprint": (fingerprint, ("seal fingerprint --seal-file key.txt",)),
        "close": (close, ("seal close ledger.jsonl --run alice --out alice.jsonl",)),
    },
)
