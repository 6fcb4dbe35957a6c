"""Measure the scripted players of shifts, and write docs/results/shift.md.

    python scripts/shift_results.py --shifts 200                    # play what is missing, write
    python scripts/shift_results.py --shifts 40 --players uncontended
    python scripts/shift_results.py --shifts 0                      # write from what was played

Shifts are played in turn by all players. Records are kept as they come in build/shift, a file for
each player; a run that was broken off goes on where it was. Delete them after a change of rules or
players.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from logtriage._lib.files import replacing
from logtriage.evaluation.shifts import record_shifts, scripted, shift_row
from logtriage.evaluation.statistics import Interval, mean_interval, paired_difference
from logtriage.grading.grade import score
from logtriage.shift import (
    PLAYERS,
    Shift,
    ShiftState,
    get_shift_task,
    make_shift,
    shift_ids,
    take,
    uncontended,
)
from logtriage.shift.relay import READING, noted, relieved
from logtriage.shift.states import begin

ROOT: Final = Path(__file__).resolve().parent.parent
KEPT: Final = ROOT / "build" / "shift"
PAGE: Final = ROOT / "docs" / "results" / "shift.md"
TASK: Final = "busy_shift-v1"
ALONE: Final = "uncontended"
BASE: Final = "first_come"
#: So many shifts are played by one player after the other.
CHUNK: Final = 4
#: In so many of the shifts it is seen what the note is worth.
NOTED: Final = 60
#: Before these ticks of a shift its engineer leaves, to see what the note is worth.
RELIEVED: Final = (40, 80, 120, 160)
TITLES: Final = (
    "player", "shifts", "grade", "net value", "MTTA", "MTTR", "missed", "handed over",
    f"over `{BASE}`",
)  # fmt: skip
INTRODUCTION: Final = """# Players of a shift

Written by `python scripts/shift_results.py`, on shifts of split `test` of `{task}`
([rules and players](../shift.md)); an incident arrives in {rate} of 1,000 ticks. Some players have
played more of the shifts than others. Intervals are those of 95 % for the
mean over shifts. *Over `{base}`* is the paired difference of the grades on the shifts that both
have played. `uncontended` is the observer with one pair of hands for each incident and every
hand-over at its full price: a reference and no bound. Times are in ticks from the first alert to
the first action (MTTA) and to the fix (MTTR); counts are those of a shift.

"""
RELAY: Final = """
## What the note is worth

An engineer who plays as `{base}` does is relieved at a tick of the first {shifts} shifts: {ticks}.
The second engineer has seen no earlier screen, and decides by the note and by the screens from then
on. The grades are those of the {cases} incidents that the first had begun. The note of another
shift is that of the next one at the same tick, with the names of the systems that are open here.

| note | grade of what was begun | over no note |
| --- | ---: | ---: |
"""


def alone(shift: Shift) -> tuple[ShiftState, str | None]:
    """The recorder of the uncontended observer."""
    return uncontended(shift), None


def shown(span: Interval | None) -> str:
    """A mean with its interval."""
    return "" if span is None else f"{span.mean:.3f} ({span.low:.3f} to {span.high:.3f})"


def table(records: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A row for each player."""
    base = {record["shift"]: record["grade"]["score"] for record in records[BASE]}
    lines = [TITLES, ("---", *["---:"] * (len(TITLES) - 1))]
    for player, played in records.items():
        scores = {record["shift"]: record["grade"]["score"] for record in played}
        both = [shift for shift in scores if shift in base and player != BASE]
        over = paired_difference([base[shift] for shift in both], [scores[shift] for shift in both])
        name, *figures = shift_row(player, TASK, played).cells(shown)
        lines.append((f"`{name}`", *figures, shown(over)))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def at_tick(record: Mapping[str, Any], tick: int) -> ShiftState:
    """The state of a recorded shift at a tick."""
    state = begin(make_shift(record["shift"]))
    for wire in record["actions"][:tick]:
        state = take(state, wire)
    return state


def carried_on(state: ShiftState, note: str | None) -> list[float]:
    """The grades of what was begun, once the second engineer has closed it."""
    begun = [place for place, alone in enumerate(state.states) if alone.history]
    places = [place for place in begun if state.states[place].closing is None]
    later = state
    for later in relieved(state, note):
        if all(later.states[place].closing is not None for place in places):
            break
    return [score(later.states[place]) for place in places]


def renamed(notes: str, state: ShiftState) -> str:
    """Another shift's note, with the names of the systems that are open here."""
    names = iter(state.open)
    words = (word if READING.fullmatch(word) else next(names, word) for word in notes.split())
    return " ".join(words)


def notes(records: Sequence[Mapping[str, Any]]) -> str:
    """The table of what notes are worth, from the shifts of the player that is relieved."""
    earned: dict[str, list[float]] = {"its own": [], "none": [], "another shift's": []}
    for record, other in zip(records, [*records[1:], records[0]], strict=True):
        for tick in RELIEVED:
            state = at_tick(record, tick - 1)
            foreign = renamed(noted(at_tick(other, tick - 1)).text, state)
            for name, note in zip(earned, (None, "", foreign), strict=True):
                earned[name] += carried_on(state, note)
    cases = len(earned["none"])
    text = RELAY.format(
        base=BASE, shifts=len(records), ticks=", ".join(map(str, RELIEVED)), cases=cases
    )
    for name, values in earned.items():
        over = "" if name == "none" else shown(paired_difference(earned["none"], values))
        text += f"| {name} | {shown(mean_interval(values))} | {over} |\n"
    return text


def main() -> None:
    """Play what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    players = (*PLAYERS, ALONE)
    parser.add_argument("--shifts", type=int, default=200)
    parser.add_argument("--players", nargs="+", default=list(players), choices=players)
    options = parser.parse_args()
    ids = shift_ids(TASK, "test", options.shifts)
    for first in range(0, len(ids), CHUNK):
        for player in options.players:
            recorder = alone if player == ALONE else scripted(player)
            chunk, file = ids[first : first + CHUNK], KEPT / f"{player}.jsonl"
            record_shifts(chunk, player, recorder, file=file)
    records = {
        player: [json.loads(line) for line in (KEPT / f"{player}.jsonl").open()]
        for player in players
        if (KEPT / f"{player}.jsonl").exists()
    }
    introduction = INTRODUCTION.format(task=TASK, rate=get_shift_task(TASK).rate, base=BASE)
    with replacing(PAGE) as handle:
        handle.write(f"{introduction}{table(records)}{notes(records[BASE][:NOTED])}".encode())


if __name__ == "__main__":
    main()
