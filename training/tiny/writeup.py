"""The tables and the plot of a page of docs/results, from the directories of runs.

python -m training.tiny.writeup runs --to docs/results
"""

import argparse
import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.common.intervals import over_incidents, student
from training.common.pages import renew, save_table, table
from training.common.rows import EPISODES, PRICES, Row, figures, net_value, read_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.tiny.arms import ABOUT, STEPS
from training.tiny.judge import FALSE, TRUE
from training.tiny.parts import PARTS, Parts, read_parts
from training.tiny.settings import ABOUT as BUILT

#: Arms and policies in the order of the tables.
ORDER: Final = ("grpo", "dagger", "shuffled", "entropy")
SCRIPTED: Final = ("observer", "top_suspect", "expert")
PAGE: Final = "grpo.md"

#: A split, a temperature and the price that was shown.
How = tuple[str, float, str]


@attrs.frozen
class Run:
    """A run: what it was, its steps, and its episodes by how they were played."""

    about: dict[str, Any]
    steps: list[dict[str, str]]
    episodes: dict[How, list[Row]]
    parts: list[Parts]

    @property
    def arm(self) -> str:
        """The arm, or the name of a scripted policy."""
        return str(self.about["settings"]["arm"])

    def at(self, temperature: float | None = None, split: str = EVAL_SPLIT) -> list[Row]:
        """Episodes at a temperature; None for the temperature of sampling in learning."""
        if temperature is None:
            temperature = self.temperature
        return self.episodes[split, temperature, TRUE]

    @property
    def temperature(self) -> float:
        """The sampling temperature of learning."""
        return float(self.about["settings"]["temperature"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.about["settings"]["seed"])


def read(folder: Path) -> Run:
    """The run in a directory."""
    about = json.loads((folder / ABOUT).read_text("utf-8"))
    steps: list[dict[str, str]] = []
    if (folder / STEPS).exists():
        with (folder / STEPS).open(encoding="utf-8", newline="") as file:
            steps = list(csv.DictReader(file))
    episodes: dict[How, list[Row]] = {
        (split, float(temperature), shown): rows
        for (split, temperature, shown), rows in read_rows(folder / EPISODES).items()
    }
    parts = read_parts(folder / PARTS) if (folder / PARTS).exists() else []
    return Run(about, steps, episodes, parts)


def read_scripted(folder: Path) -> Run:
    """The episodes of ``training.scripted`` in a directory that is named after the policy."""
    about = {"settings": {"arm": folder.name, "seed": 0, "temperature": 0.0}}
    (rows,) = read_rows(folder / EPISODES).values()
    return Run(about, [], {(EVAL_SPLIT, 0.0, TRUE): rows}, [])


def entropy_of(rows: Sequence[Row]) -> float:
    """Nats an action."""
    return sum(row.entropy for row in rows) / sum(row.ticks for row in rows)


def matched(start: Run, run: Run) -> float:
    """The temperature at which the start is as sure on ``val`` as a trained policy is."""
    wanted = entropy_of(run.at(split=CHOICE_SPLIT))
    ladder = [t for split, t, _ in start.episodes if split == CHOICE_SPLIT and t > 0]
    return min(ladder, key=lambda t: abs(entropy_of(start.at(t, CHOICE_SPLIT)) - wanted))


def best(start: Run) -> float:
    """The temperature at which the start is worth most on ``val``."""
    ladder = [t for split, t, _ in start.episodes if split == CHOICE_SPLIT]
    return max(ladder, key=lambda t: net_value(start.at(t, CHOICE_SPLIT)))


def given_away(rows: Sequence[Row], bar: float) -> list[Row]:
    """The same episodes, but all that are worth ``bar`` or more are handed over at once."""
    return [
        attrs.evolve(
            row, grade=row.price, handed_over=True, paged_right=False, mis_paged=False, ticks=1
        )
        if row.price >= bar
        else row
        for row in rows
    ]


def best_bar(rows: Sequence[Row]) -> float:
    """The bar above which these episodes are best given away."""
    return max(PRICES, key=lambda bar: net_value(given_away(rows, bar)))


def main_table(runs: Sequence[Run], start: Run, scripted: Sequence[Run]) -> Iterable[str]:
    """Every arm on the incidents of ``test``, with means over its seeds."""
    lines = []

    def add(name: str, actions: str, members: Sequence[Run], at: float) -> None:
        each = [figures(run.at(at)) for run in members]
        false = [
            net_value(run.episodes[EVAL_SPLIT, at, FALSE])
            for run in members
            if (EVAL_SPLIT, at, FALSE) in run.episodes
        ]

        def mean(key: str) -> float:
            return float(np.mean([row[key] for row in each]))

        lines.append([
            name, actions, str(len(members)),
            student([row["net_value"] for row in each])
            if len(members) > 1 else f"{mean('net_value'):+.3f}",
            *(f"{mean(f'handed_over_{price}'):.0%}" for price in PRICES),
            f"{mean('heeding'):+.2f}", f"{mean('paged_right'):.0%}", f"{mean('mis_paged'):.0%}",
            f"{mean('grade_faults'):.3f}", f"{mean('grade_benign'):.3f}",
            f"{np.mean(false):+.3f}" if false else "",
        ])  # fmt: skip

    for arm in ORDER:
        members = [run for run in runs if run.arm == arm]
        if members:
            add(f"`{arm}`", "sampled", members, members[0].temperature)
            add(f"`{arm}`", "likeliest", members, 0.0)
    temperatures = {matched(start, run) for run in runs if run.arm == "grpo"}
    for at in sorted(temperatures | {best(start), start.temperature} - {0.0}, reverse=True):
        add("start", f"at temperature {at:g}", [start], at)
    add("start", "likeliest", [start], 0.0)
    for run in scripted:
        add(f"`{run.arm}`", "", [run], 0.0)
    bar = best_bar(start.at(0.0, CHOICE_SPLIT))
    simple = {(EVAL_SPLIT, 0.0, TRUE): given_away(start.at(0.0), bar)}
    barred = attrs.evolve(start, episodes=simple)
    add("start", f"likeliest, handed over from {bar} on", [barred], 0.0)
    always = np.mean([row.price for row in start.at(0.0)])
    lines.append(["always hand over", "", "", "0", *["100%"] * 5, "0", "0%", "0%",
                  f"at most {always:.3f}", "", ""])  # fmt: skip
    heads = ["policy", "actions", "seeds", "net value", *(f"at {price}" for price in PRICES),
             "heeding", "paged right", "mis-paged", "faults", "benign",
             "net value, false price"]  # fmt: skip
    return table(heads, lines, 2)


def differences(runs: Sequence[Run], start: Run) -> Iterable[str]:
    """The net value of GRPO less that of each policy it is compared with."""
    grpo = [run for run in runs if run.arm == "grpo"]
    lines = []

    def add(name: str, actions: str, pairs: Sequence[tuple[Sequence[Row], Sequence[Row]]]) -> None:
        gaps = [net_value(a) - net_value(b) for a, b in pairs]
        lines.append([name, actions, str(len(pairs)), student(gaps), over_incidents(pairs)])

    add(
        "start at matched temperature", "sampled",
        [(run.at(), start.at(matched(start, run))) for run in grpo],
    )  # fmt: skip
    add(
        f"start at its best temperature on `val`, {best(start):g}", "sampled",
        [(run.at(), start.at(best(start))) for run in grpo],
    )  # fmt: skip
    add("start", "likeliest", [(run.at(0.0), start.at(0.0)) for run in grpo])
    for actions, at in (("sampled", start.temperature), ("likeliest", 0.0)):
        bar = best_bar(start.at(at, CHOICE_SPLIT))
        simple = given_away(start.at(at), bar)
        own = None if at else 0.0
        add(f"start, handed over from {bar} on", actions, [(run.at(own), simple) for run in grpo])
    for arm in ORDER[1:]:
        others = {run.seed: run for run in runs if run.arm == arm}
        for actions, how in (("sampled", None), ("likeliest", 0.0)):
            pairs = [(run.at(how), others[run.seed].at(how)) for run in grpo if run.seed in others]
            if pairs:
                add(f"`{arm}`", actions, pairs)
    heads = ["GRPO less", "actions", "seeds", "over seeds (95 %)", "over incidents (95 %)"]
    return table(heads, lines, 2)


def costs(built: dict[str, Any], runs: Sequence[Run]) -> Iterable[str]:
    """What the start and each run took: episodes, their tokens, and tokens a CPU second."""
    seconds = sum(part["play_seconds"] + part["learn_seconds"] for part in built["rounds"])
    episodes = sum(part["episodes"] for part in built["rounds"])
    rows = [("DAgger", episodes, episodes * built["tokens_per_episode"], seconds)]
    rows += [
        (f"`{run.arm}`, seed {run.seed}", run.about["episodes"], run.about["tokens"],
         run.about["cpu_seconds"])
        for run in runs
    ]  # fmt: skip
    cells = [
        [name, f"{count:,}", f"{tokens / count:,.0f}", f"{spent:,.0f}", f"{tokens / spent:,.0f}"]
        for name, count, tokens, spent in rows
    ]
    heads = ["learning", "episodes", "tokens an episode", "CPU seconds", "tokens a second"]
    return table(heads, cells)


def parts_table(runs: Sequence[Run], start: Run) -> Iterable[str]:
    """Mean parts of the grades by arm, and their change under GRPO."""
    names = [field.name for field in attrs.fields(Parts)]
    explained = [run for run in runs if run.parts]
    groups = [("start", [start]), *(
        (f"`{arm}`", [run for run in explained if run.arm == arm]) for arm in ORDER
    )]  # fmt: skip

    def means(run: Run) -> "np.ndarray[Any, Any]":
        return np.mean([attrs.astuple(row) for row in run.parts], axis=0)

    lines = [
        [name, str(len(members)), *(f"{value:+.3f}" for value in np.mean(
            [means(run) for run in members], axis=0
        ))]
        for name, members in groups if members
    ]  # fmt: skip
    gains = [means(run) - means(start) for run in explained if run.arm == "grpo"]
    change = map(student, np.transpose(gains))
    lines.append(["`grpo` less the start", str(len(gains)), *change])
    heads = ["policy", "seeds", *(name.replace("_", " ") for name in names)]
    return table(heads, lines)


def save_rows(runs: Sequence[Run], start: Run, scripted: Sequence[Run], to: Path) -> None:
    """A row for each run and each way in which it was judged; a row for each step."""
    rows = [
        {
            "arm": run.arm, "seed": run.seed, "split": split, "temperature": temperature,
            "shown_price": shown, "incidents": len(episodes),
            "steps": run.about.get("steps", 0), "episodes": run.about.get("episodes", 0),
            "tokens": run.about.get("tokens", 0),
            "cpu_seconds": round(run.about.get("cpu_seconds", 0.0), 1),
            "stopped": run.about.get("stopped", False),
            "matched_temperature": matched(start, run) if run.steps else "",
            "entropy": f"{entropy_of(episodes):.4f}",
            **{name: f"{value:.4f}" for name, value in figures(episodes).items()},
        }
        for run in [*runs, start, *scripted]
        for (split, temperature, shown), episodes in run.episodes.items()
    ]  # fmt: skip
    save_table(to.with_name(f"{to.stem}-runs.csv"), rows)
    steps = [{"arm": run.arm, "seed": run.seed, **step} for run in runs for step in run.steps]
    save_table(to.with_name(f"{to.stem}-steps.csv"), steps)


def draw(runs: Sequence[Run], start: Run, scripted: Sequence[Run], path: Path) -> None:
    """Learning curves, net value on ``test``, and hand-overs by price."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    FigureCanvasAgg(figure)
    curves, worth, heed = figure.subplots(1, 3)
    colours = {"grpo": "#1b6ca8", "dagger": "#3c8d53", "shuffled": "#8a5aa8", "entropy": "#c8553d"}
    for run in runs:
        if not run.steps:
            continue
        grades = np.array([float(step["grade"]) for step in run.steps])
        width = min(10, len(grades))
        smooth = np.convolve(grades, np.ones(width) / width, "valid")
        seconds = [float(step["seconds"]) for step in run.steps][width - 1 :]
        curves.plot(
            seconds, smooth, color=colours[run.arm], alpha=0.7, lw=1,
            label=run.arm if run.seed == 0 else None,
        )  # fmt: skip
    curves.set(xlabel="CPU seconds", ylabel="grade in training, mean of ten steps")
    curves.legend()
    there = [arm for arm in ORDER if any(run.arm == arm for run in runs)]
    for place, arm in enumerate(there):
        members = [run for run in runs if run.arm == arm]
        for how, shift, mark in ((None, -0.12, "o"), (0.0, 0.12, "s")):
            values = [net_value(run.at(how)) for run in members]
            worth.plot([place + shift] * len(values), values, mark, color=colours[arm], alpha=0.7)
    for at, dashes, label in ((None, ":", "start, sampled"), (0.0, "--", "start, likeliest")):
        worth.axhline(net_value(start.at(at)), color="grey", ls=dashes, label=label)
    worth.axhline(0, color="black", lw=0.8)
    worth.set_xticks(range(len(there)), there)
    worth.set(ylabel="net value on test\n(circles sampled, squares likeliest)")
    worth.legend()
    for arm in there:
        each = [figures(run.at()) for run in runs if run.arm == arm]
        means = [np.mean([row[f"handed_over_{price}"] for row in each]) for price in PRICES]
        heed.plot(PRICES, means, "o-", color=colours[arm], label=arm)
    for run, name in [(start, "start"), *((run, run.arm) for run in scripted)]:
        shares = figures(run.at(None if run is start else 0.0))
        heed.plot(
            PRICES,
            [shares[f"handed_over_{price}"] for price in PRICES],
            "--",
            alpha=0.6,
            label=name,
        )
    heed.set(xlabel="what a hand-over is worth", ylabel="handed over, test")
    heed.legend(fontsize=7)
    figure.savefig(path, dpi=90)


def main(arguments: list[str] | None = None) -> None:
    """Read the runs of a directory, and write tables and plot."""
    parser = argparse.ArgumentParser(
        prog="python -m training.tiny.writeup",
        description="Tables and plot of a page of docs/results, from the directories of runs.",
    )
    parser.add_argument("runs", type=Path, help="the directory that holds those of the runs")
    parser.add_argument("--to", type=Path, required=True, help="the directory of the page")
    parser.add_argument("--page", default=PAGE, help=f"its name; default: {PAGE}")
    words = parser.parse_args(arguments)
    every = [read(path.parent) for path in sorted(words.runs.glob(f"*/{ABOUT}"))]
    every.sort(key=lambda run: (run.arm, run.seed))
    starts = [run for run in every if run.arm == "start"]
    if len(starts) != 1:
        parser.error(f"{words.runs}: expected one run of the arm 'start', got {len(starts)}")
    runs = [run for run in every if run.arm in ORDER]
    paths = [words.runs / name for name in SCRIPTED]
    scripted = [read_scripted(path) for path in paths if (path / EPISODES).exists()]
    if not any(run.arm == "grpo" for run in runs):
        parser.error(f"{words.runs}: no run of the arm 'grpo'")
    start, page = starts[0], words.to / words.page
    blocks: dict[str, Callable[[], Iterable[str]]] = {
        "arms": lambda: main_table(runs, start, scripted),
        "differences": lambda: differences(runs, start),
    }
    if start.parts:
        blocks["parts"] = lambda: parts_table(runs, start)
    built = words.runs / "model" / BUILT
    if built.exists():
        about = json.loads(built.read_text("utf-8"))
        blocks["costs"] = lambda: costs(about, runs)
    renew(page, page.stem, blocks)
    save_rows(runs, start, scripted, page)
    draw(runs, start, scripted, page.with_suffix(".png"))


if __name__ == "__main__":
    main()
