"""``import``: recorded incidents from published data sets and from your own captures."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from logtriage._lib.files import replacing
from logtriage._lib.printable import counted
from logtriage.cli.bar import Bar
from logtriage.cli.console import emit, note, put, results
from logtriage.cli.options import Json, argument, flag, option
from logtriage.cli.screens import facts, heading
from logtriage.errors import InvalidInput
from logtriage.grading import RECORDED
from logtriage.recorded import (
    RecordedIncident,
    dump_bundle,
    import_capture,
    import_nezha,
    import_petshop,
    import_topology,
    on_request,
)
from logtriage.rendering.recordings import GRADED
from logtriage.world.schema.canonical import said_of
from logtriage.world.schema.toml import toml_text

_SHOWN: Final = 3
Bundle = Annotated[Path, option("BUNDLE", "The bundle to write; zipped if named .gz.")]
Horizon = Annotated[int, option("N", "Ticks of each incident.", min=1)]
Models = Annotated[
    bool,
    flag("Make incidents that show figures on request, some of them without a fault.", "--models"),
]
SkipBad = Annotated[
    bool,
    flag("Count lines and documents that cannot be read, and go on without them.", "--skip-bad"),
]


def nezha(
    directory: Annotated[Path, argument("DIR", "Holds rca_data and construct_data.")],
    out: Bundle,
    models: Annotated[
        bool, flag("Make incidents that show figures on request.", "--models")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a bundle of the Nezha data set.

    It has faults that were injected into the TrainTicket system.
    """
    with Bar("reading", "incidents"):
        incidents = import_nezha(directory, note=_warn)
        if models:
            incidents = tuple(map(on_request, incidents))
    _write(directory, incidents, out, as_json=as_json)


def capture(
    directory: Annotated[Path, argument("DIR", "Holds labels.csv, and CSV or JSON files.")],
    out: Bundle,
    horizon: Horizon = 8,
    tick_seconds: Annotated[
        int | None,
        option(
            "S", "Length of a tick. Default: 30; the interval of metrics alone, if longer.", min=1
        ),
    ] = None,
    models: Models = False,
    service_label: Annotated[
        str | None,
        option(
            "LABEL", "The label that names the service in metrics, logs and alerts, such as app."
        ),
    ] = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Make a bundle of your own incidents.

    The folder holds labels, and CSV files or what your stack writes: spans, logs, metrics, alerts
    and events in JSON, in any of the usual formats. Its own bundles are passed over.
    """
    with Bar("reading", "incidents"):
        incidents = import_capture(
            directory,
            horizon=horizon,
            tick_seconds=tick_seconds,
            models=models,
            service_label=service_label,
            skip_bad=skip_bad,
            note=_warn,
        )
    _write(directory, incidents, out, as_json=as_json)


def petshop(
    directory: Annotated[Path, argument("DIR", "Holds the scenarios, such as high_traffic.")],
    out: Bundle,
    as_json: Json = False,
) -> None:
    """Make a bundle of the PetShop data set.

    It has metrics of an application, every five minutes.
    """
    with Bar("reading", "incidents"):
        incidents = import_petshop(directory, note=_warn)
    _write(directory, incidents, out, as_json=as_json)


def topology(
    directory: Annotated[Path, argument("DIR", "Holds files of JSON: spans, or dependencies.")],
    out: Annotated[Path, option("FILE", "The topology to write: WORLD/topologies/NAME.toml.")],
    owner: Annotated[
        str | None,
        option("TEAM", "The team that owns every service. Default: the world draws owners."),
    ] = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Make a topology of a captured stack.

    The calls come from spans (OTLP, Jaeger, Tempo or Zipkin), calls.csv, or the dependencies of
    Jaeger or Zipkin. Recordings do not say who owns a service: name an owner in the file where
    it is always the same team.
    """
    if out.suffix != ".toml":
        raise InvalidInput(f"--out {out}: expected a file NAME.toml, as in a world's topologies")
    with Bar("reading", "calls"):
        layout = import_topology(directory, out.stem, owner, _warn, skip_bad=skip_bad)
    with replacing(out) as file:
        file.write(toml_text(said_of(layout)).encode())
    calls = sum(len(service.calls) for service in layout.services)
    if as_json:
        emit({"topology": str(out), "services": len(layout.services), "calls": calls})
    else:
        note(f"{out}: {counted(len(layout.services), 'service')}, {counted(calls, 'call')}", "dim")


def _warn(text: str) -> None:
    note(text, "yellow")


def _write(
    directory: Path, incidents: Sequence[RecordedIncident], out: Path, *, as_json: bool
) -> None:
    if not incidents:
        raise InvalidInput(f"{directory}: no incident could be imported")
    dump_bundle(incidents, out)
    # The answers are not printed: whoever prepares a blind run may play in it.
    if as_json:
        emit({"bundle": str(out), "incidents": [incident.id for incident in incidents]})
        return
    baselines = Counter(incident.recording.baseline for incident in incidents)
    console = results()
    shown, others = incidents[:_SHOWN], len(incidents) - _SHOWN
    names = ", ".join(incident.id for incident in shown)
    rows = [
        ("incidents", names + (f" and {others} more" if others > 0 else "")),
        ("baselines", ", ".join(f"{count} {name}" for name, count in sorted(baselines.items()))),
        (f"graded ({RECORDED.id})", GRADED),
        ("remedies", "change nothing"),
    ]
    console.print(heading(str(out)))
    put(console, facts(rows))
