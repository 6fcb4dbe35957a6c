"""Shifts on the command line: ``eval --task busy_shift-v1`` and ``play busy_shift-v1/train/1``."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path

import typer

from logtriage._lib.printable import counted
from logtriage.actions import Malformed
from logtriage.adapters.request_limits import EndpointError
from logtriage.adapters.served import ENDPOINT, ServedPlayer, play_served
from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.cli import options
from logtriage.cli.bar import Bar, what_is_kept
from logtriage.cli.console import emit, messages, note, put, results, say
from logtriage.cli.desk.session import LEAVE, YES, Session
from logtriage.cli.figures import Cells, Figures, estimate
from logtriage.cli.group import SOME_BAD
from logtriage.cli.screens import facts, heading, number
from logtriage.cli.served import Models, served_players, tell_usage
from logtriage.cli.typed import HUMAN, OTHERS, commands, read_action
from logtriage.errors import UnknownName
from logtriage.evaluation.keeping import holding
from logtriage.evaluation.shifts import (
    ShiftRecorder,
    ShiftRow,
    open_shifts,
    record_shifts,
    scripted,
    shift_row,
)
from logtriage.parsing import action_to_wire
from logtriage.parsing.calls import MALFORMED, Wire
from logtriage.rendering import Reply
from logtriage.report.text import NO_FIGURE
from logtriage.shift import (
    PLAYERS,
    On,
    Shift,
    ShiftState,
    begin,
    grade,
    make_shift,
    observe,
    render,
    shift_action_from_wire,
    shift_action_to_wire,
    shift_grade_to_json,
    shift_ids,
    shift_prompt,
    take,
    wire_in,
)

_MEANINGS = (
    ("grade", "mean grade of the scored shifts, with its bootstrap interval"),
    ("net value", "worth beyond forwarding everything (forward_all) on the same shifts"),
    ("MTTA, MTTR", "mean ticks from the first alert to the first action, and to the fix"),
    ("missed", "incidents in a shift that nobody touched, or that ran out of time"),
    ("handed over", "incidents in a shift that were handed over"),
)
_HELP = (
    "Type SYSTEM ACTION, such as checkout metrics user-db, or any action as JSON; or note TEXT; "
    "wait [TICKS]; rules; screen; quit. An ACTION is:"
)


def evaluate_shifts(
    policies: Sequence[str],
    choice: options.Choice,
    episodes: int,
    models: Models,
    screens: int | None,
    out: Path | None,
    shown: options.Shown,
    *,
    fresh: bool,
    retry_unscored: bool,
) -> None:
    """Let players play shifts, and print a table for each task; ``out`` keeps them and goes on."""
    split = choice.split or options.SPLIT
    every = {task: shift_ids(task, split, episodes, choice.start) for task in choice.shifts}
    # A model that is loaded here plays no shifts: the names below say so.
    served = served_players(policies, models)
    recorders = {policy: _recorder(policy, served, screens) for policy in policies}
    latest = "" if screens is None else f", screens {screens}"
    settings = dict.fromkeys(policies, "")
    settings |= {name: f"{player.description}{latest}" for name, player in served.items()}
    rows: list[ShiftRow] = []
    errors: list[str] = []
    unread: dict[str, list[str]] = {policy: [] for policy in policies}
    file = None
    with nullcontext() if out is None else holding(out):
        if out is not None:
            file = open_shifts(out, settings, fresh=fresh, retry_unscored=retry_unscored)
        for (task, ids), policy in product(every.items(), recorders):
            with Bar(f"{policy} plays", "shifts", kept=what_is_kept(out)) as bar:
                records = record_shifts(
                    ids,
                    policy,
                    recorders[policy],
                    settings=settings[policy],
                    file=file,
                    workers=models.concurrency if policy in served else 1,
                    on_progress=bar.show,
                )
            rows.append(shift_row(policy, task, records))
            for wire in (wire for record in records for wire in record["actions"]):
                if wire["action_type"] == MALFORMED:
                    unread[policy].append(wire["reason"])
            causes = [record["error"] for record in records if record["error"]]
            errors.append(causes[0] if causes else "")
    put_shifts(rows, shown)
    for row, error in zip(rows, errors, strict=True):
        if row.unscored:
            first = f"{row.unscored} unscored; the first: {error}"
            note(f"{row.policy} on {row.task}: {first}", "yellow")
    cut = False
    for policy, player in served.items():
        reasons = unread[policy]
        cut |= tell_usage(policy, player.asked[policy].usage, len(reasons), "".join(reasons[:1]))
    broken = sum(row.unscored for row in rows)
    if file is not None:
        if broken:
            note(
                f"unscored: {counted(broken, 'shift')}; --retry-unscored plays them again", "yellow"
            )
        note(f"shifts and their grades: {file}", "dim")
    if cut or broken:
        raise typer.Exit(SOME_BAD)


def put_shifts(rows: Sequence[ShiftRow], shown: options.Shown) -> None:
    """Print the figures of shifts: a table for each task, or a JSON object per line."""
    if shown.as_json:
        for row in rows:
            emit(row)
        return
    for task in dict.fromkeys(row.task for row in rows):
        say(results(), heading(f"{task}, rubric shift/1"))
        Figures().put(map(_cells, (row for row in rows if row.task == task)))
    if shown.legend:
        say(results(), heading("LEGEND"))
        put(results(), facts(list(_MEANINGS)))


def _cells(row: ShiftRow) -> Cells:
    cells = {
        "player": row.policy,
        "shifts": str(row.shifts),
        "grade": estimate(row.score).plain,
        "net value": estimate(row.net).plain,
        "MTTA": number(row.mtta, 1),
        "MTTR": number(row.mttr, 1),
        "missed": f"{row.missed:.1f} of {row.incidents:.1f}",
        "handed over": f"{row.handed_over:.1f} of {row.incidents:.1f}",
    }
    # Every column stays, since the legend has them all.
    return {title: "-" if cell == NO_FIGURE else cell for title, cell in cells.items()}


def _recorder(
    policy: str, served: Mapping[str, ServedPlayer], screens: int | None
) -> ShiftRecorder:
    if policy in PLAYERS:
        return scripted(policy)
    if policy not in served:
        raise UnknownName("player of shifts", policy, (*PLAYERS, f"{ENDPOINT}MODEL"))
    reply: Reply = "json" if served[policy].reply == "json" else "tools"

    def record(shift: Shift) -> tuple[ShiftState, str | None]:
        episode, ask = ShiftEpisode(shift, reply, screens=screens), served[policy].asked[policy]
        play_served(ask, episode)
        if episode.error is not None and ask.why_never_answered is not None:
            raise EndpointError(ask.why_never_answered)
        return episode.state, episode.error

    return record


def play_shift(
    shift_id: str, policy: str, save: Callable[..., None], *, brief: bool, as_json: bool
) -> None:
    """Play a shift line by line, or watch a player; then show the grade of each incident."""
    shift = make_shift(shift_id)
    if policy != HUMAN and policy not in PLAYERS:
        raise UnknownName("player of shifts", policy, (HUMAN, *PLAYERS))
    console = messages() if as_json else results()
    state = begin(shift)
    try:
        while not state.is_over:
            save(state)
            if not brief:
                say(console, f"\n{render(observe(state))}")
            if policy == HUMAN:
                wire = _ask_action(state)
            else:
                wire = shift_action_to_wire(PLAYERS[policy](state))
            state = take(state, wire)
    except EOFError:
        note("stopped early: the grade is of what was done so far", "dim")
    save(state, None)
    graded = grade(state)
    if coming := len(shift.arrivals) - len(graded.incidents):
        note(f"{coming} incidents had not come yet, and count as 0", "dim")
    if as_json:
        emit(shift_grade_to_json(graded))
        return
    say(console, f"\n{policy} on {shift_id}: {number(graded.score)} (shift/1)", "bold")
    for row in graded.incidents:
        text = f"{row.system} (counts {row.weight}): {number(row.grade.score)}"
        say(console, f"{text}, {row.closing or 'open'}: {row.reason}")


def _ask_action(state: ShiftState) -> Wire:
    """The next action that somebody types, asked until it is understood; EOFError at the end."""
    console = messages()
    while True:
        line, wire = console.input("> ").strip(), None
        verb, _, rest = line.partition(" ")
        match verb.lower():
            case "quit" | "exit" | "q":
                if _confirmed(LEAVE):
                    raise EOFError
            case "rules" | "help" | "?":
                if verb.lower() == "rules":
                    say(console, shift_prompt(state.shift))
                rows = commands(state.shift.arrivals[0].incident)
                say(console, _HELP)
                put(console, facts([row for row in rows if row not in OTHERS]))
            case "screen":
                say(console, render(observe(state)))
            case "wait" if not rest or (rest.isdecimal() and int(rest)):
                wire = {"action_type": "wait", "ticks": int(rest or 1)}
            case "wait":
                say(console, f"wait {rest!r:.40}: expected a number of ticks", "yellow")
            case "note":
                wire = {"action_type": "note", "value": rest}
            case _ if line.startswith("{"):
                wire = wire_in(line)
            case _ if verb in state.open and rest:
                action = read_action(rest, state.open[verb].incident.topology)
                wire = {"system": verb, **action_to_wire(action)}
            case _:
                expected = f"{verb!r:.40}: expected an open system and an action"
                say(console, f"{expected} ({', '.join(state.open) or 'none is open'})", "yellow")
        if wire is None:
            continue
        read, question = shift_action_from_wire(wire, state), None
        if isinstance(read, On):
            question = Session((state.open[read.system],)).question_before(read.action)
        if isinstance(read, Malformed):
            say(console, f"{read.reason} (type help for the commands)", "yellow")
        elif question is None or _confirmed(question):
            return wire


def _confirmed(question: str) -> bool:
    """Whether somebody confirms a question; EOFError at the end of the input."""
    say(messages(), f"{question} Type y to confirm.", "bold yellow")
    confirmed = messages().input("> ").strip().lower() in YES
    if not confirmed:
        say(messages(), "Not done.")
    return confirmed
