"""The audit: every family of checks on one subject."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from logtriage.audit.ceiling import ceiling
from logtriage.audit.failing import AuditedCodeFailed
from logtriage.audit.fairness import fairness
from logtriage.audit.farming import farming
from logtriage.audit.fields import fields
from logtriage.audit.findings import Check, Finding, Report
from logtriage.audit.floor import floor, has_priced_hand_overs
from logtriage.audit.handing_over import risk
from logtriage.audit.histories import histories
from logtriage.audit.leaks import leaks
from logtriage.audit.limits import FULL, PRICED, STANDARD, WORLD, Sizes, Thresholds
from logtriage.audit.monotone import monotone
from logtriage.audit.probing import probing
from logtriage.audit.reads import Read
from logtriage.audit.signal import signal
from logtriage.audit.signs import signs
from logtriage.audit.stability import stability
from logtriage.audit.subject import Draw, Oracle, Subject, subject_of
from logtriage.audit.symptoms import symptoms
from logtriage.audit.teamwork import teamwork
from logtriage.errors import UnknownName
from logtriage.evaluation import PolicyFailure
from logtriage.grading import Rubric
from logtriage.tasks import TaskSpec

Family = Callable[[Subject, Sizes, Thresholds], Iterator[Check]]
#: The families of checks, in the order in which they are made.
FAMILIES: Final[dict[str, Family]] = {
    "fields": fields,
    "ceiling": ceiling,
    "floor": floor,
    "farming": farming,
    "monotone": monotone,
    "histories": histories,
    "leaks": leaks,
    "stability": stability,
    "signal": signal,
    "risk": risk,
    "probing": probing,
    "fairness": fairness,
    "signs": signs,
    "symptom": symptoms,
    "teamwork": teamwork,
}


def audit(
    task: str | TaskSpec | Draw | Subject,
    rubric: Rubric | None = None,
    *,
    oracle: Oracle | None = None,
    reads: Mapping[Any, Read] | None = None,
    families: Collection[str] = tuple(FAMILIES),
    checks: Collection[str] = (),
    sizes: Sizes = FULL,
    limits: Thresholds | None = None,
    on_finding: Callable[[Finding], None] | None = None,
) -> Report:
    """Check a task with its rubric, and say with what evidence it passed or failed.

    Nothing is drawn at random: the same subject has the same report.

    Args:
        task: the id of a registered task; a task sheet of your own; a function from
            split and number to an incident; or a :class:`Subject`.
        rubric: in place of the one that the incidents name.
        oracle: the best list of actions for an incident, where the rubric pays for more
            than the right answers: the built-in oracle never looks.
        reads: what measures of your own read of a state, so that the search for the best
            list can be exact with them (:class:`Subject`).
        families: the families of checks to make, by name.
        checks: only these checks of those families, by name; all if empty.
        sizes: how much is drawn and played; :data:`logtriage.audit.QUICK` for a look.
        limits: the thresholds; by default those of the world that the incidents are of
            (:func:`limits_for`).
        on_finding: called with each finding as it is made.

    Raises:
        UnknownName: for a task, family or check that does not exist.
        InvalidInput: for a task that is none of the above.
    """
    for name in families:
        if name not in FAMILIES:
            raise UnknownName("family of checks", name, FAMILIES)
    subject = subject_of(task, rubric, oracle=oracle, reads=reads)
    held_to = limits_for(subject) if limits is None else limits
    findings: list[Finding] = []
    known: list[str] = []
    for name, family in FAMILIES.items():
        for check in family(subject, sizes, held_to) if name in families else ():
            known.append(check.name)
            if checks and check.name not in checks:
                continue
            finding = _made(check)
            findings.append(finding)
            if on_finding is not None:
                on_finding(finding)
    for name in checks:
        if name not in known:
            raise UnknownName("check", name, known)
    return Report(subject.name, subject.rubric.id, subject.rubric.digest, tuple(findings))


def limits_for(subject: Subject) -> Thresholds:
    """The thresholds of the built-in tasks that a subject is most like."""
    first = subject.incident("test", 0)
    if first.simulation is None:
        return STANDARD
    return PRICED if has_priced_hand_overs(subject, [first]) else WORLD


def _made(check: Check) -> Finding:
    """The finding of a check; it says so if a failing measure or script ended the check."""
    try:
        return check.make()
    except PolicyFailure as error:  # not the subject's fault: the script is the audit's
        return Finding.untested(check.name, f"a script could not play: {error}")
    except AuditedCodeFailed as error:
        return Finding.judged(check.name, False, str(error), failing=error.who)
