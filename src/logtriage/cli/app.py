"""The commands, put together."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from logtriage import __version__
from logtriage.cli.auditing import audit_
from logtriage.cli.calibrating import calibration
from logtriage.cli.catalog import show, tasks
from logtriage.cli.converting import convert
from logtriage.cli.evaluating import evaluate_
from logtriage.cli.exporting import alertmanager, harbor
from logtriage.cli.exporting import otlp as export_otlp
from logtriage.cli.gating import gate
from logtriage.cli.grading import grade
from logtriage.cli.group import Command, Commands, Group
from logtriage.cli.importing import labelled, nezha, otlp, petshop, rcaeval, topology
from logtriage.cli.playing import play
from logtriage.cli.replaying import replay
from logtriage.cli.reporting import compare, report
from logtriage.cli.sealing import close, fingerprint, new
from logtriage.cli.serving import serve
from logtriage.cli.usage import usage
from logtriage.cli.worlds import check_world_, diff_worlds, fit_world, new_world, show_world

#: The incident of the examples.
_INCIDENT = "cascading_failure-v3/test/24"
_SETTINGS = {"help_option_names": ["-h", "--help"]}


def _group(kind: type[Commands] = Commands, *, pretty: bool = True) -> typer.Typer:
    return typer.Typer(
        cls=kind,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings=_SETTINGS,
        pretty_exceptions_enable=pretty,
    )


app = _group(Group, pretty=False)
importing, exporting, worlds, sealing = (_group() for _ in range(4))


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
    help=usage(
        _root,
        f"logtriage play {_INCIDENT}",
        "logtriage eval oracle expert --episodes 10",
        "logtriage --install-completion",
    )
)(_root)


def _add(
    group: typer.Typer, name: str, command: Callable[..., Any], summary: str, *examples: str
) -> None:
    """Add a command; ``summary`` stands for it, on one line, in the list of commands."""
    shown = [f"logtriage {one}" for one in examples]
    group.command(name, cls=Command, help=usage(command, *shown), short_help=summary)(command)


_add(
    app,
    "tasks",
    tasks,
    "List the tasks with their spec sheets.",
    "tasks",
    "tasks cascading_failure-v3",
    "tasks --world my-shop",
)
_add(
    app,
    "show",
    show,
    "Show incidents as an agent first sees them, or the answers.",
    f"show {_INCIDENT}",
    f"show {_INCIDENT} --truth",
    "show nezha/2023-01-30T115921 --prompt",
)
_add(
    app,
    "play",
    play,
    "Triage an incident yourself, or watch a policy.",
    f"play {_INCIDENT} --practice",
    f"play {_INCIDENT} --policy expert --brief",
    "play single_crash-v3/test/7 --policy expert --split-roles trio",
)
_add(
    app,
    "eval",
    evaluate_,
    "Let policies play incidents, and sum up the results.",
    "eval expert first_error --episodes 20",
    "eval expert --task single_crash-v3 --jobs 4 --out runs/expert",
    "eval combined --task recorded",
    "eval openai:MODEL --base-url URL --out runs/model",
)
_add(
    app,
    "grade",
    grade,
    "Grade transcripts, one JSON object a line.",
    "grade transcripts.jsonl",
    "grade transcripts.jsonl --json > grades.jsonl",
    "convert conversations.jsonl | logtriage grade -",
)
_add(
    app,
    "convert",
    convert,
    "Turn conversations from other frameworks into transcripts.",
    "convert conversations.jsonl > transcripts.jsonl",
    "convert rows.jsonl --incident metadata.incident --style text",
)
_add(
    app,
    "compare",
    compare,
    "Compare two runs, incident by incident.",
    "compare runs/before runs/after",
    "compare runs/both runs/both --policy-a expert --policy-b chain",
)
_add(
    app,
    "calibration",
    calibration,
    "Hold the confidences of a run against the truth.",
    "calibration runs/model",
)
_add(
    app,
    "gate",
    gate,
    "Check in CI that a run is no worse than a baseline.",
    "gate runs/new runs/baseline",
    "gate runs/new runs/baseline --margin 0.03",
)
_add(
    app,
    "report",
    report,
    "Show the figures of a run, or write an HTML report.",
    "report runs/expert",
    "report runs/expert --html",
)
_add(
    app,
    "replay",
    replay,
    "Show episodes of a run tick by tick, in one HTML page.",
    "replay runs/expert",
    "replay runs/expert cascading_failure-v3/test/24 --open",
)
_add(
    app,
    "serve",
    serve,
    "Serve episodes over the network.",
    "serve --port 8000",
    "serve --host 0.0.0.0 --token-file token.txt",
)
_add(
    app,
    "audit",
    audit_,
    "Check tasks and rubrics for holes.",
    "audit --task single_crash-v3 --quick",
    "audit --env gymnasium:FrozenLake-v1",
    "audit --task my_package.tasks:TASK --family floor --family leaks",
)


def _worlds() -> None:
    """Make a world of your own, look at it, compare it, check it."""


worlds.callback(help=usage(_worlds, "logtriage world new my-shop"))(_worlds)
app.add_typer(worlds, name="world")
_add(
    worlds,
    "new",
    new_world,
    "Write a commented copy of a world.",
    "world new my-shop",
    "world new my-shop --like tiny",
)
_add(
    worlds,
    "fit",
    fit_world,
    "Fit a world to labelled recordings.",
    "world fit nezha.jsonl.gz --out my-fit",
)
_add(worlds, "show", show_world, "Show what conditions show, as tables.", "world show my-shop")
_add(
    worlds,
    "diff",
    diff_worlds,
    "Compare two worlds field by field.",
    "world diff tiny my-shop",
)
_add(
    worlds,
    "check",
    check_world_,
    "Check whether a world can be played well.",
    "world check my-shop",
    "world check my-shop --quick",
)


def _importing() -> None:
    """Make bundles of recorded incidents, and topologies."""


importing.callback(help=usage(_importing, "logtriage import labelled incidents --out mine.jsonl"))(
    _importing
)
app.add_typer(importing, name="import")
_add(
    importing,
    "nezha",
    nezha,
    "Make a bundle of the Nezha data set.",
    "import nezha Nezha --out nezha.jsonl.gz",
)
_add(
    importing,
    "labelled",
    labelled,
    "Make a bundle of your own incidents.",
    "import labelled incidents --out mine.jsonl.gz",
)
_add(
    importing,
    "otlp",
    otlp,
    "Make a bundle of a captured stack.",
    "import otlp capture --out mine.jsonl.gz",
)
_add(
    importing,
    "petshop",
    petshop,
    "Make a bundle of the PetShop data set.",
    "import petshop petshop --out petshop.jsonl.gz",
)
_add(
    importing,
    "rcaeval",
    rcaeval,
    "Make a bundle of cases in RCAEval's layout.",
    "import rcaeval RE2-OB --out rcaeval.jsonl.gz",
)
_add(
    importing,
    "topology",
    topology,
    "Make a topology of who calls whom.",
    "import topology seen --out real.toml --owner my-team",
)


def _exporting() -> None:
    """Write incidents for other harnesses."""


_HARBOR = "export harbor harbor-tasks --task cascading_failure-v3 --count 20"
exporting.callback(help=usage(_exporting, f"logtriage {_HARBOR}"))(_exporting)
app.add_typer(exporting, name="export")
_add(exporting, "harbor", harbor, "Write task directories for Harbor.", _HARBOR)
_add(
    exporting,
    "otlp",
    export_otlp,
    "Write an incident's telemetry as OTLP.",
    "export otlp single_crash-v3/test/7 capture --labels answers.csv",
)
_add(
    exporting,
    "alertmanager",
    alertmanager,
    "Write an incident's alerts as Alertmanager sends them.",
    "export alertmanager single_crash-v3/test/7 capture",
)


def _sealing() -> None:
    """Make and name keys of sealed incidents, and close their runs."""


sealing.callback(help=usage(_sealing, "logtriage seal new key.txt"))(_sealing)
app.add_typer(sealing, name="seal")
_add(sealing, "new", new, "Write a random key to a file.", "seal new key.txt")
_add(
    sealing,
    "fingerprint",
    fingerprint,
    "Show the fingerprint of the key in use.",
    "seal fingerprint --seal-file key.txt",
)
_add(
    sealing,
    "close",
    close,
    "Close a run of a server's ledger, and write its transcripts.",
    "seal close ledger.jsonl --run alice --out alice.jsonl",
)
