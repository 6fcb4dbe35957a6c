"""Scripted policies on the incidents that models of notation are judged by.

python -m training.tiny.scripted --policy observer --output-dir runs/observer
"""

import argparse
from pathlib import Path

from logtriage import play
from logtriage.errors import LogTriageError
from training.common.directory import check_empty
from training.common.files import save_json
from training.common.settings import EVAL_SPLIT
from training.tiny.arms import ABOUT
from training.tiny.judge import TEST, TRUE, held_out, row_of, saved


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and leave ``episodes.csv`` and ``arm.json``."""
    parser = argparse.ArgumentParser(
        prog="python -m training.tiny.scripted",
        description="Play the incidents of test that models of notation are judged by.",
    )
    parser.add_argument("--policy", required=True, help="a scripted policy's name")
    parser.add_argument("--task", default="single_crash-v3-fog1")
    parser.add_argument("--output-dir", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        check_empty(given.output_dir)
        rows = [row_of(play(one, given.policy)) for one in held_out(given.task, EVAL_SPLIT, TEST)]
    except LogTriageError as wrong:
        parser.error(str(wrong))
    given.output_dir.mkdir(parents=True, exist_ok=True)
    with saved(given.output_dir) as save:
        save(EVAL_SPLIT, 0.0, TRUE, rows)
    settings = {"arm": given.policy, "task": given.task, "seed": 0, "temperature": 0.0}
    save_json(given.output_dir / ABOUT, {"settings": settings})


if __name__ == "__main__":
    main()
