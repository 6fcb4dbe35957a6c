"""The page: everything it shows, put into the template."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from logtriage.evaluation import SOLVED, Row
from logtriage.grading import Grade
from logtriage.report import plots
from logtriage.report.confusion import MEANING, PLACES
from logtriage.report.episode import Episode
from logtriage.report.figures import Cell, cells_of, criterion_names, points_of
from logtriage.report.hindsight import FIGURES, beliefs_of, parts_of
from logtriage.report.run import Run
from logtriage.report.selection import MAX_SCREENS, in_full, listed
from logtriage.report.text import clean, labels, number, percent, signed
from logtriage.report.timeline import Step, actions_of, steps_of, truth_of

_TEMPLATE: Final = "report.html.j2"
_SCRIPT: Final = "report.js"
_STYLES: Final = "report.css"


def render_page(run: Run, replay: str | None = None) -> str:
    """The whole page as text; ``replay`` is the address of the replay page of the same run."""
    short = labels(run.policies)
    cells = cells_of(run)
    script = _file(_SCRIPT)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    page = _environment().get_template(_TEMPLATE)
    return page.render(
        run=run,
        labels=short,
        styles=Markup(_file(_STYLES)),
        script=Markup(script),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'",
        tables=_tables(run, short),
        plots=_plots(run, cells, short),
        legend=_legend(cells),
        solved=SOLVED,
        figures=FIGURES,
        prices=sorted({one.price for row in run.rows for one in row.paging}),
        explained=any(row.losses is not None for row in run.rows),
        places=PLACES,
        meaning=MEANING,
        **_episodes(run, short, replay),
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
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
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


# -- episodes --------------------------------------------------------------------------


def _episodes(run: Run, short: dict[str, str], replay: str | None) -> dict[str, Any]:
    rows = listed(run.episodes)
    place = {position: row for row, position in enumerate(rows)}
    full = [position for position in in_full(run.episodes) if position in place]
    left = MAX_SCREENS
    shown: dict[int, dict[str, Any]] = {}
    for position in full:
        entry = _entry(run.episodes[position], short)
        size = sum(len(step.screen) for step in entry["steps"])
        entry["screens"] = size <= left
        left -= size if entry["screens"] else 0
        shown[position] = entry
    gates = sorted({e.grade.gate for e in run.episodes if e.grade.gate is not None})
    entries = [{**shown[position], "row": place[position]} for position in sorted(shown)]
    return {
        "entries": entries,
        "without_screens": sum(not entry["screens"] for entry in entries),
        "listed": len(rows),
        "gates": gates,
        "data": {
            **_data(run, rows, short, gates, frozenset(shown)),
            **({} if replay is None else {"replay": _replay(run, replay)}),
        },
    }


def _entry(episode: Episode, short: dict[str, str]) -> dict[str, Any]:
    graded = episode.grade
    steps: tuple[Step, ...] = steps_of(episode)
    return {
        "label": short.get(episode.policy, episode.policy),
        "policy": episode.policy,
        "incident": episode.incident.id,
        "grade": graded,
        "outcome": _outcome(graded),
        "criteria": [(one, points_of(one)) for one in graded.criteria],
        "truth": truth_of(episode),
        "steps": steps,
        "parts": parts_of(episode.explained),
        "beliefs": beliefs_of(episode.explained, len(steps)),
    }


def _outcome(graded: Grade) -> str:
    return str(graded.closing or "open") if graded.score is not None else "unscored"


def _replay(run: Run, page: str) -> dict[str, Any]:
    """What the script makes the address of an episode of: whole names, and beginnings of ids."""
    stems = {
        one.grade.task: f"{one.grade.task}/" * one.incident.id.startswith(f"{one.grade.task}/")
        for one in run.episodes
    }
    return {
        "page": page,
        "policies": [clean(name) for name in run.policies],
        "stems": [stems.get(task, "") for task in run.tasks],
    }


def _data(
    run: Run,
    rows: Sequence[int],
    short: dict[str, str],
    gates: Sequence[str],
    shown: frozenset[int],
) -> dict[str, Any]:
    """The list of episodes for the script: names once, and rows that point at them."""
    actions: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    policies = {name: index for index, name in enumerate(run.policies)}
    tasks = {name: index for index, name in enumerate(run.tasks)}
    found = []
    for position in rows:
        episode = run.episodes[position]
        graded = episode.grade
        row: list[Any] = [
            policies[episode.policy],
            tasks[graded.task],
            clean(episode.incident.id.removeprefix(f"{graded.task}/")),
            None if graded.score is None else round(graded.score, 4),
            -1 if graded.gate is None else gates.index(graded.gate),
            outcomes.setdefault(_outcome(graded), len(outcomes)),
            graded.ticks,
        ]
        if position not in shown:
            row.append(
                [actions.setdefault(clean(one), len(actions)) for one in actions_of(episode)]
            )
        found.append(row)
    return {
        "policies": [short[name] for name in run.policies],
        "tasks": [clean(name) for name in run.tasks],
        "gates": [clean(name) for name in gates],
        "outcomes": list(outcomes),
        "actions": list(actions),
        "rows": found,
    }
