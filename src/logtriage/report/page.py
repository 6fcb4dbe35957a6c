"""The page: everything it shows, put into the template."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from logtriage.evaluation import SOLVED
from logtriage.report.confusion import MEANING, PLACES
from logtriage.report.figures import Cell, cells_of, criterion_names
from logtriage.report.hindsight import FIGURES
from logtriage.report.replay import page as replay
from logtriage.report.replay.document import Document
from logtriage.report.run import Run
from logtriage.report.text import clean, number, percent

_TEMPLATE: Final = "report.html.j2"
_STYLES: Final = "report.css"
#: How many colours criteria have, ``--c0`` and on; further criteria reuse them.
CRITERION_COLOURS: Final = 10


def render_page(run: Run, document: Document) -> str:
    """The whole page as text; ``document`` is the data of its episodes."""
    cells = cells_of(run)
    names = criterion_names(cells)
    manifest = run.loaded.manifest
    page = _environment().get_template(_TEMPLATE)
    return page.render(
        run=run,
        headlines=list(run.headlines),
        spec=manifest.spec,
        seal=manifest.seal,
        styles=Markup(replay.styles() + _file(_STYLES)),
        keys=Markup(replay.keys()),
        script=Markup(replay.script()),
        policy=replay.policy(),
        data=Markup(document.to_json()),
        tables=[
            {"task": task, "rows": [row for row in run.rows if row.task == task]}
            for task in run.tasks
        ],
        plots=[_plot(task, [cell for cell in cells if cell.task == task]) for task in run.tasks],
        colours={name: f"c{place % CRITERION_COLOURS}" for place, name in enumerate(names)},
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
    environment.filters.update(number=number, percent=percent, css=_css)
    return environment


def _finalize(value: Any) -> Any:
    """Clean text on its way into the page; escaping follows."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _css(share: float) -> str:
    return f"{100 * share:.2f}%"


def _plot(task: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """The cells of a task, with the scales that they share: the fullest bin, the lowest points."""
    return {
        "task": task,
        "cells": cells,
        "names": criterion_names(cells),
        "top": max((max(cell.shares) for cell in cells), default=0.0) or 1.0,
        "least": min((left for cell in cells for _, left, _ in cell.stacked), default=0.0),
    }
