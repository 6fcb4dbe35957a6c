"""The audit: every family of checks on one subject."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Final

from logtriage.audit.ceiling import exact_maximum, mis_page, oracle_reaches
from logtriage.audit.episodes import blindness, determinism, measures, renaming, replay
from logtriage.audit.fairness import fairness
from logtriage.audit.findings import Finding, Outcome, Report, findings_of
from logtriage.audit.floor import (
    blind,
    chance,
    expert,
    has_priced_hand_overs,
    idle,
    shallow,
    unread,
)
from logtriage.audit.handing_over import risk
from logtriage.audit.histories import looks, monotonicity, undeserved
from logtriage.audit.leaks import leaks, splits, variety
from logtriage.audit.limits import FULL, PRICED, STANDARD, WORLD, Sizes, Thresholds
from logtriage.audit.public_fields import seeds
from logtriage.audit.screens import screens
from logtriage.audit.subject import Draw, Oracle, Subject, Work, subject_of
from logtriage.audit.symptoms import symptom
from logtriage.errors import UnknownName
from logtriage.grading import Rubric
from logtriage.tasks import TaskSpec

#: The checks by family, in the order in which they are made. ``docs/audit.md`` explains each.
FAMILIES: Final[Mapping[str, Mapping[str, Callable[[Work], Outcome]]]] = {
    "measures": {"measures": measures},
    "ceiling": {"oracle": oracle_reaches, "exact-maximum": exact_maximum, "mis-page": mis_page},
    "floor": {
        "idle": idle,
        "blind": blind,
        "shallow": shallow,
        "unread": unread,
        "chance": chance,
        "expert": expert,
    },
    "histories": {"undeserved": undeserved, "looks": looks, "monotonicity": monotonicity},
    "leaks": {
        "variety": variety,
        "splits": splits,
        "seeds": seeds,
        "leaks": leaks,
        "screens": screens,
    },
    "stability": {
        "determinism": determinism,
        "replay": replay,
        "blindness": blindness,
        "renaming": renaming,
    },
    "risk": {"risk": risk},
    "fairness": {"fairness": fairness},
    "symptom": {"symptom": symptom},
}


def audit(
    task: str | TaskSpec | Draw | Subject,
    rubric: Rubric | None = None,
    *,
    oracle: Oracle | None = None,
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
        rubric: in place of the rubric that the incidents name.
        oracle: the best list of actions for an incident, where the rubric pays for more
            than the right answers: the built-in oracle never looks.
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
    subject = subject_of(task, rubric, oracle=oracle)
    work = Work(subject, sizes, limits_for(subject) if limits is None else limits)
    chosen = {
        name: partial(check, work)
        for family, rows in FAMILIES.items()
        for name, check in rows.items()
        if family in families
    }
    findings = findings_of(chosen, checks, on_finding)
    return Report(subject.name, subject.rubric.id, subject.rubric.digest, findings)


def limits_for(subject: Subject) -> Thresholds:
    """The thresholds of the built-in tasks that a subject is most like."""
    first = subject.incident("test", 0)
    if first.simulation is None:
        return STANDARD
    return PRICED if has_priced_hand_overs(subject, [first]) else WORLD
