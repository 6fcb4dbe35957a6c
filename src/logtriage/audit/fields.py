"""Every field of every action: whether measures bear it, and whether saying something pays.

What an agent says beside its answers costs nothing, so it must earn nothing: no text, no
reason, no report, no author. A confidence may be graded, as long as no wrong answer is
worth more than none for being given with the right one.
"""

from collections.abc import Hashable, Iterator
from math import isfinite
from typing import Any

import attrs

from logtriage.actions import Action, IdentifyRootCause
from logtriage.audit.exact import Situations
from logtriage.audit.failing import Blaming, rules_of, score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.sampling import episodes, sample_of_kinds, varied_lists
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import (
    FINELY,
    IDLE,
    OPINIONS,
    SAID,
    untested_fields,
    variations,
    vocabulary,
    word,
)
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import play, transition

_Plan = tuple[Action, ...]


def fields(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``measures``, ``fields`` and, where a subject has any, ``reads``."""
    yield Check("measures", lambda: _measures(subject, sizes))
    yield Check("fields", lambda: _fields(subject, sizes, limits))
    if subject.reads:
        yield Check("reads", lambda: _reads(subject, sizes))


# -- measures ---------------------------------------------------------------------------


def _measures(subject: Subject, sizes: Sizes) -> Finding:
    """Each rule answers every state, open ones too, with what a rubric can use."""
    wrong: dict[str, str] = {}
    asked, rules = 0, set[tuple[str, str]]()
    spans: dict[str, tuple[float, float]] = {}
    incidents = subject.incidents("test", sizes.same)
    for incident in incidents:
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
    told = "; ".join(f"{who} {what}" for who, what in wrong.items())
    return Finding.judged(
        "measures",
        not wrong,
        told
        or f"{len(rules)} measures and gates answer each of {asked:,} "
        "states, open and closed, with a number of at most 1 and a reason",
        states=asked,
        wrong=wrong,
        spans={name: list(span) for name, span in spans.items()},
    )


def _every_state(subject: Subject, incident: Incident) -> Iterator[State]:
    """Each state once that some very different episodes pass through."""
    seen: set[_Plan] = set()
    for end in episodes(subject, incident):
        for length in range(len(end.actions) + 1):
            if end.actions[:length] not in seen:
                seen.add(end.actions[:length])
                yield play(incident, end.actions[:length])[0]


def _unusable(kind: str, answer: Any) -> str | None:
    """What is wrong with the answer of a rule, if something is."""
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
        return f"returns {number!r}, expected at most 1" + (
            " and at least 0" if kind == "discount" else ""
        )
    return None


# -- what is said -------------------------------------------------------------------------


@attrs.define
class _Said:
    """What was noticed so far: the largest change of score by each field, with a witness."""

    tried: int = 0
    moved: dict[str, tuple[float, str]] = attrs.field(factory=dict)
    paid: dict[str, tuple[float, str]] = attrs.field(factory=dict)

    def note(self, table: dict[str, tuple[float, str]], name: str, by: float, where: str) -> None:
        """Keep the largest."""
        if by > table.get(name, (0.0, ""))[0]:
            table[name] = by, where


def _fields(subject: Subject, sizes: Sizes, limits: Thresholds) -> Finding:
    said = _Said()
    for incident in sample_of_kinds(subject, sizes):
        _say(subject, incident, said, limits)
    claims = {name: one for name, one in said.moved.items() if name not in OPINIONS}
    opinions = {name: one for name, one in said.moved.items() if name in OPINIONS}
    untested = untested_fields(subject.incident("train", 0).topology)
    lead = "; ".join(
        [
            *(
                f"{name} alone moves the score by {by:.4f} ({at})"
                for name, (by, at) in claims.items()
            ),
            *(
                f"a wrong answer earns {by:.4f} more than none for its {name} ({at})"
                for name, (by, at) in said.paid.items()
            ),
        ]
    )
    moves = "".join(f"; {name} moves it by up to {by:.4f}" for name, (by, _) in opinions.items())
    evidence = {
        "tried": said.tried,
        "moved": {name: by for name, (by, _) in said.moved.items()},
        "paid": {name: by for name, (by, _) in said.paid.items()},
        "untested": list(untested),
    }
    if lead:
        return Finding.judged("fields", False, lead, **evidence)
    if untested:
        return Finding.untested("fields", f"never varied: {', '.join(untested)}", **evidence)
    return Finding.judged(
        "fields",
        True,
        f"{', '.join(sorted(set(SAID) - OPINIONS))} change no score, and no wrong answer is paid "
        f"for its {' or '.join(sorted(OPINIONS))} ({said.tried:,} changes){moves}",
        **evidence,
    )


def _say(subject: Subject, incident: Incident, said: _Said, limits: Thresholds) -> None:
    """Each thing that can be said, at each place of some lists, in each way."""
    rubric, perfect = subject.rubric, subject.perfect(incident)
    speaking = [one for one in vocabulary(incident.topology) if any(variations(one))]
    silent = list(dict.fromkeys(map(_unsaid, speaking)))
    for base in dict.fromkeys([(), perfect, perfect[:-1]]):
        for action in silent:
            for place in _places(base, action):
                plan = _put(base, place, action)
                here = score(play(incident, plan)[0], rubric)
                without = score(play(incident, _put(base, place, IDLE, action))[0], rubric)
                for field, values in FINELY.items():
                    for other in variations(action, {field: values}):
                        got = score(play(incident, _put(base, place, other))[0], rubric)
                        said.tried += 1
                        where = f"{incident.id}: {', '.join(map(word, _put(base, place, other)))}"
                        if abs(got - here) > limits.tolerance:
                            said.note(said.moved, field, abs(got - here), where)
                        if (
                            _is_wrong(other, incident)
                            and got > max(here, without) + limits.tolerance
                        ):
                            said.note(said.paid, field, got - without, where)


def _unsaid(action: Action) -> Action:
    """The action with the first value of everything that it says."""
    there = {one.name for one in attrs.fields(type(action))}
    return attrs.evolve(action, **{name: SAID[name][0] for name in SAID if name in there})


def _places(base: _Plan, action: Action) -> Iterator[int]:
    """Where an answer of that type stands; else before each action and at the end."""
    same = [place for place, one in enumerate(base) if type(one) is type(action)]
    yield from same or range(len(base) + 1)


def _put(base: _Plan, place: int, action: Action, answer: Action | None = None) -> _Plan:
    """The list with an action in place of one of its type (or of ``answer``'s), else put in."""
    kind = type(action if answer is None else answer)
    instead = place < len(base) and type(base[place]) is kind
    return (*base[:place], action, *base[place + instead :])


def _is_wrong(action: Action, incident: Incident) -> bool:
    return (
        isinstance(action, IdentifyRootCause) and action.service not in incident.truth.root_causes
    )


# -- what is read -------------------------------------------------------------------------


def _reads(subject: Subject, sizes: Sizes) -> Finding:
    """Histories of which the reads say the same are worth the same, now and later."""
    compared, fault = 0, None
    for incident in sample_of_kinds(subject, sizes):
        situations = Situations(incident, subject.rubric, subject.reads)
        if not situations.exact:
            why = f"nobody says what is read by {', '.join(situations.unknown)}"
            return Finding.untested("reads", why)
        known: dict[Hashable, tuple[State, Hashable]] = {}
        for actions in varied_lists(subject, incident, 10 * sizes.same):
            state = other = initial_state(incident)
            for action in actions:
                if state.is_closed or other.is_closed:
                    break
                state = transition(state, action)
                other = transition(other, situations.classes[situations.class_of(action)])
                told = situations.of(state), score(state, subject.rubric)
                first, worth = known.setdefault((state.tick, told[0]), (state, told[1]))
                compared += 2
                if told != (situations.of(other), score(other, subject.rubric)):
                    fault = fault or (state, other)
                if worth != told[1]:
                    fault = fault or (state, first)
    lead = f"{compared:,} comparisons of histories of which the reads say the same: worth the same"
    if fault is not None:
        one, two = (", ".join(map(word, state.actions)) for state in fault)
        lead = f"the reads miss something: on {fault[0].incident.id}, [{one}] and [{two}] differ"
    return Finding.judged("reads", fault is None, lead, compared=compared)
