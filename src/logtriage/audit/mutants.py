"""Graders that are broken on purpose, one mistake each: what laws and audit must notice.

Every mutant is rubric ``logtriage/1`` or ``logtriage/2`` with one thing wrong, and is sound
as data: that the weights are right and the names differ says nothing of what is measured.
Use them to see whether your own checks would find such a mistake.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from logtriage.audit import broken_measures as broken
from logtriage.audit import triage_mutants
from logtriage.grading import TRIAGE_1, Criterion, Gate, Measure, Rubric
from logtriage.state import Closing


@attrs.frozen
class Mutant:
    """A broken rubric, and what is wrong with it; ``of`` is the id of the sound one."""

    name: str
    wrong: str
    rubric: Rubric
    of: str


def _replaced(rows: Sequence[Criterion], new: dict[str, Measure]) -> tuple[Criterion, ...]:
    return tuple(attrs.evolve(row, measure=new.get(row.name, row.measure)) for row in rows)


def _real(**measures: Measure) -> Rubric:
    """The rubric with other measures for real faults."""
    return attrs.evolve(TRIAGE_1, criteria=_replaced(TRIAGE_1.criteria, measures))


def _benign(**measures: Measure) -> Rubric:
    """The rubric with other measures for benign incidents."""
    return attrs.evolve(TRIAGE_1, benign=_replaced(TRIAGE_1.benign, measures))


def _gated(*gates: Gate) -> Rubric:
    return attrs.evolve(TRIAGE_1, gates=gates)


_SWAP: Final = {"root_cause": 0.25, "remediation": 0.30}
_RESOLVED, _IGNORED = Closing.RESOLVED, Closing.IGNORED
#: Name, what is wrong, and the rubric with it.
_TABLE: Final = (
    ("page-gate-dropped", "a wrong page costs nothing but time", _gated(broken.IGNORE_GATE)),
    ("ignore-gate-dropped", "a real fault may be ignored", _gated(broken.PAGE_GATE)),
    (
        "page-gate-first-only",
        "only the first page is looked at",
        _gated(Gate("wrong_escalation", broken.first_page_only), broken.IGNORE_GATE),
    ),
    (
        "page-gate-half",
        "a wrong page costs 0.5 instead of everything",
        attrs.evolve(
            _gated(broken.IGNORE_GATE),
            penalties=(Criterion("wrong_page", 0.5, broken.wrongly_paged),),
        ),
    ),
    (
        "ignore-gate-spares-p3",
        "a real P3 may be ignored",
        _gated(broken.PAGE_GATE, Gate("ignored_incident", broken.spares_p3)),
    ),
    (
        "ignore-gate-on-benign",
        "a benign incident may not be ignored either",
        _gated(broken.PAGE_GATE, Gate("ignored_incident", broken.ignored_anything)),
    ),
    (
        "weights-swapped",
        "root cause and remediation have each other's weight",
        attrs.evolve(
            TRIAGE_1,
            criteria=tuple(
                attrs.evolve(row, weight=_SWAP.get(row.name, row.weight))
                for row in TRIAGE_1.criteria
            ),
        ),
    ),
    (
        "severity-last",
        "the last severity counts, not the first",
        _real(severity=broken.last_severity),
    ),
    ("severity-silence", "saying nothing counts as P3", _real(severity=broken.silence_is_p3)),
    ("severity-generous", "one class off earns 0.5", _real(severity=broken.generous_severity)),
    ("severity-any", "two classes off earns as much as one", _real(severity=broken.any_severity)),
    ("severity-inverted", "two classes off beats one", _real(severity=broken.inverted_distance)),
    ("root-cause-last", "the last root cause counts", _real(root_cause=broken.last_root_cause)),
    ("root-cause-any", "any of the root causes counts", _real(root_cause=broken.any_root_cause)),
    ("root-cause-symptom", "a symptom earns partial credit", _real(root_cause=broken.symptoms_too)),
    ("root-cause-prefix", "a similar name counts", _real(root_cause=broken.by_prefix)),
    ("root-cause-confident", "a stated confidence earns", _real(root_cause=broken.confident)),
    ("root-cause-salted", "the score hangs on the process", _real(root_cause=broken.salted)),
    ("root-cause-by-id", "the score hangs on the incident's id", _real(root_cause=broken.by_id)),
    ("escalation-any", "any page fulfils the criterion", _real(escalation=broken.any_page)),
    ("remediation-free", "wrong remedies are free", _real(remediation=broken.wrong_remedies_free)),
    (
        "remediation-after",
        "wrong remedies after the fix are free",
        _real(remediation=broken.only_before_the_fix),
    ),
    (
        "remediation-there",
        "any remedy on the root counts",
        _real(remediation=broken.any_remedy_there),
    ),
    (
        "remediation-anywhere",
        "the right remedy on any service counts",
        _real(remediation=broken.right_remedy_anywhere),
    ),
    (
        "closure-early",
        "off by one: 4 ticks are free",
        _real(closure=broken.closed_with(4, _RESOLVED, broken.fixed)),
    ),
    (
        "closure-late",
        "off by one: 6 ticks are free",
        _real(closure=broken.closed_with(6, _RESOLVED, broken.fixed)),
    ),
    (
        "closure-unfixed",
        "resolving pays without a fix",
        _real(closure=broken.closed_with(5, _RESOLVED, broken.always)),
    ),
    ("closure-unhurried", "time does not count", _real(closure=broken.unhurried)),
    ("closure-slow", "taking longer pays", _real(closure=broken.slow_is_good)),
    (
        "closure-timeout",
        "running out of time counts as resolved",
        _real(closure=broken.out_of_time_too),
    ),
    ("closure-claimed", "a claim in the text counts", _real(closure=broken.claims)),
    ("closure-diligence", "asking for logs pays by itself", _real(closure=broken.diligence)),
    ("benign-as-real", "benign incidents are graded as faults", attrs.evolve(TRIAGE_1, benign=())),
    (
        "benign-blamed",
        "blaming somebody does not spoil a dismissal",
        _benign(dismissal=broken.dismissed_anyhow),
    ),
    (
        "benign-remedies",
        "remedies on a benign incident are free",
        _benign(dismissal=broken.dismissed_after_remedies),
    ),
    (
        "benign-closure",
        "5 ticks are free on benign incidents",
        _benign(closure=broken.closed_with(5, _IGNORED, broken.always)),
    ),
)
MUTANTS: Final = tuple(
    Mutant(name, wrong, attrs.evolve(rubric, id=f"mutant/{name}"), rubric.id)
    for name, wrong, rubric in (*_TABLE, *triage_mutants.TABLE)
)
