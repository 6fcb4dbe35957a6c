"""The study of a pretrained model: does it learn on call, and does pretraining help?

    python -m training.weights smollm2 --out runs/smollm2
    python -m training.weights smollm2 --random --out runs/smollm2-random
    python -m training.study --pretrained runs/smollm2 --random runs/smollm2-random --out runs/study
    python -m training.study … --device cuda           # the size for one GPU
    python -m training.study … --rehearse              # every part, with a few steps

With ``--tiny`` a body of 0.5 million weights, random at first, does it with five seeds of GRPO:

    python -m training.weights tiny --out runs/tiny
    python -m training.study --random runs/tiny --tiny --out runs/grades

Each body imitates the observer on notation, then learns by GRPO. Beside them stand the imitated
start at the temperature of training, the start with a fixed bar on what a hand-over is worth
(chosen on split ``val``), always handing over (net value 0), and on a GPU or with ``--tiny`` GRPO
with shuffled grades. Each part is a directory in OUT, each judged player a CSV file. The same
command goes on where it stopped. ``study.md`` and ``study.csv`` are written after each part.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from rich.console import Console

from logtriage.adapters.local.chat import Chat
from logtriage.adapters.local.play import Decoding, play
from logtriage.adapters.local.player import load_model, load_tokenizer
from training.common.figures import (
    Row,
    figures,
    gain,
    handed_over_in_words,
    load_table,
    mean_of,
    net_value,
    over_seeds,
    read_rows,
    save_table,
    write_rows,
)
from training.common.files import RUN, save_text
from training.common.language import LanguageSettings, incidents_of, progress, quieten, rows_of
from training.common.options import ProgramParser
from training.common.parts import run_parts
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
    sft={"episodes": 4300, "batch": 1, "lr": 1e-3, "lora-r": 16,
         "save-steps": 200, "play-batch": 32},
    grpo={"steps": 24, "incidents": 4, "group": 8, "batch": 1, "barred": 0.25, "lora-r": 16,
          "play-batch": 32},
    seeds=(0,), judged=300, rates=(2e-4,), trial=0, controls=False, at_once=2,
)  # fmt: skip
TINY: Final = Size(
    task="single_crash-v4-fog1",
    sft={"episodes": 8000, "batch": 2, "lr": 7e-4, "lora-r": 0, "save-steps": 1000,
         "play-batch": 64},
    grpo={"steps": 20, "incidents": 8, "group": 8, "batch": 32, "barred": 0.25, "lora-r": 0,
          "save-steps": 20, "play-batch": 64},
    seeds=(0, 1, 2, 3, 4), judged=600, rates=(1e-4,), trial=0, controls=True, at_once=1,
)  # fmt: skip
CUDA: Final = Size(
    task="single_crash-v4-fog1",
    sft={"episodes": 4000, "rounds": 2, "own": 1000, "batch": 16, "lr": 5e-5, "lora-r": 0,
         "play-batch": 256},
    grpo={"steps": 150, "incidents": 32, "group": 8, "batch": 32, "barred": 0.25, "lora-r": 0,
          "play-batch": 256},
    seeds=(0, 1, 2, 3, 4), judged=1000, rates=(3e-6, 1e-5), trial=20, controls=True, at_once=5,
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
        #: The start of the controls, and of what chooses the learning rate.
        self._first = f"sft-{next(iter(bodies))}"

    def run(self) -> None:
        """Run what is not finished, judge it, and write the tables as figures come."""
        size = self.size
        self._parts({f"sft-{body}": self._sft(body) for body in self._bodies})
        for body in self._bodies:
            self.judge(f"sft-{body}", CHOICE_SPLIT, 0.0)
            for temperature in (0.0, TEMPERATURE):
                self.judge(f"sft-{body}", EVAL_SPLIT, temperature)
        self.write()
        rate = self._rate()
        arms = {
            f"grpo-{body}-{seed}": self._grpo(f"sft-{body}", rate, seed)
            for seed in size.seeds
            for body in self._bodies
        }
        if size.controls:
            for seed in size.seeds:
                options = self._grpo(self._first, rate, seed)
                arms[f"{SHUFFLED}-{seed}"] = [*options, "--shuffled"]
        self._parts(arms)
        for name in arms:
            for temperature in (0.0, TEMPERATURE):
                self.judge(name, EVAL_SPLIT, temperature)
            self.write()

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
        given = {"task": self.size.task, "device": self._device, "held-out": 0, **options}
        return [word for name, value in given.items() for word in (f"--{name}", str(value))]

    def _parts(self, commands: Mapping[str, Sequence[str]]) -> None:
        begun = {name: ["--resume"] * (self.out / name / RUN).exists() for name in commands}
        commands = {name: [*words, *begun[name]] for name, words in commands.items()}
        run_parts(self.out, commands, self.size.at_once, self.console)

    def _rate(self) -> float:
        """The learning rate of GRPO: of several, the one whose short run is best on ``val``."""
        if len(self.size.rates) == 1:
            return self.size.rates[0]
        trials = {
            f"trial-{rate:g}": self._grpo(self._first, rate, 99, self.size.trial)
            for rate in self.size.rates
        }
        self._parts(trials)
        worth = {
            rate: net_value(self.judge(f"trial-{rate:g}", CHOICE_SPLIT, TEMPERATURE)).mean
            for rate in self.size.rates
        }
        self.console.print(f"net value on {CHOICE_SPLIT} by learning rate: {worth}")
        return max(worth, key=lambda rate: worth[rate])

    def judge(self, name: str, split: str, temperature: float) -> list[Row]:
        """The held-out episodes of a part's model; kept until there is a newer model."""
        file = self.out / "judged" / f"{name}.{split}.{temperature:g}.csv"
        kept, run = read_rows(file)[name,] if file.exists() else [], self.out / name / RUN
        old = kept and run.exists() and run.stat().st_mtime > file.stat().st_mtime
        there = (self.out / name / "tokenizer_config.json").exists()
        if not there or (len(kept) == self.size.judged and not old):
            return kept  # a part that stopped, with nothing to learn, has neither
        quieten()
        settings = LanguageSettings(model=name, task=self.size.task, device=self._device)
        incidents = incidents_of(settings, split, 0, self.size.judged)
        model = load_model(str(self.out / name), device=settings.where)
        with progress(self.console) as bar:
            task = bar.add_task(f"{name} on {split} at {temperature:g}", total=len(incidents))
            with settings.autocast:
                rows = rows_of(play(
                    model, Chat(load_tokenizer(str(self.out / name))),
                    [(incident, 0) for incident in incidents],
                    Decoding(temperature, batch=int(self.size.sft.get("play-batch", 16))),
                    on_progress=lambda done, _: bar.update(task, completed=done),
                ))  # fmt: skip
        write_rows(file, ["player"], {(name,): rows})
        return rows

    def with_bar(self, start: str) -> tuple[float, list[Row]]:
        """The start with the fixed bar on the worth that is best on ``val``, and its episodes."""
        chosen = self.judge(start, CHOICE_SPLIT, 0.0)
        bars = [*sorted({row.worth for row in chosen}), 1.1]
        best = max(bars, key=lambda bar: net_value(barred(chosen, bar)).mean)
        return best, barred(self.judge(start, EVAL_SPLIT, 0.0), best)

    def players(self) -> dict[str, list[Row]]:
        """The episodes of all that was judged on ``test``, by what played."""
        shown: dict[str, list[Row]] = {}
        for body in self._bodies:
            start = f"sft-{body}"
            for temperature in (0.0, TEMPERATURE):
                shown[f"{start} at {temperature:g}"] = self.judge(start, EVAL_SPLIT, temperature)
            bar, rows = self.with_bar(start)
            shown[f"{start}, handed over from {bar:g} on"] = rows
        for file in sorted((self.out / "judged").glob("*.csv")):
            name, split, at = file.name.removesuffix(".csv").split(".", 2)
            if split == EVAL_SPLIT and not name.startswith("sft-"):
                shown[f"{name} at {at}"] = read_rows(file)[name,]
        return shown

    def write(self) -> None:
        """Write ``study.csv`` and ``study.md`` from all that was judged."""
        shown = {name: rows for name, rows in self.players().items() if rows}
        save_table(
            self.out / "study.csv",
            [{"player": name, **figures(rows)} for name, rows in shown.items()],
        )
        lines = ["| player | net value | handed over by worth | paged right | mis-paged |",
                 "| --- | ---: | --- | ---: | ---: |"]  # fmt: skip
        for name, rows in shown.items():
            told = figures(rows)
            cells = (name, f"{net_value(rows):+.3f}", handed_over_in_words(rows),
                     f"{told['paged_right']:.0%}", f"{told['mis_paged']:.0%}")  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
        lines += [
            "| always handing over | 0 | 100% | 0% | 0% |",
            "",
            "| trained less | at | seeds | over seeds (95 %) | over incidents (95 %) |",
            "| --- | ---: | ---: | --- | --- |",
        ]
        for (arm, at), seeds in self._arms(shown).items():
            body = next((each for each in self._bodies if each in arm), None)
            start = self._first if body is None else f"sft-{body}"
            bar, handed_over = self.with_bar(start)
            for against, before in (
                (start, shown[f"{start} at {at}"]),
                (f"{start}, handed over from {bar:g} on", handed_over),
            ):
                nets = over_seeds([gain(before, rows).mean for rows in seeds])
                incidents = f"{gain(before, mean_of(seeds)):+.3f}"
                told_over = f"{nets:+.3f}"
                lines.append(
                    f"| {arm} less {against} | {at} | {len(seeds)} | {told_over} | {incidents} |"
                )
        save_text(self.out / "study.md", "\n".join(lines) + "\n")

    def _arms(self, shown: Mapping[str, list[Row]]) -> dict[tuple[str, str], list[list[Row]]]:
        """The episodes of trained models by arm and temperature, a list for each seed."""
        arms: dict[tuple[str, str], list[list[Row]]] = {}
        for name, rows in shown.items():
            if not name.startswith("sft-"):
                part, _, at = name.rpartition(" at ")
                arms.setdefault((part.rpartition("-")[0], at), []).append(rows)
        return arms


def barred(rows: Sequence[Row], bar: float) -> list[Row]:
    """The episodes with everything handed over at once that is worth at least ``bar``."""
    over: dict[str, Any] = {"handed_over": True, "paged_right": False, "mis_paged": False}
    return [
        attrs.evolve(row, grade=row.worth, ticks=1, **over) if row.worth >= bar else row
        for row in rows
    ]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, and run what is left of the study."""
    parser = ProgramParser("training.study", __doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory of the study")
    for body in BODIES:
        parser.add_argument(f"--{body}", help=f"directory of the {body} body")
    parser.add_argument("--tiny", action="store_true", help="the size for a tiny body, on a CPU")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="and so the size")
    parser.add_argument("--rehearse", action="store_true", help="a few steps of every part")
    words = parser.parse_args(arguments)
    size = TINY if words.tiny else CPU if words.device == "cpu" else CUDA
    size = rehearsal(size) if words.rehearse else size
    bodies = {body: place for body in BODIES if (place := getattr(words, body)) is not None}
    if not bodies:
        parser.error("--pretrained or --random is needed: the body that learns")
    about = json.dumps({"bodies": bodies, "device": words.device, **attrs.asdict(size)}, indent=1)
    if (file := words.out / "study.json").exists() and file.read_text("utf-8") != about:
        parser.error(f"{words.out} holds a study of another size or other bodies: give another one")
    save_text(file, about)
    study = Study(words.out, size, bodies, words.device)
    study.run()
    study.console.print((words.out / "study.md").read_text("utf-8"), markup=False)
    study.console.print(f"{len(load_table(words.out / 'study.csv'))} players; see {words.out}")


if __name__ == "__main__":
    main()
