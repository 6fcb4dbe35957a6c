"""The audit: all families of checks on a subject."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final

import attrs

from logtriage.audit.ceiling import exact_maximum, mis_page, oracle_reaches
from logtriage.audit.episodes import blindness, determinism, measures, renaming, replay
from logtriage.audit.fairness import fairness
from logtriage.audit.findings import Finding, Outcome, Report, findings_of
from logtriage.audit.floor import (
    blind,
    chance,
    expert,
    has_hand_overs,
    idle,
    reflex_policies,
    unread,
)
from logtriage.audit.handing_over import risk
from logtriage.audit.histories import looks, monotonicity, undeserved
from logtriage.audit.leaks import leaks, splits, variety
from logtriage.audit.limits import FULL, STANDARD, WITH_WORTH, WORLD, Sizes, Thresholds
from logtriage.audit.public_fields import seeds
from logtriage.audit.screens import screens
from logtriage.audit.subject import Draw, Oracle, Subject, Work, subject_of
from logtriage.audit.symptoms import symptom
from logtriage.errors import UnknownName
from logtriage.evaluation.parallel import Workers, alone, in_order, workers_of
from logtriage.grading import Rubric
from logtriage.tasks import TaskSpec

#: The checks by family, in the order in which they are made. ``docs/audit.md`` explains each.
FAMILIES: Final[Mapping[str, Mapping[str, Callable[[Work], Outcome]]]] = {
    "measures": {"measures": measures},
    "ceiling": {"oracle": oracle_reaches, "exact-maximum": exact_maximum, "mis-page": mis_page},
    "floor": {
        "idle": idle,
        "blind": blind,
        "shallow": reflex_policies,
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
    jobs: int | Workers = 1,
    on_finding: Callable[[Finding], None] | None = None,
) -> Report:
    """Check a task with its rubric; the report has the verdicts and the evidence for them.

    Nothing is drawn at random: the same subject has the same report.

    Args:
        task: the id of a registered task; a task sheet of your own; a function from
            split and number to an incident; or a :class:`Subject`.
        rubric: replaces the rubric that the incidents name.
        oracle: the best list of actions for an incident, where the rubric pays for more
            than the right answers: the built-in oracle never looks.
        families: the families of checks to make, by name.
        checks: only these checks of those families, by name; all if empty.
        sizes: how much is drawn and played; :data:`logtriage.audit.QUICK` for a look.
        limits: the thresholds; by default those of the world that the incidents are of
            (:func:`limits_for`).
        jobs: processes or workers, as for :func:`logtriage.evaluation.evaluate`; each makes a
            family of checks at a time.
        on_finding: called with each finding, in order.

    Raises:
        UnknownName: for a task, family or check that does not exist.
        InvalidInput: if ``task`` is none of the above.
        LogTriageError: if a worker died.
    """
    named = chosen_checks(families, checks)
    subject = subject_of(task, rubric, oracle=oracle)
    findings = []
    for _, finding in audits([subject], named, sizes=sizes, limits=limits, jobs=jobs):
        findings.append(finding)
        if on_finding is not None:
            on_finding(finding)
    return Report(subject.name, subject.rubric.id, subject.rubric.digest, tuple(findings))


def audits(
    subjects: Sequence[Subject],
    checks: Mapping[str, tuple[str, ...]],
    *,
    sizes: Sizes = FULL,
    limits: Thresholds | None = None,
    jobs: int | Workers = 1,
) -> Generator[tuple[Subject, Finding], None, None]:
    """:func:`audit` of several subjects: each finding with its subject, in order.

    ``checks`` are those of :func:`chosen_checks`.
    """
    workers = workers_of(jobs)
    works = (
        Work(subject, sizes, limits_for(subject) if limits is None else limits)
        for subject in subjects
    )
    shares = (_Share(work, *part) for work in works for part in _shares(checks, workers))
    with closing(in_order(_findings_on, shares, workers)) as made:
        for share, findings in made:
            yield from ((share.work.subject, finding) for finding in findings)


def chosen_checks(
    families: Collection[str] = tuple(FAMILIES), checks: Collection[str] = ()
) -> Mapping[str, tuple[str, ...]]:
    """The names of the checks to make, by family: those in ``checks``, or all if it is empty.

    UnknownName for a family that does not exist, or a check that is in none of them.
    """
    for name in families:
        if name not in FAMILIES:
            raise UnknownName("family of checks", name, FAMILIES)
    known = [name for family in FAMILIES if family in families for name in FAMILIES[family]]
    for name in checks:
        if name not in known:
            raise UnknownName("check", name, known)
    return {
        family: tuple(name for name in rows if not checks or name in checks)
        for family, rows in FAMILIES.items()
        if family in families
    }


@attrs.frozen
class _Share:
    """Some checks of a family, for one worker."""

    work: Work
    family: str
    names: tuple[str, ...]


def _shares(
    checks: Mapping[str, tuple[str, ...]], workers: Workers
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(family, checks) to make at a time: a family, which shares results; alone, a check."""
    for family, names in checks.items():
        parts = [(name,) for name in names] if alone(workers) else [names]
        yield from ((family, part) for part in parts if part)


def _findings_on(share: _Share) -> tuple[Finding, ...]:
    rows = FAMILIES[share.family]
    return findings_of({name: partial(rows[name], share.work) for name in share.names})


def limits_for(subject: Subject) -> Thresholds:
    """The thresholds for a subject: for recordings, worlds, or worlds with hand-overs."""
    first = subject.incident("test", 0)
    if first.simulation is None:
        return STANDARD
    return WITH_WORTH if has_hand_overs(subject, [first]) else WORLD
