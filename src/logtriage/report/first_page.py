"""The figures on the first page of a run's replay: texts of tables, and numbers of plots.

``replay/figures.js`` draws them and computes nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from logtriage._lib.printable import counted
from logtriage.evaluation import RECORDED_TASKS, Calls, Interval, Row
from logtriage.report.columns import DETAILS, HEADLINE
from logtriage.report.figures import Cell, cells_of, criterion_names
from logtriage.report.run import Run
from logtriage.report.text import (
    HARDNESS,
    MEANING,
    NAMED,
    NO_FIGURE,
    PARTS,
    PLACES,
    clean,
    interval,
    number,
    percent,
)

#: How many colours criteria have, ``--c0`` and on; further criteria reuse them.
CRITERION_COLOURS: Final = 10
#: The bins (of ``figures.BINS``, 20) in each column of the table of scores, whose head is in
#: :func:`_plot`: up to 0.05, 0.5, 0.9 and 1.
_SPANS: Final = (slice(0, 1), slice(1, 10), slice(10, 18), slice(18, None))
#: Decimal places of a share of a plot's width or height.
_PLACES: Final = 4

#: Columns of a table: title and text of a row's cell.
Columns = Sequence[tuple[str, Callable[[Row], str]]]

_RESULTS_NOTE: Final = "Means over the scored episodes, with 95 % bootstrap intervals."
_LOSSES_NOTE: Final = (
    "The parts add up to the grade: means over the explained episodes, with 95 % bootstrap "
    "intervals. At first: the expected grade before any action. Asking: what requests were "
    "expected to add. Decisions: what all other actions were expected to change; below 0 they "
    "lost. Luck: how much better than expected the outcomes were. Hardness is no part: what all "
    "evidence together would leave in doubt. Justified: the exact belief gave a page at least its "
    "bar, a root cause at least one half. Lucky: right, and not justified."
)
_PLACES_NOTE: Final = (
    "Calls between the service that was declared and the true root, in per cent of the scored "
    "incidents that have a root. With k faults, the first k services declared count 1/k each. "
    + "; ".join(f"{place}: {meaning}" for place, meaning in MEANING.items())
    + "."
)


def first_page(run: Run) -> dict[str, Any]:
    """The page's data: ``facts`` of the run, tables, plots by task, and colours of ``criteria``."""
    cells = cells_of(run)
    played, planned = len(run.episodes), sum(run.planned)
    return {
        "facts": [[name, clean(text)] for name, text in _facts(run)],
        "unfinished": None if played == planned else (
            f"This run is not finished: {played} of {planned} episodes were played. The "
            "figures are of these."
        ),
        "tables": [
            table for table in (_results(run), _losses(run), _places(run, cells)) if table
        ],
        "plots": [_plot(task, [cell for cell in cells if cell.task == task]) for task in run.tasks],
        "criteria": {
            name: place % CRITERION_COLOURS for place, name in enumerate(criterion_names(cells))
        },
    }  # fmt: skip


def _facts(run: Run) -> Iterable[tuple[str, str]]:
    manifest = run.loaded.manifest
    spec = manifest.spec
    if run.bases:
        yield "beside it", "; ".join((", ".join(run.names[1:]), *run.pairing))
    yield "version", run.version
    if any(task not in RECORDED_TASKS for task in spec.tasks) and not spec.incidents:
        yield "split", f"{spec.split}{f' (seal {manifest.seal})' if manifest.seal else ''}"
    start = f", from number {spec.start}" if spec.start else ""
    runs = " in all runs" if run.bases else ""
    least_and_most = sorted({min(run.planned), max(run.planned)})
    each = f" ({' to '.join(map(str, least_and_most))} per task and policy{start})"
    yield "episodes", f"{len(run.episodes)}{runs}{'' if spec.incidents else each}"
    if run.left_out:
        told = f"{counted(run.left_out, 'bad line')} had no grade when the run was made"
        yield "left out", f"{told}; no figure counts them"
    if spec.kinds:
        yield "kinds", ", ".join(spec.kinds)
    yield "rubrics", ", ".join(run.rubrics)
    if run.roles is not None:
        yield "roles", f"{run.roles.name} ({', '.join(run.roles.names)})"
    for name, values in (("tasks", run.tasks), ("agents", run.policies)):
        if len(values) > NAMED:  # else the title names them
            yield name, ", ".join(values)


def _results(run: Run) -> dict[str, Any]:
    shown = [
        column
        for column in (*HEADLINE, *DETAILS)
        if any(column.text(row) != NO_FIGURE for row in run.rows)
    ]
    meanings = (
        f"{column.title[0].upper()}{column.title[1:]}: {column.meaning}." for column in shown
    )
    note = " ".join((_RESULTS_NOTE, *meanings))
    columns: Columns = (
        *((column.title, column.text) for column in shown),
        ("episodes", lambda row: str(row.episodes)),
    )
    return _table(run, "results", "Results", note, columns)


def _losses(run: Run) -> dict[str, Any] | None:
    if all(row.losses is None for row in run.rows):
        return None
    columns: Columns = (
        ("explained", lambda row: str(row.losses.episodes if row.losses else 0)),
        *((words, _part(field)) for field, words in (*PARTS, HARDNESS)),
        *_calls("pages"),
        *_calls("root_causes"),
    )
    return _table(run, "losses", "Why grades are what they are", _LOSSES_NOTE, columns)


def _part(field: str) -> Callable[[Row], str]:
    """The text of a part of the grade; only hardness, which is no gain, has no sign."""

    def text(row: Row) -> str:
        if row.losses is None:
            return NO_FIGURE
        part: Interval = getattr(row.losses, field)
        return interval(part, signs=field != HARDNESS[0])

    return text


def _calls(field: str) -> Columns:
    """Columns on the pages or root causes (a field of ``Row.losses``) that were decided."""

    def text(write: Callable[[Calls], str]) -> Callable[[Row], str]:
        return lambda row: write(getattr(row.losses, field)) if row.losses else NO_FIGURE

    return (
        (field.replace("_", " "), text(lambda calls: str(calls.count))),
        ("justified", text(lambda calls: percent(calls.justified))),
        ("lucky", text(lambda calls: percent(calls.lucky))),
    )


def _table(run: Run, name: str, title: str, note: str, columns: Columns) -> dict[str, Any]:
    groups = []
    for task in run.tasks:
        rows = [row for row in run.rows if row.task == task]
        groups.append([task, [[clean(row.agent), *(t(row) for _, t in columns)] for row in rows]])
    head = ["agent", *(words for words, _ in columns)]
    return {"id": name, "title": title, "note": note, "head": head, "groups": groups}


def _places(run: Run, cells: Sequence[Cell]) -> dict[str, Any]:
    def texts(cell: Cell) -> list[str]:
        shares = [percent(cell.places[place] if cell.faults else None) for place in PLACES]
        return [clean(cell.policy), str(cell.faults), *shares]

    return {
        "id": "places",
        "title": "Where the declared root cause lies",
        "note": _PLACES_NOTE,
        "head": ["agent", "episodes", *PLACES],
        "groups": [[task, [texts(cell) for cell in cells if cell.task == task]]
                   for task in run.tasks],
    }  # fmt: skip


def _plot(task: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """The cells of a task and their common scales: ``top``, the fullest bin; ``least`` points."""
    names = criterion_names(cells)
    return {
        "task": task,
        "top": max((max(cell.shares) for cell in cells), default=0.0) or 1.0,
        "least": min((left for cell in cells for _, left, _ in cell.stacked), default=0.0),
        "cells": [_drawn(cell) for cell in cells],
        "scores": {
            "head": ["agent", "scored", "gated", "below 0.05", "0.05 – 0.5", "0.5 – 0.9",
                     "0.9 – 1"],
            "rows": [
                [clean(cell.policy), str(cell.scored), percent(cell.gated),
                 *(percent(sum(cell.shares[span])) for span in _SPANS)]
                for cell in cells
            ],
        },
        "points": {
            "head": ["agent", *names, "lost"],
            "rows": [
                [clean(cell.policy), *(number(cell.points.get(name, 0.0)) for name in names),
                 number(cell.lost)]
                for cell in cells
            ],
        },
    }  # fmt: skip


def _drawn(cell: Cell) -> dict[str, Any]:
    mean, bound = number(cell.mean, digits=2), number(cell.bound, digits=2)
    return {
        "policy": clean(cell.policy),
        "mean": cell.mean,
        "value": mean if mean == bound else f"{mean} ≥ {bound}",
        "shares": [round(share, _PLACES) for share in cell.shares],
        "gated": round(cell.gated, _PLACES),
        "stacked": [
            [name, round(left, _PLACES), round(width, _PLACES)]
            for name, left, width in cell.stacked
        ],
        "lost": [round(cell.earned, _PLACES), round(cell.lost, _PLACES)],
    }
