"""The audit: every family of checks on one subject."""

from collections.abc import Callable, Collection, Iterator
from typing import Final

from logtriage.audit.ceiling import ceiling
from logtriage.audit.farming import farming
from logtriage.audit.findings import Finding, Report
from logtriage.audit.floor import floor
from logtriage.audit.leaks import leaks
from logtriage.audit.limits import FULL, STANDARD, Sizes, Thresholds
from logtriage.audit.monotone import monotone
from logtriage.audit.signal import signal
from logtriage.audit.stability import stability
from logtriage.audit.subject import Draw, Subject, subject_of
from logtriage.errors import UnknownName
from logtriage.grading import Rubric
from logtriage.tasks import TaskSpec

Family = Callable[[Subject, Sizes, Thresholds], Iterator[Finding]]
#: The families of checks, in the order in which they are made.
FAMILIES: Final[dict[str, Family]] = {
    "ceiling": ceiling,
    "floor": floor,
    "farming": farming,
    "monotone": monotone,
    "leaks": leaks,
    "stability": stability,
    "signal": signal,
}


def audit(
    task: str | TaskSpec | Draw | Subject,
    rubric: Rubric | None = None,
    *,
    families: Collection[str] = tuple(FAMILIES),
    sizes: Sizes = FULL,
    limits: Thresholds = STANDARD,
    on_finding: Callable[[Finding], None] | None = None,
) -> Report:
    """Check a task with its rubric, and say with what evidence it passed or failed.

    Nothing is drawn at random: the same subject has the same report.

    Args:
        task: the id of a registered task; a task sheet of your own; a function from
            split and number to an incident; or a :class:`Subject`.
        rubric: in place of the one that the incidents name.
        families: the families of checks to make, by name.
        sizes: how much is drawn and played; :data:`logtriage.audit.QUICK` for a look.
        limits: the thresholds.
        on_finding: called with each finding as it is made.

    Raises:
        UnknownName: for a task or family that does not exist.
        InvalidInput: for a task that is none of the above.
    """
    for name in families:
        if name not in FAMILIES:
            raise UnknownName("family of checks", name, FAMILIES)
    subject = subject_of(task, rubric)
    findings: list[Finding] = []
    for name, family in FAMILIES.items():
        if name in families:
            for finding in family(subject, sizes, limits):
                findings.append(finding)
                if on_finding is not None:
                    on_finding(finding)
    return Report(subject.name, subject.rubric.id, subject.rubric.digest, tuple(findings))
