"""An episode replayed for people: what was seen, what was done, and what it earned."""

from itertools import pairwise
from typing import Any

import attrs

from logtriage.actions import IdentifyRootCause, Malformed, describe
from logtriage.codec import truth_to_json
from logtriage.grading import GradeStatus, reward, rubric_of, score
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.replay import replay
from logtriage.report.run import Episode
from logtriage.report.text import clip


@attrs.frozen
class Step:
    """One tick: the screen before the action, the action, and what it changed.

    ``reward`` and ``total`` (the grade so far) are None in an unscored episode.
    ``text`` is what could not be read, ``reasoning`` what the agent wrote beside it.
    """

    tick: int
    action: str
    text: str | None
    reasoning: str | None
    confidence: float | None
    reward: float | None
    total: float | None
    screen: str


def steps_of(episode: Episode) -> tuple[Step, ...]:
    """The steps of an episode up to the closing one; later actions were never played."""
    scored = episode.grade.status is GradeStatus.SCORED
    rubric = rubric_of(episode.incident)
    states = replay(episode.transcript, resolve=lambda _: episode.incident)
    found: list[Step] = []
    for wire, (before, state) in zip(episode.transcript.actions, pairwise(states), strict=False):
        action, reasoning = state.actions[-1], wire.get("reasoning")
        found.append(
            Step(
                before.tick + 1,
                clip(describe(action)),
                clip(action.text) if isinstance(action, Malformed) else None,
                clip(reasoning) if isinstance(reasoning, str) and reasoning else None,
                action.confidence if isinstance(action, IdentifyRootCause) else None,
                reward(before, state, rubric) if scored else None,
                score(state, rubric) if scored else None,
                render_observation(observe(before)),
            )
        )
    return tuple(found)


def actions_of(episode: Episode) -> tuple[str, ...]:
    """The played actions alone, each in a short line."""
    played = len(episode.grade.actions) - episode.grade.unplayed
    return tuple(clip(describe(action), 120) for action in episode.grade.actions[:played])


def truth_of(episode: Episode) -> dict[str, str]:
    """The hidden truth, in words."""
    truth: dict[str, Any] = truth_to_json(episode.incident)
    fault = truth["fault"]
    told = {
        "fault": "none: a benign alert"
        if fault is None
        else f"{fault['kind']} on {fault['service']}",
        "severity": truth["severity"] or "not known",
    }
    for key, name in (
        ("root_causes", "root cause"),
        ("teams", "page"),
        ("remedies", "remedy"),
    ):
        if truth[key]:
            told[name] = " or ".join(truth[key])
    return told
