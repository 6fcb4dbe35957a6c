"""Nothing to farm: answers cannot be enumerated, and being more right never costs.

*Enumeration* of an answer is giving several different ones in a row where one is asked
for. It does not pay if

* severity, root cause, page: a second answer never adds to the first. Whoever gives
  several has earned, at most, what the first of them earns alone;
* all four, remedies included: no enumeration beats the one right answer.

Remedies are left out of the first rule on purpose: they are attempts with an effect that
can be seen, not answers, and a right one after a wrong one is still a fix. What such an
attempt costs is reported.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations
from typing import Final

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
)
from logtriage.audit.failing import Blaming, score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.sampling import sample_of_kinds
from logtriage.audit.scoring import Scorer
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import word
from logtriage.evaluation import steps
from logtriage.grading import reward
from logtriage.incident import Incident
from logtriage.policies import ConstantPolicy, RandomPolicy
from logtriage.rng import hash_name
from logtriage.state import initial_state

_Plan = tuple[Action, ...]
#: The kinds of answer that are declared, not attempted.
_DECLARED: Final = (ClassifySeverity, IdentifyRootCause, Escalate)


def farming(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``telescoping`` and ``enumeration``."""
    yield Check("telescoping", lambda: _telescoping(subject, sizes, limits))
    yield Check(
        "enumeration", lambda: _enumeration(subject, sample_of_kinds(subject, sizes), limits)
    )


def _telescoping(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    """There is one scorer: what is paid on the way is what the grade rose by."""
    worst, rubric, played = 0.0, subject.rubric, 0
    for incident in subject.incidents("test", sizes.same):
        perfect = ConstantPolicy(subject.perfect(incident))
        for policy in (RandomPolicy(hash_name(incident.id)), perfect):
            played += 1
            states = list(steps(incident, policy))
            with Blaming(rubric, doing=f"rewards of an episode of {incident.id}"):
                paid = sum(reward(a, b, rubric) for a, b in pairwise(states))
            risen = score(states[-1], rubric) - score(initial_state(incident), rubric)
            worst = max(worst, abs(paid - risen))
    return Finding.judged(
        "telescoping",
        worst <= limits.tolerance,
        f"the rewards of {played} episodes, random and perfect, add up to what the grade rose by, "
        f"to within {worst:.1g}",
        worst=worst,
    )


def _choices(incident: Incident, slot: type[Action], words: Sequence[Action]) -> list[Action]:
    """The answers of a type, with all that can be said besides where that may be graded."""
    if slot is not Remediate:
        return [one for one in words if isinstance(one, slot)]
    services = {service for _, service in incident.truth.remedies}
    return [
        Remediate(remedy, name)
        for name in sorted(services)
        for remedy in incident.topology.remedies
    ]


def _with(plan: _Plan, slot: type[Action], answers: Sequence[Action]) -> _Plan:
    """A plan with these answers where its one stood; before the end if it had none."""
    places = [place for place, one in enumerate(plan) if isinstance(one, slot)]
    at = places[0] if places else max(0, len(plan) - 1)
    return (*plan[:at], *answers, *plan[at + bool(places) :])


def _enumeration(subject: Subject, kinds: list[Incident], limits: Thresholds) -> Finding:
    worst: tuple[float, str] = (0.0, "")
    compared, tries = 0, []
    for incident in kinds:
        scorer = Scorer([incident], subject.rubric)
        right = subject.perfect(incident)
        full = scorer.mean(right)
        for slot in (*_DECLARED, Remediate):
            choices = _choices(incident, slot, scorer.actions)
            if not choices:
                continue
            lists: list[tuple[Action, ...]] = [(one,) for one in choices]
            lists += permutations(choices, 2)
            lists += [tuple(choices), tuple(reversed(choices))]
            scores = scorer.means([_with(right, slot, answers) for answers in lists]).tolist()
            alone = {one: scores[place] for place, one in enumerate(choices)}
            for answers, got in zip(lists[len(choices) :], scores[len(choices) :], strict=True):
                limit = full if slot is Remediate else min(full, alone[answers[0]])
                compared += 1
                worst = max(worst, (got - limit, f"{incident.id}: {_told(answers)}"))
                if slot is Remediate and len(answers) == len(choices):
                    tries.append(got)
    if not compared:
        return Finding.untested("enumeration", "no answer of these incidents has an alternative")
    pays = worst[0] > limits.tolerance
    lead = (
        f"{worst[1]} earns {worst[0]:.4f} more than its first answer alone"
        if pays
        else f"none of {compared:,} enumerations earns more than its first answer alone, "
        "or for remedies than the right one"
    )
    kept = sum(tries) / len(tries) if tries else None
    price = "" if kept is None else f"; trying all remedies on the right service leaves {kept:.3f}"
    return Finding.judged(
        "enumeration",
        not pays,
        lead + price,
        compared=compared,
        gain=worst[0],
        witness=worst[1] if pays else None,
        all_remedies_tried=kept,
    )


def _told(answers: Sequence[Action]) -> str:
    return ", ".join(map(word, answers))
