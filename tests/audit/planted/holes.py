"""Holes planted on purpose, each with the check that must find it.

The mutants beside it have one *mistake* each, which tests of a rubric must notice. Holes are
what an audit must notice: points for nothing, for guessing, for claims; truths that leak; code
that fails. Every hole is sound as data. ``tests/audit/test_holes.py`` proves that each is
found, and that the same task without it passes the same check.
"""

from typing import Any, Final

import attrs

from logtriage.audit.findings import Finding
from logtriage.audit.limits import QUICK, Sizes
from logtriage.audit.run import FAMILIES, audit
from logtriage.audit.subject import Draw, Oracle
from logtriage.grading import Rubric
from tests.audit.planted import measures as planted
from tests.audit.planted.changed_rubrics import (
    only,
    with_discounts,
    with_gates,
    with_measures,
    with_row,
)
from tests.audit.planted.mutants import MUTANTS
from tests.audit.planted.tasks import (
    COMPOUND_TASK,
    OTHER_TASK,
    SIGNS_TASK,
    TASK,
    WORLD_TASK,
    all_quiet,
    benign,
    cheap_where_benign,
    even_is_p1,
    left_first,
    named_by_the_root,
    named_by_the_seed,
    one_incident,
    pickled_with_the_root,
    root_first,
    the_same_in_every_split,
    told_by_the_directory,
    told_by_the_horizon,
    told_by_the_id,
    unnoticed,
)

#: Enough to find every hole of this library: most within half a second.
FEW: Final[Sizes] = attrs.evolve(
    QUICK, search=6, panel=24, oracle=3, kinds=2, same=4, histories=50, slow=2, models=1,
    worths=20, twins=6,
)  # fmt: skip


@attrs.frozen
class Hole:
    """What is wrong, and the check of a family that must find it.

    ``task``, ``rubric`` and ``oracle`` are what :func:`logtriage.audit.audit` is given; ``sound``
    is the task with nothing planted where ``task`` draws on its own. ``sizes`` are larger where few
    incidents do not show it.
    """

    name: str
    wrong: str
    check: str
    task: str | Draw = TASK
    rubric: Rubric | None = None
    oracle: Oracle | None = None
    sound: str | Draw = TASK
    sizes: Sizes = FEW

    @property
    def family(self) -> str:
        """The family of the check."""
        return next(family for family, checks in FAMILIES.items() if self.check in checks)

    def audited(self) -> Finding:
        """What the check finds."""
        report = audit(
            self.task, self.rubric, oracle=self.oracle, families=[self.family],
            checks=[self.check], sizes=self.sizes,
        )  # fmt: skip
        return report.finding(self.check)

    def mended(self) -> "Hole":
        """The same check on the same task, with nothing planted."""
        task = self.task if isinstance(self.task, str) else self.sound
        return attrs.evolve(self, task=task, rubric=None, oracle=None)


#: Pays for looking, and is sound: ``looking_oracle`` earns the most that can be had.
LOOKING: Final = attrs.evolve(
    with_row("looked_first", planted.looked_first, 0.05), id="sound/looking-1"
)
_MUTANTS: Final = {mutant.name: mutant for mutant in MUTANTS}


def _planted(
    name: str, wrong: str, check: str, rubric: Rubric, task: str = TASK, **more: Any
) -> Hole:
    return Hole(name, wrong, check, task, attrs.evolve(rubric, id=f"hole/{name}-1"), **more)


def _mutant(name: str, check: str, task: str = TASK) -> Hole:
    return Hole(name, _MUTANTS[name].wrong, check, task, _MUTANTS[name].rubric)


_MEASURES: Final = (
    _planted("fails-on-silence", "a measure raises where nothing was declared", "measures",
             with_measures(root_cause=planted.fails_on_silence)),
    _planted("not-a-number", "a measure gives NaN where no remedy was tried", "measures",
             with_measures(remediation=planted.not_a_number)),
    _planted("outweighs", "a measure gives 5, and so outweighs all others", "measures",
             with_measures(root_cause=planted.outweighs)),
    _planted("gate-of-bools", "a gate answers False, which is no None: it always holds", "measures",
             with_gates(wrong_escalation=planted.gate_of_bools)),
    _planted("no-reason", "a measure gives no reason", "measures",
             with_measures(severity=planted.no_reason)),
)  # fmt: skip
_CEILING: Final = (
    _mutant("closure-at-once", "oracle"),
    attrs.evolve(_mutant("benign-as-real", "oracle"), task=benign, sound=benign),
    _planted("unseen-oracle", "the rubric pays for looking, and the oracle never looks",
             "exact-maximum", LOOKING),
    _planted("forgetful-oracle", "a user's oracle leaves the incident open", "oracle", LOOKING,
             oracle=planted.forgetful_oracle),
    _planted("failing-oracle", "a user's oracle raises on benign incidents", "oracle", LOOKING,
             oracle=planted.failing_oracle),
    _planted("hindsight", "naming the cause after the fix is worth more", "exact-maximum",
             with_measures(root_cause=planted.hindsight)),
    attrs.evolve(_mutant("ignore-gate-on-benign", "exact-maximum"), task=benign, sound=benign),
    _mutant("page-gate-dropped", "mis-page"),
    _mutant("page-gate-first-only", "mis-page"),
    _planted("page-gate-until-fixed", "a mis-page after the fix is free", "mis-page",
             with_gates(wrong_escalation=planted.page_gate_until_the_fix)),
)  # fmt: skip
_FLOOR: Final = (
    _mutant("closure-unfixed", "idle"),
    _mutant("closure-claimed", "idle"),
    _planted("asked-for", "an unreadable reply that asks for a score counts as a severity", "idle",
             with_measures(severity=planted.asked_for)),
    _mutant("severity-silence", "idle", OTHER_TASK),
    _planted("frugality", "asking for few logs pays before anything is done", "idle",
             with_row("frugality", planted.frugality)),
    _planted("breadth", "every service looked at pays, whatever follows", "idle",
             with_row("breadth", planted.breadth)),
    _planted("one-look", "exactly one request for logs pays", "idle",
             with_row("one_look", planted.one_look)),
    _planted("effort", "every action pays a little", "idle", with_row("effort", planted.effort)),
    _planted("any-remedy", "any remedy on any service is right", "blind",
             only("any_remedy", planted.any_remedy)),
    _planted("upstream", "whoever waits for the root cause is as right as the root cause",
             "shallow", only("upstream", planted.upstream), SIGNS_TASK),
    _planted("fixed-anyhow", "a fix is everything, and attempts are free: nobody need read a line",
             "unread", only("fixed", planted.fixed_anyhow)),
    _planted("any-word", "any declaration is right", "chance", only("any_word", planted.any_word)),
    _planted("at-once", "only who names the root cause at first is right", "expert",
             only("at_once", planted.at_once)),
    _planted("all-or-nothing", "only the perfect list earns: nobody else earns anything", "expert",
             only("all_or_nothing", planted.all_or_nothing)),
)  # fmt: skip
_HISTORIES: Final = (
    _planted("text-pays", "'resolved' in an unreadable reply counts as closing, once it is fixed",
             "undeserved", with_measures(closure=planted.text_after_the_fix)),
    _planted("author-pays", "what a certain author wrote counts as closing", "undeserved",
             with_measures(closure=planted.signed_by_audit)),
    _planted("report-pays", "a report to the others counts as closing", "undeserved",
             with_measures(closure=planted.reported)),
    _planted("reason-costs", "the words of the reason why a reply was not read count", "undeserved",
             with_measures(closure=planted.reason_of_failure)),
    _planted("confidence-zero", "0.10 for any service named with confidence 0", "undeserved",
             with_measures(root_cause=planted.unsure)),
    _planted("confidence-magic", "0.10 for any service named with confidence 0.37", "undeserved",
             with_measures(root_cause=planted.magic_confidence)),
    _planted("confidence-eighth", "0.10 for any service named with confidence 0.125", "undeserved",
             with_measures(root_cause=planted.confidence_of_an_eighth)),
    _mutant("severity-last", "undeserved"),
    _mutant("root-cause-last", "undeserved"),
    _mutant("root-cause-any", "undeserved"),
    _mutant("root-cause-symptom", "undeserved"),
    _mutant("remediation-there", "undeserved", OTHER_TASK),
    _mutant("root-cause-confident", "undeserved"),
    _planted("widely-treated", "remedies of many kinds are worth more than the right one",
             "undeserved", with_measures(remediation=planted.widely_treated)),
    _planted("brier", "a wrong answer given with confidence 0 is worth a right one", "undeserved",
             with_measures(root_cause=planted.brier)),
    _planted("ood-any-cause", "any cause pays in split ood", "undeserved",
             with_measures(root_cause=planted.any_cause_in_ood)),
    _planted("late-any-cause", "any cause pays for numbers from 100,000 on", "undeserved",
             with_measures(root_cause=planted.any_cause_from_100_000_on)),
    _planted("worth-any-cause", "any cause pays where a hand-over is worth 0.5", "undeserved",
             with_measures(root_cause=planted.any_cause_at_one_worth)),
    _planted("six-looks-any-cause", "any cause pays after looking at six services", "undeserved",
             with_measures(root_cause=planted.any_cause_after_six_looks)),
    _planted("impact-of-four", "a report of four calls pays as the root cause", "undeserved",
             with_measures(root_cause=planted.impact_of_four_calls)),
    _planted("four-severities", "the fourth severity pays whatever it is", "undeserved",
             with_measures(severity=planted.four_severities)),
    _planted("two-requests", "two requests for logs cost most of the root cause", "looks",
             with_measures(root_cause=planted.two_requests)),
    _mutant("closure-diligence", "looks"),
    _planted("remedies-again", "the right remedy pays each time", "undeserved",
             with_measures(remediation=planted.remedies_again)),
    _mutant("severity-inverted", "monotonicity"),
    _planted("humble", "of two right answers the less confident one earns more", "monotonicity",
             with_measures(root_cause=planted.humble)),
    _planted("quiet-fix", "the right page before the fix costs most of the rest", "monotonicity",
             with_discounts(unapproved=planted.quiet_fix)),
)  # fmt: skip
_LEAKS: Final = (
    Hole("told-by-the-horizon", "benign incidents end one tick earlier", "leaks",
         told_by_the_horizon, sound=OTHER_TASK),
    Hole("test-is-train", "the incidents of test are those of train", "splits",
         the_same_in_every_split),
    Hole("named-by-the-root", "the name of the topology tells the root cause", "screens",
         named_by_the_root, sound=WORLD_TASK, sizes=attrs.evolve(FEW, screens=400)),
    Hole("pickled-with-the-root", "a field that no text shows is pickled, and names the root cause",
         "screens", pickled_with_the_root, sound=WORLD_TASK),
    Hole("named-by-the-seed", "the seed can be computed from the name of the topology", "seeds",
         named_by_the_seed, sound=WORLD_TASK),
    Hole("one-incident", "every incident is the same one", "variety", one_incident),
    Hole("even-is-p1", "even numbers are P1", "leaks", even_is_p1),
    Hole("told-by-the-id", "the length of the id tells the severity", "leaks", told_by_the_id),
    Hole("told-by-the-directory", "owners are overridden in P1 incidents alone", "leaks",
         told_by_the_directory),
)  # fmt: skip
_STABILITY: Final = (
    _mutant("root-cause-salted", "determinism"),
    _planted("by-the-clock", "a measure reads the clock", "determinism",
             with_measures(severity=planted.by_the_clock)),
    _planted("remembers", "the second grade of an episode is not the first", "replay",
             with_measures(severity=planted.tires)),
    _mutant("root-cause-by-id", "blindness"),
    _planted("directory-owner", "the owner in the directory is taken for the right team",
             "blindness", with_measures(escalation=planted.directory_owner),
             sizes=attrs.evolve(FEW, same=10)),
    _planted("names-a-service", "a measure names a service, and raises where there is none such",
             "renaming", with_measures(root_cause=planted.names_a_service)),
)  # fmt: skip
_WORLD: Final = (
    Hole("root-first", "what the root says is listed first", "fairness", root_first,
         sound=WORLD_TASK),
    Hole("left-first", "after the first fix of several, what the others say is listed first",
         "fairness", left_first, sound=COMPOUND_TASK),
    Hole("unnoticed", "every fault is a P3, the edge panel is blurred, nothing alerts", "symptom",
         unnoticed, sound=WORLD_TASK),
    Hole("without-doubt", "the evidence leaves so little doubt that no hand-over pays", "risk",
         all_quiet, sound=SIGNS_TASK),
    Hole("cheap-where-benign", "a hand-over is never worth 0.9 where nothing is broken", "leaks",
         cheap_where_benign, sound=SIGNS_TASK, sizes=attrs.evolve(FEW, leaks=1200)),
)  # fmt: skip
#: Every hole, by the family of the check that finds it.
HOLES: Final = (*_MEASURES, *_CEILING, *_FLOOR, *_HISTORIES, *_LEAKS, *_STABILITY, *_WORLD)
