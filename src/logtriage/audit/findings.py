"""What an audit says: one finding a check, with the evidence for its verdict."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

import attrs

#: Why checks of probabilities have nothing to look at.
NOT_OF_A_WORLD: Final = "the probabilities of these incidents are not known"
#: Checks that compute chances of single faults, or search plans for one, say this instead.
OF_SEVERAL: Final = "these incidents may have several faults at once: the check knows one alone"


class Verdict(StrEnum):
    """How a check came out. Only ``FAILED`` counts against the subject.

    Only ``PASSED`` speaks for it: ``NOT_EXACT`` found nothing and could not look everywhere,
    ``UNTESTED`` could not look, ``SKIPPED`` does not apply, ``REPORTED`` has no threshold.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_EXACT = "not exact"
    UNTESTED = "untested"
    REPORTED = "reported"
    SKIPPED = "skipped"


@attrs.frozen
class Finding:
    """One check: its name, its verdict, a sentence of evidence, and the figures behind it.

    ``summary`` says what was found, also where the check passed. ``evidence`` is JSON
    data.
    """

    check: str
    verdict: Verdict
    summary: str
    evidence: dict[str, Any] = attrs.field(factory=dict)

    @classmethod
    def judged(cls, check: str, passed: bool, summary: str, **evidence: Any) -> "Finding":
        """A finding that passed or failed."""
        return cls(check, Verdict.PASSED if passed else Verdict.FAILED, summary, evidence)

    @classmethod
    def searched(
        cls, check: str, *, found: bool, settled: bool, summary: str, **evidence: Any
    ) -> "Finding":
        """A finding of a search: what was found fails; only one that settles it can pass."""
        nothing = Verdict.PASSED if settled else Verdict.NOT_EXACT
        return cls(check, Verdict.FAILED if found else nothing, summary, evidence)

    @classmethod
    def reported(cls, check: str, summary: str, **evidence: Any) -> "Finding":
        """A finding without a threshold."""
        return cls(check, Verdict.REPORTED, summary, evidence)

    @classmethod
    def untested(cls, check: str, why: str, **evidence: Any) -> "Finding":
        """A check that could not be made, with the reason."""
        return cls(check, Verdict.UNTESTED, why, evidence)

    @classmethod
    def skipped(cls, check: str, why: str) -> "Finding":
        """A check that does not apply, with the reason."""
        return cls(check, Verdict.SKIPPED, why)


@attrs.frozen
class Check:
    """A check that is still to be made, and the name that its finding will have."""

    name: str
    make: Callable[[], Finding]


@attrs.frozen
class Report:
    """The findings on one subject, in the order of the checks."""

    subject: str
    rubric: str
    rubric_digest: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed; what was not settled stands in :attr:`unsettled`."""
        return not self.failed

    @property
    def unsettled(self) -> tuple[str, ...]:
        """The names of the checks that could not be made, or not exactly."""
        open_ones = (Verdict.NOT_EXACT, Verdict.UNTESTED)
        return tuple(one.check for one in self.findings if one.verdict in open_ones)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(one.check for one in self.findings if one.verdict is Verdict.FAILED)

    def finding(self, check: str) -> Finding:
        """The finding of a check that was made.

        Raises:
            KeyError: if it was not.
        """
        for one in self.findings:
            if one.check == check:
                return one
        raise KeyError(check)

    def to_json(self) -> list[dict[str, Any]]:
        """One JSON object a finding."""
        return [
            finding_to_json(self.subject, self.rubric, self.rubric_digest, one)
            for one in self.findings
        ]


def finding_to_json(subject: str, rubric: str, digest: str, finding: Finding) -> dict[str, Any]:
    """A finding as JSON data, with what it is about."""
    return {
        "subject": subject,
        "rubric": rubric,
        "rubric_digest": digest,
        "check": finding.check,
        "verdict": str(finding.verdict),
        "summary": finding.summary,
        "evidence": finding.evidence,
    }
