"""``play``: one incident in the terminal, by a person or watched."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from logtriage._lib.files import open_here
from logtriage.actions import describe
from logtriage.beliefs.explain import Explanation
from logtriage.cli import options
from logtriage.cli.console import emit, messages, note, put, results, say
from logtriage.cli.group import SOME_BAD
from logtriage.cli.hindsight import hindsight
from logtriage.cli.options import argument, flag, option
from logtriage.cli.screens import debrief, screen
from logtriage.cli.shifts import play_shift
from logtriage.cli.typed import HUMAN
from logtriage.codec import encode_transcript
from logtriage.drawing.kinds import ids_of_kinds
from logtriage.errors import InvalidInput, MissingExtra
from logtriage.evaluation import Incidents, PolicyFailure, joint_steps, steps
from logtriage.evaluation.shifts import shift_record
from logtriage.evidence import NOT_CLAIMED
from logtriage.grading import grade, grade_to_json, unscored
from logtriage.incident import Incident
from logtriage.joint import observe_roles
from logtriage.observation import observe
from logtriage.registry import make_policy, make_team
from logtriage.rendering import render_observation
from logtriage.roles import RoleSplit
from logtriage.shift.shifts import is_shift
from logtriage.state import State, initial_state
from logtriage.tasks import get_task
from logtriage.transcript import COMPLETED, transcript_of


def play(
    incident_id: Annotated[str, argument("ID", "The incident, or the shift.")],
    *,
    policy: Annotated[
        str, option("POLICY", "human, or a policy to watch, such as expert.")
    ] = HUMAN,
    brief: Annotated[bool, flag("Show only the debrief of a watched policy.", "--brief")] = False,
    kind: Annotated[
        list[str] | None,
        option(
            "KIND",
            "Take the first incident of this kind of fault or of benign trouble, from the ID "
            "on. May be repeated.",
        ),
    ] = None,
    split_roles: options.SplitRoles = None,
    explain: Annotated[
        bool,
        flag(
            "Show the belief beside each action, where the probabilities are known.",
            "--explain/--no-explain",
        ),
    ] = True,
    practice: Annotated[bool, flag("Allow undo in the console.", "--practice")] = False,
    out: Annotated[
        Path | None,
        option("FILE", "Append the game to this file as it comes, for grade; a shift for report."),
    ] = None,
    sources: options.Sources,
    as_json: options.Json = False,
) -> None:
    """Triage an incident yourself, or watch a policy.

    You play in a full-screen console (extra play) in a terminal, and a shift at a prompt, line by
    line; type help for the commands. If you stop early, the grade is of what you did so far. At the
    end the grade is explained. With --json, stdout has the grade alone, and the screens go to
    stderr. With --split-roles, you watch a team, role by role.
    """
    if is_shift(incident_id):
        options.refuse_for_shifts(
            kind=kind, world=sources.of_world, bundle=sources.bundle, split_roles=split_roles,
            practice=practice, seal_file=sources.seal_file,
        )  # fmt: skip
        record = partial(shift_record, incident_id, policy)
        kept = Kept(out, lambda state, error=OPEN: json.dumps(record(state, error)))
        play_shift(incident_id, policy, kept.save, brief=brief, as_json=as_json)
        if out is not None:
            note(f"record appended to {out}, for report and replay", "dim")
        return
    roles = options.role_split(split_roles)
    incidents = sources.incidents
    incident = incidents(incident_id)
    if kind:
        incident = incidents(_first_of(kind, incident, incidents))
    if policy == HUMAN:
        _check_place(roles)
    elif practice:
        raise InvalidInput("--practice needs the full-screen console")
    console = messages() if as_json else results()
    cause, explanation = None, None
    agent = f"{policy} (practice)" if practice else policy
    save = Kept(out, partial(_line, agent=agent, roles=roles)).save
    try:
        if policy == HUMAN:
            state, explanation = _play_on_screen(
                incident, save, practice=practice, explains=explain
            )
        else:
            state = _watch(incident, policy, roles, console, save, brief=brief)
    except PolicyFailure as failure:
        state, cause = failure.state, failure.cause
    graded = unscored(incident, cause, actions=state.actions) if cause else grade(state)
    say(console, f"{policy} on {incident.id}" if brief else "", "bold")
    why, luck = None, tuple[str, ...]()
    if explain and roles is None and state.is_closed and incident.setting is not None:
        why, luck = hindsight(state, explanation)
    put(console, debrief(state, graded, roles, luck))
    if why is not None:
        put(console, why)
    elif explain and incident.setting is None and incident.telemetry.open_loop:
        note(NOT_CLAIMED, "dim")
    save(state, COMPLETED if cause is None else cause)
    if out is not None:
        note(f"transcript appended to {out}", "dim")
    if as_json:
        emit(grade_to_json(graded))
    if cause is not None:
        raise typer.Exit(SOME_BAD)


def _first_of(kinds: list[str], incident: Incident, incidents: Incidents) -> str:
    """The id of the first incident of any of the kinds, from ``incident`` on."""
    if incident.setting is None:
        raise InvalidInput(f"--kind: {incident.id} is recorded, and has no kind of a world")
    task, split, number = incident.id.split("/")
    known = get_task(task, incidents.world)
    (incident_id,) = ids_of_kinds(
        kinds, known, split, count=1, start=int(number), incident_of=incidents
    )
    return incident_id


#: A function that keeps a state of a game, and its status once the game has ended.
Save = Callable[..., None]
#: The status of a game that has not ended.
OPEN: Final = "in progress"


def _line(state: State, status: str = OPEN, *, agent: str, roles: RoleSplit | None) -> str:
    """The transcript of a game, as a line of a file."""
    return encode_transcript(transcript_of(state, agent=agent, status=status, role_split=roles))


class Kept:
    """Keeps a game as the last line of a file (None: nowhere), rewritten after each action."""

    def __init__(self, path: Path | None, line_of: Callable[..., str]) -> None:
        self._path = path
        self._line_of = line_of
        self._place: int | None = None
        self._written = b""

    def save(self, *played: object) -> None:
        """Write the line of a game over the one saved before; append it the first time."""
        if self._path is None:
            return
        line = f"{self._line_of(*played)}\n".encode()
        with os.fdopen(open_here(self._path, os.O_RDWR | os.O_CREAT), "r+b") as file:
            place = file.seek(0, os.SEEK_END) if self._place is None else file.seek(self._place)
            if file.read() != self._written:  # another program appended to the file
                place = file.seek(0, os.SEEK_END)
            if self._place is None and place:  # a last line without its end stays a line
                file.seek(place - 1)
                if file.read(1) != b"\n":
                    place += file.write(b"\n")
            file.seek(place)
            file.write(line)
            file.truncate()
        self._place, self._written = place, line


def _check_place(roles: RoleSplit | None) -> None:
    """Refuse a person who plays in a team, outside of a terminal, or without Textual."""
    if roles is not None:
        raise InvalidInput(
            "a person plays alone: leave out --split-roles, or name a team, such as expert"
        )
    if not _is_terminal():
        raise InvalidInput(
            "a person plays in a terminal; --policy watches a policy, and logtriage grade grades "
            "a list of actions"
        )
    if find_spec("textual") is None:
        raise MissingExtra("the full-screen console", "play")


def _is_terminal() -> bool:
    """Whether stdin, stdout and stderr are a terminal; the console reads stdin, draws on stderr."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return os.environ.get("TERM") != "dumb" and all(stream.isatty() for stream in streams)


def _play_on_screen(
    incident: Incident, save: Save, *, practice: bool, explains: bool
) -> tuple[State, Explanation | None]:
    from logtriage.cli.desk.app import Desk

    desk = Desk(incident, practice=practice, explains=explains, on_state=save)
    desk.run()
    if desk.return_code:  # a fault of ours, whose traceback Textual has printed
        raise typer.Exit(desk.return_code)
    return desk.session.state, desk.explanation


def _watch(
    incident: Incident,
    policy: str,
    split: RoleSplit | None,
    console: Console,
    save: Save,
    *,
    brief: bool,
) -> State:
    names: Sequence[str] = (policy,)
    if split is None:
        states: Iterator[State] = steps(incident, make_policy(policy)(incident))
    else:
        names = split.names
        states = joint_steps(incident, make_team(policy, split)(incident), split)
    before = initial_state(incident)
    for state in states:
        save(state)
        if not brief:
            done = state.actions[len(before.actions) :]
            if done:
                say(console)
            for name, action in zip(names, done, strict=False):
                say(console, f"{name}: {describe(action)}", "bold green")
            views = [observe(state)] if split is None else observe_roles(state, split)
            for name, seen in zip(names, views, strict=True):
                say(console, "" if split is None else f"\n{name} sees", "bold magenta")
                say(console, screen(render_observation(seen)))
        before = state
    return before
