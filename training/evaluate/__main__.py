"""Measure an agent on held-out incidents, beside scripted policies.

The output directory gets ``results.json``, ``results.md`` and the transcripts of every agent.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from logtriage.errors import LogTriageError
from logtriage.evaluation.cells import slug
from training.common.files import save_json, save_text
from training.common.options import add_options
from training.evaluate.evaluation import Evaluation
from training.evaluate.players import evaluated
from training.evaluate.results import RESULTS, TABLE, compare
from training.evaluate.settings import Settings
from training.evaluate.tables import markdown, tables

TRANSCRIPTS = "transcripts"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure, and leave everything in the output directory.

    Returns 0, or 1 if an episode could not be scored.
    """
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("--output-dir", type=Path, required=True, help="directory for the results")
    add_options(parser, Settings)
    options = vars(parser.parse_args(given))
    out: Path = options.pop("output_dir")
    try:
        results = run(Settings(**options), out)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    return int(any(agent["all"]["unscored"] for agent in results["agents"]))


def run(settings: Settings, out: Path) -> dict[str, Any]:
    """Measure, write the files, and show the tables; the content of ``results.json``.

    Raises:
        LogTriageError: for what cannot be measured so.
    """
    before = None if not settings.before else _play(settings.before, settings, out)
    after = _play(settings.policy, settings, out)
    names = [one for one in settings.baselines.split() if one != settings.policy]
    others = [_play(one, settings, out) for one in names]
    results = compare(before, after, others)
    save_json(out / RESULTS, results)
    save_text(out / TABLE, markdown(results))
    show(results)
    return results


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console()
    for one in tables(results):
        shown = RichTable(title=one.title, title_justify="left")
        for column in one.columns:
            shown.add_column(column)
        for row in one.rows:
            shown.add_row(*row)
        console.print(shown)


def _play(policy: str, settings: Settings, out: Path) -> Evaluation:
    bar = Progress(
        TextColumn(policy),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(policy, total=None)
        found = evaluated(
            policy,
            settings,
            on_progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    found.save(out / TRANSCRIPTS / f"{slug(policy)}.jsonl")
    return found


if __name__ == "__main__":
    sys.exit(main())
