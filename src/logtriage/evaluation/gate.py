"""Is a run no worse than a baseline? Paired non-inferiority, for agents in CI.

Four measures of each policy, over all tasks of the baseline: incidents without a
grade, the mean grade, mis-pages and false alarms. Each of the last three is compared
incident by incident, and its 95 % interval is held against a margin (:class:`Verdict`).
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from statistics import fmean
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.evaluation.compare import is_constant, pair_runs, unpaired
from logtriage.evaluation.episodes import alarmed, mis_paged, played_state
from logtriage.evaluation.loading import LoadedRun
from logtriage.evaluation.repeats import attempts_at
from logtriage.evaluation.statistics import (
    Interval,
    mean_known,
    paired_difference,
    paired_share_difference,
)
from logtriage.grading import Grade
from logtriage.state import State

#: Below this many incidents a bootstrap interval is not trusted.
LEAST: Final = 20
UNSCORED, GRADE, MIS_PAGED, FALSE_ALARM = "unscored", "grade", "mis_paged", "false_alarm"


class Verdict(StrEnum):
    """The result of a measure."""

    #: A loss of the margin or more is ruled out, with an error of 2.5 %.
    NO_WORSE = "no worse"
    #: The interval reaches beyond the margin, and lies below no difference.
    WORSE = "worse"
    #: It reaches beyond the margin and past no difference: too few incidents to tell.
    UNDECIDED = "undecided"
    #: There is nothing to measure it by, as false alarms without benign incidents.
    UNMEASURED = "unmeasured"


def _margin(_: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    if not 0.0 < value < 1.0:
        raise InvalidInput(f"margin of {attribute.name}: expected more than 0 and below 1: {value}")


@attrs.frozen
class Margins:
    """How much worse each measure may be: points of the grade, and shares of incidents."""

    grade: float = attrs.field(default=0.05, validator=_margin)
    mis_paged: float = attrs.field(default=0.05, validator=_margin)
    false_alarm: float = attrs.field(default=0.1, validator=_margin)


@attrs.frozen
class Check:
    """One measure of one policy.

    ``run`` and ``base`` are its values over the ``incidents`` that both runs have graded, and
    ``difference`` is run - base. A mis-page is an incident in which a wrong team was paged, if its
    teams are known; a false alarm is a benign incident with a page or a remedy. Of several attempts
    at an incident the mean counts. For ``unscored`` the values are counts over the incidents that
    the base has graded: those in which the run lacks a larger share of its attempts.
    """

    policy: str
    base_policy: str
    measure: str
    verdict: Verdict
    incidents: int
    run: float | None = None
    base: float | None = None
    difference: Interval | None = None
    margin: float | None = None


def gate_runs(
    run: LoadedRun,
    base: LoadedRun,
    margins: Margins | None = None,
    *,
    policy: str | None = None,
    base_policy: str | None = None,
) -> tuple[Check, ...]:
    """Check a run against a baseline; pairs and errors as of :func:`~.compare.compare_runs`.

    Agents that only the base has are worse; shipped policies need no partner.
    """
    pairs, _ = pair_runs(base, run, base_policy, policy)
    # A list of actions that stands beside agents never gets worse.
    pairs = [pair for pair in pairs if not is_constant(pair[1])] or pairs
    checks = [
        check
        for theirs, ours in pairs
        for check in _checks(run, base, ours, theirs, margins or Margins())
    ]
    if policy is None and base_policy is None:
        for name in unpaired(base, run)[0]:  # those of the base
            lost = len(attempts_at(base, name, base.tasks).graded)
            if lost and not base.is_scripted(name):
                worse = Check(name, name, UNSCORED, Verdict.WORSE, lost, run=float(lost), base=0.0)
                checks.append(worse)
    if not any(check.incidents for check in checks):
        raise InvalidInput(f"{base.directory} has no scored incident that {run.directory} plays")
    return tuple(checks)


def _checks(
    run: LoadedRun, base: LoadedRun, ours: str, theirs: str, margins: Margins
) -> Iterator[Check]:
    # Over the base's tasks: what the run leaves out is lost, a whole task as well as an incident.
    before, after = attempts_at(base, theirs, base.tasks), attempts_at(run, ours, run.tasks)
    lost = sum(after.missing(name) > before.missing(name) for name in before.graded)
    verdict = Verdict.WORSE if lost else Verdict.NO_WORSE
    yield Check(ours, theirs, UNSCORED, verdict, len(before.graded), run=float(lost), base=0.0)
    shared = [name for name in before.graded if name in after.graded]
    old_scores, new_scores = before.scores, after.scores
    grades = [(old_scores[name], new_scores[name]) for name in shared]
    unmeasured = Check(ours, theirs, GRADE, Verdict.UNMEASURED, incidents=0)
    yield judged(unmeasured, grades, margins.grade)
    for measure, value, margin in (
        (MIS_PAGED, mis_paged, margins.mis_paged),
        (FALSE_ALARM, alarmed, margins.false_alarm),
    ):
        shares = (
            (_share(base, before.graded[name], value), _share(run, after.graded[name], value))
            for name in shared
        )
        known = [(old, new) for old, new in shares if old is not None and new is not None]
        yield judged(attrs.evolve(unmeasured, measure=measure), known, margin)


def _share(
    run: LoadedRun, attempts: Sequence[Grade], happened: Callable[[State], bool | None]
) -> float | None:
    """The share of attempts at an incident in which something happened; None if not known."""
    states = (played_state(run.incidents(grade.incident), grade) for grade in attempts)
    return mean_known(map(happened, states))


def judged(check: Check, pairs: Sequence[tuple[float, float]], margin: float) -> Check:
    """A check of (base, run) pairs: of grades, of which more is better, or of shares."""
    if not pairs:
        return check
    before, after = zip(*pairs, strict=True)
    graded = check.measure == GRADE
    difference = (paired_difference if graded else paired_share_difference)(before, after)
    assert difference is not None  # there is a pair
    low, high = difference.bounds
    if not graded:  # then less is better: these are bounds of the gain
        low, high = -high, -low
    verdict = Verdict.WORSE if high < 0.0 else Verdict.UNDECIDED
    if low > -margin:
        verdict = Verdict.NO_WORSE
    if graded and len(pairs) < LEAST:
        verdict = Verdict.UNDECIDED
    return attrs.evolve(
        check,
        verdict=verdict,
        incidents=len(pairs),
        run=fmean(after),
        base=fmean(before),
        difference=difference,
        margin=margin,
    )
