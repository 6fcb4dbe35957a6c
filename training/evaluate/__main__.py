"""Measure an agent on held-out incidents, beside scripted policies.

The output directory gets ``results.json``, ``results.md`` and the transcripts of every agent.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from logtriage.errors import LogTriageError
from logtriage.evaluation.cell_files import slug
from training.common.files import save_json, save_text
from training.common.options import add_options
from training.common.worlds import add_world, task_in
from training.evaluate.cuts import warn_of_cuts
from training.evaluate.evaluation import Evaluation, Judge
from training.evaluate.phases import EXPLAINING, FIGURES, Phases
from training.evaluate.players import check, evaluated
from training.evaluate.results import RESULTS, TABLE, compare
from training.evaluate.settings import LOCAL, Settings
from training.evaluate.tables import markdown, tables

TRANSCRIPTS = "transcripts"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure, and leave everything in the output directory.

    Returns 0, or 1 if an episode could not be scored, or too many replies were cut off.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("--output-dir", type=Path, required=True, help="directory for the results")
    add_world(parser)
    add_options(parser, Settings)
    options = vars(parser.parse_args(words))
    out: Path = options.pop("output_dir")
    try:
        options["task"] = task_in(options.pop("world"), options["task"])
        results = run(Settings(**options), out)
    except (LogTriageError, OSError) as wrong:
        parser.error(str(wrong))
    cut = warn_of_cuts(results, Console(stderr=True), limit="--max-new-tokens")
    return int(cut or any(agent["all"]["unscored"] for agent in results["agents"]))


def run(settings: Settings, out: Path) -> dict[str, Any]:
    """Measure, write the files, and show the tables; the content of ``results.json``.

    Raises:
        LogTriageError: for what cannot be measured so.
    """
    judge = Judge.of(settings.rubric, settings.bundle, settings.split_roles)
    phases = Phases(Console(stderr=True))
    names = [name for name in settings.baselines.split() if name != settings.policy]
    for policy in (*filter(None, [settings.before]), settings.policy, *names):
        check(policy, settings, judge)
    before = None if not settings.before else _play(settings.before, settings, judge, out, phases)
    after = _play(settings.policy, settings, judge, out, phases)
    others = [_play(name, settings, judge, out, phases) for name in names]
    phases.begin(FIGURES)
    results = compare(
        before, after, others, explained=settings.explain, on_progress=phases.counted(EXPLAINING)
    )
    phases.end()
    save_json(out / RESULTS, results)
    save_text(out / TABLE, markdown(results))
    show(results)
    return results


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console()
    for table in tables(results):
        shown = RichTable(title=table.title, title_justify="left")
        for column in table.columns:
            shown.add_column(column)
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)


def _play(policy: str, settings: Settings, judge: Judge, out: Path, phases: Phases) -> Evaluation:
    phases.begin(f"loading {policy}" if policy.startswith(LOCAL) else policy)
    evaluation = evaluated(policy, settings, judge, on_progress=phases.counted(policy))
    phases.end()
    evaluation.save(out / TRANSCRIPTS / f"{slug(policy)}.jsonl")
    return evaluation


if __name__ == "__main__":
    sys.exit(main())
