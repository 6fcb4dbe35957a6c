"""The episodes that :mod:`oncall_results` plays, and the rows that it writes for them."""

from typing import Final

import attrs

#: Who hands everything over, and who dismisses everything: they look at nothing.
HAND_OVER: Final = "constant:hand_over"
DISMISS: Final = "constant:classify_severity=P3,ignore"
POLICIES: Final = (
    "oracle", "observer", "lookahead", "top_suspect", "random_questions", "expert", "chain",
    "first_error", "random", HAND_OVER, DISMISS,
)  # fmt: skip
#: Policies that know of several faults at once.
OF_SEVERAL: Final = tuple(one for one in POLICIES if one != "lookahead")
#: Those of which it is written down what the belief expected when they asked no more.
BELIEVING: Final = ("observer", "lookahead", "top_suspect", "random_questions")
QUESTIONS: Final = (0, 1, 2, 3, 4, 6, 8)
#: Not a policy: what the observer decides at each price (:mod:`logtriage.audit.handing_over`).
DECISIONS: Final = "decisions"


@attrs.frozen
class Row:
    """One episode. ``expected`` is the grade that the belief expected when nothing more was asked;
    empty where that was not written down.
    """

    index: int
    grade: float
    price: float
    benign: bool
    closing: str
    handed_over: bool
    paged: bool
    mispaged: bool
    root_cause: bool
    severity: bool
    ticks: int
    questions: int
    expected: float | None = None


@attrs.frozen
class DecisionRow:
    """What going on is worth where the observer asks no more, and what a hand-over is worth.

    ``at_3`` to ``at_9`` are for the prices 0.3, 0.5, 0.7, 0.8 and 0.9.
    """

    index: int
    value: float
    halfway: float
    at_3: float
    at_5: float
    at_7: float
    at_8: float
    at_9: float


@attrs.frozen
class Cell:
    """Episodes of one policy on one split of one task."""

    task: str
    split: str
    policy: str
    count: int

    @property
    def name(self) -> str:
        words = self.policy.translate(str.maketrans(dict.fromkeys(":=,", "-")))
        return f"{self.task}.{self.split}.{words}"

    @property
    def row(self) -> type[Row] | type[DecisionRow]:
        """What is written of each incident."""
        return DecisionRow if self.policy == DECISIONS else Row
