"""The tables and the plot of docs/results/teams.md, from finished runs.

python -m training.marl.study runs/teams --only-write --to docs/results
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from logtriage.actions import ACTION_NAMES, HandOver
from logtriage.codec import decode_transcript
from logtriage.evaluation.messages import Messages, messages_of
from logtriage.replaying import replay
from logtriage.roles import RoleSplit
from logtriage.roles.splits import SILENT, splits_with
from logtriage.transcript import Transcript
from training.common.intervals import (
    over_incidents,
    policy_line,
    policy_table,
    student,
    welch,
)
from training.common.pages import renew, save_table, table
from training.common.rows import EPISODES, PRICES, Row, figures, net_value, read_rows
from training.common.settings import CHOICE_SPLIT, EVAL_SPLIT
from training.common.tasks import incident_of
from training.marl import store
from training.marl.record import OWN, SCRAMBLED

PAGE: Final = "teams.md"
#: Reports are read in so many episodes of each run.
READ: Final = 200
TABLE, CURVES, PLOT = "teams-runs.csv", "teams-curves.csv", "teams.png"


@attrs.define(eq=False, slots=False)
class Finished:
    """A finished run: its directory, what it wrote of itself, its curve, and its episodes.

    Episodes stand by whose words a team heard (:mod:`training.marl.record`).
    """

    folder: Path
    about: dict[str, Any]
    curve: list[dict[str, float | None]]
    episodes: dict[tuple[str, ...], list[Row]]

    @cached_property
    def roles(self) -> RoleSplit:
        """The role split, in full."""
        return store.split_of(self.about)

    @property
    def split(self) -> str:
        """The name of the role split."""
        return self.roles.name

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.about["settings"]["seed"])

    def net(self, words: str = OWN) -> float:
        """Net value on ``test``."""
        return net_value(self.episodes[words,])

    @property
    def grade(self) -> float:
        """Mean grade on ``test``."""
        return figures(self.episodes[OWN,])["grade"]

    @cached_property
    def transcripts(self) -> tuple[Transcript, ...]:
        """The episodes of ``test`` in full."""
        lines = (self.folder / store.TRANSCRIPTS).read_text("utf-8").splitlines()
        return tuple(map(decode_transcript, lines))

    @cached_property
    def messages(self) -> Messages | None:
        """What reports told in the first episodes; None for a team that does not talk."""
        task = self.about["settings"]["task"]
        states = [
            replay(
                transcript,
                resolve=lambda name: incident_of(task, name),
                splits=splits_with(self.roles),
            )[-1]
            for transcript in islice(self.transcripts, READ)
        ]
        return messages_of(states, self.roles, READ)

    @property
    def bits(self) -> float:
        """Bits about the truth an episode that reports told, summed over listeners; 0 of none."""
        messages = self.messages
        if messages is None or messages.bits is None:
            return 0.0
        return messages.bits.mean * messages.read / messages.episodes

    def handed_over_by(self, role: str, price: float) -> float:
        """The share of the incidents with this price that a role handed over."""
        pairs = zip(self.episodes[OWN,], self.transcripts, strict=True)
        closers = [self._closer(row, transcript) for row, transcript in pairs if row.price == price]
        return float(np.mean([closer == role for closer in closers]))

    def _closer(self, row: Row, transcript: Transcript) -> str | None:
        """The role that handed the incident over; None where nobody did."""
        if not row.handed_over:
            return None
        assert transcript.ticks is not None  # of a team
        last = transcript.ticks.index(transcript.ticks[-1])
        kinds = [action["action_type"] for action in transcript.actions[last:]]
        return self.roles.names[kinds.index(ACTION_NAMES[HandOver])]


def read(folder: Path) -> Finished:
    """The run in a directory."""
    curve = store.load_curve(folder / store.CURVE)
    return Finished(folder, store.load_run(folder), curve, read_rows(folder / EPISODES))


def write_up(out: Path, to: Path) -> None:
    """Renew the page's tables, and write the figure and the raw rows.

    Raises:
        SystemExit: if no run is finished.
    """
    folders = [path.parent for path in sorted(out.glob(f"*/{EPISODES}"))]
    runs = [run for run in map(read, folders) if run.about["finished"]]
    if not runs:
        raise SystemExit(f"{out}: no run is finished")
    blocks: dict[str, Callable[[], Iterable[str]]] = {
        "teams": lambda: _teams(runs),
        "words": lambda: _words(runs),
        "bits": lambda: _bits(runs),
        "closers": lambda: _closers(runs),
        "runs": lambda: _runs(runs),
    }
    renew(to / PAGE, "Teams", blocks)
    _save_runs(runs, to / TABLE)
    _save_curves(runs, to / CURVES)
    _draw(runs, to / PLOT)


def by_split(runs: Sequence[Finished]) -> dict[str, list[Finished]]:
    """The runs of each split."""
    splits = dict.fromkeys(run.split for run in runs)
    return {split: [run for run in runs if run.split == split] for split in splits}


def _teams(runs: Sequence[Finished]) -> Iterable[str]:
    lines = []
    for split, members in by_split(runs).items():
        lines.append(policy_line(f"`{split}`", [run.episodes[OWN,] for run in members]))
        others = [run.episodes[SCRAMBLED,] for run in members if (SCRAMBLED,) in run.episodes]
        if others:
            lines.append(policy_line(f"`{split}`, words of another incident", others))
    yield from policy_table(lines)


def _talking(runs: Sequence[Finished]) -> Iterable[tuple[str, list[Finished], list[Finished]]]:
    """Each split that talks: its name, its runs, and those of the same split without reports."""
    groups = by_split(runs)
    for split, members in groups.items():
        if any((SCRAMBLED,) in run.episodes for run in members):
            yield split, members, groups.get(f"{split}{SILENT}", [])


def _paired(
    talking: Sequence[Finished], silent: Sequence[Finished]
) -> list[tuple[Finished, Finished]]:
    """Runs of the same seed."""
    by_seed = {run.seed: run for run in silent}
    return [(run, by_seed[run.seed]) for run in talking if run.seed in by_seed]


def _words(runs: Sequence[Finished]) -> Iterable[str]:
    """The worth of words, compared with silence and with words of another incident."""
    lines = []
    for split, talking, silent in _talking(runs):
        if pairs := _paired(talking, silent):
            gap = welch([run.net() for run in talking], [run.net() for run in silent])
            rows = [(a.episodes[OWN,], b.episodes[OWN,]) for a, b in pairs]
            seeds = f"{len(talking)}, {len(silent)}"
            lines.append([f"`{split}` − silent", seeds, gap, over_incidents(rows)])
        gaps = [run.net() - run.net(SCRAMBLED) for run in talking]
        rows = [(run.episodes[OWN,], run.episodes[SCRAMBLED,]) for run in talking]
        lines.append([f"`{split}`, own words − words of another incident", str(len(talking)),
                      student(gaps), over_incidents(rows)])  # fmt: skip
    heads = ["compared", "seeds", "difference in net value, over seeds (95 %)",
             "over incidents (95 %)"]  # fmt: skip
    return table(heads, lines)


def _bits(runs: Sequence[Finished]) -> Iterable[str]:
    """What reports told in bits, and the grade that a bit of them gained over silence."""
    lines = []
    for split, talking, silent in _talking(runs):
        heard = [run.messages for run in talking if run.messages is not None]
        means = [row.bits.mean for row in heard if row.bits is not None]
        pairs = _paired(talking, silent)
        gains = [a.grade - b.grade for a, b in pairs]
        rates = [gain / a.bits for gain, (a, _) in zip(gains, pairs, strict=True) if a.bits > 0]
        groups = (means, [run.bits for run in talking], gains, rates)
        each = f"{np.mean([row.each for row in heard]):.1f}"
        lines.append([f"`{split}`", str(len(talking)), each,
                      *(student(values) if values else "" for values in groups)])  # fmt: skip
    heads = ["split", "seeds", "reports an episode", "bits a report and listener",
             "bits an episode", "grade over silence", "grade a bit"]  # fmt: skip
    return table(heads, lines)


def _closers(runs: Sequence[Finished]) -> Iterable[str]:
    """Which role hands over, by what a hand-over is worth."""
    lines = [
        [f"`{split}`", f"`{role.name}`", str(len(members)),
         *(f"{np.mean([run.handed_over_by(role.name, price) for run in members]):.0%}"
           for price in PRICES)]
        for split, members in by_split(runs).items()
        for role in members[0].roles.roles
        if ACTION_NAMES[HandOver] in role.kinds
    ]  # fmt: skip
    return table(["split", "role", "seeds", *(f"at {price}" for price in PRICES)], lines, 2)


def _runs(runs: Sequence[Finished]) -> Iterable[str]:
    """The length of each run, and its net value at each look at ``val``."""
    lines = [
        [f"`{run.split}`", str(run.seed), f"{run.about['ticks']:,}",
         f"{run.about['cpu_seconds']:.0f}",
         ", ".join(f"{row['val_net_value'] or 0.0:+.3f}" for row in run.curve)]
        for run in runs
    ]  # fmt: skip
    heads = ["split", "seed", "ticks of a team", "CPU seconds",
             f"net value on `{CHOICE_SPLIT}` at each look"]  # fmt: skip
    return table(heads, lines)


def _save_runs(runs: Sequence[Finished], path: Path) -> None:
    rows = [
        {
            "split": run.split, "seed": run.seed, "words": words, "incidents": len(episodes),
            "team_ticks": run.about["ticks"], "cpu_seconds": f"{run.about['cpu_seconds']:.1f}",
            "bits": f"{run.bits:.4f}" if words == OWN else "",
            **{name: f"{value:.4f}" for name, value in figures(episodes).items()},
        }
        for run in runs
        for (words,), episodes in run.episodes.items()
    ]  # fmt: skip
    save_table(path, rows)


def _save_curves(runs: Sequence[Finished], path: Path) -> None:
    # Entropies go by the names of roles, which other splits do not have.
    rows = [
        {"split": run.split, "seed": run.seed}
        | {name: value for name, value in row.items() if not name.startswith("entropy_")}
        for run in runs
        for row in run.curve
    ]
    save_table(path, rows)


def _draw(runs: Sequence[Finished], path: Path) -> None:
    """Net value on ``val`` while it is learnt, and on ``test`` at the end."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    curves, worth = figure.subplots(1, 2)
    names = []
    for number, (split, members) in enumerate(by_split(runs).items()):
        colour = f"C{number}"
        for place, run in enumerate(members):
            curves.plot([(row["ticks"] or 0.0) / 1e3 for row in run.curve],
                        [row["val_net_value"] or 0.0 for row in run.curve], ".-", color=colour,
                        lw=1, label=None if place else split)  # fmt: skip
        for words, mark in ((OWN, "o"), (SCRAMBLED, "x")):
            nets = [run.net(words) for run in members if (words,) in run.episodes]
            worth.plot(np.full(len(nets), number), nets, mark, color=colour)
        names.append(split.replace("_", "\n"))
    curves.set(xlabel="thousand ticks of a team", ylabel=f"net value, {CHOICE_SPLIT}",
               ylim=(-0.5, 1))  # fmt: skip
    curves.legend(fontsize=7)
    worth.axhline(0, color="black", lw=0.8)
    worth.set_xticks(range(len(names)), names, fontsize=7)
    worth.set(ylabel=f"net value, {EVAL_SPLIT}\n(crosses: words of another incident)")
    figure.savefig(path, dpi=110, metadata={"Software": None})
