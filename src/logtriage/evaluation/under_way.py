"""Episodes that are open: every action is on the disk before it is answered.

So a process that dies loses the action under way at most. The file is hidden, since it belongs to
no finished run, and it goes when no episode is open.
"""

import json
from pathlib import Path
from typing import Any, Final

from logtriage.evaluation.cell_files import append, mend, read_lines, refuse_link

#: The file, in the directory of a run.
UNDER_WAY: Final = ".under-way.jsonl"


class UnderWay:
    """The journal of a run's open episodes by name; ``left`` are those of another process."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / UNDER_WAY
        refuse_link(self._path)
        mend(self._path)
        self.left: dict[str, list[Any]] = {}
        for line in read_lines(self._path):
            row = json.loads(line)
            self.left.setdefault(row["episode"], []).extend(row["done"])
        self._open: set[str] = set()

    def add(self, name: str, *done: Any) -> None:
        """Write down what is about to be done in an episode; nothing, that it begins."""
        self._open.add(name)
        append(self._path, f"{json.dumps({'episode': name, 'done': done})}\n".encode())

    def close(self, name: str) -> None:
        """Forget an episode, whose transcript is kept elsewhere."""
        self._open.discard(name)
        self.left.pop(name, None)
        if not self._open and not self.left:
            self._path.unlink(missing_ok=True)
