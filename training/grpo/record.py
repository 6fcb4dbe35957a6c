"""Episodes and steps as they happen, in files that are whole whenever a run is killed.

Lines are appended and brought to disk a step at a time; what a run that is taken up again
will play once more is cut off first.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.grading import Grade
from training.common.files import save_text

EPISODES: Final = "episodes.jsonl"
EPISODES_TABLE: Final = "episodes.csv"
STEPS: Final = "steps.csv"
MIS_PAGED: Final = "wrong_escalation"


@attrs.frozen
class Episode:
    """One attempt: ``number`` within its ``step`` (from 1), members of a group being neighbours.

    ``gate`` is why the reward is 0 whatever was earned, or None. ``criteria`` are scores by
    name; ``actions`` are wire actions, of which ``unplayed`` came after the end.
    """

    step: int
    number: int
    incident: str
    task: str
    reward: float
    gate: str | None
    closing: str | None
    ticks: int
    unplayed: int
    criteria: dict[str, float]
    actions: tuple[dict[str, Any], ...]

    @property
    def gated(self) -> bool:
        """Whether a gate holds."""
        return self.gate is not None

    @property
    def mis_paged(self) -> bool:
        """Whether the wrong team was paged."""
        return self.gate == MIS_PAGED


def episode_of(
    step: int, number: int, grade: Grade, actions: Iterable[Mapping[str, Any]]
) -> Episode:
    """The record of an episode, from its grade."""
    assert grade.score is not None  # what is played is always scored
    return Episode(
        step=step,
        number=number,
        incident=grade.incident,
        task=grade.task,
        reward=grade.score,
        gate=grade.gate,
        closing=None if grade.closing is None else str(grade.closing),
        ticks=grade.ticks,
        unplayed=grade.unplayed,
        criteria={row.name: row.score for row in grade.criteria},
        actions=tuple(dict(one) for one in actions),
    )


@attrs.frozen
class Step:
    """What a step was: means and shares over its episodes, and seconds.

    ``zero_variance`` is the share of groups whose rewards are all the same, which teach
    nothing. ``generation`` is the model's, ``env`` the environment's (rewards and records
    included), ``update`` what is not rollout: losses, gradients, optimiser; the rest of
    ``seconds`` is templates, tokens and advantages.
    """

    step: int
    reward: float
    gated: float
    mis_paged: float
    zero_variance: float
    ticks: float
    seconds: float
    generation: float
    env: float
    update: float

    @property
    def env_share(self) -> float:
        """The environment's part of the time."""
        return self.env / self.seconds if self.seconds else 0.0


def shares(episodes: Sequence[Episode], group: int) -> dict[str, float]:
    """The means of :class:`Step` over episodes of whole groups."""
    count = len(episodes)
    rewards = [one.reward for one in episodes]
    groups = [rewards[start : start + group] for start in range(0, count, group)]
    return {
        "reward": sum(rewards) / count,
        "gated": sum(one.gated for one in episodes) / count,
        "mis_paged": sum(one.mis_paged for one in episodes) / count,
        "zero_variance": sum(min(one) == max(one) for one in groups) / len(groups),
        "ticks": sum(one.ticks for one in episodes) / count,
    }


class Recorder:
    """Appends to the files of a run, beginning after step ``after``; what is later is cut off."""

    def __init__(self, out: Path, after: int = 0) -> None:
        self.out = out
        out.mkdir(parents=True, exist_ok=True)
        for name in (EPISODES, EPISODES_TABLE, STEPS):
            _cut(out / name, after)

    def episodes(self, episodes: Sequence[Episode]) -> None:
        """Append the episodes of a step."""
        lines = (json.dumps(attrs.asdict(one), ensure_ascii=False) for one in episodes)
        _append(self.out / EPISODES, "".join(f"{line}\n" for line in lines))
        rows = [
            {
                **attrs.asdict(one, filter=lambda field, _: field.name in _COLUMNS),
                "gated": int(one.gated),
                "mis_paged": int(one.mis_paged),
                "criteria": json.dumps(one.criteria),
                "actions": json.dumps(one.actions, ensure_ascii=False),
            }
            for one in episodes
        ]
        _append_rows(self.out / EPISODES_TABLE, rows)

    def step(self, step: Step) -> None:
        """Append a step."""
        _append_rows(self.out / STEPS, [{**attrs.asdict(step), "env_share": step.env_share}])


_COLUMNS: Final = ("step", "number", "incident", "task", "reward", "closing", "ticks", "unplayed")


def read_episodes(path: Path) -> list[Episode]:
    """The episodes of a file; a last line that was cut by a crash is left out."""
    return [
        Episode(**{**row, "actions": tuple(row["actions"])})
        for row in map(json.loads, _lines(path))
    ]


def read_steps(path: Path) -> list[Step]:
    """The steps of a file."""
    names = [field.name for field in attrs.fields(Step)]
    return [
        Step(**{name: (int if name == "step" else float)(row[name]) for name in names})
        for row in csv.DictReader(_lines(path))
    ]


def _lines(path: Path) -> list[str]:
    """Whole lines."""
    if not path.exists():
        return []
    return [one for one in path.read_text("utf-8").splitlines(keepends=True) if one.endswith("\n")]


def _cut(path: Path, after: int) -> None:
    """Keep what is up to step ``after``, and whole."""
    if not path.exists():
        return
    lines = _lines(path)
    if path.suffix == ".jsonl":
        kept = [one for one in lines if json.loads(one)["step"] <= after]
    else:
        kept = lines[:1] + [one for one in lines[1:] if int(one.partition(",")[0]) <= after]
    if after == 0:
        kept = []
    save_text(path, "".join(kept))


def _append_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append rows of a table, the first column being the step; with the header at its start."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    if not path.exists() or path.stat().st_size == 0:
        writer.writeheader()
    writer.writerows(rows)
    _append(path, text.getvalue())


def _append(path: Path, text: str) -> None:
    """Append with one write, and bring it to disk."""
    with path.open("ab", buffering=0) as file:
        file.write(text.encode())
        os.fsync(file.fileno())
