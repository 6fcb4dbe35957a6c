"""The findings of an audit: the verdict on each check, with its evidence."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

import attrs

from logtriage.audit.failing import AuditedCodeFailed
from logtriage.evaluation import PolicyFailure

#: Why checks of probabilities have nothing to look at.
NOT_OF_A_WORLD: Final = "the probabilities of these incidents are not known"


class Verdict(StrEnum):
    """How a check came out. Only ``FAILED`` counts against the subject, only ``PASSED`` for it.

    ``NOT_EXACT``: the check found nothing, but could not look everywhere or at enough incidents.
    ``UNTESTED``: it could not look. ``SKIPPED``: it does not apply. ``REPORTED``: no threshold.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_EXACT = "not exact"
    UNTESTED = "untested"
    REPORTED = "reported"
    SKIPPED = "skipped"


@attrs.frozen
class Outcome:
    """How a check came out: a sentence, also where it passed, and JSON data behind it."""

    verdict: Verdict
    summary: str
    evidence: dict[str, Any] = attrs.field(factory=dict)


def judged(passed: bool | None, summary: str, **evidence: Any) -> Outcome:
    """The outcome of a check that passed or failed; None stands for ``NOT_EXACT``."""
    verdicts = {True: Verdict.PASSED, False: Verdict.FAILED, None: Verdict.NOT_EXACT}
    return Outcome(verdicts[passed], summary, evidence)


@attrs.frozen
class Finding:
    """The outcome of a check, under the name of the check."""

    check: str
    verdict: Verdict
    summary: str
    evidence: dict[str, Any] = attrs.field(factory=dict)


def findings_of(
    checks: Mapping[str, Callable[[], Outcome]], on_finding: Callable[[Finding], None] | None = None
) -> tuple[Finding, ...]:
    """Run the checks in order and collect their findings.

    A check fails if the code that it audits raises, and is untested if a script cannot play.
    """
    findings = []
    for name, check in checks.items():
        try:
            outcome = check()
        except PolicyFailure as error:  # not the subject's fault: the script is the audit's
            outcome = Outcome(Verdict.UNTESTED, f"a script could not play: {error}")
        except AuditedCodeFailed as error:
            outcome = judged(passed=False, summary=str(error), failing=error.who)
        findings.append(Finding(name, outcome.verdict, outcome.summary, outcome.evidence))
        if on_finding is not None:
            on_finding(findings[-1])
    return tuple(findings)


@attrs.frozen
class Report:
    """The findings on one subject, in the order of the checks."""

    subject: str
    rubric: str
    rubric_digest: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed; :attr:`unsettled` lists the checks without a verdict."""
        return not self.failed

    @property
    def unsettled(self) -> tuple[str, ...]:
        """The names of the checks that could not be made, or not exactly."""
        return self._with(Verdict.NOT_EXACT, Verdict.UNTESTED)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return self._with(Verdict.FAILED)

    def _with(self, *verdicts: Verdict) -> tuple[str, ...]:
        return tuple(row.check for row in self.findings if row.verdict in verdicts)

    def finding(self, check: str) -> Finding:
        """The finding of a check; KeyError if it was not made."""
        return {row.check: row for row in self.findings}[check]


def finding_to_json(subject: str, rubric: str, digest: str, finding: Finding) -> dict[str, Any]:
    """A finding as JSON data, with its subject and rubric."""
    about = {"subject": subject, "rubric": rubric, "rubric_digest": digest}
    return {**about, **attrs.asdict(finding, recurse=False)}
