"""Nobody finds the cause by treating it: remedies are no questions.

Remedies have effects that can be seen, so they could be used to ask. Two checks in one: at
the right service, trying one remedy after another until one works must cost something, and
more where the owners of production had not been paged; and of all plans that mix pages and
remedies, none may be worth much more than paging first, at the beliefs at which an agent
that asks well decides.
"""

from collections.abc import Iterator
from statistics import fmean

from logtriage.actions import Action, Escalate, Remediate, Resolve
from logtriage.audit.failing import score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.plan_search import PlanSearch, Searched
from logtriage.audit.subject import Subject
from logtriage.belief import Belief, belief
from logtriage.grading import TRIAGE_3, Rubric
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.policies.observer import best_question
from logtriage.state import initial_state
from logtriage.transition import play, transition

NO_PRICE = "no incident of the sample is a real fault that can be handed over"
#: From so many remedies on, trying them one after another is probing.
FEWEST = 3


def probing(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The check ``probing``."""
    yield Check("probing", lambda: _probing(subject, sizes, limits))


def _probing(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    incidents = _priced(subject, sizes.same)
    if not incidents:
        return Finding.skipped("probing", NO_PRICE)
    lost = {
        paged: min(loss for one in incidents for loss in _losses(one, subject.rubric, paged=paged))
        for paged in (True, False)
    }
    cheap = (
        lost[True] < limits.probed_paged - limits.tolerance
        or lost[False] < limits.probed_unpaged - limits.tolerance
    )
    told = (
        f"trying {FEWEST} or more remedies at the right service loses at least {lost[True]:.3f} "
        f"after the page and {lost[False]:.3f} before it, {limits.probed_paged:g} and "
        f"{limits.probed_unpaged:g} wanted"
    )
    found = _searched(subject, sizes)
    gain = fmean(one.gain for one in found) if found else None
    if gain is not None:
        told += (
            f"; at {len(found):,} decisions of the observer the best of all plans is worth "
            f"{gain:.4f} more than the best that pages first, at most {limits.probing:g} wanted "
            f"(largest {max(one.gain for one in found):.4f})"
        )
    return Finding.searched(
        "probing",
        found=cheap or (gain is not None and gain > limits.probing),
        settled=all(one.exact for one in found),
        summary=told,
        lost_paged=lost[True],
        lost_unpaged=lost[False],
        decisions=len(found),
        gain=gain,
        largest_gain=max((one.gain for one in found), default=None),
        not_exact=sum(not one.exact for one in found),
        threshold=limits.probing,
    )


def _priced(subject: Subject, count: int) -> list[Incident]:
    """Single faults among the first test incidents that can be handed over."""
    drawn = subject.incidents("test", 4 * count)
    faults = [one for one in drawn if one.truth.remedies and not one.truth.several]
    return [one for one in faults if one.takes_hand_over][:count]


def _losses(incident: Incident, rubric: Rubric, *, paged: bool) -> Iterator[float]:
    """What probing loses for each number of remedies of which each is as likely as the others."""
    truth = incident.truth
    right = Remediate(*min(truth.remedies))
    others = [Remediate(one, right.service) for one in incident.topology.remedies]
    wrong = [one for one in others if (one.remedy, one.service) not in truth.remedies]
    known, page = perfect_actions(incident)[:2], Escalate(min(truth.teams))
    before: tuple[Action, ...] = (*known, page) if paged else known
    perfect = score(play(incident, perfect_actions(incident))[0], rubric)
    earned = []
    for count in range(len(wrong) + 1):
        tried = (*before, *wrong[:count], right)
        ends = [(Resolve(),)] if paged else [(Resolve(),), (page, Resolve())]
        earned.append(max(score(play(incident, (*tried, *end))[0], rubric) for end in ends))
        if count + 1 >= FEWEST:
            yield perfect - fmean(earned)


def _searched(subject: Subject, sizes: Sizes) -> list[Searched]:
    """All plans at the observer's decisions, under the rubric that the planner knows."""
    if subject.rubric.digest != TRIAGE_3.digest:
        return []
    drawn = subject.incidents("test", sizes.beliefs)
    incidents = [one for one in drawn if one.setting is not None and not one.setting.several]
    held = [decision(one) for one in incidents]
    return [PlanSearch(one).search() for one in held if one is not None]


def decision(incident: Incident) -> Belief | None:
    """The belief at which the observer asks no more; None if time ran out first."""
    state = initial_state(incident)
    while not state.is_closed:
        held = belief(state)
        question = best_question(held)
        if question is None:
            return held
        state = transition(state, question)
    return None
