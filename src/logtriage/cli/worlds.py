"""``world``: make a world of your own, look at it, check it."""

import json
from pathlib import Path
from typing import Annotated, Any

import attrs

from logtriage.cli.auditing import close, print_finding
from logtriage.cli.bar import Bar
from logtriage.cli.console import emit, note, results, say
from logtriage.cli.options import Json, argument, flag, option
from logtriage.cli.world_tables import checked, shown, shown_json
from logtriage.tasks import as_world
from logtriage.world.copies import copy_world

_World = Annotated[str, argument("DIR", "A world: a folder, or a name.")]


def new_world(
    folder: Annotated[Path, argument("DIR", "The folder to write, empty or not there.")],
    like: Annotated[
        str | None,
        option("NAME", "The world to copy, by name or folder. Default: that of the benchmark."),
    ] = None,
) -> None:
    """Write a commented copy of a world.

    The folder's name becomes the world's. Everything is written, or nothing.
    """
    source = as_world(None).name if like is None else like
    made = copy_world(source, folder)
    note(f"{folder}: world {made.name}, a copy of {source}", "dim")


def show_world(world: _World, as_json: Json = False) -> None:
    """Show a world as tables: teams, kinds, how often each condition shows what, in per cent."""
    loaded = as_world(world)
    if as_json:
        emit(shown_json(loaded))
    else:
        shown(results(), loaded)


def check_world_(
    world: _World,
    task: Annotated[
        list[str] | None, option("TASK", "Check only this task; all if not given. May be repeated.")
    ] = None,
    quick: Annotated[bool, flag("Take small samples, for a first look.", "--quick")] = False,
    as_json: Json = False,
) -> None:
    """Check whether a world can be played well.

    It takes about 20 seconds of CPU for a world as large as oncall; with --quick, 4 seconds. Exit
    with 1 if a check fails, with 3 if too few incidents were played to tell, with 2 if the world
    cannot be read; a mistake is said with file and field. The checks say which kinds nobody can
    tell apart, which faults nobody may notice, how long the prompt is, what stays in doubt after a
    full look, what observer and expert are worth, and whether the worth of a hand-over changes
    what to do.
    """
    from logtriage.audit import FULL, QUICK, Finding, check_world

    loaded = as_world(world)
    console = results()

    def tell(finding: Finding) -> None:
        if as_json:
            about: dict[str, Any] = {"world": loaded.name, "fingerprint": loaded.fingerprint}
            emit({**about, **json.loads(json.dumps(attrs.asdict(finding)))})
        else:
            print_finding(console, finding)

    with Bar("checking", "incidents", kept="; the findings above stand") as bar:
        findings = check_world(
            loaded,
            task or (),
            sizes=QUICK if quick else FULL,
            on_finding=tell,
            on_progress=bar.show,
        )
    if not as_json:
        say(console)
        checked(console, findings)
    close([finding.verdict for finding in findings])
