"""The same grade everywhere: other processes, other names, other stories around it."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final

import attrs

from logtriage.actions import Action, ReportImpact
from logtriage.audit.failing import Blaming, grade, score
from logtriage.audit.findings import Outcome, judged, untested
from logtriage.audit.sampling import episodes
from logtriage.audit.subject import Subject, Work
from logtriage.audit.vocabulary import SAID
from logtriage.codec import decode_transcript, encode_transcript
from logtriage.dynamics import play
from logtriage.grading import grade_transcript
from logtriage.incident import Fault, Incident, Part, Truth
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import State
from logtriage.transcript import transcript_of

#: Seeds of Python's string hashes under which everything must come out the same.
_HASH_SEEDS: Final = ("0", "1", "4242")
_CHILD_TIMEOUT: Final = 300.0

# -- other processes ------------------------------------------------------------------


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
    """Everything comes out the same when drawn anew, and in new processes."""
    subject, count = work.subject, work.sizes.same
    marks = {
        "this process": fingerprint(subject, count),
        "this process, drawn anew": fingerprint(attrs.evolve(subject), count),
    }
    job = b""
    try:
        job = pickle.dumps((subject.draw, subject.rubric, subject.oracle))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if len(set(marks.values())) == 1:
            return untested(f"the same twice in this process; other processes not tried: {error}")
    for seed in _HASH_SEEDS if job else ():
        if len(set(marks.values())) > 1:
            break
        mark = _in_child(job, subject.name, count, seed)
        if mark is None:
            return untested(
                "the same twice in this process; a new process cannot import what is audited"
            )
        marks[f"PYTHONHASHSEED={seed}"] = mark
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
        "from logtriage.audit.stability import fingerprint\n"
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
    if done.returncode == 3:
        return None
    if done.returncode:
        return f"failed: {done.stderr.decode(errors='replace').strip()[-200:]}"
    return done.stdout.decode().strip()


# -- records, stories, names ---------------------------------------------------------------


def _played(work: Work) -> list[State]:
    """The episodes of each test incident."""
    incidents = work.subject.incidents("test", work.sizes.same)
    return [state for incident in incidents for state in episodes(work.subject, incident)]


def replay(work: Work) -> Outcome:
    """An episode is graded the same from its transcript."""
    rubric, states = work.subject.rubric, work.shared(_played)
    known = {state.incident.id: state.incident for state in states}
    differing = []
    for state in states:
        line = encode_transcript(transcript_of(state)).encode()
        with Blaming(rubric, state):
            again = grade_transcript(decode_transcript(line), rubric, resolve=known.__getitem__)
        if again != grade(state, rubric):
            differing.append(state.incident.id)
    return judged(
        not differing,
        f"{len(states) - len(differing)} of {len(states)} episodes are graded the same from their "
        "transcript" + (f"; not on {differing[0]}" if differing else ""),
        tried=len(states),
        differing=len(differing),
    )


def blindness(work: Work) -> Outcome:
    """The grade reads the truth and the actions; not telemetry, directory, id or agent."""
    incidents = work.subject.incidents("test", work.sizes.same)
    following = dict(zip(incidents, (*incidents[1:], incidents[0]), strict=True))
    states, differing = work.shared(_played), 0
    for state in states:
        swapped = attrs.evolve(
            state.incident,
            id="another/test/1",
            telemetry=following[state.incident].telemetry,
            directory=tuple(reversed(state.incident.directory)),
        )
        elsewhere, _ = play(swapped, state.actions)
        differing += score(elsewhere, work.subject.rubric) != score(state, work.subject.rubric)
    return judged(
        not differing,
        f"{len(states) - differing} of {len(states)} episodes earn the same with the telemetry of "
        "another incident, another id and another directory",
        tried=len(states),
        differing=differing,
    )


def renaming(work: Work) -> Outcome:
    """Other names for services and teams change no score."""
    states, rubric = work.shared(_played), work.subject.rubric
    worst, where = 0.0, ""
    for state in states:
        there, translate = renamed(state.incident)
        elsewhere, _ = play(there, [translate(action) for action in state.actions])
        off = abs(score(elsewhere, rubric) - score(state, rubric))
        if off > worst:
            worst, where = off, state.incident.id
    changed = worst > work.limits.tolerance
    return judged(
        not changed,
        f"new names for services and teams change the score by {worst:.4f} on {where}"
        if changed
        else f"new names for services and teams change none of {len(states)} scores",
        tried=len(states),
        worst=worst,
    )


def renamed(incident: Incident) -> tuple[Incident, Callable[[Action], Action]]:
    """The incident with new names for services and teams, and the same for actions.

    The telemetry keeps its names: a grader must not look at it.
    """
    topology, truth = incident.topology, incident.truth
    new = {name: f"x{number}" for number, name in enumerate((*topology.names, *topology.teams))}
    services = tuple(
        attrs.evolve(
            service,
            name=new[service.name],
            owner=new.get(service.owner or ""),
            calls=tuple(new[call] for call in service.calls),
        )
        for service in topology.services
    )
    changed = attrs.evolve(
        topology,
        teams=tuple(new[team] for team in topology.teams),
        services=services,
        paged={name: new[team] for name, team in topology.paged},
    )
    several = tuple(attrs.evolve(part, **_answers(part, new)) for part in truth.several)
    there = attrs.evolve(
        incident,
        topology=changed,
        directory=tuple(new[owner] for owner in incident.directory),
        truth=attrs.evolve(truth, several=several, **_answers(truth, new)),
    )

    def translate(action: Action) -> Action:
        if isinstance(action, ReportImpact):
            return ReportImpact((new[caller], new[callee]) for caller, callee in action.calls)
        values = {field.name: getattr(action, field.name) for field in attrs.fields(type(action))}
        changes = {
            field: new[value]
            for field, value in values.items()
            if field not in SAID and value in new
        }
        return attrs.evolve(action, **changes)  # type: ignore[arg-type]

    return there, translate


def _answers(part: Part | Truth, new: Mapping[str, str]) -> dict[str, Any]:
    """The answers to one fault, or to all, under new names."""
    fault = part.fault
    return {
        "fault": None if fault is None else Fault(fault.kind, new[fault.service]),
        "root_causes": frozenset(new[service] for service in part.root_causes),
        "teams": frozenset(new[team] for team in part.teams),
        "remedies": frozenset((remedy, new[service]) for remedy, service in part.remedies),
    }
