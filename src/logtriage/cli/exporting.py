"""``export``: incidents in the formats of other harnesses."""

from pathlib import Path
from typing import Annotated

import typer

from logtriage.cli.console import note
from logtriage.tasks import get_task, incident_ids


def harbor(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write them into.")],
    task: Annotated[str, typer.Option(help="The task.")] = "single_crash-v2",
    split: Annotated[str, typer.Option(help="The split.")] = "test",
    count: Annotated[int, typer.Option(min=1, help="How many incidents.")] = 10,
    start: Annotated[int, typer.Option(min=0, help="The first index.")] = 0,
    wheel: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="logtriage's wheel to install in the containers, not a release."
        ),
    ] = None,
) -> None:
    """Write task directories for Harbor: instruction, environment, solution and verifier."""
    from logtriage.adapters.harbor import write_tasks

    chosen = get_task(task)
    number = 1 if chosen.original else count
    written = write_tasks(incident_ids(chosen.id, split, number, start), out, wheel=wheel)
    note(f"{len(written)} tasks in {out}", "dim")
