"""Remedies are no questions: treating must not be a way to find the cause.

Remedies have visible effects, so they could be used to ask. At the right service, trying one
remedy after another until one works must cost something, and more if the owners of production
had not been paged. And no plan that mixes pages and remedies may be worth much more than paging
first, at the beliefs at which an agent that asks well decides.
"""

from collections.abc import Iterator
from statistics import fmean

from logtriage.actions import Action, Escalate, Remediate, Resolve
from logtriage.audit.failing import score
from logtriage.audit.findings import Outcome, searched, skipped
from logtriage.audit.plan_search import PlanSearch, Searched
from logtriage.audit.subject import Work
from logtriage.belief import Belief, belief
from logtriage.grading import TRIAGE_3, Rubric
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.policies.observer import best_question
from logtriage.state import initial_state
from logtriage.transition import play, transition

NO_PRICE = "no incident of the sample is a real fault that can be handed over"
#: Trying so many remedies one after another, or more, is probing.
FEWEST = 3


def probing(work: Work) -> Outcome:
    """Trying remedies loses enough, and no plan that mixes pages and remedies gains much."""
    limits, rubric = work.limits, work.subject.rubric
    faults = _priced_faults(work)
    if not faults:
        return skipped(NO_PRICE)
    lost = {
        paged: min(loss for fault in faults for loss in _losses(fault, rubric, paged=paged))
        for paged in (True, False)
    }
    cheap = (
        lost[True] < limits.probed_paged - limits.tolerance
        or lost[False] < limits.probed_unpaged - limits.tolerance
    )
    summary = (
        f"trying {FEWEST} or more remedies at the right service loses at least {lost[True]:.3f} "
        f"after the page and {lost[False]:.3f} before it, {limits.probed_paged:g} and "
        f"{limits.probed_unpaged:g} wanted"
    )
    plans = _searched(work)
    gain = fmean(plan.gain for plan in plans) if plans else None
    largest = max((plan.gain for plan in plans), default=None)
    if gain is not None:
        summary += (
            f"; at {len(plans):,} decisions of the observer the best of all plans is worth "
            f"{gain:.4f} more than the best that pages first, at most {limits.probing:g} wanted "
            f"(largest {largest:.4f})"
        )
    return searched(
        broken=cheap or (gain is not None and gain > limits.probing),
        settled=all(plan.exact for plan in plans),
        summary=summary,
        lost_paged=lost[True],
        lost_unpaged=lost[False],
        decisions=len(plans),
        gain=gain,
        largest_gain=largest,
        not_exact=sum(not plan.exact for plan in plans),
        threshold=limits.probing,
    )


def _priced_faults(work: Work) -> list[Incident]:
    """Single faults among the first test incidents that can be handed over."""
    drawn = work.subject.incidents("test", 4 * work.sizes.same)
    faults = [
        incident for incident in drawn if incident.truth.remedies and not incident.truth.several
    ]
    return [fault for fault in faults if fault.takes_hand_over][: work.sizes.same]


def _losses(incident: Incident, rubric: Rubric, *, paged: bool) -> Iterator[float]:
    """For each number of equally likely remedies: the loss by trying them in turn."""
    truth = incident.truth
    right = Remediate(*min(truth.remedies))
    wrong = [
        Remediate(remedy, right.service)
        for remedy in incident.topology.remedies
        if (remedy, right.service) not in truth.remedies
    ]
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


def _searched(work: Work) -> list[Searched]:
    """All plans at the observer's decisions, under the rubric that the planner knows."""
    if work.subject.rubric.digest != TRIAGE_3.digest:
        return []
    drawn = work.subject.incidents("test", work.sizes.beliefs)
    single = [
        incident
        for incident in drawn
        if incident.setting is not None and not incident.setting.several
    ]
    beliefs = map(decision, single)
    return [PlanSearch(held).search() for held in beliefs if held is not None]


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
