"""Measure the scripted players of shifts, and write docs/results/shift.md.

    python scripts/shift_results.py --shifts 200                    # play what is missing, write
    python scripts/shift_results.py --shifts 40 --players uncontended
    python scripts/shift_results.py --shifts 0                      # write from what was played

Shifts are played in turn by all players, and kept as they come in build/shift/rows.jsonl; a run
that was broken off goes on where it was. Delete that file after a change of rules or players.
"""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from logtriage._lib.files import replacing
from logtriage.evaluation.shifts import record_shift, scripted, shift_row
from logtriage.evaluation.statistics import Interval, paired_difference
from logtriage.shift import get_shift_task, grade, make_shift, shift_ids, uncontended
from logtriage.shift.grades import shift_grade_to_json
from logtriage.shift.states import begin

ROOT: Final = Path(__file__).resolve().parent.parent
ROWS: Final = ROOT / "build" / "shift" / "rows.jsonl"
PAGE: Final = ROOT / "docs" / "results" / "shift.md"
TASK: Final = "busy_shift-v1"
ALONE: Final = "uncontended"
ORDER: Final = (
    "oracle", "forward_all", "first_come", "belief_first", "worst_first", "cheapest_first", ALONE,
)  # fmt: skip
TOLD: Final = """# Players of a shift

Written by `python scripts/shift_results.py`, on the first shifts of split `test` of `{task}`
([rules and players](../shift.md)); an incident arrives in {rate} of 1,000 ticks. Players are
compared on the same shifts, in order; some have played more of them than others. Intervals are
those of 95 % for the mean over shifts. *Over first_come* is the paired difference of the grades on
the shifts that both have played. `uncontended` is the observer with one pair of hands for each
incident and every hand-over at its full price: a reference and no bound. Times are in ticks from
the first alert to the first action (MTTA) and to the fix (MTTR); counts are those of a shift.

"""


def record(shift_id: str, player: str) -> dict[str, Any]:
    """A shift as a player played it, without its single incidents."""
    made: dict[str, Any]
    if player == ALONE:
        shift = make_shift(shift_id)
        graded = {**shift_grade_to_json(grade(begin(shift))), "score": uncontended(shift)}
        made = {"shift": shift_id, "policy": ALONE, "error": None, "grade": graded}
    else:
        made = record_shift(shift_id, player, scripted(player))
        del made["actions"]
    for one in made["grade"]["incidents"]:
        one.clear()  # how many there were is all that the page says of them
    return made


def kept() -> dict[tuple[str, str], dict[str, Any]]:
    """What was played so far, by player and shift."""
    lines = ROWS.read_text().splitlines() if ROWS.exists() else ()
    return {(one["policy"], one["shift"]): one for one in map(json.loads, lines)}


def shown(span: Interval | None) -> str:
    """A mean with its interval."""
    return "" if span is None else f"{span.mean:.3f} ({span.low:.3f} to {span.high:.3f})"


def page(rows: dict[tuple[str, str], dict[str, Any]], players: Sequence[str]) -> str:
    """The page: a row for each player."""
    base = {
        shift: one["grade"]["score"] for (who, shift), one in rows.items() if who == "first_come"
    }
    text = TOLD.format(task=TASK, rate=get_shift_task(TASK).rate)
    text += (
        "| player | shifts | grade | net value | over first_come | MTTA | MTTR | missed | "
        "handed over |\n| --- " + "| ---: " * 8 + "|\n"
    )
    for player in players:
        records = [one for (who, _), one in rows.items() if who == player]
        if not records:
            continue
        scores = {one["shift"]: one["grade"]["score"] for one in records}
        both = [shift for shift in scores if shift in base and player != "first_come"]
        over = paired_difference([base[one] for one in both], [scores[one] for one in both])
        if player == ALONE:
            spread = partial(shift_row, player, TASK)
            row = spread([{**one, "forward_all": 0.0} for one in records])
            text += (
                f"| `{player}` | {row.shifts} | {shown(row.score)} | | {shown(over)} | | | | |\n"
            )
            continue
        row = shift_row(player, TASK, records)
        times = ["" if one is None else f"{one:.1f}" for one in (row.mtta, row.mttr)]
        counts = [f"{one:.1f} of {row.incidents:.1f}" for one in (row.missed, row.handed_over)]
        cells = [f"`{player}`", str(row.shifts), shown(row.score), shown(row.net), shown(over)]
        text += f"| {' | '.join((*cells, *times, *counts))} |\n"
    return text


def main() -> None:
    """Play what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shifts", type=int, default=200)
    parser.add_argument("--players", nargs="+", default=list(ORDER), choices=ORDER)
    given = parser.parse_args()
    rows = kept()
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    for shift_id in shift_ids(TASK, "test", given.shifts):
        for player in given.players:
            if (player, shift_id) not in rows:
                rows[player, shift_id] = made = record(shift_id, player)
                with ROWS.open("a") as out:
                    out.write(f"{json.dumps(made)}\n")
    with replacing(PAGE) as handle:
        handle.write(page(rows, ORDER).encode())


if __name__ == "__main__":
    main()
