"""What findings say of an item: one answer of several checks."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import attrs

from logtriage.audit.findings import Finding, Verdict


class Answer(StrEnum):
    """What is known of an item."""

    YES = "yes"
    NO = "no"
    OPEN = "not shown"


@attrs.frozen
class Audited:
    """What a report is made of.

    Attributes:
        subject: what was audited.
        digest: what identifies the grader; empty for a black box.
        findings: what was found.
        seconds: the wall-clock time of each check, by its name.
        is_black_box: whether it was seen from outside alone.
    """

    subject: str
    digest: str
    findings: tuple[Finding, ...]
    seconds: Mapping[str, float]
    is_black_box: bool = False

    @property
    def made(self) -> dict[str, Finding]:
        """The findings by the names of their checks."""
        return {one.check: one for one in self.findings}


@attrs.frozen
class Said:
    """The answer to an item, and the evidence of each check that it rests on."""

    answer: Answer
    evidence: tuple[str, ...]


def said_of(checks: Sequence[str], findings: Mapping[str, Finding]) -> Said:
    """What the findings of some checks say together.

    One that failed is a no. A yes needs one that passed, and none that could not look.
    """
    made = [findings[name] for name in checks if name in findings]
    lines = tuple(f"{one.check}: {one.verdict}: {one.summary}" for one in made)
    if not made:
        return Said(Answer.OPEN, (f"not made: {', '.join(checks)}",))
    verdicts = {one.verdict for one in made}
    if Verdict.FAILED in verdicts:
        return Said(Answer.NO, lines)
    closed = verdicts <= {Verdict.PASSED, Verdict.SKIPPED, Verdict.REPORTED}
    return Said(Answer.YES if Verdict.PASSED in verdicts and closed else Answer.OPEN, lines)
