"""Episodes and steps as they happen, in files that are whole whenever a run is killed.

Lines are appended and brought to disk a step at a time; what a run that is taken up again
will play once more is cut off first.
"""

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from training.common.files import save_text
from training.grpo.played import Episode, Step

EPISODES: Final = "episodes.jsonl"
EPISODES_TABLE: Final = "episodes.csv"
STEPS: Final = "steps.csv"
#: Columns of whole numbers in the table of steps.
_COUNTS: Final = ("step", "stage")


class Recorder:
    """Appends to the files of a run, beginning after step ``after``; what is later is cut off."""

    def __init__(self, out: Path, after: int = 0) -> None:
        self.out = out
        out.mkdir(parents=True, exist_ok=True)
        for name in (EPISODES, EPISODES_TABLE, STEPS):
            _cut(out / name, after)

    def episodes(self, episodes: Sequence[Episode]) -> None:
        """Append the episodes of a step."""
        lines = (json.dumps(attrs.asdict(episode), ensure_ascii=False) for episode in episodes)
        _append(self.out / EPISODES, "".join(f"{line}\n" for line in lines))
        rows = [
            {
                **attrs.asdict(episode, filter=lambda field, _: field.name in _COLUMNS),
                **{name: int(getattr(episode, name)) for name in _FLAGS},
                "criteria": json.dumps(episode.criteria),
                "actions": json.dumps(episode.actions, ensure_ascii=False),
            }
            for episode in episodes
        ]
        _append_rows(self.out / EPISODES_TABLE, rows)

    def step(self, step: Step) -> None:
        """Append a step."""
        _append_rows(self.out / STEPS, [{**attrs.asdict(step), "env_share": step.env_share}])


_COLUMNS: Final = ("step", "number", "incident", "task", "price", "reward", "closing", "ticks",
                   "unplayed")  # fmt: skip
_FLAGS: Final = ("fault", "paged", "paged_right", "mis_paged", "gated", "solved")


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
        Step(
            **{
                name: (int if name in _COUNTS else float)(row[name])
                for name in names
                if name != "tokens" or name in row  # which older runs did not count
            }
        )
        for row in csv.DictReader(_lines(path))
    ]


def _lines(path: Path) -> list[str]:
    """Whole lines."""
    if not path.exists():
        return []
    return [
        line for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")
    ]


def _cut(path: Path, after: int) -> None:
    """Keep what is up to step ``after``, and whole."""
    if not path.exists():
        return
    lines = _lines(path)
    if path.suffix == ".jsonl":
        kept = [line for line in lines if json.loads(line)["step"] <= after]
    else:
        kept = lines[:1] + [line for line in lines[1:] if int(line.partition(",")[0]) <= after]
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
