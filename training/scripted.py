"""Scripted policies on the held-out incidents that trained ones are judged by.

python -m training.scripted --policy observer --task single_crash-v3 --output-dir runs/ppo/observer
"""

import argparse
from pathlib import Path

from logtriage import make_incident, play
from logtriage.drawing.ids import incident_ids
from logtriage.errors import LogTriageError
from training.common.directory import check_empty
from training.common.rows import EPISODES, row_of, write_rows
from training.common.settings import EVAL_INCIDENTS, EVAL_SPLIT


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and leave ``episodes.csv``."""
    parser = argparse.ArgumentParser(
        prog="python -m training.scripted",
        description="Play the first incidents of test by a scripted policy.",
    )
    parser.add_argument("--policy", required=True, help="a scripted policy's name")
    parser.add_argument("--task", required=True)
    parser.add_argument("--incidents", type=int, default=EVAL_INCIDENTS)
    parser.add_argument("--output-dir", type=Path, required=True)
    words = parser.parse_args(arguments)
    out: Path = words.output_dir
    try:
        check_empty(out)
        ids = incident_ids(words.task, EVAL_SPLIT, words.incidents)
        rows = [row_of(play(make_incident(name), words.policy)) for name in ids]
    except LogTriageError as wrong:
        parser.error(str(wrong))
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / EPISODES, ["split"], {(EVAL_SPLIT,): rows})


if __name__ == "__main__":
    main()
