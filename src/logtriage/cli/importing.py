"""``import``: recorded incidents from published data sets, and one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from logtriage._lib.files import replacing
from logtriage.cli.console import emit, note, put, results
from logtriage.cli.options import Json
from logtriage.cli.screens import facts, heading
from logtriage.errors import InvalidInput
from logtriage.world.telemetry import TICK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logtriage.recorded import Imported, RecordedIncident

Bundle = Annotated[
    Path, typer.Option(metavar="BUNDLE", help="The bundle to write; zipped if named .gz.")
]
Horizon = Annotated[int, typer.Option(metavar="N", help="Ticks of each incident.")]
Models = Annotated[
    bool,
    typer.Option(
        "--models",
        help="Make incidents of recorded/2: figures on request, a fault class, some without "
        "a fault.",
    ),
]


def nezha(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds rca_data and construct_data.")
    ],
    out: Bundle,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="This incident; may be repeated.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse rows that would be skipped.")
    ] = False,
    models: Annotated[
        bool, typer.Option("--models", help="Make incidents of recorded/2; all have a fault.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a bundle of the Nezha data set: faults injected into the TrainTicket system."""
    from logtriage.recorded import import_nezha, on_request

    imported = import_nezha(directory, only=set(only) if only else None, strict=strict)
    if models:
        imported = attrs.evolve(imported, incidents=tuple(map(on_request, imported.incidents)))
    _write(directory, imported, out, as_json=as_json)


def labelled(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds labels.csv and logs, calls or metrics.")
    ],
    out: Bundle,
    horizon: Horizon = 8,
    tick_seconds: Annotated[
        int | None,
        typer.Option(
            metavar="S", min=1, help="Length of a tick; by default as the data has it, 30 at least."
        ),
    ] = None,
    models: Models = False,
    as_json: Json = False,
) -> None:
    """Make a bundle of your own incidents: CSV files, and a file of labels."""
    from logtriage.recorded import dump_bundle, import_labelled

    incidents = import_labelled(
        directory,
        horizon=horizon,
        tick_seconds=tick_seconds,
        models=models,
        note=lambda text: note(text, "yellow"),
    )
    dump_bundle(incidents, out)
    _list(incidents, out, as_json=as_json)


def otlp(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds labels.csv and files of JSON.")
    ],
    out: Bundle,
    horizon: Horizon = 8,
    tick_seconds: Annotated[
        int, typer.Option(metavar="S", min=1, help="Length of a tick.")
    ] = TICK_SECONDS,
    models: Models = False,
    service_label: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="The label of Prometheus that names the service, such as app."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a bundle of a captured stack: OTLP, Jaeger or Prometheus, alerts, and labels."""
    from logtriage.recorded import dump_bundle, import_otlp

    incidents = import_otlp(
        directory,
        horizon=horizon,
        tick_seconds=tick_seconds,
        models=models,
        service_label=service_label,
        note=lambda text: note(text, "yellow"),
    )
    dump_bundle(incidents, out)
    _list(incidents, out, as_json=as_json)


def petshop(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds the scenarios, such as high_traffic.")
    ],
    out: Bundle,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="This incident; may be repeated.")
    ] = None,
    models: Annotated[
        bool,
        typer.Option("--models", help="Make incidents of recorded/2; none has a fault."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a bundle of the PetShop data set: metrics of an application, every five minutes."""
    from logtriage.recorded import calm_petshop, import_petshop

    if models and only:
        raise InvalidInput("--only picks issues, of which --models makes no incident")
    if models:
        imported = calm_petshop(directory)
    else:
        imported = import_petshop(directory, only=set(only) if only else None)
    _write(directory, imported, out, as_json=as_json)


def rcaeval(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Holds cases, at any depth.")],
    out: Bundle,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse rows that would be skipped.")
    ] = False,
    models: Models = False,
    as_json: Json = False,
) -> None:
    """Make a bundle of cases in the layout of the RCAEval benchmark."""
    from logtriage.recorded import import_rcaeval

    _write(directory, import_rcaeval(directory, strict=strict, models=models), out, as_json=as_json)


def topology(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds files of JSON: spans, or dependencies.")
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The topology to write: WORLD/topologies/NAME.toml."),
    ],
    owner: Annotated[
        str, typer.Option(metavar="TEAM", help="The team that owns the services, till you say.")
    ],
    as_json: Json = False,
) -> None:
    """Make a topology of a captured stack, for a world of your own.

    Who calls whom is read of spans (OTLP or Jaeger), or of what Jaeger answers at
    /api/dependencies. Owners stand in no recording: change them in the file.
    """
    from logtriage.recorded import import_topology
    from logtriage.world.schema.canonical import said_of
    from logtriage.world.schema.toml import toml_text

    if out.suffix != ".toml":
        raise InvalidInput(f"--out {out}: expected a file NAME.toml, as in a world's topologies")
    layout = import_topology(directory, out.stem, owner, lambda text: note(text, "yellow"))
    with replacing(out) as file:
        file.write(toml_text(said_of(layout)).encode())
    calls = sum(len(one.calls) for one in layout.services)
    if as_json:
        emit({"topology": str(out), "services": len(layout.services), "calls": calls})
    else:
        note(f"{out}: {len(layout.services)} services, {calls} calls", "dim")


def _list(incidents: "Sequence[RecordedIncident]", out: Path, *, as_json: bool) -> None:
    """Say what was written, and nothing of the answers."""
    if as_json:
        emit({"bundle": str(out), "incidents": [one.id for one in incidents]})
        return
    console = results()
    console.print(heading(str(out)))
    rows = [(one.id, f"baseline: {one.recording.baseline}") for one in incidents]
    put(console, facts(rows))


def _write(directory: Path, imported: "Imported", out: Path, *, as_json: bool) -> None:
    """Write a bundle, and say what was read and what was left out."""
    from logtriage.recorded import dump_bundle

    if not imported.incidents:
        raise InvalidInput(f"{directory}: no incident could be imported")
    dump_bundle(imported.incidents, out)
    report = imported.report
    # Of the answers nothing is said: whoever prepares a blind run may play in it.
    if as_json:
        incidents = [one.id for one in imported.incidents]
        emit({"bundle": str(out), "incidents": incidents, **attrs.asdict(report)})
    else:
        console = results()
        console.print(heading(str(out)))
        rows = [
            ("incidents", str(len(imported.incidents))),
            ("files", str(report.files)),
            ("rows", str(report.rows)),
            ("skipped", str(sum(one.count for one in report.skipped))),
        ]
        put(console, facts(rows))
    for one in report.skipped:
        note(f"{one.file}:{one.first}: {one.reason} ({one.count} rows)", "yellow")
    for text in report.notes:
        note(text, "yellow")
