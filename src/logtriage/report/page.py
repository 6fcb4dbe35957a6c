"""The page: everything it shows, put into the template."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from logtriage.evaluation import SOLVED, Row
from logtriage.report import plots
from logtriage.report.confusion import MEANING, PLACES
from logtriage.report.figures import Cell, cells_of, criterion_names
from logtriage.report.hindsight import FIGURES
from logtriage.report.replay import page as replay
from logtriage.report.replay.document import Document
from logtriage.report.run import Run
from logtriage.report.text import clean, labels, number, percent, signed

_TEMPLATE: Final = "report.html.j2"
_STYLES: Final = "report.css"


def render_page(run: Run, found: Document) -> str:
    """The whole page as text; ``found`` is the data of its episodes."""
    short = labels(run.policies)
    cells = cells_of(run)
    page = _environment().get_template(_TEMPLATE)
    return page.render(
        run=run,
        labels=short,
        styles=Markup(replay.styles() + _file(_STYLES)),
        keys=Markup(replay.keys()),
        script=Markup(replay.script()),
        policy=replay.policy(),
        data=Markup(found.to_json()),
        tables=_tables(run, short),
        plots=_plots(run, cells, short),
        legend=_legend(cells),
        solved=SOLVED,
        figures=FIGURES,
        explained=any(row.losses is not None for row in run.rows),
        places=PLACES,
        meaning=MEANING,
    )


def _file(name: str) -> str:
    return files("logtriage.report").joinpath(name).read_text("utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(number=number, percent=percent, signed=signed)
    return environment


def _finalize(value: Any) -> Any:
    """Whatever is printed into the page is cleaned on its way; escaping comes after."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# -- results ---------------------------------------------------------------------------


def _tables(run: Run, short: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"task": task, "rows": [_row(row, short) for row in run.rows if row.task == task]}
        for task in run.tasks
    ]


def _row(row: Row, short: dict[str, str]) -> dict[str, Any]:
    return {"row": row, "label": short.get(row.policy, row.policy)}


# -- plots -----------------------------------------------------------------------------


def _plots(run: Run, cells: Sequence[Cell], short: dict[str, str]) -> list[dict[str, Any]]:
    names = criterion_names(cells)
    found = []
    for index, task in enumerate(run.tasks):
        mine = [cell for cell in cells if cell.task == task]
        found.append(
            {
                "task": task,
                "cells": mine,
                "names": [name for name in names if any(name in cell.points for cell in mine)],
                "distributions": Markup(plots.distributions(mine, short, f"d{index}")),
                "points": Markup(plots.points(mine, short, names, f"p{index}")),
                "places": Markup(plots.places(mine, short, f"h{index}")),
                "faults": max((cell.faults for cell in mine), default=0),
            }
        )
    return found


def _legend(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    return [
        (name, f"c{index % plots.CRITERION_COLOURS}")
        for index, name in enumerate(criterion_names(cells))
    ]
