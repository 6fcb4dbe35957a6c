"""Every field of every action: no measure fails on it, and no field pays beside the answer.

What an agent says beside its answers costs nothing, so it must earn nothing: no text, no
reason, no report, no author. A confidence may be graded, as long as no wrong answer is
worth more with a confidence than without an answer.
"""

from collections.abc import Hashable, Iterator
from math import isfinite
from typing import Any

import attrs

from logtriage.actions import Action, IdentifyRootCause
from logtriage.audit.exact import Situations
from logtriage.audit.failing import Blaming, rules_of, score
from logtriage.audit.findings import Outcome, judged, untested
from logtriage.audit.sampling import episodes, sample_of_kinds, varied_lists
from logtriage.audit.subject import Subject, Work
from logtriage.audit.vocabulary import (
    FINELY,
    IDLE,
    OPINIONS,
    SAID,
    untested_fields,
    variations,
    vocabulary,
    words,
)
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import play, transition

_Plan = tuple[Action, ...]
#: The largest change of score by each field, with the history that shows it.
_Largest = dict[str, tuple[float, str]]

# -- measures ---------------------------------------------------------------------------


def measures(work: Work) -> Outcome:
    """Each rule answers every state, open states too, with a number and a reason."""
    subject = work.subject
    wrong: dict[str, str] = {}
    asked, rules = 0, set[tuple[str, str]]()
    spans: dict[str, tuple[float, float]] = {}
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
                elif kind != "gate" and answer is not None:
                    low, high = spans.get(name, (answer[0], answer[0]))
                    spans[name] = min(low, answer[0]), max(high, answer[0])
    return judged(
        not wrong,
        "; ".join(f"{who} {what}" for who, what in wrong.items())
        or f"{len(rules)} measures and gates answer each of {asked:,} "
        "states, open and closed, with a number of at most 1 and a reason",
        states=asked,
        wrong=wrong,
        spans={name: list(span) for name, span in spans.items()},
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


# -- what is said -------------------------------------------------------------------------


def fields(work: Work) -> Outcome:
    """No text, reason, report or author moves a score; no wrong answer is paid for a confidence."""
    tried = 0
    moved: _Largest = {}
    paid: _Largest = {}
    for incident in work.shared(sample_of_kinds):
        for field, history, change, gain in _changes(work.subject, incident):
            tried += 1
            for largest, by in ((moved, change), (paid, gain)):
                if by > max(work.limits.tolerance, largest.get(field, (0.0, ""))[0]):
                    largest[field] = by, f"{incident.id}: {words(history)}"
    lead = [
        f"{name} alone moves the score by {by:.4f} ({history})"
        for name, (by, history) in moved.items()
        if name not in OPINIONS
    ] + [
        f"a wrong answer earns {by:.4f} more than none for its {name} ({history})"
        for name, (by, history) in paid.items()
    ]
    never_varied = untested_fields(work.subject.incident("train", 0).topology)
    evidence = {
        "tried": tried,
        "moved": {name: by for name, (by, _) in moved.items()},
        "paid": {name: by for name, (by, _) in paid.items()},
        "untested": list(never_varied),
    }
    if lead:
        return judged(False, "; ".join(lead), **evidence)
    if never_varied:
        return untested(f"never varied: {', '.join(never_varied)}", **evidence)
    return judged(
        True,
        f"{', '.join(sorted(set(SAID) - OPINIONS))} change no score, and no wrong answer is paid "
        f"for its {' or '.join(sorted(OPINIONS))} ({tried:,} changes)"
        + "".join(f"; {name} moves it by up to {by:.4f}" for name, (by, _) in moved.items()),
        **evidence,
    )


def _changes(subject: Subject, incident: Incident) -> Iterator[tuple[str, _Plan, float, float]]:
    """(field, history, change of score, gain) for each thing said at each place of some lists.

    The gain is how much more a wrong answer earns than silence; 0 for right answers.
    """

    def worth(plan: _Plan) -> float:
        return score(play(incident, plan)[0], subject.rubric)

    perfect = subject.perfect(incident)
    speaking = [action for action in vocabulary(incident.topology) if any(variations(action))]
    for base in dict.fromkeys([(), perfect, perfect[:-1]]):
        for action in dict.fromkeys(map(_unsaid, speaking)):
            for place in _places(base, action):
                here = worth(_put(base, place, action))
                without = worth(_put(base, place, IDLE, action))
                for field, values in FINELY.items():
                    for varied in variations(action, {field: values}):
                        history = _put(base, place, varied)
                        earned = worth(history)
                        gain = earned - without if earned > here else 0.0
                        wrong = _is_wrong(varied, incident)
                        yield field, history, abs(earned - here), gain if wrong else 0.0


def _unsaid(action: Action) -> Action:
    """The action with the first value of everything that it says."""
    names = {field.name for field in attrs.fields(type(action))}
    return attrs.evolve(action, **{name: SAID[name][0] for name in SAID if name in names})


def _places(base: _Plan, action: Action) -> Iterator[int]:
    """The places of answers of that type; without any, each place of the list."""
    same = [place for place, other in enumerate(base) if type(other) is type(action)]
    yield from same or range(len(base) + 1)


def _put(base: _Plan, place: int, action: Action, answer: Action | None = None) -> _Plan:
    """The list with an action in place of an answer of its type (or of ``answer``'s), or put in."""
    kind = type(action if answer is None else answer)
    instead = place < len(base) and type(base[place]) is kind
    return (*base[:place], action, *base[place + instead :])


def _is_wrong(action: Action, incident: Incident) -> bool:
    return (
        isinstance(action, IdentifyRootCause) and action.service not in incident.truth.root_causes
    )


# -- what is read -------------------------------------------------------------------------


def reads_suffice(work: Work) -> Outcome:
    """Histories with equal reads are worth the same, now and later."""
    subject = work.subject
    compared, fault = 0, None
    for incident in work.shared(sample_of_kinds):
        situations = Situations(incident, subject.rubric, subject.reads)
        if not situations.exact:
            return untested(f"nobody says what is read by {', '.join(situations.unknown)}")
        known: dict[Hashable, tuple[State, Hashable]] = {}
        for actions in varied_lists(subject, incident, 10 * work.sizes.same):
            state = twin = initial_state(incident)
            for action in actions:
                if state.is_closed or twin.is_closed:
                    break
                state = transition(state, action)
                twin = transition(twin, situations.classes[situations.class_of(action)])
                here = situations.of(state), score(state, subject.rubric)
                first, worth = known.setdefault((state.tick, here[0]), (state, here[1]))
                compared += 2
                if here != (situations.of(twin), score(twin, subject.rubric)):
                    fault = fault or (state, twin)
                if worth != here[1]:
                    fault = fault or (state, first)
    lead = f"{compared:,} comparisons of histories of which the reads say the same: worth the same"
    if fault is not None:
        left, right = (words(state.actions) for state in fault)
        lead = f"the reads miss something: on {fault[0].incident.id}, [{left}] and [{right}] differ"
    return judged(fault is None, lead, compared=compared)
