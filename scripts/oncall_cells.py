"""What :mod:`scripts.oncall_results` plays, and the rows that it writes for it."""

from collections.abc import Iterator
from typing import Final

import attrs

ONE_FAULT: Final = (
    "single_crash-v4", "cascading_failure-v4", "silent_degradation-v4", "fleet_outage-v4",
)  # fmt: skip
SEVERAL: Final = ("compound_failure-v4", "compound_fleet-v4")
TASKS: Final = (*ONE_FAULT, *SEVERAL)
#: The levels of fog beside that of the benchmark.
OTHER_FOGS: Final = (0, 1, 3)
#: Per cent of the incidents that are played of a fleet.
FLEET_SHARE: Final = 30
#: Who hands everything over, and who dismisses everything: they look at nothing.
HAND_OVER: Final = "constant:hand_over"
DISMISS: Final = "constant:classify_severity=P3,ignore"
POLICIES: Final = (
    "oracle", "observer", "top_suspect", "expert", "chain",
    "first_error", "random", HAND_OVER, DISMISS,
)  # fmt: skip
#: Those of which it is written down what the belief expected when they asked no more.
BELIEVING: Final = ("observer", "top_suspect")
QUESTIONS: Final = (0, 1, 2, 3, 4, 6, 8)
#: Not a policy: what the observer decides at each worth (:mod:`logtriage.audit.handing_over`).
DECISIONS: Final = "decisions"


@attrs.frozen
class Row:
    """One episode. ``expected`` is the grade that the belief expected when nothing more was asked;
    empty where that was not written down.
    """

    index: int
    grade: float
    worth: float
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

    ``at_3`` to ``at_9`` are for the worths 0.3, 0.5, 0.7, 0.8 and 0.9.
    """

    index: int
    value: float
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
        words = self.policy.translate(str.maketrans(":=,", "---"))
        return f"{self.task}.{self.split}.{words}"

    @property
    def row(self) -> type[Row] | type[DecisionRow]:
        """What is written of each incident."""
        return DecisionRow if self.policy == DECISIONS else Row


def cells(
    count: int, fog_count: int, questions_count: int, ood_count: int, several_count: int
) -> Iterator[Cell]:
    """All that is measured; what the first table needs comes first.

    An incident of a fleet costs several times as much, so that a part of those is played.
    """

    def part(task: str, whole: int) -> int:
        return whole * FLEET_SHARE // 100 if "fleet" in task else whole

    for policy in (*POLICIES, DECISIONS):
        for task in ONE_FAULT:
            yield Cell(task, "test", policy, part(task, count))
    for policy in POLICIES:
        for task in SEVERAL:
            yield Cell(task, "test", policy, part(task, several_count))
    for policy in ("observer", "expert", HAND_OVER):
        for task in ONE_FAULT:
            yield Cell(task, "ood", policy, part(task, ood_count))
    for task in ONE_FAULT:
        for questions in QUESTIONS:
            yield Cell(task, "test", f"observer:{questions}", part(task, questions_count))
    for fog in OTHER_FOGS:
        for policy in ("observer", "expert", "chain", "random"):
            for task in ONE_FAULT:
                yield Cell(f"{task}-fog{fog}", "test", policy, part(task, fog_count))
