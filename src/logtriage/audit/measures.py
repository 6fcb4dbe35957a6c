"""Each rule answers every state."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from logtriage.audit.failing import Blaming, rules_of
from logtriage.audit.findings import Outcome, judged
from logtriage.audit.sampling import episodes
from logtriage.audit.subject import Subject, Work
from logtriage.dynamics import play
from logtriage.incident import Incident
from logtriage.state import State


def measures(work: Work) -> Outcome:
    """Each rule answers every state, open states too, with a number and a reason."""
    subject = work.subject
    wrong: dict[str, str] = {}
    asked, rules = 0, set[tuple[str, str]]()
    for incident in subject.incidents("test", work.sizes.same):
        for state in _every_state(subject, incident):
            asked += 1
            for kind, name, rule in rules_of(subject.rubric, incident):
                rules.add((kind, name))
                with Blaming(subject.rubric, state):
                    answer = rule(state)
                fault = _unusable(kind, answer)
                if fault:
                    wrong.setdefault(f"{kind} {name!r}", f"{fault} on {incident.id}")
    return judged(
        not wrong,
        "; ".join(f"{who} {what}" for who, what in wrong.items())
        or f"{len(rules)} measures and gates answer each of {asked:,} "
        "states, open and closed, with a number of at most 1 and a reason",
        states=asked,
        wrong=wrong,
    )


def _every_state(subject: Subject, incident: Incident) -> Iterator[State]:
    """Each state that some very different episodes pass through, once."""
    lists = dict.fromkeys(
        end.actions[:length]
        for end in episodes(subject, incident)
        for length in range(len(end.actions) + 1)
    )
    for actions in lists:
        yield play(incident, actions)[0]


def _unusable(kind: str, answer: Any) -> str | None:
    """The fault in the answer of a rule; None if it has none."""
    if kind == "gate":
        fits = answer is None or (isinstance(answer, str) and answer)
        return None if fits else f"returns {answer!r}, expected None or a reason in words"
    if kind == "discount" and answer is None:
        return None
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str)):
        return f"returns {answer!r}, expected a number and its reason"
    number = answer[0]
    if not isinstance(number, int | float) or not isfinite(number):
        return f"returns {number!r}, expected a finite number"
    if number > 1.0 or (kind == "discount" and number < 0.0):
        least = " and at least 0" if kind == "discount" else ""
        return f"returns {number!r}, expected at most 1{least}"
    return None
