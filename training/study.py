"""The study of a pretrained model: does it learn on call, and does pretraining help?

    python -m training.weights smollm2 --out runs/smollm2
    python -m training.weights smollm2 --random --out runs/smollm2-random
    python -m training.study --pretrained runs/smollm2 --random runs/smollm2-random --out runs/study
    python -m training.study … --device cuda           # the size for one GPU
    python -m training.study … --rehearse              # every part, with a few steps

Both bodies imitate the observer on notation, then learn by GRPO. Beside them stand the imitated
start at the temperature of training, the start with a fixed bar on what a hand-over is worth
(chosen on split ``val``), GRPO with shuffled grades, and always handing over (net value 0). Each
part is a directory in OUT, and each judged player a CSV file; a finished part is not run again, so
the same command goes on where it stopped. ``study.md`` and ``study.csv`` are written after each.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from rich.console import Console

from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.loading import load_model, load_tokenizer
from logtriage.adapters.local.play import Decoding, play
from training.common.figures import (
    Row,
    figures,
    gain,
    handed_over_by_worth,
    in_words,
    load_table,
    net_value,
    read_rows,
    save_table,
    write_rows,
)
from training.common.files import RUN, load_json, save_text
from training.common.language import (
    LanguageSettings,
    incidents_of,
    progress,
    quieten,
    rows_of,
)
from training.common.tasks import CHOICE_SPLIT, EVAL_SPLIT

BODIES: Final = ("pretrained", "random")
#: The temperature at which GRPO samples, and at which trained models and starts are compared.
TEMPERATURE: Final = 0.7
SHUFFLED: Final = "shuffled"


@attrs.frozen
class Size:
    """How much is run: options of ``training.sft`` and ``training.grpo``, seeds, incidents.

    With several ``rates`` GRPO is tried at each for ``trial`` steps, and ``val`` chooses.
    """

    task: str
    sft: Mapping[str, Any]
    grpo: Mapping[str, Any]
    seeds: Sequence[int]
    judged: int
    rates: Sequence[float]
    trial: int
    controls: bool
    at_once: int


CPU: Final = Size(
    task="single_crash-v4-fog0",
    sft={"episodes": 700, "batch": 1, "lr": 1e-3, "lora-r": 16,
         "save-steps": 200, "play-batch": 32},
    grpo={"steps": 12, "incidents": 4, "group": 8, "batch": 4, "barred": 0.25, "lora-r": 16,
          "play-batch": 32},
    seeds=(0,),
    judged=300,
    rates=(1e-5,),
    trial=0,
    controls=False,
    at_once=2,
)  # fmt: skip
CUDA: Final = Size(
    task="single_crash-v4-fog1",
    sft={"episodes": 4000, "rounds": 2, "own": 1000, "batch": 16, "lr": 5e-5, "lora-r": 0,
         "play-batch": 256},
    grpo={"steps": 150, "incidents": 32, "group": 8, "batch": 32, "barred": 0.25, "lora-r": 0,
          "play-batch": 256},
    seeds=(0, 1, 2, 3, 4),
    judged=1000,
    rates=(3e-6, 1e-5),
    trial=20,
    controls=True,
    at_once=5,
)  # fmt: skip


def rehearsal(size: Size) -> Size:
    """The same parts with a few episodes and steps: its figures mean nothing."""
    return attrs.evolve(
        size,
        sft={**size.sft, "episodes": 8, "own": 4, "rounds": 1, "batch": 4, "play-batch": 8},
        grpo={**size.grpo, "steps": 2, "incidents": 1, "group": 4, "batch": 2, "save-steps": 1,
              "play-batch": 8},
        seeds=size.seeds[:1],
        judged=6,
        trial=min(size.trial, 1),
        at_once=1,
    )  # fmt: skip


class Study:
    """The parts of a study in one directory."""

    def __init__(self, out: Path, size: Size, bodies: Mapping[str, str], device: str) -> None:
        self.out, self.size, self._bodies, self._device = out, size, bodies, device
        self.console = Console(stderr=True)
        out.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """Run what is not finished, judge it, and write the tables as figures come."""
        size = self.size
        self._parts({f"sft-{body}": self._sft(body) for body in BODIES})
        for body in BODIES:
            self.judge(f"sft-{body}", CHOICE_SPLIT, 0.0)
            for temperature in (0.0, TEMPERATURE):
                self.judge(f"sft-{body}", EVAL_SPLIT, temperature)
        self.write()
        rate = self._rate()
        arms = {
            f"grpo-{body}-{seed}": self._grpo(f"sft-{body}", rate, seed)
            for seed in size.seeds
            for body in BODIES
        }
        if size.controls:
            for seed in size.seeds:
                options = self._grpo("sft-pretrained", rate, seed)
                arms[f"{SHUFFLED}-{seed}"] = [*options, "--shuffled"]
        self._parts(arms)
        for name in arms:
            for temperature in (0.0, TEMPERATURE):
                self.judge(name, EVAL_SPLIT, temperature)
            self.write()

    # -- parts -------------------------------------------------------------------------------

    def _sft(self, body: str) -> list[str]:
        options = {"model": self._bodies[body], "style": "notation", **self.size.sft}
        return ["training.sft", *self._words(options)]

    def _grpo(self, start: str, rate: float, seed: int, steps: int | None = None) -> list[str]:
        options = {
            "model": str(self.out / start),
            **self.size.grpo,
            "temperature": TEMPERATURE,
            "lr": rate,
            "seed": seed,
            "first": 1_000_000 * (1 + seed),
        }
        options |= {} if steps is None else {"steps": steps}
        return ["training.grpo", *self._words(options)]

    def _words(self, options: Mapping[str, Any]) -> list[str]:
        shared = {"task": self.size.task, "device": self._device, "held-out": 0}
        given = {**shared, **options}
        return [word for name, value in given.items() for word in (f"--{name}", str(value))]

    def _parts(self, commands: Mapping[str, Sequence[str]]) -> None:
        """Run unfinished parts as processes, so many at once; each keeps a log.

        Raises:
            SystemExit: if a part fails, with the end of its log.
        """
        waiting = [name for name in commands if not self.is_finished(name)]
        running: dict[str, subprocess.Popen[bytes]] = {}
        while waiting or running:
            while waiting and len(running) < self.size.at_once:
                name = waiting.pop(0)
                program, *words = commands[name]
                command = [sys.executable, "-m", program, *words]
                command += ["--out", str(self.out / name), "--resume"]
                self.console.print(f"{name}: {' '.join(command[1:])}", soft_wrap=True, markup=False)
                with (self.out / f"{name}.log").open("ab") as log:
                    running[name] = subprocess.Popen(command, stdout=log, stderr=log)
            name, process = next(iter(running.items()))
            process.wait()
            del running[name]
            # 1: step after step all attempts earned the same, which is a result.
            if process.returncode not in (0, 1) or not (self.out / name / RUN).exists():
                for other in running.values():
                    other.terminate()
                tail = (self.out / f"{name}.log").read_text("utf-8", "replace")[-2000:]
                raise SystemExit(f"{name} failed ({process.returncode}):\n{tail}")

    def is_finished(self, name: str) -> bool:
        """Whether a part has come to its end."""
        about = self.out / name / RUN
        return about.exists() and bool(load_json(about)["finished"])

    def _rate(self) -> float:
        """The learning rate of GRPO: of several, the one whose short run is best on ``val``."""
        if len(self.size.rates) == 1:
            return self.size.rates[0]
        trials = {
            f"trial-{rate:g}": self._grpo("sft-pretrained", rate, 99, self.size.trial)
            for rate in self.size.rates
        }
        self._parts(trials)
        worth = {
            rate: net_value(self.judge(f"trial-{rate:g}", CHOICE_SPLIT, TEMPERATURE)).mean
            for rate in self.size.rates
        }
        self.console.print(f"net value on {CHOICE_SPLIT} by learning rate: {worth}")
        return max(worth, key=lambda rate: worth[rate])

    # -- judging -----------------------------------------------------------------------------

    def judge(self, name: str, split: str, temperature: float) -> list[Row]:
        """The held-out episodes of a part's model; played once, then read from its file."""
        file = self.out / "judged" / f"{name}.{split}.{temperature:g}.csv"
        if file.exists():
            return read_rows(file)[name,]
        if not (self.out / name / "tokenizer_config.json").exists():
            return []  # stopped, since there was nothing to learn
        quieten()
        settings = LanguageSettings(model=name, task=self.size.task, device=self._device)
        incidents = incidents_of(settings, split, 0, self.size.judged)
        model = load_model(str(self.out / name), device=settings.where)
        chat = Chat(load_tokenizer(str(self.out / name)))
        with progress(self.console) as bar:
            task = bar.add_task(f"{name} on {split} at {temperature:g}", total=len(incidents))
            with settings.autocast:
                attempts = play(
                    model, chat, [(incident, 0) for incident in incidents],
                    Decoding(temperature, batch=int(self.size.sft.get("play-batch", 16))),
                    on_progress=lambda done, _: bar.update(task, completed=done),
                )  # fmt: skip
        rows = rows_of(attempts)
        write_rows(file, ["player"], {(name,): rows})
        return rows

    def with_bar(self, start: str) -> tuple[float, list[Row]]:
        """The start with the fixed bar on the worth that is best on ``val``, and its episodes."""
        chosen = self.judge(start, CHOICE_SPLIT, 0.0)
        bars = [*sorted({row.worth for row in chosen}), 1.1]
        best = max(bars, key=lambda bar: net_value(barred(chosen, bar)).mean)
        return best, barred(self.judge(start, EVAL_SPLIT, 0.0), best)

    # -- tables ------------------------------------------------------------------------------

    def players(self) -> dict[str, list[Row]]:
        """The episodes of all that was judged on ``test``, by what played."""
        shown: dict[str, list[Row]] = {}
        for body in BODIES:
            start = f"sft-{body}"
            for temperature in (0.0, TEMPERATURE):
                shown[f"{start} at {temperature:g}"] = self.judge(start, EVAL_SPLIT, temperature)
            bar, rows = self.with_bar(start)
            shown[f"{start}, handed over from {bar:g} on"] = rows
        for file in sorted((self.out / "judged").glob("*.csv")):
            name, split, temperature = file.name.removesuffix(".csv").split(".", 2)
            if split == EVAL_SPLIT and not name.startswith("sft-"):
                shown[f"{name} at {temperature}"] = read_rows(file)[name,]
        return shown

    def write(self) -> None:
        """Write ``study.csv`` and ``study.md`` from all that was judged."""
        shown = self.players()
        table = [{"player": name, **figures(rows)} for name, rows in shown.items() if rows]
        save_table(self.out / "study.csv", table)
        lines = ["| player | net value | handed over by worth | paged right | mis-paged |",
                 "| --- | ---: | --- | ---: | ---: |"]  # fmt: skip
        for name, rows in shown.items():
            if not rows:
                continue
            told = figures(rows)
            shares = ", ".join(
                f"{share:.0%} at {worth:g}" for worth, share in handed_over_by_worth(rows).items()
            )
            cells = (name, in_words(net_value(rows)), shares, f"{told['paged_right']:.0%}",
                     f"{told['mis_paged']:.0%}")  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
        lines += [
            "| always handing over | 0 | 100% | 0% | 0% |",
            "",
            "| GRPO less its start | at | gain in net value |",
            "| --- | ---: | ---: |",
        ]
        for name, rows in shown.items():
            if not rows or name.startswith("sft-"):
                continue
            part, _, at = name.rpartition(" at ")
            start = "sft-random" if "random" in part else "sft-pretrained"
            before = shown[f"{start} at {at}"]
            lines.append(f"| {part} | {at} | {in_words(gain(before, rows))} |")
        save_text(self.out / "study.md", "\n".join(lines) + "\n")


def barred(rows: Sequence[Row], bar: float) -> list[Row]:
    """The episodes with everything handed over at once that is worth at least ``bar``."""
    return [
        attrs.evolve(row, grade=row.worth, handed_over=True, paged_right=False, mis_paged=False)
        if row.worth >= bar
        else row
        for row in rows
    ]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, and run what is left of the study."""
    parser = argparse.ArgumentParser(
        prog="python -m training.study",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="directory of the study")
    for body in BODIES:
        parser.add_argument(f"--{body}", required=True, help=f"directory of the {body} body")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="and so the size")
    parser.add_argument("--rehearse", action="store_true", help="a few steps of every part")
    words = parser.parse_args(arguments)
    size = CPU if words.device == "cpu" else CUDA
    size = rehearsal(size) if words.rehearse else size
    bodies = {body: getattr(words, body) for body in BODIES}
    study = Study(words.out, size, bodies, words.device)
    study.run()
    study.console.print((words.out / "study.md").read_text("utf-8"), markup=False)
    study.console.print(f"{len(load_table(words.out / 'study.csv'))} players; see {words.out}")


if __name__ == "__main__":
    main()
