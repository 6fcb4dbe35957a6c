"""The tables and the plot of docs/results/teams.md, from finished runs.

python -m training.marl.study runs/teams --only-write --to docs/results
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.roles.splits import SILENT
from training.common.intervals import (
    line,
    over_incidents,
    policy_line,
    policy_table,
    student,
    welch,
)
from training.common.pages import renew
from training.common.rows import EPISODES, Row, figures, net_value, read_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.marl import store
from training.marl.record import OWN, SCRAMBLED

PAGE: Final = "teams.md"
TABLE, CURVES, PLOT = "teams-runs.csv", "teams-curves.csv", "teams.png"


@attrs.frozen(eq=False)
class Finished:
    """A finished run: split and seed, what it wrote of itself, its curve, and its episodes.

    Episodes stand by whose words a team heard (:mod:`training.marl.record`).
    """

    split: str
    seed: int
    about: dict[str, Any]
    curve: list[dict[str, float | None]]
    episodes: dict[tuple[str, ...], list[Row]]

    def net(self, words: str = OWN) -> float:
        """Net value on ``test``."""
        return net_value(self.episodes[words,])


def read(folder: Path) -> Finished:
    """The run in a directory."""
    about = store.load_run(folder)
    return Finished(
        store.split_of(about).name,
        about["settings"]["seed"],
        about,
        store.load_curve(folder / store.CURVE),
        read_rows(folder / EPISODES),
    )


def write_up(out: Path, to: Path) -> None:
    """Renew the page's tables, and write the figure and the raw rows.

    Raises:
        SystemExit: if no run is finished.
    """
    folders = [one.parent for one in sorted(out.glob(f"*/{EPISODES}"))]
    runs = [one for one in map(read, folders) if one.about["finished"]]
    if not runs:
        raise SystemExit(f"{out}: no run is finished")
    blocks: dict[str, Callable[[], Iterable[str]]] = {
        "teams": lambda: _teams(runs),
        "words": lambda: _words(runs),
        "runs": lambda: _runs(runs),
    }
    renew(to / PAGE, "Teams", blocks)
    _save_runs(runs, to / TABLE)
    _save_curves(runs, to / CURVES)
    _draw(runs, to / PLOT)


def by_split(runs: Sequence[Finished]) -> dict[str, list[Finished]]:
    """The runs of each split."""
    splits = dict.fromkeys(one.split for one in runs)
    return {split: [one for one in runs if one.split == split] for split in splits}


def _teams(runs: Sequence[Finished]) -> Iterable[str]:
    lines = []
    for split, members in by_split(runs).items():
        lines.append(policy_line(f"`{split}`", [one.episodes[OWN,] for one in members]))
        others = [one.episodes[SCRAMBLED,] for one in members if (SCRAMBLED,) in one.episodes]
        if others:
            lines.append(policy_line(f"`{split}`, words of another incident", others))
    yield from policy_table(lines)


def _words(runs: Sequence[Finished]) -> Iterable[str]:
    """The worth of words, compared with silence and with words of another incident."""
    yield line(["compared", "seeds", "difference in net value, over seeds (95 %)",
                "over incidents (95 %)"])  # fmt: skip
    yield line(["---", "---:", "---", "---"])
    groups = by_split(runs)
    for split, members in groups.items():
        talking = [one for one in members if (SCRAMBLED,) in one.episodes]
        if not talking:
            continue
        silent = {one.seed: one for one in groups.get(f"{split}{SILENT}", [])}
        pairs = [
            (one.episodes[OWN,], silent[one.seed].episodes[OWN,])
            for one in talking
            if one.seed in silent
        ]
        if pairs:
            gap = welch([one.net() for one in talking], [one.net() for one in silent.values()])
            yield line([f"`{split}` − silent", f"{len(talking)}, {len(silent)}", gap,
                        over_incidents(pairs)])  # fmt: skip
        gaps = [one.net() - one.net(SCRAMBLED) for one in talking]
        pairs = [(one.episodes[OWN,], one.episodes[SCRAMBLED,]) for one in talking]
        yield line([f"`{split}`, own words − words of another incident", str(len(talking)),
                    student(gaps), over_incidents(pairs)])  # fmt: skip


def _runs(runs: Sequence[Finished]) -> Iterable[str]:
    """The length of each run, and its net value at each look at ``val``."""
    yield line(["split", "seed", "ticks of a team", "CPU seconds",
                f"net value on `{CHOICE_SPLIT}` at each look"])  # fmt: skip
    yield line(["---", "---:", "---:", "---:", "---"])
    for one in runs:
        looks = ", ".join(f"{row['val_net_value'] or 0.0:+.3f}" for row in one.curve)
        yield line([f"`{one.split}`", str(one.seed), f"{one.about['ticks']:,}",
                    f"{one.about['cpu_seconds']:.0f}", looks])  # fmt: skip


def _save_runs(runs: Sequence[Finished], path: Path) -> None:
    rows = [
        {
            "split": one.split, "seed": one.seed, "words": words, "incidents": len(episodes),
            "ticks": one.about["ticks"], "cpu_seconds": f"{one.about['cpu_seconds']:.1f}",
            **{name: f"{value:.4f}" for name, value in figures(episodes).items()},
        }
        for one in runs
        for (words,), episodes in one.episodes.items()
    ]  # fmt: skip
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def _save_curves(runs: Sequence[Finished], path: Path) -> None:
    # Entropies go by the names of roles, which other splits do not have.
    names = [name for name in runs[0].curve[0] if not name.startswith("entropy_")]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(
            file, ["split", "seed", *names], extrasaction="ignore", lineterminator="\n"
        )
        table.writeheader()
        for one in runs:
            table.writerows({"split": one.split, "seed": one.seed, **row} for row in one.curve)


def _draw(runs: Sequence[Finished], path: Path) -> None:
    """Net value on ``val`` while it is learnt, and on ``test`` at the end."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    curves, worth = figure.subplots(1, 2)
    names = []
    for number, (split, members) in enumerate(by_split(runs).items()):
        colour = f"C{number}"
        for place, one in enumerate(members):
            curves.plot([(row["ticks"] or 0.0) / 1e3 for row in one.curve],
                        [row["val_net_value"] or 0.0 for row in one.curve], ".-", color=colour,
                        lw=1, label=None if place else split)  # fmt: skip
        for words, mark in ((OWN, "o"), (SCRAMBLED, "x")):
            nets = [one.net(words) for one in members if (words,) in one.episodes]
            worth.plot(np.full(len(nets), number), nets, mark, color=colour)
        names.append(split.replace("_", "\n"))
    curves.set(xlabel="thousand ticks of a team", ylabel=f"net value, {CHOICE_SPLIT}",
               ylim=(-0.5, 1))  # fmt: skip
    curves.legend(fontsize=7)
    worth.axhline(0, color="black", lw=0.8)
    worth.set_xticks(range(len(names)), names, fontsize=7)
    worth.set(ylabel=f"net value, {EVAL_SPLIT} (crosses: words of another incident)")
    figure.savefig(path, dpi=110, metadata={"Software": None})
