"""The episodes that :mod:`second_world` plays, and the row that it writes for each."""

from typing import Final

import attrs

POLICIES: Final = (
    "oracle", "observer", "random_questions", "expert", "chain", "first_error", "random",
)  # fmt: skip
#: Those whose pages are held against the bar of the belief when they were made.
JUDGED: Final = ("observer", "random_questions", "expert", "chain")
QUESTIONS: Final = (0, 1, 2, 3, 4, 6, 8)
LISTS: Final = ("best constant answer", "best blind list")


@attrs.frozen
class Row:
    """One episode.

    ``sure`` and ``bar`` are the belief in the team that was paged first and the probability from
    which paging it paid; empty where that was not judged.
    """

    index: int
    grade: float
    price: float
    benign: bool
    closing: str
    paged: bool
    mispaged: bool
    root_cause: bool
    severity: bool
    ticks: int
    questions: int
    sure: float | None = None
    bar: float | None = None


@attrs.frozen
class Cell:
    """Episodes of one policy on one split of one task.

    ``searched`` is the number of incidents that a list was found on; 0 for a policy.
    """

    task: str
    split: str
    policy: str
    count: int
    searched: int = 0

    @property
    def name(self) -> str:
        words = self.policy.replace(":", "-").replace(" ", "-")
        return f"{self.task}.{self.split}.{words}" + (f"-{self.searched}" if self.searched else "")
