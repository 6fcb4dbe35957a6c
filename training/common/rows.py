"""Episodes in figures: a row an episode, and what many of them are worth."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.grading import score
from logtriage.state import Closing, State

#: What a hand-over may be worth; heeding is the difference between the last and the first.
PRICES: Final = (0.3, 0.5, 0.7, 0.8, 0.9)
LOW, HIGH = PRICES[0], PRICES[-1]
#: What was played on held-out incidents, in the directory of a run.
EPISODES: Final = "episodes.csv"


@attrs.frozen
class Row:
    """A closed episode.

    ``entropy`` is the sum over the agent's actions, in nats; NaN where it was not measured.
    """

    incident: str
    price: float
    fault: bool
    grade: float
    handed_over: bool
    paged_right: bool
    mis_paged: bool
    ticks: int
    entropy: float = math.nan


#: A row's place among those of a file, such as its split.
Key = tuple[str, ...]


def row_of(state: State) -> Row:
    """The figures of a closed episode."""
    facts, incident = state.facts, state.incident
    assert incident.price_of_hand_over is not None  # v3 tasks have a price
    return Row(
        incident=incident.id,
        price=incident.price_of_hand_over,
        fault=not incident.truth.benign,
        grade=score(state),
        handed_over=state.closing == Closing.HANDED_OVER,
        paged_right=any(team in incident.truth.teams for _, team in facts.pages),
        mis_paged=facts.wrong_pages > 0,
        ticks=state.tick,
    )


def net_value(rows: Sequence[Row]) -> float:
    """Earned beyond handing all over, as a share of what could be; NaN of no rows."""
    room = sum(1 - one.price for one in rows)
    return sum(one.grade - one.price for one in rows) / room if room else math.nan


def handed_over(rows: Sequence[Row], price: float) -> float:
    """The share that is handed over where a hand-over is worth ``price``; NaN of no rows."""
    return _mean([one.handed_over for one in rows if one.price == price])


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Means and shares over rows, by name."""
    faults = [one for one in rows if one.fault]
    benign = [one for one in rows if not one.fault]
    found = {
        "net_value": net_value(rows),
        "grade": _mean([one.grade for one in rows]),
        "grade_faults": _mean([one.grade for one in faults]),
        "grade_benign": _mean([one.grade for one in benign]),
        "net_faults": net_value(faults),
        "net_benign": net_value(benign),
        "handed_over": _mean([one.handed_over for one in rows]),
        "heeding": handed_over(rows, HIGH) - handed_over(rows, LOW),
        "paged_right": _mean([one.paged_right for one in faults]),
        "mis_paged": _mean([one.mis_paged for one in rows]),
        "ticks": _mean([one.ticks for one in rows]),
    }
    for price in PRICES:
        found[f"handed_over_{price}"] = handed_over(rows, price)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def write_rows(path: Path, names: Sequence[str], keyed: dict[Key, Sequence[Row]]) -> None:
    """Write rows with the ``names`` of their keys as the first columns."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*names, *(field.name for field in attrs.fields(Row))])
        for key, rows in keyed.items():
            table.writerows([*key, *attrs.astuple(row)] for row in rows)


def read_rows(path: Path) -> dict[Key, list[Row]]:
    """The rows of :func:`write_rows` by key."""
    readers: dict[str, Any] = {
        field.name: _flag if field.type is bool else field.type for field in attrs.fields(Row)
    }
    found: dict[Key, list[Row]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = Row(**{name: reads(line.pop(name)) for name, reads in readers.items()})
            found.setdefault(tuple(line.values()), []).append(row)
    return found


def _flag(text: str) -> bool:
    return {"True": True, "False": False}[text]
