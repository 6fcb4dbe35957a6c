"""One episode as data for the page: every screen, what was done on it, and what it earned."""

from collections.abc import Sequence
from typing import Any, Final

import attrs

from logtriage.actions import IdentifyRootCause, Malformed, action_name, action_value, describe
from logtriage.grading import Grade, GradeStatus, grade
from logtriage.joint import observe_roles
from logtriage.observation import Observation, observe, slice_for
from logtriage.rendering import effect_of, render_observation
from logtriage.replay import replay
from logtriage.report.episode import Episode
from logtriage.report.hindsight import beliefs_of, parts_of
from logtriage.report.replay.knowledge import knowledge, readings
from logtriage.report.replay.talk import Readers, doubts, heard_in
from logtriage.report.replay.truths import LOOKALIKE, PATH, ROOT, Part, levels
from logtriage.report.replay.waterfall import waterfall
from logtriage.report.text import clean, clip
from logtriage.roles import Role
from logtriage.roles.splits import splits_with
from logtriage.state import State
from logtriage.transcript import WireAction

#: How much of what a model wrote in one tick is kept.
SHOWN_TEXT: Final = 4000
#: What a reading tells, once the truth is shown.
TELLING: Final = 1
MISLEADING: Final = 2


class Lines:
    """Lines of screens by number: what stands on many screens is kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a line."""
        return self._numbers.setdefault(clean(text), len(self._numbers))

    @property
    def texts(self) -> list[str]:
        """The lines in the order of their numbers."""
        return list(self._numbers)


def states_of(episode: Episode) -> tuple[State, ...]:
    """Every state of an episode, from the first screen to the closing one."""
    splits = splits_with(episode.roles)
    return replay(episode.transcript, resolve=lambda _: episode.incident, splits=splits)


def episode_data(
    episode: Episode,
    parts: Sequence[Part],
    lines: Lines,
    *,
    screens: bool = True,
    believed: bool = True,
    readers: Readers | None = None,
) -> dict[str, Any]:
    """An episode as data; ``lines`` collects the lines of its screens.

    ``parts`` are the parts of the services. Without ``screens`` and ``believed`` the costly data is
    left out. ``readers`` value the reports of a team.

    Raises:
        InvalidInput: if a belief is wanted, but the probabilities of the incident are not known.
    """
    states = states_of(episode)
    whole = [observe(state) for state in states]
    scored = episode.grade.status is GradeStatus.SCORED
    grades = [grade(state) for state in states] if scored else []
    wires = list(episode.transcript.actions)
    ticks: list[dict[str, Any]] = []
    for number, state in enumerate(states):
        after = states[number + 1] if number + 1 < len(states) else None
        tick: dict[str, Any] = {}
        if screens:
            tick["screens"] = _screens(state, whole[number], parts, episode, lines)
        if after is not None:
            first = len(state.actions)
            done = after.actions[first:]
            tick["acts"] = [
                _act(whole[number + 1], place, action, wires[first + place], episode)
                for place, action in enumerate(done)
            ]
        if scored:
            tick["total"] = grades[number].score
            if number:
                ticks[-1]["changed"] = _changed(grades[number - 1], grades[number])
        ticks.append(tick)
    data: dict[str, Any] = {"ticks": ticks, "falls": [], "parts": None, "belief": None}
    if screens:
        shared = [_shared(one, episode) for one in whole]
        known = knowledge(shared)
        for tick, state, seen, one in zip(ticks, states, shared, known, strict=True):
            tick["known"] = "".join(one.states)
            tick["signs"] = list(one.signs)
            tick["levels"] = list(levels(state))
            tick["edge"] = _edge(seen)
    if scored:
        data["falls"] = [attrs.asdict(one) for one in waterfall(grades)]
    if episode.explained is not None:
        data["parts"] = [[name, value] for name, value in parts_of(episode.explained)]
        data["steps"] = beliefs_of(episode.explained)
    split = episode.roles
    if believed:
        from logtriage.report.replay.beliefs import beliefs  # loads NumPy

        data["belief"] = beliefs(states, split)
    if split is not None and len(split) > 1:
        reader = (readers or {}).get((episode.policy, episode.grade.task)) if believed else None
        heard = heard_in(episode, states[-1], reader)
        for number, tick in enumerate(ticks):
            for act in tick.get("acts", ()):
                if act["kind"] == "report":
                    act["heard"] = heard.get((number, act["role"]), [])
        if believed:
            for tick, doubt in zip(ticks, doubts(states, split), strict=True):
                tick["doubts"] = doubt
    return data


def _screens(
    state: State, whole: Observation, parts: Sequence[Part], episode: Episode, lines: Lines
) -> list[list[Any]]:
    """What the agent, or each role, saw: numbers of lines, and marks of telling ones."""
    views = [whole] if episode.roles is None else observe_roles(state, episode.roles, whole)
    reached = {
        name
        for name, part in zip(whole.topology.names, parts, strict=True)
        if part.part in (ROOT, PATH, LOOKALIKE)
    }
    found: list[list[Any]] = []
    for view in views:
        signs = {
            one.text: TELLING if one.service in reached else MISLEADING
            for one in readings(view)
            if one.odd
        }
        texts = render_observation(view).split("\n")
        marks = [[place, mark] for place, text in enumerate(texts) if (mark := _mark(text, signs))]
        found.append([[lines.add(text) for text in texts], marks])
    return found


def _mark(text: str, signs: dict[str, int]) -> int:
    """What a line of the screen tells; a panel's line may have a title before its text."""
    if text in signs:
        return signs[text]
    return next((mark for sign, mark in signs.items() if text.endswith(f" {sign}")), 0)


def _shared(whole: Observation, episode: Episode) -> Observation:
    """What the agent sees, or the roles of a team among them."""
    if episode.roles is None:
        return whole
    views = frozenset().union(*(role.views for role in episode.roles.roles))
    may = frozenset().union(*(role.may for role in episode.roles.roles))
    return slice_for(whole, Role("team", views, may))


def _edge(seen: Observation) -> list[int | None] | None:
    """What users see: errors in basis points (if recorded), p99 in ms, the usual two if known."""
    if seen.edge is not None:
        one = seen.edge
        return [one.error_bp, one.p99_ms, one.usual_error_bp, one.usual_p99_ms]
    return None if seen.slo is None else [seen.slo.error_bp, seen.slo.p99_ms]


def _act(
    after: Observation, place: int, action: Any, wire: WireAction, episode: Episode
) -> dict[str, Any]:
    """What an agent, or a role, did in a tick, and what came of it."""
    names = () if episode.roles is None else episode.roles.names
    reasoning = wire.get("reasoning")
    data: dict[str, Any] = {
        "role": place if place < len(names) else None,
        "kind": action_name(action),
        "value": clean(action_value(action) or ""),
        "told": clean(clip(describe(action))),
        "effect": clean(effect_of(after, action)),
    }
    if isinstance(action, Malformed):
        data["wrote"] = clean(clip(action.text, SHOWN_TEXT))
    if isinstance(reasoning, str) and reasoning:
        data["reasoning"] = clean(clip(reasoning, SHOWN_TEXT))
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        data["confidence"] = action.confidence
    return data


def _changed(before: Grade, after: Grade) -> list[list[Any]]:
    """What an action changed in the grade: criteria by points, gates and discounts.

    A hand-over takes the place of all other criteria.
    """
    old, new = (
        {one.name: one.score * one.weight for one in grade.criteria} for grade in (before, after)
    )
    changes = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {**old, **new}}
    found: list[list[Any]] = [[name, points] for name, points in changes.items() if points]
    factors = {one.name: one.factor for one in before.discounts}
    later = {one.name: one.factor for one in after.discounts}
    for name in {**factors, **later}:
        if factors.get(name, 1.0) != later.get(name, 1.0):
            found.append([f"× {later.get(name, 1.0):.2f} {name}", None])
    if after.gate != before.gate:
        found.append([f"gate {after.gate}", None])
    return found
