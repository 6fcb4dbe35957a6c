"""Graders that are broken on purpose, one mistake each: what laws and audit must notice.

Every mutant is rubric ``logtriage/3`` with one thing wrong, and is sound as data: that the
weights are right and the names differ says nothing of what is measured. Use them to see
whether your own checks would find such a mistake.
"""

from typing import Final

import attrs

from logtriage.grading import TRIAGE_3, Criterion, Rubric
from tests.audit.planted import broken_measures as broken
from tests.audit.planted import order_mutants
from tests.audit.planted.changed_rubrics import (
    with_benign_measures,
    with_gates,
    with_hand_over,
    with_measures,
    without,
)


@attrs.frozen
class Mutant:
    """A broken rubric, and what is wrong with it."""

    name: str
    wrong: str
    rubric: Rubric


_SWAP: Final = {"severity": 0.25, "root_cause": 0.15}
#: Name, what is wrong, and the rubric with it.
_TABLE: Final = (
    ("page-gate-dropped", "a mis-page costs nothing but time", without("wrong_escalation")),
    ("ignore-gate-dropped", "a real fault may be ignored", without("ignored_incident")),
    ("page-gate-first-only", "only the first page is looked at",
     with_gates(wrong_escalation=broken.first_page_only)),
    ("page-gate-half", "a mis-page costs 0.5 instead of everything",
     attrs.evolve(without("wrong_escalation"), penalties=(Criterion("wrong_page", 0.5,
         broken.wrongly_paged),))),
    ("ignore-gate-spares-p3", "a real P3 may be ignored",
     with_gates(ignored_incident=broken.spares_p3)),
    ("ignore-gate-on-benign", "a benign incident may not be ignored either",
     with_gates(ignored_incident=broken.ignored_anything)),
    ("weights-swapped", "severity and root cause have each other's weight",
     attrs.evolve(TRIAGE_3, criteria=tuple(attrs.evolve(row, weight=_SWAP.get(row.name,
         row.weight)) for row in TRIAGE_3.criteria))),
    ("severity-last", "the last severity counts, not the first",
     with_measures(severity=broken.last_severity)),
    ("severity-silence", "saying nothing counts as P3",
     attrs.evolve(with_measures(severity=broken.silence_is_p3),
         benign=with_benign_measures(severity=broken.silence_is_p3).benign)),
    ("severity-generous", "one class off earns 0.5",
     with_measures(severity=broken.generous_severity)),
    ("severity-any", "two classes off earns as much as one",
     with_measures(severity=broken.any_severity)),
    ("severity-inverted", "two classes off beats one",
     with_measures(severity=broken.inverted_distance)),
    ("root-cause-last", "the last root cause counts",
     with_measures(root_cause=broken.last_root_cause)),
    ("root-cause-any", "any of the root causes counts",
     with_measures(root_cause=broken.any_root_cause)),
    ("root-cause-symptom", "a symptom earns partial credit",
     with_measures(root_cause=broken.symptoms_too)),
    ("root-cause-prefix", "a similar name counts", with_measures(root_cause=broken.by_prefix)),
    ("root-cause-confident", "a stated confidence earns",
     with_measures(root_cause=broken.confident)),
    ("root-cause-salted", "the score depends on the process",
     with_measures(root_cause=broken.salted)),
    ("root-cause-by-id", "the score depends on the incident's id",
     with_measures(root_cause=broken.by_id)),
    ("escalation-any", "any page fulfils the criterion", with_measures(escalation=broken.any_page)),
    ("remediation-free", "wrong remedies are free",
     with_measures(remediation=broken.wrong_remedies_free)),
    ("remediation-after", "wrong remedies after the fix are free",
     with_measures(remediation=broken.only_before_the_fix)),
    ("remediation-there", "any remedy on the root counts",
     with_measures(remediation=broken.any_remedy_there)),
    ("remediation-anywhere", "the right remedy on any service counts",
     with_measures(remediation=broken.right_remedy_anywhere)),
    ("closure-early", "off by one: time counts before par is over",
     with_measures(closure=broken.closed_with(lambda par: par - 1, broken.RESOLVED, broken.fixed))),
    ("closure-late", "off by one: the tick after par is free",
     with_measures(closure=broken.closed_with(lambda par: par + 1, broken.RESOLVED, broken.fixed))),
    ("closure-at-once", "no tick is free",
     with_measures(closure=broken.closed_with(lambda _: 0, broken.RESOLVED, broken.fixed))),
    ("closure-unfixed", "resolving pays without a fix",
     with_measures(closure=broken.closed_with(lambda par: par, broken.RESOLVED, broken.always))),
    ("closure-unhurried", "time does not count", with_measures(closure=broken.unhurried)),
    ("closure-slow", "taking longer pays", with_measures(closure=broken.slow_is_good)),
    ("closure-timeout", "running out of time counts as resolved",
     with_measures(closure=broken.out_of_time_too)),
    ("closure-claimed", "a claim in the text counts", with_measures(closure=broken.claims)),
    ("closure-diligence", "asking for logs pays by itself",
     with_measures(closure=broken.diligence)),
    ("par-for-all", "five ticks are free whatever the par is",
     with_measures(closure=broken.closed_with(lambda _: 5, broken.RESOLVED, broken.fixed))),
    ("benign-as-real", "benign incidents are graded as faults", attrs.evolve(TRIAGE_3, benign=())),
    ("benign-blamed", "blaming somebody does not spoil a dismissal",
     with_benign_measures(dismissal=broken.dismissed_anyhow)),
    ("benign-remedies-twice", "a remedy on a benign incident costs 0.2 of the dismissal, too",
     with_benign_measures(dismissal=broken.dismissal_less_remedies)),
    ("benign-par-for-all", "two ticks are free on every benign incident",
     with_benign_measures(closure=broken.closed_with(lambda _: 2, broken.IGNORED,
         broken.nobody_blamed))),
    ("hand-over-whenever", "a hand-over is worth its worth at any time",
     with_hand_over(broken.handed_over_whenever)),
    ("hand-over-own-par", "the par of the incident counts, not that of the task",
     with_hand_over(broken.handed_over_by_own_par)),
    ("hand-over-by-the-clock", "a hand-over at the horizon is worth nothing",
     with_hand_over(broken.handed_over_by_the_clock)),
)  # fmt: skip
MUTANTS: Final = tuple(
    Mutant(name, wrong, attrs.evolve(rubric, id=f"mutant/{name}-1"))
    for name, wrong, rubric in (*_TABLE, *order_mutants.TABLE)
)
