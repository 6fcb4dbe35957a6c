"""``replay``: the episodes of a run tick by tick, as a page."""

import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated

from logtriage._lib.printable import counted
from logtriage.cli import options
from logtriage.cli.bar import Bar
from logtriage.cli.console import emit, note
from logtriage.cli.options import argument, flag, option
from logtriage.errors import InvalidInput
from logtriage.evaluation.cell_files import shifts_file, slug
from logtriage.report.replay import MAX_BELIEFS, write_replay
from logtriage.report.shifts import write_timelines


def replay(
    run: options.RunDirectory,
    incident_id: Annotated[
        str | None, argument("ID", "Only the episodes on this incident, with all there is to say.")
    ] = None,
    out: Annotated[
        Path | None, option("FILE", "The page; RUN/replay.html, or with ID RUN/replay-ID.html.")
    ] = None,
    *,
    page: options.Page,
    show: Annotated[bool, flag("Open the page in a browser.", "--open")] = False,
    seal_file: options.SealFile = None,
    as_json: options.Json = False,
) -> None:
    """Show episodes of a run tick by tick, in one HTML page.

    The page has screens, services, actions, the belief, and how each grade came about. With ID,
    every episode on that incident is explained. Of a run or file of shifts, it has timelines.
    """
    file = shifts_file(run)
    if file.exists():
        if incident_id is not None:
            raise InvalidInput(f"{incident_id}: the page of a run of shifts has all of them")
        options.refuse_for_shifts(
            base=page.bases, explain=page.explain, seal_file=seal_file, json=as_json
        )
        out = out or file.with_suffix(".html")
        most = MAX_BELIEFS if page.beliefs is None else page.beliefs
        with Bar("writing the page", "shifts"):
            count = write_timelines(run, out, beliefs=most)
        note(f"wrote {out}: {counted(count, 'shift')}")
        if show:
            webbrowser.open(out.resolve().as_uri())
        return
    if out is None:
        name = "replay" if incident_id is None else f"replay-{slug(incident_id)}"
        out = run / f"{name}.html"
    with Bar("writing the page", "episodes and explanations") as bar:
        document = write_replay(
            run,
            out,
            bases=page.bases or (),
            incident=incident_id,
            beliefs=page.beliefs,
            explain=page.explain,
            seal=options.seal_in(seal_file),
            on_progress=bar.show,
            note=partial(note, style="yellow"),
        )
    count = document.facts["episodes"]
    if as_json:
        written = {"page": str(out), "episodes": count}
        emit({**written, "screens": document.shown, "beliefs": document.believed})
    else:
        note(f"wrote {out}: {counted(count, 'episode')}, beliefs of {document.believed}")
    if show:
        webbrowser.open(out.resolve().as_uri())
