"""Checks on very different episodes: every rule answers, and grades are the same everywhere."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from math import isfinite
from typing import Any, Final

import attrs

from logtriage.actions import Action, Escalate, IdentifyRootCause, Malformed
from logtriage.audit.failing import grade, guarded, rules_of, score
from logtriage.audit.findings import Outcome, Verdict, judged
from logtriage.audit.subject import Subject, Work
from logtriage.audit.vocabulary import CLAIM, SAID
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.grading import grade_transcript
from logtriage.grading.grade import is_measured
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.playing import play
from logtriage.policies import ExpertPolicy, Policy, RandomPolicy
from logtriage.rendering import render_observation
from logtriage.rng import hash_name
from logtriage.state import State
from logtriage.transcript import transcript_of

#: Seeds of Python's string hashes under which everything must come out the same.
_HASH_SEEDS: Final = ("0", "1", "4242")
_CHILD_TIMEOUT: Final = 300.0


def episodes(subject: Subject, incident: Incident) -> list[State]:
    """Some very different episodes of one incident; their actions vary every field."""
    perfect = subject.perfect(incident)
    teams = incident.topology.teams
    wrong = [Escalate(team) for team in teams if team not in incident.truth.teams]
    doubtful = [
        IdentifyRootCause(action.service, 0.25) if isinstance(action, IdentifyRootCause) else action
        for action in perfect
    ]
    claim = Malformed(CLAIM, reason=CLAIM, by="audit")
    players: list[Policy | Sequence[Action]] = [(), perfect, perfect[:-1], perfect[1:]]
    players += [(*wrong[:1], *perfect), (claim, *doubtful)]
    players += [RandomPolicy(hash_name(incident.id)), RandomPolicy(1), ExpertPolicy()]
    return [play(incident, player) for player in players]


def _test_episodes(work: Work) -> list[State]:
    incidents = work.subject.incidents("test", work.sizes.same)
    return [state for incident in incidents for state in episodes(work.subject, incident)]


def measures(work: Work) -> Outcome:
    """Each rule answers every state, open states too, with a number and a reason."""
    rubric = work.subject.rubric
    wrong, rules = dict[str, str](), set[tuple[str, str]]()
    prefixes = dict.fromkeys(
        (end.incident, end.actions[:length])
        for end in work.shared(_test_episodes)
        for length in range(len(end.actions) + 1)
    )
    for incident, actions in prefixes:
        state = play(incident, actions)
        for kind, name, rule in rules_of(rubric, incident):
            rules.add((kind, name))
            answer = guarded(partial(rule, state), state, rubric)
            if fault := _unusable(kind, answer):
                wrong.setdefault(f"{kind} {name!r}", f"{fault} on {incident.id}")
    return judged(
        not wrong,
        "; ".join(f"{who} {what}" for who, what in wrong.items())
        or f"{len(rules)} measures and gates answer each of {len(prefixes):,} "
        "states, open and closed, with a number of at most 1 and a reason",
        states=len(prefixes),
        wrong=wrong,
    )


def _unusable(kind: str, answer: Any) -> str | None:
    """What is wrong with the answer of a rule of this kind; None if nothing is."""
    if kind == "gate":
        if answer is None or (isinstance(answer, str) and answer != ""):
            return None
        return f"returns {answer!r}, expected None or a reason in words"
    if kind == "discount" and answer is None:
        return None
    if not is_measured(answer):
        return f"returns {answer!r}, expected a number and its reason"
    number, _ = answer
    if not isfinite(number):
        return f"returns {number!r}, expected a finite number"
    # A criterion may take points away; a factor below 0 would turn the grade round.
    if kind == "discount" and not 0.0 <= number <= 1.0:
        return f"returns {number!r}, expected at most 1 and at least 0"
    return f"returns {number!r}, expected at most 1" if number > 1.0 else None


def fingerprint(subject: Subject, count: int) -> str:
    """A hash over screens, truths and grades of the first test incidents."""
    digest = blake2b(digest_size=12)
    for incident in subject.incidents("test", count):
        truth = incident.truth
        digest.update(
            f"{incident.id} {truth.severity} {sorted(truth.root_causes)} {sorted(truth.teams)} "
            f"{sorted(map(str, truth.remedies))} {incident.directory}".encode()
        )
        for state in episodes(subject, incident):
            graded = grade(state, subject.rubric)
            shown = f"{graded.score!r} {graded.gate} {graded.criteria} {graded.digest}"
            digest.update(f"{shown} {render_observation(observe(state))}".encode())
    return digest.hexdigest()


def determinism(work: Work) -> Outcome:
    """Screens, truths and grades are the same when drawn anew, and in new processes."""
    subject, count = work.subject, work.sizes.same
    first = fingerprint(subject, count)
    last = fingerprint(attrs.evolve(subject), count)  # a copy has nothing drawn
    marks = {"this process": first, "this process, drawn anew": last}
    if last == first:
        try:
            job = pickle.dumps((subject.draw, subject.rubric, subject.oracle))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            why = f"the same twice in this process; other processes not tried: {error}"
            return Outcome(Verdict.UNTESTED, why)
        for seed in _HASH_SEEDS:
            mark = _in_child(job, subject.name, count, seed)
            if mark is None:
                why = "the same twice in this process; a new process cannot import what is audited"
                return Outcome(Verdict.UNTESTED, why)
            marks[f"PYTHONHASHSEED={seed}"] = mark
            if mark != first:
                break
    outcomes = len(set(marks.values()))
    return judged(
        outcomes == 1,
        f"{outcomes} outcome(s) of {count} incidents in {len(marks)} tries: {', '.join(marks)}",
        fingerprints=marks,
    )


def _in_child(job: bytes, name: str, count: int, seed: str) -> str | None:
    """The fingerprint from a new process; None if that cannot import the subject."""
    code = (
        "import pickle, sys\n"
        f"sys.path[:0] = {[path for path in sys.path if path]!r}\n"
        "try:\n"
        "    draw, rubric, oracle = pickle.load(sys.stdin.buffer)\n"
        "except (ImportError, AttributeError):\n"
        "    sys.exit(3)\n"
        "from logtriage.audit.episodes import fingerprint\n"
        "from logtriage.audit.subject import Subject\n"
        f"print(fingerprint(Subject({name!r}, draw, rubric, oracle), {count}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=job,
        capture_output=True,
        check=False,
        timeout=_CHILD_TIMEOUT,
        env=os.environ | {"PYTHONHASHSEED": seed},
    )
    if done.returncode == 3:  # it could not import the subject
        return None
    if done.returncode:
        return f"failed: {done.stderr.decode(errors='replace').strip()[-200:]}"
    return done.stdout.decode().strip()


def _same_everywhere(work: Work, same: Callable[[State], bool], how: str) -> Outcome:
    """Judge that ``same`` holds for every test episode; ``how`` ends the sentence that says so."""
    states = work.shared(_test_episodes)
    differing = [state.incident.id for state in states if not same(state)]
    return judged(
        not differing,
        f"{len(states) - len(differing)} of {len(states)} episodes {how}"
        + (f"; not on {differing[0]}" if differing else ""),
        tried=len(states),
        differing=len(differing),
    )


def replay(work: Work) -> Outcome:
    """An episode is graded the same from its transcript."""
    rubric = work.subject.rubric

    def same(state: State) -> bool:
        transcript = decode_transcript(encode_transcript(transcript_of(state)).encode())
        regrade = partial(grade_transcript, transcript, rubric, resolve=lambda _: state.incident)
        return guarded(regrade, state, rubric) == grade(state, rubric)

    return _same_everywhere(work, same, "are graded the same from their transcript")


def blindness(work: Work) -> Outcome:
    """The grade reads the truth and the actions; not telemetry, directory, id or agent."""
    incidents, rubric = work.subject.incidents("test", work.sizes.same), work.subject.rubric
    following = dict(zip(incidents, (*incidents[1:], incidents[0]), strict=True))

    def same(state: State) -> bool:
        swapped = attrs.evolve(
            state.incident,
            id="another/test/1",
            telemetry=following[state.incident].telemetry,
            directory=tuple(reversed(state.incident.directory)),
        )
        return score(play(swapped, state.actions), rubric) == score(state, rubric)

    how = "earn the same with the telemetry of another incident, another id and another directory"
    return _same_everywhere(work, same, how)


def renaming(work: Work) -> Outcome:
    """Other names for services and teams change no score."""
    rubric = work.subject.rubric

    def same(state: State) -> bool:
        there, translate = renamed(state.incident)
        elsewhere = play(there, [translate(action) for action in state.actions])
        off = abs(score(elsewhere, rubric) - score(state, rubric))
        return off <= work.limits.tolerance

    return _same_everywhere(work, same, "earn the same with other names for services and teams")


def renamed(incident: Incident) -> tuple[Incident, Callable[[Action], Action]]:
    """The incident with services and teams renamed, except in telemetry; a renamer of actions."""
    topology = incident.topology
    new = {name: f"x{number}" for number, name in enumerate((*topology.names, *topology.teams))}
    fields = ("topology", "directory", "truth")
    changes = {field: _renamed(getattr(incident, field), new) for field in fields}
    return attrs.evolve(incident, **changes), partial(_renamed, new=new)


def _renamed(thing: Any, new: Mapping[str, str]) -> Any:
    """A value with new names in all of its fields except texts (the fields of :data:`SAID`)."""
    if isinstance(thing, str):
        return new.get(thing, thing)
    if isinstance(thing, tuple | frozenset):
        return type(thing)(_renamed(part, new) for part in thing)
    if not attrs.has(type(thing)):
        return thing
    fields = [field for field in attrs.fields(type(thing)) if field.init]
    return attrs.evolve(
        thing,
        **{
            field.alias: _renamed(getattr(thing, field.name), new)
            for field in fields
            if field.name not in SAID
        },
    )
