"""Nothing to farm: rewards add up to the grade, and answers cannot be enumerated.

*Enumeration* is giving several different answers in a row to the same question. It does not pay
if

* severity, root cause, page: a second answer never adds to the first. Whoever gives
  several has earned, at most, what the first of them earns alone;
* all four, remedies included: no enumeration beats the right answer.

Remedies are left out of the first rule on purpose: they are attempts with an effect that
can be seen, not answers, and a right remedy after a wrong one is still a fix. The check reports
what such an attempt costs. Several faults have several right answers, so for them the second rule
alone holds.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations
from typing import Final

from logtriage.actions import Action, ClassifySeverity, Escalate, IdentifyRootCause, Remediate
from logtriage.audit.failing import Blaming, score
from logtriage.audit.findings import Outcome, judged, untested
from logtriage.audit.sampling import sample_of_kinds
from logtriage.audit.scoring import Scorer
from logtriage.audit.subject import Work
from logtriage.audit.vocabulary import words
from logtriage.evaluation import steps
from logtriage.grading import reward
from logtriage.incident import Incident
from logtriage.policies import ConstantPolicy, RandomPolicy
from logtriage.rng import hash_name
from logtriage.state import initial_state

_Plan = tuple[Action, ...]
#: The kinds of answer that are declared, not attempted.
_DECLARED: Final = (ClassifySeverity, IdentifyRootCause, Escalate)


def telescoping(work: Work) -> Outcome:
    """There is one scorer: rewards on the way add up to the rise of the grade."""
    worst, rubric, played = 0.0, work.subject.rubric, 0
    for incident in work.subject.incidents("test", work.sizes.same):
        perfect = ConstantPolicy(work.subject.perfect(incident))
        for policy in (RandomPolicy(hash_name(incident.id)), perfect):
            played += 1
            states = list(steps(incident, policy))
            with Blaming(rubric, doing=f"rewards of an episode of {incident.id}"):
                paid = sum(reward(before, after, rubric) for before, after in pairwise(states))
            risen = score(states[-1], rubric) - score(initial_state(incident), rubric)
            worst = max(worst, abs(paid - risen))
    return judged(
        worst <= work.limits.tolerance,
        f"the rewards of {played} episodes, random and perfect, add up to what the grade rose by, "
        f"to within {worst:.1g}",
        worst=worst,
    )


def enumeration(work: Work) -> Outcome:
    """No enumeration earns more than its first answer; no list of remedies more than the right."""
    worst: tuple[float, str] = (0.0, "")
    compared, all_remedies = 0, []
    for incident in work.shared(sample_of_kinds):
        scorer = Scorer([incident], work.subject.rubric)
        right = work.subject.perfect(incident)
        full = scorer.mean(right)
        for slot, choices in _choices(incident, scorer.actions):
            lists: list[_Plan] = [(choice,) for choice in choices]
            lists += permutations(choices, 2)
            lists += [tuple(choices), tuple(reversed(choices))]
            scores = scorer.means([_with(right, slot, answers) for answers in lists]).tolist()
            alone = dict(zip(choices, scores, strict=False))
            for answers, got in list(zip(lists, scores, strict=True))[len(choices) :]:
                many = slot is Remediate or len(incident.truth.several) > 1
                limit = full if many else min(full, alone[answers[0]])
                compared += 1
                worst = max(worst, (got - limit, f"{incident.id}: {words(answers)}"))
                if slot is Remediate and len(answers) == len(choices):
                    all_remedies.append(got)
    if not compared:
        return untested("no answer of these incidents has an alternative")
    pays = worst[0] > work.limits.tolerance
    lead = (
        f"{worst[1]} earns {worst[0]:.4f} more than its first answer alone"
        if pays
        else f"none of {compared:,} enumerations earns more than its first answer alone, "
        "or for remedies than the right one"
    )
    left = sum(all_remedies) / len(all_remedies) if all_remedies else None
    price = "" if left is None else f"; trying all remedies on the right service leaves {left:.3f}"
    return judged(
        not pays,
        lead + price,
        compared=compared,
        gain=worst[0],
        witness=worst[1] if pays else None,
        all_remedies_tried=left,
    )


def _choices(
    incident: Incident, actions: Sequence[Action]
) -> Iterator[tuple[type[Action], list[Action]]]:
    """The answers of each type that has any, with all that can be said besides if it is graded."""
    for slot in _DECLARED:
        yield slot, [action for action in actions if isinstance(action, slot)]
    services = sorted({service for _, service in incident.truth.remedies})
    if services:
        remedies = incident.topology.remedies
        yield Remediate, [Remediate(remedy, name) for name in services for remedy in remedies]


def _with(plan: _Plan, slot: type[Action], answers: Sequence[Action]) -> _Plan:
    """A plan with these answers in place of its own; before the end if it has none."""
    places = [place for place, action in enumerate(plan) if isinstance(action, slot)]
    at = places[0] if places else max(0, len(plan) - 1)
    return (*plan[:at], *answers, *plan[at + bool(places) :])
