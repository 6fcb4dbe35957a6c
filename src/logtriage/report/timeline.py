"""An episode replayed for people: what was seen, what was done, and what it earned."""

from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import Any

import attrs

from logtriage.actions import Action, IdentifyRootCause, Malformed, describe
from logtriage.codec import truth_to_json
from logtriage.grading import GradeStatus, reward, rubric_of, score
from logtriage.incident import Incident
from logtriage.joint import observe_roles
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.replay import replay
from logtriage.report.run import Episode
from logtriage.report.text import clip
from logtriage.roles import RoleSplit
from logtriage.state import State
from logtriage.transcript import WireAction


@attrs.frozen
class Act:
    """What an agent did in a tick, or in joint play one role.

    ``text`` is what could not be read, ``reasoning`` what the agent wrote beside it.
    """

    role: str | None
    action: str
    text: str | None
    reasoning: str | None
    confidence: float | None


@attrs.frozen
class Step:
    """One tick: the screen before it, what was done, and what that changed.

    ``reward`` and ``total`` (the grade so far) are None in an unscored episode. In joint
    play there is an act for each role, and ``screen`` is what each of them saw.
    """

    tick: int
    acts: tuple[Act, ...]
    reward: float | None
    total: float | None
    screen: str


def steps_of(episode: Episode) -> tuple[Step, ...]:
    """The steps of an episode up to the closing one; later actions were never played."""
    scored = episode.grade.status is GradeStatus.SCORED
    rubric = rubric_of(episode.incident)
    states = replay(episode.transcript, resolve=lambda _: episode.incident)
    wires = iter(episode.transcript.actions)
    found: list[Step] = []
    for before, state in pairwise(states):
        done = state.actions[len(before.actions) :]
        acts = [
            _act(role, action, next(wires))
            for role, action in zip_longest(_roles(episode)[: len(done)], done)
        ]
        found.append(
            Step(
                before.tick + 1,
                tuple(acts),
                reward(before, state, rubric) if scored else None,
                score(state, rubric) if scored else None,
                _screen(before, episode.roles),
            )
        )
    return tuple(found)


def _roles(episode: Episode) -> tuple[str, ...]:
    return () if episode.roles is None else episode.roles.names


def _act(role: str | None, action: Action, wire: WireAction) -> Act:
    reasoning = wire.get("reasoning")
    return Act(
        role,
        clip(describe(action)),
        clip(action.text) if isinstance(action, Malformed) else None,
        clip(reasoning) if isinstance(reasoning, str) and reasoning else None,
        action.confidence if isinstance(action, IdentifyRootCause) else None,
    )


def _screen(state: State, roles: RoleSplit | None) -> str:
    if roles is None:
        return render_observation(observe(state))
    return "\n\n".join(
        f"{name} sees\n{render_observation(seen)}"
        for name, seen in zip(roles.names, observe_roles(state, roles), strict=True)
    )


def actions_of(episode: Episode) -> tuple[str, ...]:
    """The played actions alone, a short line for each tick."""
    played = len(episode.grade.actions) - episode.grade.unplayed
    told: dict[int, list[str]] = {}
    ticks = range(played) if episode.transcript.ticks is None else episode.transcript.ticks
    for when, action in zip(ticks, episode.grade.actions[:played], strict=False):
        told.setdefault(when, []).append(clip(describe(action), 120))
    return tuple(_line(_roles(episode)[: len(acts)], acts) for acts in told.values())


def _line(roles: tuple[str, ...], acts: list[str]) -> str:
    pairs = zip_longest(roles, acts)
    return "; ".join(text if role is None else f"{role}: {text}" for role, text in pairs)


def _faults(incident: Incident) -> Iterator[str]:
    for part in incident.truth.parts:
        if part.fault is not None:
            later = ", brought about" if part.secondary else ""
            yield f"{part.fault.kind} on {part.fault.service}{later}"


def truth_of(episode: Episode) -> dict[str, str]:
    """The hidden truth, in words."""
    truth: dict[str, Any] = truth_to_json(episode.incident)
    fault, several = truth["fault"], episode.incident.truth.several
    told = {
        "fault": "none: a benign alert" if fault is None else ", ".join(_faults(episode.incident)),
        "severity": truth["severity"] or "not known",
    }
    for key, name in (
        ("root_causes", "root cause"),
        ("teams", "page"),
        ("remedies", "remedy"),
    ):
        if truth[key]:
            # Of one fault any of the names will do, of several each asks for its own.
            told[name] = (", " if several else " or ").join(truth[key])
    if "price_of_silence" in truth:
        told |= {
            "par": f"{truth['par']} ticks",
            "price of silence": f"{truth['price_of_silence']:g}",
        }
    return told
