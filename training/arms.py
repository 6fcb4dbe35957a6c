"""What separates learners: the arms of a question, five seeds of each, and their differences.

    pip install -e '.[train-rl]' -c constraints.txt
    python -m training.arms inference --out runs/inference
    python -m training.arms words --out runs/words

``inference`` asks where PPO loses net value: in what it believes, or in what it does about it.
``words`` asks what reports between the roles of a team are worth. A run that is finished is not run
again, so the same command goes on where it stopped. ``arms.csv`` has a row for each run, and
``arms.md`` the tables; both are written after each arm. All play the same incidents of ``test``.
"""

import shlex
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import attrs
from rich.console import Console

from logtriage.evaluation.statistics import Interval
from logtriage.playing import play
from training.common.figures import (
    EPISODES,
    Key,
    Row,
    Seeds,
    figures,
    gain,
    handed_over_in_words,
    mean_of,
    net_value,
    over_seeds,
    read_rows,
    row_of,
    save_table,
    write_rows,
)
from training.common.files import save_text
from training.common.options import ProgramParser, as_options
from training.common.parts import is_finished, run_parts
from training.common.ppo import EVAL_INCIDENTS
from training.common.tasks import EVAL_SPLIT, ids_of, incident_of


@attrs.frozen
class Question:
    """Arms of a recipe on one task.

    Attributes:
        options: of all runs.
        arms: further options by the name of the arm.
        players: (arm, key of the rows in its ``episodes.csv``) by name.
        scripted: policies that play the same incidents alone.
        compared: (what is told, player, the player it is compared with).
        judged: incidents of split ``test`` that all of them play.
    """

    recipe: str
    task: str
    options: Mapping[str, Any]
    arms: Mapping[str, Mapping[str, Any]]
    players: Mapping[str, tuple[str, Key]]
    scripted: Sequence[str]
    compared: Sequence[tuple[str, str, str]]
    judged: int = EVAL_INCIDENTS


INPUTS: Final = ("belief", "counts", "screen")
TALKING: Final = ("by_channel", "north_south")
QUESTIONS: Final = {
    "inference": Question(
        recipe="training.ppo",
        task="single_crash-v4",
        options={"rounds": 200, "eval-every": 40},
        arms={name: {"inputs": name} for name in INPUTS},
        players={name: (name, (EVAL_SPLIT,)) for name in INPUTS},
        scripted=("observer", "expert"),
        compared=(
            ("decision", "observer", "belief"),
            ("inference", "belief", "counts"),
            ("inference without memory", "belief", "screen"),
        ),
    ),
    "words": Question(
        recipe="training.mappo",
        task="single_crash-v4",
        options={"rounds": 20, "imitation": 13, "eval-every": 7},
        arms={
            split: {"split": split}
            for name in TALKING
            for split in (name, f"{name}_without_reports")
        },
        players={
            **{f"{name}, silent": (f"{name}_without_reports", ("own",)) for name in TALKING},
            **{name: (name, ("own",)) for name in TALKING},
            **{f"{name}, words of other incidents": (name, ("scrambled",)) for name in TALKING},
        },
        scripted=("observer", "expert"),
        compared=tuple(
            compared
            for name in TALKING
            for compared in (
                ("talking", name, f"{name}, silent"),
                ("one's own words", name, f"{name}, words of other incidents"),
            )
        ),
    ),
}


def run(question: Question, out: Path, seeds: int, at_once: int, console: Console) -> None:
    """Run what is not finished, arm by arm, and write the tables after each."""
    shared = {"task": question.task, "eval-incidents": question.judged, **question.options}
    for arm, options in question.arms.items():
        words = shlex.split(as_options({**shared, **options}))
        commands = {
            f"{arm}-{seed}": [question.recipe, *words, "--seed", str(seed)] for seed in range(seeds)
        }
        run_parts(out, commands, at_once, console)
        write(question, out, seeds)


def played_by(policy: str, question: Question, out: Path) -> list[Row]:
    """The held-out incidents as a scripted policy plays them; played once, then read."""
    file = out / f"{policy}.csv"
    if not file.exists():
        ids = ids_of(question.task, EVAL_SPLIT, question.judged)
        rows = [row_of(play(incident_of(question.task, each), policy)) for each in ids]
        write_rows(file, ["policy"], {(policy,): rows})
    return read_rows(file)[policy,]


def write(question: Question, out: Path, seeds: int) -> None:
    """Write ``arms.csv`` and ``arms.md`` from the arms that are finished."""
    shown: dict[str, Seeds] = {name: [played_by(name, question, out)] for name in question.scripted}
    for name, (arm, key) in question.players.items():
        made = [out / f"{arm}-{seed}" for seed in range(seeds)]
        if all(map(is_finished, made)):
            shown[name] = [read_rows(each / EPISODES)[key] for each in made]
    table = [
        {"player": name, "seed": seed, **figures(rows)}
        for name, runs in shown.items()
        for seed, rows in enumerate(runs)
    ]
    save_table(out / "arms.csv", table)
    lines = ["| player | seeds | net value, over seeds (95 %) | handed over by worth | mis-paged |",
             "| --- | ---: | --- | --- | ---: |"]  # fmt: skip
    for name, runs in shown.items():
        nets, pooled = [net_value(each) for each in runs], [row for each in runs for row in each]
        net = over_seeds([each.mean for each in nets]) if len(runs) > 1 else nets[0]
        told = f"{handed_over_in_words(pooled)} | {figures(pooled)['mis_paged']:.0%}"
        lines.append(f"| {name} | {len(runs)} | {net:+.3f} | {told} |")
    lines += ["", "| what | difference | seeds | over seeds (95 %) | over incidents (95 %) |",
              "| --- | --- | ---: | --- | --- |"]  # fmt: skip
    for what, better, worse in question.compared:
        if better in shown and worse in shown:
            several, number = differences(shown[better], shown[worse])
            incidents = gain(mean_of(shown[worse]), mean_of(shown[better]))
            ends = f"{incidents:+.3f}".partition(" ")[2]
            lines.append(f"| {what} | {better} − {worse} | {number} | {several:+.3f} | {ends} |")
    save_text(out / "arms.md", "\n".join(lines) + "\n")


def differences(better: Seeds, worse: Seeds) -> tuple[Interval, int]:
    """The difference in net value over seeds, pair by pair, and the number of pairs.

    A scripted policy has one run, which stands beside every seed of the other.
    """
    count = max(len(better), len(worse))
    pairs = zip(range(count), cycle(better), cycle(worse), strict=False)
    nets = [net_value(above).mean - net_value(below).mean for _, above, below in pairs]
    return over_seeds(nets), count


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, and run what is left of the question."""
    parser = ProgramParser("training.arms", __doc__)
    parser.add_argument("question", choices=tuple(QUESTIONS))
    parser.add_argument("--out", type=Path, required=True, help="directory of all runs")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each arm; default: 5")
    parser.add_argument("--at-once", type=int, default=2, help="runs side by side; default: 2")
    words = parser.parse_args(arguments)
    console = Console(stderr=True)
    run(QUESTIONS[words.question], words.out, words.seeds, words.at_once, console)
    console.print((words.out / "arms.md").read_text("utf-8"), markup=False)


if __name__ == "__main__":
    main()
