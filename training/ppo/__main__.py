"""Train on one task by PPO, and leave checkpoint, curve and figures in a directory."""

import argparse
import os
import shlex
import sys
from pathlib import Path

import attrs
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from logtriage.errors import LogTriageError
from training.common.files import machine, save_json
from training.common.options import add_options
from training.common.rows import EPISODES, figures, write_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT, TRAIN_SPLIT
from training.common.worlds import add_world, task_in
from training.ppo import store
from training.ppo.evaluate import play_held_out, regrade
from training.ppo.learn import Point, train
from training.ppo.networks import Agent
from training.ppo.settings import Settings


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.ppo", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory for this run")
    add_world(parser)
    add_options(parser, Settings)
    options = vars(parser.parse_args(words))
    out: Path = options.pop("out")
    try:
        options["task"] = task_in(options.pop("world"), options["task"])
        settings = Settings(**options)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    run(settings, out, "python -m training.ppo " + shlex.join(words))


def run(settings: Settings, out: Path, command: str, console: Console | None = None) -> None:
    """Train and write ``checkpoint.pt``, ``curve.csv`` and ``run.json`` into ``out``."""
    console = Console(stderr=True) if console is None else console
    about = {
        "command": command,
        "settings": attrs.asdict(settings),
        "train_split": TRAIN_SPLIT,
        "machine": machine(),
        "load_before": os.getloadavg()[0],
    }
    points: list[Point] = []
    bar = Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(),
                   console=console)  # fmt: skip
    with bar:
        minutes = bar.add_task(settings.task, total=60 * settings.minutes)

        def report(point: Point, agent: Agent) -> None:
            points.append(point)
            store.save_agent(out / store.CHECKPOINT, agent)
            store.save_curve(out / store.CURVE, points)
            save_json(out / store.RUN, {**about, "finished": False})
            bar.update(minutes, completed=point.seconds)
            bar.console.print(_line(point))

        done = train(settings, report)
    played = {
        split: play_held_out(done.agent, settings.task, settings.eval_incidents, split=split)
        for split in (CHOICE_SPLIT, EVAL_SPLIT)
    }
    rows = {(split,): episodes.rows() for split, episodes in played.items()}
    write_rows(out / EPISODES, ["split"], rows)
    test = played[EVAL_SPLIT]
    last = points[-1]
    save_json(
        out / store.RUN,
        {
            **about,
            "finished": True,
            "load_after": os.getloadavg()[0],
            "seconds": done.seconds,
            "cpu_seconds": done.cpu,
            "collecting_seconds": done.collecting,
            "updating_seconds": done.updating,
            "steps": last.steps,
            "episodes": last.incidents,
            "steps_per_second": last.steps / done.seconds,
            "before": attrs.asdict(points[0].val),
            "after": {split: figures(rows[split,]) for split in played},
            "scalar_core_agrees": regrade(test) == test.scores.tolist(),
        },
    )
    console.print(f"{last.steps:,} steps in {done.seconds:.0f} s; see {out}")


def _line(point: Point) -> str:
    val = point.val
    return (
        f"{point.seconds:6.0f} s ({point.cpu:5.0f} of CPU) {point.steps:10,} steps"
        f"  net {val.net_value:+.3f}  grade {val.grade:.3f}  solved {val.solved:6.1%}"
        f"  paged {val.paged:5.1%}  mis-paged {val.mis_paged:5.1%}  ticks {val.ticks:4.1f}"
    )


if __name__ == "__main__":
    main()
