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
    room = sum(1 - row.price for row in rows)
    return sum(row.grade - row.price for row in rows) / room if room else math.nan


def handed_over(rows: Sequence[Row], price: float) -> float:
    """The share that is handed over where a hand-over is worth ``price``; NaN of no rows."""
    return _mean([row.handed_over for row in rows if row.price == price])


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Means and shares over rows, by name."""
    faults = [row for row in rows if row.fault]
    benign = [row for row in rows if not row.fault]
    means = {
        "net_value": net_value(rows),
        "grade": _mean([row.grade for row in rows]),
        "grade_faults": _mean([row.grade for row in faults]),
        "grade_benign": _mean([row.grade for row in benign]),
        "net_faults": net_value(faults),
        "net_benign": net_value(benign),
        "handed_over": _mean([row.handed_over for row in rows]),
        "heeding": handed_over(rows, HIGH) - handed_over(rows, LOW),
        "paged_right": _mean([row.paged_right for row in faults]),
        "mis_paged": _mean([row.mis_paged for row in rows]),
        "ticks": _mean([row.ticks for row in rows]),
    }
    for price in PRICES:
        means[f"handed_over_{price}"] = handed_over(rows, price)
    return means


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
    keyed: dict[Key, list[Row]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = Row(**{name: reads(line.pop(name)) for name, reads in readers.items()})
            keyed.setdefault(tuple(line.values()), []).append(row)
    return keyed


def _flag(text: str) -> bool:
    return {"True": True, "False": False}[text]
